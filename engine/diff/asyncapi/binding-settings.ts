/**
 * The meaning of binding settings by protocol, from the published binding specifications
 * (https://github.com/asyncapi/bindings). Of an unlisted setting only the change is known.
 */
import { lookupTable } from '../../common/lookup-table.ts'
import { DESCRIBED, FALLBACKS, UNLIMITED } from './binding-defaults.ts'

/**
 * `destination`: where and how messages are sent or requested. `declaration`: both sides declare it alike or are
 * refused. `encoding`: how the bytes are read. `delivery`: how a message is delivered. `limit`: a larger value permits
 * more. `schema`: a JSON Schema. `channel`: a reference to the channel that messages go to. `upkeep`: only operators of
 * the broker need it.
 */
const KINDS = ['destination', 'declaration', 'encoding', 'delivery', 'limit', 'schema', 'channel', 'upkeep'] as const
export type SettingKind = (typeof KINDS)[number]

export interface BindingSetting {
  readonly kind: SettingKind
  /** The default; null if the specification leaves it open. */
  readonly fallback: unknown
  /** Of a limit: the value for none, beside -1. */
  readonly unlimited: unknown
  /** Whether a schema may describe the value. */
  readonly isDescribed: boolean
}

type Rows = Readonly<Partial<Record<SettingKind, readonly string[]>>>

/** Names of settings below the binding. `*` is every item of a list; a final name covers everything below it. */
const ROWS: Readonly<Record<string, Rows>> = lookupTable({
  amqp: {
    destination: ['is', 'name', 'exchange.name', 'exchange.vhost', 'queue.name', 'queue.vhost', 'cc', 'bcc', 'replyTo'],
    // AMQP 0-9-1 §1.7.2.1: a declaration that differs from the existing one fails with precondition-failed.
    declaration: [
      'exchange.type',
      'exchange.durable',
      'exchange.autoDelete',
      'queue.durable',
      'queue.exclusive',
      'queue.autoDelete',
    ],
    encoding: ['contentEncoding', 'messageType'],
    delivery: ['deliveryMode', 'mandatory', 'ack', 'userId'],
    limit: ['expiration'],
    channel: ['channel'],
    upkeep: ['priority', 'timestamp'],
  },
  anypointmq: { destination: ['destination', 'destinationType'], schema: ['headers'] },
  googlepubsub: {
    destination: ['topic'],
    encoding: ['schemaSettings.encoding', 'schemaSettings.name', 'schema'],
    delivery: ['schemaSettings', 'messageStoragePolicy', 'orderingKey', 'attributes'],
    limit: ['messageRetentionDuration'],
    upkeep: ['labels'],
  },
  http: { destination: ['method', 'statusCode'], schema: ['query', 'headers'], upkeep: ['type'] },
  ibmmq: {
    destination: [
      'destinationType',
      'queue.objectName',
      'topic.string',
      'topic.objectName',
      'groupId',
      'ccdtQueueManagerName',
    ],
    declaration: ['queue.exclusive', 'cipherSpec', 'topic.durablePermitted'],
    encoding: ['type', 'headers'],
    delivery: ['queue.isPartitioned', 'topic.lastMsgRetained', 'multiEndpointServer'],
    limit: ['maxMsgLength', 'expiry'],
    upkeep: ['heartBeatInterval', 'description'],
  },
  jms: {
    destination: ['destination', 'destinationType', 'jmsConnectionFactory'],
    delivery: ['clientID', 'properties'],
    schema: ['headers'],
  },
  kafka: {
    destination: ['topic'],
    encoding: [
      'schemaRegistryUrl',
      'schemaRegistryVendor',
      'schemaIdLocation',
      'schemaIdPayloadEncoding',
      'schemaLookupStrategy',
    ],
    // Messages with one key stay in order within a partition, and the number of partitions decides which one.
    delivery: ['partitions', 'groupId', 'clientId', 'topicConfiguration'],
    limit: [
      'topicConfiguration.retention.ms',
      'topicConfiguration.retention.bytes',
      'topicConfiguration.delete.retention.ms',
      'topicConfiguration.max.message.bytes',
    ],
    schema: ['key'],
    upkeep: ['replicas'],
  },
  mqtt: {
    destination: ['responseTopic', 'lastWill.topic'],
    encoding: ['payloadFormatIndicator', 'contentType'],
    delivery: ['qos', 'retain', 'cleanSession', 'clientId', 'lastWill'],
    limit: ['messageExpiryInterval', 'sessionExpiryInterval', 'maximumPacketSize'],
    schema: ['correlationData'],
    upkeep: ['keepAlive'],
  },
  nats: { delivery: ['queue'] },
  pulsar: {
    destination: ['tenant', 'namespace', 'persistence'],
    delivery: ['deduplication'],
    limit: ['retention.time', 'retention.size', 'ttl'],
    upkeep: ['compaction', 'geo-replication'],
  },
  ros2: {
    destination: ['domainId', 'role', 'node'],
    // Endpoints with incompatible policies are not matched.
    declaration: ['qosPolicies', 'rmwImplementation'],
  },
  sns: {
    destination: ['name', 'topic', 'consumers.*.protocol', 'consumers.*.endpoint'],
    encoding: ['consumers.*.rawMessageDelivery'],
    delivery: ['ordering', 'policy', 'consumers', 'deliveryPolicy'],
    upkeep: ['tags', 'consumers.*.displayName'],
  },
  solace: {
    destination: [
      'msgVpn',
      'destinations.*.destinationType',
      'destinations.*.queue.name',
      'destinations.*.queue.topicSubscriptions',
      'destinations.*.topic.topicSubscriptions',
    ],
    declaration: ['destinations.*.queue.accessType'],
    delivery: ['destinations.*.deliveryMode', 'dmqEligible'],
    limit: ['timeToLive', 'destinations.*.queue.maxMsgSpoolSize', 'destinations.*.queue.maxTtl'],
    upkeep: ['priority', 'clientName'],
  },
  sqs: {
    destination: ['queue.name', 'queues.*.name'],
    declaration: ['queue.fifoQueue', 'queues.*.fifoQueue'],
    delivery: ['queue', 'deadLetterQueue', 'queues'],
    limit: ['queue', 'queues.*', 'deadLetterQueue'].map((queue) => `${queue}.messageRetentionPeriod`),
    upkeep: [
      'queue.tags',
      'queues.*.tags',
      'deadLetterQueue.tags',
      'queue.receiveMessageWaitTime',
      'queues.*.receiveMessageWaitTime',
    ],
  },
  sse: { destination: ['method', 'event'], schema: ['query', 'headers'] },
  ws: { destination: ['method'], schema: ['query', 'headers'] },
})

