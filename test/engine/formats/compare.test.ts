/** The entry to every comparison: which types it takes, how it refuses, and that hostile documents come to an answer. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ArtifactType } from '../../../engine/model/change-set.ts'
import { compare } from '../../../engine/formats/compare.ts'
import { sniffArtifactType } from '../../../engine/formats/sniff.ts'
import type { Problem } from '../../../engine/common/result.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

const OPENAPI = 'openapi: 3.0.3\ninfo: {title: t, version: 1.0.0}\npaths: {}\n'
const MANIFEST = '{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}'

function refused(type: ArtifactType, before: string, after: string): Problem {
  const result = compare({ id: 'a', type, before, after }, {}, sha256Hex)
  assert.ok(!result.ok, 'the artifact is compared although it must be refused')
  return result.problem
}

/** A tool whose arguments are called as members of the prototype. */
function prototypeNames(type: string): string {
  return `{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"__proto__":{"type":"${type}"},"constructor":{"type":"${type}"}}}}]}`
}

suite('types', () => {
  test('a document of another type than declared is named as what it is', () => {
    const problem = refused('openapi', MANIFEST, MANIFEST)
    assert.equal(problem.code, 'ARTIFACT_TYPE_MISMATCH')
    assert.match(problem.message, /declared as openapi.*type mcp_manifest/)
    assert.equal(refused('mcp_manifest', OPENAPI, OPENAPI).code, 'ARTIFACT_TYPE_MISMATCH')
  })

  test('two empty sides are nothing to compare', () => {
    assert.match(refused('openapi', '', '').message, /Both sides are empty/)
  })

  test('the side at fault is named', () => {
    assert.match(refused('openapi', '{', OPENAPI).message, /base/)
    assert.match(refused('mcp_manifest', MANIFEST, '{"tools":').message, /head/)
  })
})

suite('sniffing', () => {
  const sniffed: readonly [string, string, string][] = [
    ['openapi', OPENAPI, OPENAPI],
    ['openapi', '{"info":{},"paths":{},"openapi":"3.1.0"}', ''],
    ['openapi', '# a comment\nswagger: "2.0"\n', ''],
    ['openapi', '', '{"swagger":"2.0"}'],
    ['mcp_manifest', MANIFEST, MANIFEST],
    ['mcp_manifest', '[{"name":"echo","inputSchema":{}}]', ''],
    ['mcp_manifest', '{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}', MANIFEST],
    ['mcp_manifest', '', '{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x"}}'],
  ]
  for (const [type, before, after] of sniffed) {
    test(`${type} is recognised from ${(before || after).slice(0, 40).trim()}`, () => {
      assert.deepEqual(sniffArtifactType(before, after), { ok: true, value: type })
    })
  }

  const unclear: readonly [code: string, before: string, after: string, says: RegExp][] = [
    ['UNSUPPORTED_ARTIFACT_TYPE', '{"hello":"world"}', '', /base document is not recognised/],
    ['UNSUPPORTED_ARTIFACT_TYPE', OPENAPI, '[{"made":"up"}]', /head document is not recognised/],
    [
      'ARTIFACT_TYPE_MISMATCH',
      OPENAPI,
      MANIFEST,
      /base is of the type openapi and the head is of the type mcp_manifest/,
    ],
    ['ARTIFACT_UNREADABLE', '', '{"a":', /head document cannot be read/],
    ['ARTIFACT_UNREADABLE', '', '', /both sides are empty/],
  ]
  for (const [code, before, after, says] of unclear) {
    test(`${code}: ${says.source}`, () => {
      const result = sniffArtifactType(before, after)
      assert.ok(!result.ok)
      assert.equal(result.problem.code, code)
      assert.match(result.problem.message, says)
    })
  }
})

suite('hostile documents', () => {
  const bomb = [
    'a0: &a0 [x,x,x,x,x,x,x,x,x,x]',
    ...Array.from(
      { length: 30 },
      (_, step) => `a${step + 1}: &a${step + 1} [${Array<string>(10).fill(`*a${step}`).join(',')}]`,
    ),
  ].join('\n')
  const hostile: readonly [what: string, code: string, text: string][] = [
    ['a YAML alias bomb', 'ARTIFACT_OVER_LIMIT', `openapi: 3.0.3\n${bomb}`],
    [
      'nesting of ten thousand levels',
      'ARTIFACT_OVER_LIMIT',
      `{"openapi":"3.0.3","x":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
    ],
    ['more than 32 MiB', 'ARTIFACT_OVER_LIMIT', `{"openapi":"3.0.3","x":"${'x'.repeat(32 * 1024 * 1024)}"}`],
    ['a duplicate key', 'ARTIFACT_UNREADABLE', '{"openapi":"3.0.3","openapi":"3.1.0"}'],
    ['binary garbage', 'ARTIFACT_UNREADABLE', '\u0000\u0001\u0002'],
  ]
  for (const [what, code, text] of hostile) {
    test(`${what} is refused on either side`, () => {
      assert.equal(refused('openapi', text, OPENAPI).code, code)
      assert.equal(refused('openapi', OPENAPI, text).code, code)
    })
  }

  test('keys of the prototype are compared like any other, and pollute nothing', () => {
    const result = compare(
      { id: 'a', type: 'mcp_manifest', before: prototypeNames('string'), after: prototypeNames('integer') },
      {},
      sha256Hex,
    )
    assert.ok(result.ok)
    assert.deepEqual(
      result.value.groups.map(({ rule, location }) => [rule, location]),
      ['__proto__', 'constructor'].map((name) => [
        'tool-input-property-type-changed',
        `/tools/0/inputSchema/properties/${name}/type`,
      ]),
    )
    assert.equal(Reflect.get({}, 'type'), undefined)
  })
})
