/**
 * Every setting of every binding: what a change, a first mention and a removal of it come to, in AsyncAPI 2.6 and 3.0. One file,
 * since most of it is one table and what the table does not say.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Place = 'server' | 'channel' | 'operation' | 'message'
type Kind = 'destination' | 'declaration' | 'encoding' | 'delivery' | 'limit' | 'schema' | 'upkeep'

/** Place, protocol, steps to the setting, kind, and two values of it: of a limit the higher one first; schemas have values of their own. */
type SettingRow = readonly [Place, string, string, Kind, unknown?, unknown?]

const SETTINGS: readonly SettingRow[] = [
  ['server', 'kafka', 'schemaRegistryUrl', 'encoding', 'a', 'b'],
  ['server', 'kafka', 'schemaRegistryVendor', 'encoding', 'a', 'b'],
  ['channel', 'kafka', 'topic', 'destination', 'a', 'b'],
  ['channel', 'kafka', 'partitions', 'delivery', 3, 6],
  ['channel', 'kafka', 'replicas', 'upkeep', 3, 2],
  ['channel', 'kafka', 'topicConfiguration/cleanup.policy', 'delivery', ['delete'], ['compact']],
  ['channel', 'kafka', 'topicConfiguration/retention.ms', 'limit', 9, 5],
  ['channel', 'kafka', 'topicConfiguration/retention.bytes', 'limit', 9, 5],
  ['channel', 'kafka', 'topicConfiguration/delete.retention.ms', 'limit', 9, 5],
  ['channel', 'kafka', 'topicConfiguration/max.message.bytes', 'limit', 9, 5],
  ['channel', 'kafka', 'topicConfiguration/confluent.key.schema.validation', 'delivery', true, false],
  ['channel', 'kafka', 'topicConfiguration/confluent.key.subject.name.strategy', 'delivery', 'a', 'b'],
  ['channel', 'kafka', 'topicConfiguration/confluent.value.schema.validation', 'delivery', true, false],
  ['channel', 'kafka', 'topicConfiguration/confluent.value.subject.name.strategy', 'delivery', 'a', 'b'],
  ['operation', 'kafka', 'groupId', 'delivery', { type: 'string', enum: ['a'] }, { type: 'string', enum: ['b'] }],
  ['operation', 'kafka', 'clientId', 'delivery', { type: 'string', enum: ['a'] }, { type: 'string', enum: ['b'] }],
  ['message', 'kafka', 'key', 'schema'],
  ['message', 'kafka', 'schemaIdLocation', 'encoding', 'header', 'payload'],
  ['message', 'kafka', 'schemaIdPayloadEncoding', 'encoding', 'a', 'b'],
  ['message', 'kafka', 'schemaLookupStrategy', 'encoding', 'a', 'b'],
  ['channel', 'amqp', 'is', 'destination', 'queue', 'routingKey'],
  ['channel', 'amqp', 'exchange/name', 'destination', 'a', 'b'],
  ['channel', 'amqp', 'exchange/type', 'declaration', 'topic', 'direct'],
  ['channel', 'amqp', 'exchange/durable', 'declaration', true, false],
  ['channel', 'amqp', 'exchange/autoDelete', 'declaration', true, false],
  ['channel', 'amqp', 'exchange/vhost', 'destination', '/a', '/b'],
  ['channel', 'amqp', 'queue/name', 'destination', 'a', 'b'],
  ['channel', 'amqp', 'queue/durable', 'declaration', true, false],
  ['channel', 'amqp', 'queue/exclusive', 'declaration', true, false],
  ['channel', 'amqp', 'queue/autoDelete', 'declaration', true, false],
  ['channel', 'amqp', 'queue/vhost', 'destination', '/a', '/b'],
  ['operation', 'amqp', 'expiration', 'limit', 9, 5],
  ['operation', 'amqp', 'userId', 'delivery', 'a', 'b'],
  ['operation', 'amqp', 'cc', 'destination', ['a'], ['b']],
  ['operation', 'amqp', 'priority', 'upkeep', 1, 2],
  ['operation', 'amqp', 'deliveryMode', 'delivery', 1, 2],
  ['operation', 'amqp', 'mandatory', 'delivery', true, false],
  ['operation', 'amqp', 'bcc', 'destination', ['a'], ['b']],
  ['operation', 'amqp', 'replyTo', 'destination', 'a', 'b'],
  ['operation', 'amqp', 'timestamp', 'upkeep', true, false],
  ['operation', 'amqp', 'ack', 'delivery', true, false],
  ['message', 'amqp', 'contentEncoding', 'encoding', 'gzip', 'br'],
  ['message', 'amqp', 'messageType', 'encoding', 'a', 'b'],
  ['server', 'mqtt', 'clientId', 'delivery', 'a', 'b'],
  ['server', 'mqtt', 'cleanSession', 'delivery', true, false],
  ['server', 'mqtt', 'lastWill/topic', 'destination', 'a', 'b'],
  ['server', 'mqtt', 'lastWill/qos', 'delivery', 1, 2],
  ['server', 'mqtt', 'lastWill/message', 'delivery', 'a', 'b'],
  ['server', 'mqtt', 'lastWill/retain', 'delivery', true, false],
  ['server', 'mqtt', 'keepAlive', 'upkeep', 60, 30],
  ['server', 'mqtt', 'sessionExpiryInterval', 'limit', 60, 30],
  ['server', 'mqtt', 'maximumPacketSize', 'limit', 60, 30],
  ['operation', 'mqtt', 'qos', 'delivery', 1, 2],
  ['operation', 'mqtt', 'retain', 'delivery', true, false],
  ['operation', 'mqtt', 'messageExpiryInterval', 'limit', 60, 30],
  ['message', 'mqtt', 'payloadFormatIndicator', 'encoding', 0, 1],
  ['message', 'mqtt', 'correlationData', 'schema'],
  ['message', 'mqtt', 'contentType', 'encoding', 'a', 'b'],
  ['message', 'mqtt', 'responseTopic', 'destination', 'a', 'b'],
  ['channel', 'amqp', 'name', 'destination', 'a', 'b'],
  ['channel', 'sse', 'method', 'destination', 'GET', 'POST'],
  ['channel', 'sse', 'query', 'schema'],
  ['channel', 'sse', 'headers', 'schema'],
  ['message', 'sse', 'event', 'destination', 'a', 'b'],
  ['channel', 'ws', 'method', 'destination', 'GET', 'POST'],
  ['channel', 'ws', 'query', 'schema'],
  ['channel', 'ws', 'headers', 'schema'],
  ['operation', 'http', 'method', 'destination', 'GET', 'POST'],
  ['operation', 'http', 'query', 'schema'],
  ['operation', 'http', 'type', 'upkeep', 'request', 'response'],
  ['message', 'http', 'headers', 'schema'],
  ['message', 'http', 'statusCode', 'destination', 200, 201],
  ['server', 'jms', 'jmsConnectionFactory', 'destination', 'a', 'b'],
  ['server', 'jms', 'properties', 'delivery', [{ name: 'a', value: 1 }], [{ name: 'a', value: 2 }]],
  ['server', 'jms', 'clientID', 'delivery', 'a', 'b'],
  ['channel', 'jms', 'destination', 'destination', 'a', 'b'],
  ['channel', 'jms', 'destinationType', 'destination', 'queue', 'topic'],
  ['message', 'jms', 'headers', 'schema'],
  ['channel', 'sns', 'name', 'destination', 'a', 'b'],
  ['channel', 'sns', 'ordering/type', 'delivery', 'standard', 'FIFO'],
  ['channel', 'sns', 'ordering/contentBasedDeduplication', 'delivery', true, false],
  ['channel', 'sns', 'policy/statements/0/effect', 'delivery', 'Allow', 'Deny'],
  ['channel', 'sns', 'policy/statements/0/principal', 'delivery', 'a', 'b'],
  ['channel', 'sns', 'policy/statements/0/action', 'delivery', 'a', 'b'],
  ['channel', 'sns', 'tags', 'upkeep', { a: 1 }, { a: 2 }],
  ['operation', 'sns', 'topic/name', 'destination', 'a', 'b'],
  ['operation', 'sns', 'topic/arn', 'destination', 'a', 'b'],
  ['operation', 'sns', 'topic/url', 'destination', 'a', 'b'],
  ['operation', 'sns', 'topic/email', 'destination', 'a', 'b'],
  ['operation', 'sns', 'consumers/0/protocol', 'destination', 'a', 'b'],
  ['operation', 'sns', 'consumers/0/endpoint/name', 'destination', 'a', 'b'],
  ['operation', 'sns', 'consumers/0/filterPolicy', 'delivery', { a: ['x'] }, { a: ['y'] }],
  ['operation', 'sns', 'consumers/0/filterPolicyScope', 'delivery', 'MessageAttributes', 'MessageBody'],
  ['operation', 'sns', 'consumers/0/rawMessageDelivery', 'encoding', true, false],
  ['operation', 'sns', 'consumers/0/redrivePolicy/deadLetterQueue/name', 'delivery', 'a', 'b'],
  ['operation', 'sns', 'consumers/0/redrivePolicy/maxReceiveCount', 'delivery', 9, 5],
  ['operation', 'sns', 'consumers/0/deliveryPolicy/numRetries', 'delivery', 9, 5],
  ['operation', 'sns', 'consumers/0/displayName', 'upkeep', 'a', 'b'],
  ['operation', 'sns', 'deliveryPolicy/numRetries', 'delivery', 9, 5],
  ['channel', 'sqs', 'queue/name', 'destination', 'a', 'b'],
  ['channel', 'sqs', 'queue/fifoQueue', 'declaration', true, false],
  ['channel', 'sqs', 'queue/deduplicationScope', 'delivery', 'queue', 'messageGroup'],
  ['channel', 'sqs', 'queue/fifoThroughputLimit', 'delivery', 'perQueue', 'perMessageGroupId'],
  ['channel', 'sqs', 'queue/deliveryDelay', 'delivery', 9, 5],
  ['channel', 'sqs', 'queue/visibilityTimeout', 'delivery', 9, 5],
  ['channel', 'sqs', 'queue/receiveMessageWaitTime', 'upkeep', 9, 5],
  ['channel', 'sqs', 'queue/messageRetentionPeriod', 'limit', 9, 5],
  ['channel', 'sqs', 'queue/redrivePolicy/maxReceiveCount', 'delivery', 9, 5],
  ['channel', 'sqs', 'queue/policy/statements/0/effect', 'delivery', 'Allow', 'Deny'],
  ['channel', 'sqs', 'queue/tags', 'upkeep', { a: 1 }, { a: 2 }],
  ['channel', 'sqs', 'deadLetterQueue/name', 'delivery', 'a', 'b'],
  ['channel', 'sqs', 'deadLetterQueue/fifoQueue', 'delivery', true, false],
  ['channel', 'sqs', 'deadLetterQueue/messageRetentionPeriod', 'limit', 9, 5],
  ['operation', 'sqs', 'queues/0/name', 'destination', 'a', 'b'],
  ['operation', 'sqs', 'queues/0/fifoQueue', 'declaration', true, false],
  ['operation', 'nats', 'queue', 'delivery', 'a', 'b'],
  ['server', 'pulsar', 'tenant', 'destination', 'a', 'b'],
  ['channel', 'pulsar', 'namespace', 'destination', 'a', 'b'],
  ['channel', 'pulsar', 'persistence', 'destination', 'persistent', 'non-persistent'],
  ['channel', 'pulsar', 'compaction', 'upkeep', 9, 5],
  ['channel', 'pulsar', 'geo-replication', 'upkeep', ['a'], ['b']],
  ['channel', 'pulsar', 'retention/time', 'limit', 9, 5],
  ['channel', 'pulsar', 'retention/size', 'limit', 9, 5],
  ['channel', 'pulsar', 'ttl', 'limit', 9, 5],
  ['channel', 'pulsar', 'deduplication', 'delivery', true, false],
  ['server', 'solace', 'msgVpn', 'destination', 'a', 'b'],
  ['server', 'solace', 'clientName', 'upkeep', 'a', 'b'],
  ['operation', 'solace', 'destinations/0/destinationType', 'destination', 'queue', 'topic'],
  ['operation', 'solace', 'destinations/0/deliveryMode', 'delivery', 'direct', 'persistent'],
  ['operation', 'solace', 'destinations/0/queue/name', 'destination', 'a', 'b'],
  ['operation', 'solace', 'destinations/0/queue/topicSubscriptions', 'destination', ['a'], ['b']],
  ['operation', 'solace', 'destinations/0/queue/accessType', 'declaration', 'exclusive', 'nonexclusive'],
  ['operation', 'solace', 'destinations/0/queue/maxMsgSpoolSize', 'limit', '9', '5'],
  ['operation', 'solace', 'destinations/0/queue/maxTtl', 'limit', '9', '5'],
  ['operation', 'solace', 'destinations/0/topic/topicSubscriptions', 'destination', ['a'], ['b']],
  ['operation', 'solace', 'timeToLive', 'limit', 9, 5],
  ['operation', 'solace', 'priority', 'upkeep', 9, 5],
  ['operation', 'solace', 'dmqEligible', 'delivery', true, false],
  ['server', 'ibmmq', 'groupId', 'destination', 'a', 'b'],
  ['server', 'ibmmq', 'ccdtQueueManagerName', 'destination', 'a', 'b'],
  ['server', 'ibmmq', 'cipherSpec', 'declaration', 'a', 'b'],
  ['server', 'ibmmq', 'multiEndpointServer', 'delivery', true, false],
  ['server', 'ibmmq', 'heartBeatInterval', 'upkeep', 9, 5],
  ['channel', 'ibmmq', 'destinationType', 'destination', 'queue', 'topic'],
  ['channel', 'ibmmq', 'queue/objectName', 'destination', 'a', 'b'],
  ['channel', 'ibmmq', 'queue/isPartitioned', 'delivery', true, false],
  ['channel', 'ibmmq', 'queue/exclusive', 'declaration', true, false],
  ['channel', 'ibmmq', 'topic/string', 'destination', 'a', 'b'],
  ['channel', 'ibmmq', 'topic/objectName', 'destination', 'a', 'b'],
  ['channel', 'ibmmq', 'topic/durablePermitted', 'declaration', true, false],
  ['channel', 'ibmmq', 'topic/lastMsgRetained', 'delivery', true, false],
  ['channel', 'ibmmq', 'maxMsgLength', 'limit', 9, 5],
  ['message', 'ibmmq', 'type', 'encoding', 'string', 'jms'],
  ['message', 'ibmmq', 'headers', 'encoding', 'a', 'b'],
  ['message', 'ibmmq', 'description', 'upkeep', 'a', 'b'],
  ['message', 'ibmmq', 'expiry', 'limit', 9, 5],
  ['channel', 'googlepubsub', 'labels', 'upkeep', { a: 1 }, { a: 2 }],
  ['channel', 'googlepubsub', 'messageRetentionDuration', 'limit', '86400s', '43200s'],
  ['channel', 'googlepubsub', 'messageStoragePolicy/allowedPersistenceRegions', 'delivery', ['a'], ['b']],
  ['channel', 'googlepubsub', 'schemaSettings/encoding', 'encoding', 'json', 'binary'],
  ['channel', 'googlepubsub', 'schemaSettings/name', 'encoding', 'a', 'b'],
  ['channel', 'googlepubsub', 'schemaSettings/firstRevisionId', 'delivery', 'a', 'b'],
  ['channel', 'googlepubsub', 'schemaSettings/lastRevisionId', 'delivery', 'a', 'b'],
  ['channel', 'googlepubsub', 'topic', 'destination', 'a', 'b'],
  ['message', 'googlepubsub', 'attributes', 'delivery', { a: 1 }, { a: 2 }],
  ['message', 'googlepubsub', 'orderingKey', 'delivery', 'a', 'b'],
  ['message', 'googlepubsub', 'schema/name', 'encoding', 'a', 'b'],
  ['message', 'googlepubsub', 'schema/type', 'encoding', 'avro', 'protobuf'],
  ['channel', 'anypointmq', 'destination', 'destination', 'a', 'b'],
  ['channel', 'anypointmq', 'destinationType', 'destination', 'a', 'b'],
  ['message', 'anypointmq', 'headers', 'schema'],
  ['operation', 'ros2', 'role', 'destination', 'publisher', 'action_client'],
  ['operation', 'ros2', 'node', 'destination', 'a', 'b'],
  ['operation', 'ros2', 'qosPolicies/history', 'declaration', 'a', 'b'],
  ['operation', 'ros2', 'qosPolicies/reliability', 'declaration', 'a', 'b'],
  ['operation', 'ros2', 'qosPolicies/durability', 'declaration', 'a', 'b'],
  ['operation', 'ros2', 'qosPolicies/lifespan', 'declaration', 9, 5],
  ['operation', 'ros2', 'qosPolicies/deadline', 'declaration', 9, 5],
  ['operation', 'ros2', 'qosPolicies/liveliness', 'declaration', 'a', 'b'],
  ['operation', 'ros2', 'qosPolicies/leaseDuration', 'declaration', 9, 5],
  ['server', 'ros2', 'rmwImplementation', 'declaration', 'a', 'b'],
  ['server', 'ros2', 'domainId', 'destination', 1, 2],
]

