/** Values that are objects stand in the words of a finding in one order of their members, in every format. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare, type ArtifactType } from '../../engine/internal.ts'
import { sha256Hex } from '../../gateway/runtime/hash.ts'

const INFO = { title: 't', version: '1' }
const DONE = { '200': { description: 'done' } }

const openapi = (schema: object): object => ({
  openapi: '3.1.0',
  info: INFO,
  paths: {
    '/x': { post: { requestBody: { content: { 'application/json': { schema } } }, responses: DONE } },
  },
})

const asyncapi = (schema: object): object => ({
  asyncapi: '2.6.0',
  info: INFO,
  channels: { in: { publish: { bindings: { kafka: { clientId: schema } }, message: { payload: schema } } } },
})

const tools = (schema: object): object => ({
  tools: [{ name: 'act', description: 'Acts.', inputSchema: { type: 'object', properties: { a: schema } } }],
})

const WRITERS: readonly { readonly type: ArtifactType; readonly write: (schema: object) => object }[] = [
  { type: 'json_schema', write: (schema) => schema },
  { type: 'openapi', write: openapi },
  { type: 'asyncapi', write: asyncapi },
  { type: 'mcp_manifest', write: tools },
]

const VALUES: readonly ((value: object) => object)[] = [
  (value) => ({ type: 'object', default: value }),
  (value) => ({ const: value }),
  (value) => ({ enum: [value, 'a'] }),
]

suite('a value that is an object', () => {
  for (const { type, write } of WRITERS) {
    for (const hold of VALUES) {
      const name = Object.keys(hold({})).at(-1)
      test(`is written in one order: ${name} of ${type}`, () => {
        const answers = [
          { a: 1, b: { c: 1, d: 2 } },
          { b: { d: 2, c: 1 }, a: 1 },
        ].map((value) => {
          const artifact = {
            id: 'x',
            type,
            before: JSON.stringify(write(hold({ z: 1, y: 2 }))),
            after: JSON.stringify(write(hold(value))),
          }
          const compared = compare(artifact, {}, sha256Hex)
          assert.ok(compared.ok)
          assert.ok(compared.value.groups.length > 0)
          return JSON.stringify(compared.value.groups.map((group) => ({ ...group, line: null, column: null })))
        })
        assert.equal(answers[0], answers[1])
      })
    }
  }
})
