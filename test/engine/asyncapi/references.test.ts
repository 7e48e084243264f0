/** Parts that are compared by value and stand behind a reference: their change is the one that they have in place. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Json = Readonly<Record<string, unknown>>

/** A document that holds a part, or refers to it. */
type Document = (part: unknown) => Json

const INFO = { title: 't', version: '1' }

const version2 = (channel: Json, address = 'a'): Json => ({
  asyncapi: '2.6.0',
  info: INFO,
  channels: { [address]: channel },
})

const HEARD = { action: 'receive', channel: { $ref: '#/channels/c' } }

const version3 = (message: Json, rest: Json = {}): Json => ({
  asyncapi: '3.0.0',
  info: INFO,
  channels: { c: { address: 'a', messages: { m: message } } },
  operations: { o: HEARD },
  ...rest,
})

const AVRO = 'application/vnd.apache.avro;version=1.9.0'
const record = (type: string): Json => ({ type: 'record', name: 'r', fields: [{ name: 'a', type }] })
const kafka = (binding: unknown): Json => version2({ publish: { message: { bindings: { kafka: binding } } } })
const servers = (variables: Json): Json => ({ servers: { s: { host: '{r}.example', protocol: 'kafka', variables } } })

const ROWS: readonly (readonly [what: string, document: Document, before: unknown, after: unknown])[] = [
  [
    'a payload of 2.x in Avro',
    (payload) => version2({ publish: { message: { schemaFormat: AVRO, payload } } }),
    record('int'),
    record('long'),
  ],
  [
    'a payload of 3.x in Avro',
    (schema) => version3({ payload: { schemaFormat: AVRO, schema } }),
    record('int'),
    record('long'),
  ],
  ['a payload in Avro without a schemaFormat', (payload) => version3({ payload }), record('int'), record('long')],
  ['headers in Avro', (schema) => version3({ headers: { schemaFormat: AVRO, schema } }), record('int'), record('long')],
  [
    'a part of a record',
    (part) => version3({ payload: { schemaFormat: AVRO, schema: { fields: [part] } } }),
    record('int'),
    record('long'),
  ],
  ['a binding', kafka, { key: { type: 'string' } }, { key: { type: 'integer' } }],
  ['a schema of a binding', (key) => kafka({ key }), { type: 'string' }, { type: 'integer' }],
  [
    'a binding of a trait that is merged',
    (nats) =>
      version3({}, { operations: { o: { ...HEARD, bindings: { nats: {} }, traits: [{ bindings: { nats } }] } } }),
    { queue: 'a' },
    { queue: 'b' },
  ],
  [
    'headers of a trait that are merged',
    (a) => version3({ headers: { properties: { b: {} } }, traits: [{ headers: { properties: { a } } }] }),
    { type: 'string' },
    { type: 'integer' },
  ],
  ['a part of such a schema', (p) => kafka({ key: { properties: { p } } }), { type: 'string' }, { type: 'integer' }],
  ['a schema of a binding in Avro', (key) => kafka({ key }), record('int'), record('long')],
  [
    'the settings of a binding',
    (topicConfiguration) => version2({ bindings: { kafka: { topicConfiguration } }, publish: {} }),
    { 'retention.ms': 5 },
    { 'retention.ms': 3 },
  ],
  ['a variable of a server', (r) => version3({}, servers({ r })), { enum: ['a', 'b'] }, { enum: ['a'] }],
  [
    'the schema of a parameter',
    (schema) => version2({ parameters: { p: { schema } }, publish: {} }, 'a/{p}'),
    { type: 'string', enum: ['a', 'b'] },
    { type: 'string', enum: ['a'] },
  ],
  [
    'a parameter',
    (p) => version2({ parameters: { p }, publish: {} }, 'a/{p}'),
    { schema: { enum: ['a'] } },
    { schema: { enum: ['b'] } },
  ],
]

type Files = Readonly<Record<string, { readonly before: string; readonly after: string }>>

function found(base: Json, head: Json, files: Files = {}): readonly string[] {
  const [before, after] = [JSON.stringify(base), JSON.stringify(head)]
  const compared = compare({ id: 'api', type: 'asyncapi', before, after, path: 'main.json', files }, {}, sha256Hex)
  assert.ok(compared.ok, compared.ok ? '' : compared.problem.message)
  return compared.value.groups.map(({ level, rule }) => `${level} ${rule}`)
}

for (const [what, document, before, after] of ROWS)
  test(`${what} behind a reference`, () => {
    const referred = (part: unknown): Json => ({
      ...document({ $ref: '#/components/x-part' }),
      components: { 'x-part': part },
    })
    const changed = found(document(before), document(after))
    assert.notDeepEqual(changed, [])
    assert.deepEqual(found(referred(before), referred(after)), changed)
    assert.deepEqual(found(referred(before), document(before)), [])
  })