type Members = Readonly<Record<string, unknown>>
type Worst = 'breaking' | 'dangerous' | 'info' | 'none'

const INFO = { title: 't', version: '1' }
const PAYLOAD = { type: 'object' }

type At = (wanted: Place) => Members

const WRITE: Readonly<Record<string, (at: At) => object>> = {
  '3.0': (at) => ({
    asyncapi: '3.0.0',
    info: INFO,
    servers: { main: { host: 'broker.example', protocol: 'any', ...at('server') } },
    channels: { c: { address: 'c', messages: { m: { payload: PAYLOAD, ...at('message') } }, ...at('channel') } },
    operations: { o: { action: 'receive', channel: { $ref: '#/channels/c' }, ...at('operation') } },
  }),
  '2.6': (at) => ({
    asyncapi: '2.6.0',
    info: INFO,
    servers: { main: { url: 'broker.example', protocol: 'any', ...at('server') } },
    channels: {
      c: { publish: { message: { payload: PAYLOAD, ...at('message') }, ...at('operation') }, ...at('channel') },
    },
  }),
}

function worstOf(version: string, place: Place, before: Members | null, after: Members | null): Worst {
  const [base, head] = [before, after].map((bindings) => {
    const at: At = (wanted) => (wanted === place && bindings !== null ? { bindings } : {})
    return JSON.stringify(WRITE[version]?.(at))
  })
  const result = compare({ id: 'api', type: 'asyncapi', before: base ?? '', after: head ?? '' }, {}, sha256Hex)
  assert.ok(result.ok)
  const levels = result.value.groups.map(({ level }) => level)
  return (['breaking', 'dangerous', 'info'] as const).find((level) => levels.includes(level)) ?? 'none'
}

