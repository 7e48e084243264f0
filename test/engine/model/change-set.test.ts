/** Digests of a change set, as consumers recompute them. */
// The digests that identify a change set, against values made by the recipe of docs/reference/hashes.md#input_fingerprint.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'
import { artifactDigest, changeSetDigests, type Artifact } from '../../../engine/internal.ts'
import { sha256 } from '../../fakes/keys.ts'

const hex = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex')

function artifact(id: string, changes: Partial<Artifact> = {}): Artifact {
  return { id, type: 'openapi', before: `${id} before`, after: `${id} after`, ...changes }
}

/** Contents of one artifact as the recipe joins them. */
const both = ({ before, after }: Artifact): string => hex(before) + hex(after)

suite('artifact_digest', () => {
  test('is the SHA-256 of the joined content digests', () => {
    // printf '%s' "$(printf a | sha256sum | cut -c1-64)$(printf b | sha256sum | cut -c1-64)" | sha256sum
    assert.equal(
      artifactDigest([artifact('x', { before: 'a', after: 'b' })], sha256),
      'sha256:62af5c3cb8da3e4f25061e829ebeea5c7513c54949115b1acc225930a90154da',
    )
  })

  const first = artifact('a')
  const second = artifact('b')
  const other = artifact('a', { type: 'graphql', before: '', after: 'type Query { ok: Boolean }' })
  const alias = artifact('0', { type: 'protobuf', submittedType: 'grpc' })
  const manifest = artifact('1', { type: 'mcp_manifest' })
  const manifestAlias = artifact('2', { type: 'mcp_manifest', submittedType: 'mcp' })
  const CASES: readonly {
    readonly what: string
    readonly given: readonly Artifact[]
    readonly order: readonly Artifact[]
  }[] = [
    { what: 'sorted by id', given: [second, first], order: [first, second] },
    { what: 'sorted by type before id', given: [first, other], order: [other, first] },
    { what: 'sorted by the alias that was submitted', given: [manifest, alias], order: [alias, manifest] },
    {
      what: 'sorted by both spellings of one type',
      given: [manifest, manifestAlias],
      order: [manifestAlias, manifest],
    },
    { what: 'of one artifact, without a separator', given: [first], order: [first] },
  ]
  for (const { what, given, order } of CASES)
    test(`is ${what}`, () => {
      const expected = `sha256:${hex(order.map(both).join('\u001f'))}`
      assert.equal(artifactDigest(given, sha256), expected)
      assert.equal(changeSetDigests(given, sha256).artifactDigest, expected)
      assert.equal(artifactDigest(given.toReversed(), sha256), expected)
    })

  test('knows neither ids nor types of one artifact', () => {
    const renamed = artifact('other', { type: 'json_schema', before: first.before, after: first.after })
    assert.equal(artifactDigest([renamed], sha256), artifactDigest([first], sha256))
    assert.notEqual(
      changeSetDigests([renamed], sha256).submittedSetDigest,
      changeSetDigests([first], sha256).submittedSetDigest,
    )
  })
})

test('the alias of a type changes neither input_fingerprint nor submitted_set_digest', () => {
  const plain = artifact('a', { type: 'protobuf' })
  const { artifactDigest: _order, ...identity } = changeSetDigests([plain], sha256)
  const { artifactDigest: _aliasOrder, ...aliased } = changeSetDigests([{ ...plain, submittedType: 'grpc' }], sha256)
  assert.deepEqual(aliased, identity)
})
