/** A tool whose name changes its form is reported as a rename, and is breaking as one. Beside the old one it is dangerous. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256 } from '../../fakes/keys.ts'

type Json = Readonly<Record<string, unknown>>

type Form = 'mcp_manifest' | 'agent_tools'

const FORMS: Readonly<Record<Form, (names: readonly string[], text: string) => Json>> = {
  mcp_manifest: (names, text) => ({
    tools: names.map((name) => ({ name, description: text, inputSchema: { type: 'object' } })),
  }),
  agent_tools: (names, text) => ({
    tools: names.map((name) => ({
      type: 'function',
      function: { name, description: text, parameters: { type: 'object' } },
    })),
  }),
}

/** Tools may be described otherwise at the same time: the name alone decides. */
function found(type: Form, before: readonly string[], after: readonly string[]): readonly string[] {
  const make = FORMS[type]
  const [base, head] = [make(before, 'Looks things up.'), make(after, 'Finds pages on the web, with snippets.')]
  const compared = compare({ id: 't', type, before: JSON.stringify(base), after: JSON.stringify(head) }, {}, sha256)
  assert.ok(compared.ok)
  return compared.value.groups
    .filter(({ rule }) => /^mcp-tool-(?:removed|renamed|name-similar)$/.test(rule))
    .map(({ level, rule, message }) => `${level} ${rule} ${message.match(/`[^`]+`/g)?.join(' ') ?? ''}`)
}

const SPELLINGS: readonly (readonly [string, string])[] = [
  ['tavily-search', 'tavily_search'],
  ['tavily_search', 'tavilySearch'],
  ['tavily.search', 'tavily-search'],
  ['TavilySearch', 'tavily_search'],
  ['tavily/search', 'tavily search'],
  ['search', 'Search'],
]

/** Names that people, and models, read as one. */
const ALIKE: readonly (readonly [string, string])[] = [
  ['search', 'ｓｅａｒｃｈ'],
  ['search', 'se\u0430rch'],
  ['copy', '\u0441\u043e\u0440\u0443'],
  ['url_lookup', 'ur1_lookup'],
  ['lookup', 'l0okup'],
  ['café', 'cafe\u0301'],
  ['cafe', 'café'],
]

for (const type of ['mcp_manifest', 'agent_tools'] as const) {
  suite(`a tool of ${type}`, () => {
    for (const [before, after] of SPELLINGS) {
      test(`that is spelled ${after} instead of ${before} is renamed, which breaks`, () => {
        assert.deepEqual(found(type, [before, 'other'], [after, 'other']), [
          `breaking mcp-tool-renamed \`${before}\` \`${after}\``,
        ])
      })
    }

    test('that may have become one of several is removed', () => {
      const reported = found(type, ['get-it'], ['get_it', 'getIt'])
      assert.deepEqual(reported, [
        'breaking mcp-tool-removed `get-it`',
        'dangerous mcp-tool-name-similar `getIt` `get_it`',
        'dangerous mcp-tool-name-similar `get_it` `getIt`',
      ])
    })

    for (const [before, after] of SPELLINGS)
      test(`called ${after} that comes beside ${before} is dangerous, since they are mixed up`, () => {
        const beside = `dangerous mcp-tool-name-similar \`${after}\` \`${before}\``
        assert.deepEqual(found(type, [before], [before, after]), [beside])
        assert.deepEqual(found(type, [before, after], [before, after]), [])
      })

    for (const [before, after] of ALIKE)
      test(`called ${after} that comes beside ${before} is dangerous, since it looks like it`, () => {
        const reported = found(type, [before], [before, after])
        assert.deepEqual(reported, [`dangerous mcp-tool-name-similar \`${after}\` \`${before}\``])
      })

    test('whose letters only look foreign is like no other', () => {
      assert.deepEqual(found(type, ['कि'], ['कि', 'का']), [])
      assert.deepEqual(found(type, ['поиск'], ['поиск', 'search']), [])
    })

    test('whose name is made of signs is like no other', () => {
      assert.deepEqual(found(type, ['--'], ['--', '__']), [])
    })
  })
}