/** A binding with the value at the end of the steps, beside a setting that nobody knows; a step that is a number is an item. */
function binding(protocol: string, steps: string, value: unknown): Members {
  const held = steps
    .split('/')
    .toReversed()
    .reduce<unknown>((inner, step) => {
      if (step === '0') return [inner]
      return inner === undefined ? { other: 1 } : { other: 1, [step]: inner }
    }, value)
  return { [protocol]: held }
}

/** A change forth and back, the first mention of the second value, the removal of the first. */
type Levels = readonly [forth: Worst, back: Worst, added: Worst, removed: Worst]

const LEVELS: Readonly<Record<Kind, Levels>> = {
  destination: ['breaking', 'breaking', 'dangerous', 'dangerous'],
  declaration: ['breaking', 'breaking', 'dangerous', 'dangerous'],
  encoding: ['breaking', 'breaking', 'dangerous', 'dangerous'],
  delivery: ['dangerous', 'dangerous', 'dangerous', 'dangerous'],
  // What the broker keeps or takes without the limit is not known.
  limit: ['dangerous', 'info', 'dangerous', 'dangerous'],
  // What is received, clients bring: the first schema refuses what any was admitted, the second one more.
  schema: ['breaking', 'info', 'breaking', 'info'],
  upkeep: ['info', 'info', 'info', 'info'],
}

