/** A path item behind a reference, with members beside the reference: each member is compared as if it stood in the path. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Json = Readonly<Record<string, unknown>>

const DONE = { responses: { 200: { description: 'done' } } }
const query = (required: boolean): Json => ({ name: 'q', in: 'query', required, schema: { type: 'string' } })

/** A member of a path item, before and after. */
const MEMBERS: readonly (readonly [what: string, before: Json, after: Json])[] = [
  ['servers', { servers: [{ url: 'https://a.example' }] }, { servers: [{ url: 'https://b.example' }] }],
  ['the only servers', { servers: [{ url: 'https://a.example' }] }, {}],
  ['parameters', { parameters: [query(false)] }, { parameters: [query(true)] }],
  ['an operation', { post: DONE }, {}],
  ['an additional operation', { additionalOperations: { COPY: DONE } }, {}],
]

const contract = (item: Json, components: Json = {}): Json => ({
  openapi: '3.2.0',
  info: { title: 't', version: '1' },
  paths: { '/a': item },
  components,
})

const referring = (target: Json, own: Json): Json =>
  contract({ $ref: '#/components/pathItems/a', ...own }, { pathItems: { a: target } })

function found(base: Json, head: Json): readonly string[] {
  const [before, after] = [JSON.stringify(base), JSON.stringify(head)]
  const compared = compare({ id: 'api', type: 'openapi', before, after }, {}, sha256Hex)
  assert.ok(compared.ok)
  return compared.value.groups.map(({ level, rule }) => `${level} ${rule}`)
}

suite('a path item behind a reference', () => {
  for (const [what, before, after] of MEMBERS)
    for (const [beside, own] of [
      ['nothing', {}],
      ['a text', { summary: 's' }],
      ['an operation', { put: DONE }],
    ] as const)
      test(`${what}, with ${beside} beside the reference`, () => {
        const [base, head] = [before, after].map((member): Json => ({ get: DONE, ...member }))
        assert.ok(base !== undefined && head !== undefined)
        const changed = found(contract({ ...base, ...own }), contract({ ...head, ...own }))
        assert.notDeepEqual(changed, [])
        assert.deepEqual(found(referring(base, own), referring(head, own)), changed)
        assert.deepEqual(found(referring(base, own), contract({ ...base, ...own })), [])
      })
})
