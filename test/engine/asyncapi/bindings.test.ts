/** Bindings: what each setting decides, wherever it stands, and the schemas that some of them hold. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import type { FindingGroup } from '../../../engine/model/finding.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Place = 'server' | 'channel' | 'operation' | 'message'
type Members = Readonly<Record<string, unknown>>

/** An application that receives one message, or sends it, with a binding at a place of it. */
function application(place: Place, bindings: Members | null, action = 'receive'): string {
  const at = (wanted: Place): Members => (place === wanted && bindings !== null ? { bindings } : {})
  return JSON.stringify({
    asyncapi: '3.0.0',
    info: { title: 't', version: '1' },
    servers: { main: { host: 'broker.example', protocol: 'any', ...at('server') } },
    channels: {
      c: { address: 'c', messages: { m: { payload: { type: 'object' }, ...at('message') } }, ...at('channel') },
    },
    operations: { o: { action, channel: { $ref: '#/channels/c' }, ...at('operation') } },
  })
}

function groupsOf(before: string, after: string): readonly FindingGroup[] {
  const result = compare({ id: 'api', type: 'asyncapi', before, after }, {}, sha256Hex)
  assert.ok(result.ok)
  return result.value.groups
}

function reported(place: Place, before: Members | null, after: Members | null, action = 'receive'): readonly string[] {
  const groups = groupsOf(application(place, before, action), application(place, after, action))
  return groups.map(({ rule, location }) => `${rule} ${location.split('/bindings/')[1] ?? location}`)
}

/** Place, binding, setting, before, after, the end of the rule. */
const SETTINGS: readonly (readonly [Place, string, string, unknown, unknown, string])[] = [
  ['channel', 'kafka', 'topic', 'a', 'b', 'destination-changed'],
  ['channel', 'kafka', 'partitions', 3, 6, 'delivery-changed'],
  ['channel', 'kafka', 'replicas', 3, 2, 'upkeep-changed'],
  ['channel', 'kafka-secure', 'topic', 'a', 'b', 'destination-changed'],
  ['server', 'kafka', 'schemaRegistryUrl', 'https://a.example', 'https://b.example', 'encoding-changed'],
  ['message', 'kafka', 'schemaIdLocation', 'header', 'payload', 'encoding-changed'],
  ['channel', 'amqp', 'is', 'queue', 'routingKey', 'destination-changed'],
  ['operation', 'amqp', 'deliveryMode', 2, 1, 'delivery-changed'],
  ['operation', 'amqp', 'expiration', 100, 50, 'limit-lowered'],
  ['operation', 'amqp', 'expiration', 50, 100, 'limit-raised'],
  ['operation', 'amqp', 'expiration', undefined, 100, 'limit-lowered'],
  ['operation', 'amqp', 'expiration', 100, undefined, 'limit-raised'],
  ['message', 'amqp', 'contentEncoding', 'gzip', 'br', 'encoding-changed'],
  ['operation', 'mqtt', 'qos', 2, 0, 'delivery-changed'],
  ['operation', 'mqtts', 'retain', true, false, 'delivery-changed'],
  ['message', 'mqtt', 'responseTopic', 'a', 'b', 'destination-changed'],
  ['operation', 'http', 'method', 'GET', 'POST', 'destination-changed'],
  ['message', 'http', 'statusCode', 200, 202, 'destination-changed'],
  ['channel', 'wss', 'method', 'GET', 'POST', 'destination-changed'],
  ['operation', 'nats', 'queue', 'a', 'b', 'delivery-changed'],
  ['channel', 'pulsar', 'persistence', 'persistent', 'non-persistent', 'destination-changed'],
  ['channel', 'pulsar', 'ttl', 60, 30, 'limit-lowered'],
  ['server', 'solace', 'msgVpn', 'a', 'b', 'destination-changed'],
  ['channel', 'googlepubsub', 'labels', { a: '1' }, { a: '2' }, 'upkeep-changed'],
  ['channel', 'jms', 'destinationType', 'queue', 'topic', 'destination-changed'],
  ['channel', 'ibmmq', 'maxMsgLength', 100, 50, 'limit-lowered'],
  ['channel', 'anypointmq', 'destination', 'a', 'b', 'destination-changed'],
  ['channel', 'sns', 'name', 'a', 'b', 'destination-changed'],
  [
    'operation',
    'ros2',
    'qosPolicies',
    { reliability: 'reliable' },
    { reliability: 'bestEffort' },
    'declaration-changed',
  ],
]

const queue = (more: Members): Members => ({ amqp: { is: 'queue', queue: { name: 'q', durable: true, ...more } } })