const UNLIMITED: Levels = ['dangerous', 'info', 'dangerous', 'info']
const NOTHING_KEPT: Levels = ['dangerous', 'info', 'info', 'dangerous']
const KNOWN: Levels = ['breaking', 'breaking', 'breaking', 'breaking']

/** Where the specification says what holds without the setting, that value is the same as silence. */
const SILENT: Readonly<Record<string, Levels>> = {
  'amqp expiration': UNLIMITED,
  'mqtt maximumPacketSize': UNLIMITED,
  'mqtt messageExpiryInterval': UNLIMITED,
  'pulsar ttl': UNLIMITED,
  'solace destinations/0/queue/maxTtl': UNLIMITED,
  'solace timeToLive': UNLIMITED,
  'ibmmq expiry': UNLIMITED,
  'mqtt sessionExpiryInterval': NOTHING_KEPT,
  'pulsar retention/time': NOTHING_KEPT,
  'pulsar retention/size': NOTHING_KEPT,
  // Five and nine seconds instead of four days.
  'sqs queue/messageRetentionPeriod': UNLIMITED,
  'sqs deadLetterQueue/messageRetentionPeriod': UNLIMITED,
  'pulsar tenant': KNOWN,
  'ros2 domainId': KNOWN,
  'ibmmq ccdtQueueManagerName': KNOWN,
  'ibmmq cipherSpec': KNOWN,
  'sse event': KNOWN,
  'jms destinationType': ['breaking', 'breaking', 'breaking', 'none'],
  'anypointmq destinationType': KNOWN,
  'ibmmq destinationType': ['breaking', 'breaking', 'none', 'breaking'],
  'ibmmq type': ['breaking', 'breaking', 'breaking', 'none'],
  'ibmmq queue/exclusive': ['breaking', 'breaking', 'none', 'breaking'],
  'ibmmq queue/isPartitioned': ['dangerous', 'dangerous', 'none', 'dangerous'],
  'ibmmq multiEndpointServer': ['dangerous', 'dangerous', 'none', 'dangerous'],
  'ibmmq topic/durablePermitted': ['breaking', 'breaking', 'breaking', 'none'],
  'ibmmq topic/lastMsgRetained': ['dangerous', 'dangerous', 'none', 'dangerous'],
  'solace destinations/0/deliveryMode': ['dangerous', 'dangerous', 'none', 'dangerous'],
  'sqs deadLetterQueue/fifoQueue': ['dangerous', 'dangerous', 'none', 'dangerous'],
  'sqs queues/0/fifoQueue': ['breaking', 'breaking', 'none', 'breaking'],
  'amqp is': ['breaking', 'breaking', 'none', 'breaking'],
  'amqp exchange/vhost': ['breaking', 'breaking', 'breaking', 'breaking'],
  'amqp queue/vhost': ['breaking', 'breaking', 'breaking', 'breaking'],
  'sqs queue/fifoQueue': ['breaking', 'breaking', 'none', 'breaking'],
}

