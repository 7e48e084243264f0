/** What clients must send besides arguments, and who may call: headers of arguments, visibility, forms of results. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { foundBetween } from '../edit-run.ts'

type Found = readonly string[] | null

const tool = (properties: object, more: object = {}): object => ({
  name: 't',
  inputSchema: { type: 'object', properties },
  ...more,
})
const between = (before: object, after: object): Found =>
  foundBetween('mcp_manifest', { tools: [before] }, { tools: [after] })
const rules = (found: Found): readonly string[] => (found ?? []).map((one) => one.split(' ').slice(0, 2).join(' '))

const TEXT = { type: 'string' }
const PLACE = '/tools/0/inputSchema/properties'
const REFUSED = 'breaking mcp-tool-header-refused'

const within = (property: object): object => ({ deep: { type: 'object', properties: { r: property } } })

suite('arguments in headers', () => {
  const stated = (header: unknown, more: object = {}): object => ({ ...TEXT, ...more, 'x-mcp-header': header })

  const ROWS: readonly (readonly [string, object, object, readonly string[]])[] = [
    [
      'a header is demanded',
      { r: TEXT },
      { r: stated('Region') },
      [`breaking mcp-tool-header-required ${PLACE}/r/x-mcp-header`],
    ],
    [
      'another header',
      { r: stated('Zone') },
      { r: stated('Region') },
      [`breaking mcp-tool-header-required ${PLACE}/r/x-mcp-header`],
    ],
    ['other letters', { r: stated('region') }, { r: stated('Region') }, []],
    ['no header', { r: stated('Region') }, { r: TEXT }, [`dangerous mcp-tool-header-dropped ${PLACE}/r/x-mcp-header`]],
    [
      'of a nested argument',
      within(TEXT),
      within(stated('R')),
      [`breaking mcp-tool-header-required ${PLACE}/deep/properties/r/x-mcp-header`],
    ],
    ['of a new argument', {}, { r: stated('Region') }, [`info new-optional-tool-input-property ${PLACE}/r`]],
    [
      'an argument of that name',
      { 'x-mcp-header': TEXT },
      { 'x-mcp-header': TEXT, enum: TEXT },
      [`info new-optional-tool-input-property ${PLACE}/enum`],
    ],
    [
      'a value of that form',
      { r: TEXT },
      { r: { ...TEXT, examples: [{ 'x-mcp-header': '' }] } },
      [`info mcp-description-reworded ${PLACE}/r/examples`],
    ],
  ]
  for (const [name, before, after, expected] of ROWS)
    test(name, () => {
      assert.deepEqual(between(tool(before), tool(after)), expected)
    })

  const INVALID: Readonly<Record<string, object>> = {
    'an empty name': { r: stated('') },
    'a name with a space': { r: stated('a b') },
    'a name with a line break': { r: stated('a\nb') },
    'no text': { r: stated(1) },
    'the same name twice': { r: stated('A'), q: stated('a') },
    'a number': { r: { type: 'number', 'x-mcp-header': 'A' } },
    'no type': { r: { 'x-mcp-header': 'A' } },
    'several types': { r: { type: ['string', 'null'], 'x-mcp-header': 'A' } },
    'an object': { r: { type: 'object', 'x-mcp-header': 'A' } },
    items: { r: { type: 'array', items: stated('A') } },
    'an alternative': { r: { ...TEXT, anyOf: [stated('A')] } },
    'a property of an alternative': { r: { oneOf: [{ type: 'object', properties: { q: stated('A') } }] } },
    'a condition': { r: { ...TEXT, if: stated('A') } },
    'a map': { r: { type: 'object', additionalProperties: stated('A') } },
    'a definition': { r: { ...TEXT, $defs: { a: stated('A') } } },
  }
  for (const [name, properties] of Object.entries(INVALID))
    test(`clients leave out a tool with ${name}`, () => {
      assert.ok(rules(between(tool({ r: TEXT }), tool(properties))).includes(REFUSED))
      assert.ok(!rules(between(tool(properties), tool(properties))).includes(REFUSED))
    })
})

const resource = (audience: readonly string[]): object => ({
  resources: [{ uri: 'a:b', name: 'a', annotations: { audience } }],
})

suite('who may call', () => {
  const seen = (visibility: unknown): object => tool({}, { _meta: { ui: { visibility } } })
  const ROWS: readonly (readonly [object, object, readonly string[]])[] = [
    [tool({}), seen(['app']), ['breaking mcp-tool-hidden-from-models', 'info mcp-meta-changed']],
    [tool({}), seen(['model']), ['breaking mcp-tool-hidden-from-apps', 'info mcp-meta-changed']],
    [tool({}), seen(['app', 'model']), ['info mcp-meta-changed']],
    [seen(['app']), tool({}), ['dangerous mcp-tool-shown-to-models', 'info mcp-meta-changed']],
    [seen(['model']), tool({}), ['info mcp-meta-changed', 'info mcp-tool-shown-to-apps']],
  ]
  for (const [before, after, expected] of ROWS)
    test(`${JSON.stringify(before)} → ${JSON.stringify(after)}`, () => {
      assert.deepEqual(rules(between(before, after)).toSorted(), expected)
    })

  test('the order of an audience has no meaning', () => {
    assert.deepEqual(foundBetween('mcp_manifest', resource(['user', 'assistant']), resource(['assistant', 'user'])), [])
  })
})

suite('results that are no objects', () => {
  const [before, after] = [tool({}), tool({}, { outputSchema: { type: 'array', items: TEXT } })]
  const ADDED = 'info mcp-tool-output-schema-added'
  const ROWS: readonly (readonly [string, object, readonly string[]])[] = [
    ['an unknown version', {}, ['dangerous mcp-part-malformed', ADDED]],
    ['2025-11-25', { protocolVersion: '2025-11-25', capabilities: {} }, ['dangerous mcp-part-malformed', ADDED]],
    [
      'one of two versions',
      { supportedVersions: ['2025-11-25', '2026-07-28'] },
      ['dangerous mcp-part-malformed', ADDED],
    ],
    ['2026-07-28', { supportedVersions: ['2026-07-28'] }, [ADDED]],
    ['a list of 2026-07-28', { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }, [ADDED]],
  ]
  for (const [version, session, expected] of ROWS)
    test(version, () => {
      const found = foundBetween('mcp_manifest', { ...session, tools: [before] }, { ...session, tools: [after] })
      assert.deepEqual(rules(found), expected)
    })
})
