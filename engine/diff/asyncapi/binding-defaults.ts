/** What holds without a binding setting, and which values of limits stand for none, from the published specifications. */
import { lookupTable } from '../../common/lookup-table.ts'

/** The default of a setting that is the address of its channel. */
export const CHANNEL_ADDRESS = Symbol('the address of the channel')
/** The default of a limit that is not set. */
export const NO_LIMIT = Symbol('no limit')

const QUEUES = ['queue', 'deadLetterQueue', 'queues.*']

const QUEUE_DEFAULTS = {
  deliveryDelay: 0,
  fifoQueue: false,
  messageRetentionPeriod: 345_600,
  receiveMessageWaitTime: 0,
  visibilityTimeout: 30,
  'redrivePolicy.maxReceiveCount': 10,
}

/** Absent: the specification leaves it open, as Kafka does with limits that the broker has. */
export const FALLBACKS: Readonly<Record<string, unknown>> = lookupTable({
  'amqp exchange.vhost': '/',
  'amqp expiration': NO_LIMIT,
  'amqp is': 'routingKey',
  'amqp queue.vhost': '/',
  'anypointmq destination': CHANNEL_ADDRESS,
  'anypointmq destinationType': 'queue',
  'ibmmq ccdtQueueManagerName': '*',
  'ibmmq cipherSpec': 'ANY',
  'ibmmq destinationType': 'topic',
  'ibmmq expiry': NO_LIMIT,
  'ibmmq heartBeatInterval': 300,
  'ibmmq multiEndpointServer': false,
  'ibmmq queue.exclusive': false,
  'ibmmq queue.isPartitioned': false,
  'ibmmq topic.durablePermitted': true,
  'ibmmq topic.lastMsgRetained': false,
  'ibmmq topic.string': CHANNEL_ADDRESS,
  'ibmmq type': 'string',
  'jms destination': CHANNEL_ADDRESS,
  'jms destinationType': 'queue',
  'kafka topic': CHANNEL_ADDRESS,
  'mqtt maximumPacketSize': NO_LIMIT,
  'mqtt messageExpiryInterval': NO_LIMIT,
  // MQTT 5.0 §3.1.2.11.2: a session without an interval ends with its connection.
  'mqtt sessionExpiryInterval': 0,
  'pulsar retention.size': 0,
  'pulsar retention.time': 0,
  'pulsar tenant': 'public',
  'pulsar ttl': NO_LIMIT,
  'ros2 domainId': 0,
  'solace destinations.*.deliveryMode': 'persistent',
  'solace destinations.*.queue.maxTtl': NO_LIMIT,
  'solace timeToLive': NO_LIMIT,
  'sse event': 'message',
  ...Object.fromEntries(
    QUEUES.flatMap((queue) =>
      Object.entries(QUEUE_DEFAULTS).map(([name, value]) => [`sqs ${queue}.${name}`, value] as const),
    ),
  ),
})

/** Values for no limit, beside -1. */
export const UNLIMITED: Readonly<Record<string, unknown>> = lookupTable({
  'ibmmq expiry': 0,
  // MQTT 5.0 §3.1.2.11.2.
  'mqtt sessionExpiryInterval': 4_294_967_295,
  'pulsar ttl': 0,
  'solace destinations.*.queue.maxTtl': 0,
  'solace timeToLive': 0,
})

/** Settings whose value may be described by a schema. */
export const DESCRIBED: ReadonlySet<string> = new Set([
  'jms properties',
  'kafka clientId',
  'kafka groupId',
  'mqtt maximumPacketSize',
  'mqtt messageExpiryInterval',
  'mqtt responseTopic',
  'mqtt sessionExpiryInterval',
  'solace priority',
  'solace timeToLive',
])