const SCHEMAS: Readonly<Record<string, readonly [unknown, unknown]>> = {
  whole: [{ type: 'string' }, { type: 'string', enum: ['a'] }],
  members: [
    { type: 'object', properties: { a: { type: 'string' } } },
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
  ],
}
/** A property that is described no more is a finding of its own. */
const DESCRIBED: Levels = ['breaking', 'info', 'breaking', 'dangerous']
const WHOLE: ReadonlySet<string> = new Set(['key', 'correlationData'])

suite('settings of bindings', () => {
  for (const [place, protocol, steps, kind, first, second] of SETTINGS) {
    test(`${protocol} ${steps} of a ${place} is of the kind ${kind}`, () => {
      const isWhole = kind !== 'schema' || WHOLE.has(steps)
      const schemas = SCHEMAS[isWhole ? 'whole' : 'members']
      const [one, other] = kind === 'schema' ? (schemas ?? []) : [first, second]
      const [had, has, none] = [one, other, undefined].map((value) => binding(protocol, steps, value))
      const expected = SILENT[`${protocol} ${steps}`] ?? (isWhole ? LEVELS[kind] : DESCRIBED)
      for (const version of Object.keys(WRITE)) {
        const worst = (before: Members | undefined, after: Members | undefined): Worst =>
          worstOf(version, place, before ?? null, after ?? null)
        const found = [worst(had, has), worst(has, had), worst(none, has), worst(had, none)]
        assert.deepEqual(found, expected, version)
      }
    })
  }

  test('with its whole binding, a schema is judged as beside others', () => {
    for (const [place, protocol, steps, kind] of SETTINGS) {
      if (kind !== 'schema') continue
      const [, narrow] = SCHEMAS[WHOLE.has(steps) ? 'whole' : 'members'] ?? []
      const bindings = { [protocol]: { [steps]: narrow } }
      for (const version of Object.keys(WRITE)) {
        assert.equal(worstOf(version, place, null, bindings), 'breaking', `${protocol} ${steps} comes`)
        assert.equal(worstOf(version, place, bindings, null), 'dangerous', `${protocol} ${steps} goes`)
      }
    }
  })
})