/** Protocols that use the bindings of another one. */
const SAME_AS: Readonly<Record<string, string>> = lookupTable({
  'kafka-secure': 'kafka',
  'secure-mqtt': 'mqtt',
  'ibmmq-secure': 'ibmmq',
  amqps: 'amqp',
  https: 'http',
  mqtt5: 'mqtt',
  mqtts: 'mqtt',
  wss: 'ws',
})

const SETTINGS: ReadonlyMap<string, SettingKind> = new Map(
  Object.entries(ROWS).flatMap(([protocol, rows]) =>
    KINDS.flatMap((kind) => (rows[kind] ?? []).map((name) => [`${protocol} ${name}`, kind] as const)),
  ),
)

/** The kind of a setting, by the nearest name at or above it. Null for one that the specification does not have. */
export function settingOf(binding: string, steps: readonly string[]): BindingSetting | null {
  const protocol = SAME_AS[binding] ?? binding
  const names = steps.map((step) => (/^\d+$/.test(step) ? '*' : step))
  const name = `${protocol} ${names.join('.')}`
  const facts = { fallback: FALLBACKS[name] ?? null, unlimited: UNLIMITED[name], isDescribed: DESCRIBED.has(name) }
  for (let length = names.length; length > 0; length -= 1) {
    const kind = SETTINGS.get(`${protocol} ${names.slice(0, length).join('.')}`)
    // A schema setting covers the whole schema.
    if (kind !== undefined) return kind === 'schema' && length < names.length ? null : { kind, ...facts }
  }
  return null
}