const retention = (ms: number): Members => ({ kafka: { topicConfiguration: { 'retention.ms': ms } } })

const subscription = (protocol: string): Members => ({
  sns: { consumers: [{ protocol, endpoint: { name: 'e' } }] },
})

const key = (schema: Members): Members => ({ kafka: { key: schema } })

const query = (required: readonly string[]): Members => ({ ws: { query: { type: 'object', required } } })

const headers = (properties: Members): Members => ({ http: { headers: { type: 'object', properties } } })

suite('a setting of a binding', () => {
  for (const [place, protocol, setting, before, after, rule] of SETTINGS) {
    test(`${protocol} ${setting} at the ${place}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`, () => {
      const [base, head] = [before, after].map((value) => ({ [protocol]: { other: 1, [setting]: value } }))
      assert.ok(base && head)
      const names = reported(place, base, head).map((one) => one.split(' ')[0])
      assert.deepEqual(names, [`asyncapi-binding-${rule}`])
    })
  }

  test('within others is reported at its place', () => {
    assert.deepEqual(reported('channel', queue({}), queue({ durable: false, name: 'r' })), [
      'asyncapi-binding-declaration-changed amqp/queue/durable',
      'asyncapi-binding-destination-changed amqp/queue/name',
    ])
    assert.deepEqual(reported('channel', retention(-1), retention(5000)), [
      'asyncapi-binding-limit-lowered kafka/topicConfiguration/retention.ms',
    ])
    assert.deepEqual(reported('operation', subscription('sqs'), subscription('http')), [
      'asyncapi-binding-destination-changed sns/consumers/0/protocol',
    ])
  })

  test('that says what silence meant is no change', () => {
    assert.deepEqual(
      reported('channel', { amqp: { exchange: {} } }, { amqp: { is: 'routingKey', exchange: { vhost: '/' } } }),
      [],
    )
    assert.deepEqual(
      reported('channel', { sqs: { queue: { name: 'q' } } }, { sqs: { queue: { name: 'q', fifoQueue: false } } }),
      [],
    )
  })

  test('that names a place for the first time, that nobody knows, or comes with its whole binding, asks for a look', () => {
    assert.deepEqual(reported('channel', { kafka: {} }, { kafka: { topic: 'a' } }), [
      'asyncapi-binding-changed kafka/topic',
    ])
    assert.deepEqual(reported('channel', { kafka: { x: 1 } }, { kafka: { x: 2 } }), [
      'asyncapi-binding-changed kafka/x',
    ])
    assert.deepEqual(reported('channel', { redis: { a: 1 } }, { redis: { a: 2 } }), [
      'asyncapi-binding-changed redis/a',
    ])
    assert.deepEqual(reported('channel', null, { kafka: { replicas: 2 } }), ['asyncapi-binding-changed kafka'])
    assert.deepEqual(reported('channel', { kafka: { replicas: 2 } }, {}), ['asyncapi-binding-changed kafka'])
  })

  test('of the language of bindings is none', () => {
    const versions = ['0.4.0', '0.5.0'].map((bindingVersion) => ({ kafka: { topic: 'a', bindingVersion } }))
    const [before, after] = versions
    assert.deepEqual(reported('channel', before ?? null, after ?? null), [])
    assert.deepEqual(reported('channel', null, { kafka: { bindingVersion: '0.5.0' } }), [])
  })
})

suite('a schema in a binding', () => {
  test('is judged by variance: what is received as a request, what is sent as an answer', () => {
    const [wide, narrow] = [key({ type: 'string' }), key({ type: 'string', enum: ['a'] })]
    assert.deepEqual(reported('message', wide, narrow), ['received-payload-became-enum kafka/key/enum'])
    assert.deepEqual(reported('message', narrow, wide, 'send'), ['sent-payload-became-not-enum kafka/key/enum'])
    const [group] = groupsOf(application('message', wide), application('message', narrow))
    assert.equal(group?.level, 'breaking')
    assert.match(group.occurrences[0]?.message ?? '', /kafka key/)
  })

  test('that is the same by meaning is no change', () => {
    assert.deepEqual(reported('message', key({ const: 'a' }), key({ enum: ['a'] })), [])
    assert.deepEqual(reported('message', { kafka: {} }, key({})), [])
  })

  test('of a query or headers tells what clients have to bring', () => {
    assert.deepEqual(reported('channel', query([]), query(['room'])), [
      'received-message-property-became-required ws/query/required',
    ])
    assert.deepEqual(reported('message', headers({ a: { type: 'string' } }), headers({ a: { type: 'integer' } })), [
      'received-header-property-type-changed http/headers/properties/a/type',
    ])
  })
})