const queue = (more: object): Members => ({ sqs: { queue: { name: 'q', fifoQueue: true, ...more } } })

const text = (description: string): object => ({ type: 'string', enum: ['a'], description })

const destinations = (names: readonly string[]): Members => ({
  solace: { destinations: names.map((name) => ({ destinationType: 'queue', queue: { name } })) },
})

const routed = (address: string, description: string): string =>
  JSON.stringify({
    asyncapi: '3.0.0',
    info: INFO,
    channels: {
      exchange: { address: 'e', bindings: { amqp: { channel: { $ref: '#/channels/queue' } } } },
      queue: { address, description },
    },
    operations: { o: { action: 'receive', channel: { $ref: '#/channels/exchange' } } },
  })

const rulesOf = (before: string, after: string): readonly string[] => {
  const result = compare({ id: 'api', type: 'asyncapi', before, after }, {}, sha256Hex)
  assert.ok(result.ok)
  return result.value.groups.map(({ rule }) => rule)
}

suite('bindings that mean the same', () => {
  const SAME: readonly (readonly [string, Place, Members | null, Members | null])[] = [
    ['an empty binding', 'operation', null, { sqs: {} }],
    ['a version only', 'server', null, { kafka: { bindingVersion: '0.5.0' } }],
    ['no expiry', 'message', { ibmmq: {} }, { ibmmq: { expiry: 0 } }],
    ['a binding of defaults', 'channel', null, { jms: { destination: 'c', destinationType: 'queue' } }],
    ['a binding of no limit', 'message', null, { ibmmq: { expiry: 0 } }],
    ['defaults of a queue', 'channel', queue({}), queue({ visibilityTimeout: 30, deliveryDelay: 0 })],
    ['no tenant', 'server', { pulsar: {} }, { pulsar: { tenant: 'public' } }],
    ['the order of destinations', 'operation', destinations(['a', 'b', 'c']), destinations(['c', 'a', 'b'])],
    ['the order of equal items', 'operation', destinations(['a', 'a', 'b']), destinations(['b', 'a', 'a'])],
    ['the text of a group', 'operation', { kafka: { groupId: text('a') } }, { kafka: { groupId: text('b') } }],
    ['a constant', 'operation', { kafka: { groupId: { enum: ['a'] } } }, { kafka: { groupId: { const: 'a' } } }],
    ['the text of a topic', 'message', { mqtt: { responseTopic: text('a') } }, { mqtt: { responseTopic: text('b') } }],
  ]
  for (const [name, place, before, after] of SAME)
    test(name, () => {
      for (const version of Object.keys(WRITE)) {
        assert.equal(worstOf(version, place, before, after), 'none', version)
        assert.equal(worstOf(version, place, after, before), 'none', version)
      }
    })

  const LIMITS: readonly (readonly [string, Place, Members, Members])[] = [
    ['an expiry', 'message', { ibmmq: { expiry: 0 } }, { ibmmq: { expiry: 1000 } }],
    ['sessions that end', 'server', { mqtt5: { sessionExpiryInterval: 4_294_967_295 } }, { mqtt5: {} }],
    ['a time to live', 'operation', { solace: { timeToLive: 0 } }, { solace: { timeToLive: 5 } }],
    ['retention', 'channel', { pulsar: { retention: { time: -1 } } }, { pulsar: { retention: { time: 5 } } }],
  ]
  for (const [name, place, before, after] of LIMITS)
    test(`the value for no limit is the highest: ${name}`, () => {
      for (const version of Object.keys(WRITE)) {
        assert.equal(worstOf(version, place, before, after), 'dangerous', version)
        assert.equal(worstOf(version, place, after, before), 'info', version)
      }
    })

  test('a finding in a list of another order has the place of its item', () => {
    const [before, after] = [
      destinations(['a', 'b']),
      { solace: { destinations: [{ queue: { name: 'b' } }, { destinationType: 'topic', queue: { name: 'a' } }] } },
    ]
    const [base, head] = [before, after].map((bindings) =>
      JSON.stringify(WRITE['3.0']?.((wanted) => (wanted === 'operation' ? { bindings } : {}))),
    )
    const result = compare({ id: 'api', type: 'asyncapi', before: base ?? '', after: head ?? '' }, {}, sha256Hex)
    assert.ok(result.ok)
    const places = result.value.groups.map(({ level, location }) => `${level} ${location.split('/bindings/')[1]}`)
    assert.deepEqual(places, [
      'breaking solace/destinations/1/destinationType',
      'dangerous solace/destinations/1/destinationType',
    ])
  })

  test('a route to another channel is named by its address', () => {
    assert.deepEqual(rulesOf(routed('q', 'a'), routed('q', 'b')), [])
    assert.ok(rulesOf(routed('q', 'a'), routed('r', 'a')).includes('asyncapi-binding-destination-changed'))
  })
})