const looped = (a: number): Json => ({
  ...version2({ bindings: { kafka: { topicConfiguration: { $ref: '#/components/x-part' } } }, publish: {} }),
  components: { 'x-part': { a, again: { $ref: '#/components/x-part' } } },
})

test('a part that refers to itself comes to an end', () => {
  assert.deepEqual(found(looped(1), looped(2)), ['dangerous asyncapi-binding-delivery-changed'])
})

const trait = (a: string, c: string): string =>
  JSON.stringify({ t: { headers: { properties: { a: { type: a }, c: { $ref: '#/c' } } } }, c: { type: c } })

test('a trait of another file is merged, and its references start from there', () => {
  const document = version3({ headers: { properties: { b: {} } }, traits: [{ $ref: './traits.json#/t' }] })
  for (const after of [trait('integer', 'string'), trait('string', 'integer')]) {
    const files = { 'traits.json': { before: trait('string', 'string'), after } }
    assert.deepEqual(found(document, document, files), ['breaking received-header-property-type-changed'])
  }
})

const again = (name: string): Json => ({ properties: { a: { $ref: `#/components/schemas/${name}` } } })

test('a trait that refers to itself comes to an end', () => {
  const document = version3(
    { headers: { $ref: '#/components/schemas/A' }, traits: [{ headers: { $ref: '#/components/schemas/B' } }] },
    { components: { schemas: { A: again('A'), B: again('B') } } },
  )
  assert.deepEqual(found(document, document), [])
})

test('a channel is on the servers that its reference leads to', () => {
  const prod = { host: 'prod.example', protocol: 'kafka' }
  const on = (server: string): Json => ({
    ...version3({}),
    servers: { p: { $ref: '#/components/servers/prod' }, q: { host: 'q.example', protocol: 'kafka' } },
    channels: { c: { address: 'a', messages: { m: {} }, servers: [{ $ref: server }] } },
    components: { servers: { prod } },
  })
  assert.deepEqual(found(on('#/components/servers/prod'), on('#/servers/p')), [])
  assert.ok(
    found(on('#/components/servers/prod'), on('#/servers/q')).includes('breaking asyncapi-channel-server-removed'),
  )
})

const at = (url: string): Json => ({ ...version2({}), servers: { s: { url, protocol: 'mqtt' } } })

test('the scheme of a URL of 2.x is part of the address', () => {
  assert.deepEqual(found(at('mqtt://a'), at('mqtts://a')), ['breaking asyncapi-server-address-changed'])
  assert.deepEqual(found(at('mqtt://a'), at('MQTT://a')), [])
  assert.deepEqual(found(at('mqtt://a'), at('a')), [])
})

const siblings = (maxLength: number): string =>
  JSON.stringify({
    a: { type: 'object', properties: { x: { $ref: '#/b', maxLength } } },
    b: { type: 'string' },
  })

test('the siblings of a reference in another file count in a payload of a later draft', () => {
  const document = version3({
    payload: { schemaFormat: 'application/schema+json;version=2020-12', schema: { $ref: 'parts.json#/a' } },
  })
  const text = JSON.stringify(document)
  const compared = compare(
    {
      id: 'a',
      type: 'asyncapi',
      path: 'api.json',
      before: text,
      after: text,
      files: { 'parts.json': { before: siblings(9), after: siblings(3) } },
    },
    {},
    sha256Hex,
  )
  assert.ok(compared.ok)
  assert.deepEqual(
    compared.value.groups.map(({ level, rule, location }) => `${level} ${rule} ${location}`),
    ['breaking received-message-property-max-length-decreased parts.json#/a/properties/x/maxLength'],
  )
})

/** The channel is a component, and the operation names its message by the channel. */
const referredChannel = (type: string): string =>
  JSON.stringify({
    ...version3({}, { operations: { o: { ...HEARD, messages: [{ $ref: '#/channels/c/messages/m' }] } } }),
    channels: { c: { $ref: '#/components/channels/c' } },
    components: { channels: { c: { address: 'a', messages: { m: { payload: { type } } } } } },
  })

test('a message of a channel that stands behind a reference is compared', () => {
  const artifact = {
    id: 'a',
    type: 'asyncapi',
    before: referredChannel('string'),
    after: referredChannel('integer'),
  } as const
  const compared = compare(artifact, {}, sha256Hex)
  assert.ok(compared.ok)
  assert.deepEqual(compared.value.unresolved, [])
  assert.deepEqual(
    compared.value.groups.map(({ level, location }) => `${level} ${location}`),
    ['breaking /components/channels/c/messages/m/payload/type'],
  )
})

test('a reference that leads through itself has no target', () => {
  const document = JSON.stringify(version3({ payload: { $ref: '#/x/y' } }, { x: { $ref: '#/x/y' } }))
  const compared = compare({ id: 'a', type: 'asyncapi', before: document, after: document }, {}, sha256Hex)
  assert.ok(compared.ok)
  assert.ok(compared.value.unresolved.some(({ reference }) => reference === '#/x/y'))
})
