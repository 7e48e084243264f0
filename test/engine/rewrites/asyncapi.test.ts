/** AsyncAPI written in two ways that mean the same: order, place, reference or inline, and 2.6 as 3.0. */
import { dump } from 'js-yaml'
import { checkRewrites, type Written } from './run.ts'

type Json = Readonly<Record<string, unknown>>

const T = { type: 'string' }
const OBJECT = { type: 'object', required: ['a'], properties: { a: T, b: { type: 'integer' } } }
const MADE = {
  name: 'made',
  contentType: 'application/json',
  headers: { type: 'object', properties: { h: T } },
  payload: OBJECT,
  correlationId: { location: '$message.header#/h' },
}
const KEY = { type: 'httpApiKey', in: 'header', name: 'K' }
const OAUTH = (scopes: string): Json => ({
  type: 'oauth2',
  flows: { clientCredentials: { tokenUrl: 'https://t.example', [scopes]: { r: '', w: '' } } },
})
const ref = (path: string): Json => ({ $ref: `#/${path}` })
const INFO = { title: 't', version: '1' }

const three = (rest: Json): Written => ({ document: { asyncapi: '3.0.0', info: INFO, ...rest } })
const two = (rest: Json, version = '2.6.0'): Written => ({ document: { asyncapi: version, info: INFO, ...rest } })

const CHANNELS = {
  events: { address: 'events/{id}', parameters: { id: { enum: ['a', 'b'] } }, messages: { made: MADE } },
}
const SENT = { action: 'send', channel: ref('channels/events'), messages: [ref('channels/events/messages/made')] }
const api = (rest: Json = {}, files?: Json): Written => ({
  ...three({ channels: CHANNELS, operations: { tell: SENT }, ...rest }),
  ...(files && { files }),
})
/** The references of a part to the document, as another file writes them. */
const backward = (part: Json): Json => JSON.parse(JSON.stringify(part).replaceAll('"#/', '"./contract.json#/'))
/** An operation of all messages of its channel. */
const SENT_ALL = { action: 'send', channel: ref('channels/events') }
const messages = (made: Json, rest: Json = {}, files?: Json): Written =>
  api({ channels: { events: { ...CHANNELS.events, messages: { made } } }, ...rest }, files)
/** Messages of other contents, under keys and names. */
const exchanged = (action: string, keys: readonly string[], names: readonly string[] = []): Written => {
  const payloads = [OBJECT, { type: 'object', required: ['b'], properties: { b: T } }, { type: 'integer' }]
  const named = keys.map((key, index) => [key, { name: names[index], payload: payloads[index] }])
  const channels = { events: { address: 'events', messages: Object.fromEntries(named) } }
  return three({ channels, operations: { tell: { action, channel: ref('channels/events') } } })
}
/** An application that uses channels by operations. */
const using = (action: string, channels: Json, rest: Json = {}): Written =>
  three({
    channels,
    operations: Object.fromEntries(Object.keys(channels).map((id) => [id, { action, channel: ref(`channels/${id}`) }])),
    ...rest,
  })
const kind = (name: string, rest: Json = {}): Json => ({
  type: 'object',
  required: ['kind'],
  properties: { kind: { const: name }, ...rest },
})
const [A, B] = [kind('a'), kind('b', { x: T })]
const channel = (payloads: Json, rest: Json = {}): Json => ({
  address: 'events',
  messages: Object.fromEntries(Object.entries(payloads).map(([name, payload]) => [name, { payload }])),
  ...rest,
})
const EITHER = { either: { title: 'Either', oneOf: [A, B] } }
const older = (member: string, message: Json): Written => two({ channels: { events: { [member]: { message } } } })
const MERGED_PLACE = { servers: [ref('servers/s')], bindings: { kafka: { topic: 't' } } }
const MERGED_SERVERS = {
  servers: { s: { host: 'a.example', protocol: 'kafka' }, z: { host: 'z.example', protocol: 'kafka' } },
}
const secured = (...security: readonly Json[]): Written =>
  api({
    servers: { s: { host: 'a.example', protocol: 'kafka', security } },
    components: { securitySchemes: { key: KEY } },
  })

const OLD = {
  defaultContentType: 'application/json',
  servers: {
    main: {
      url: 'kafka://{r}.example:9092/v1',
      protocol: 'kafka',
      protocolVersion: '3',
      variables: { r: { enum: ['a', 'b'], default: 'a' } },
      security: [{ key: [] }, { oauth: ['r'] }],
    },
    other: { url: 'ws://other.example/', protocol: 'ws' },
  },
  channels: {
    'events/{id}': {
      servers: ['main'],
      parameters: { id: { schema: { type: 'string', enum: ['a', 'b'] }, location: '$message.payload#/a' } },
      bindings: { kafka: { topic: 't', partitions: 3 } },
      subscribe: {
        operationId: 'tell',
        message: { oneOf: [ref('components/messages/made'), { name: 'gone', payload: OBJECT }] },
        bindings: { kafka: { groupId: T } },
      },
    },
    orders: {
      publish: {
        operationId: 'obey',
        security: [{ key: [] }],
        traits: [{ bindings: { http: { type: 'request', method: 'POST' } } }],
        message: { payload: OBJECT, traits: [{ headers: { type: 'object', properties: { t: T } } }] },
      },
      subscribe: {
        operationId: 'answer',
        message: {
          schemaFormat: 'application/vnd.apache.avro;version=1.9.0',
          payload: { type: 'record', name: 'R', fields: [{ name: 'a', type: 'string' }] },
        },
      },
    },
  },
  components: { messages: { made: MADE }, securitySchemes: { key: KEY, oauth: OAUTH('scopes') } },
}

/** As the community's converter writes it: the address is the key of a channel, an operation has the name of its id. */
const NEW = {
  defaultContentType: 'application/json',
  servers: {
    main: {
      host: '{r}.example:9092',
      pathname: '/v1',
      protocol: 'kafka',
      protocolVersion: '3',
      variables: { r: { enum: ['a', 'b'], default: 'a' } },
      security: [ref('components/securitySchemes/key'), { ...OAUTH('availableScopes'), scopes: ['r'] }],
    },
    other: { host: 'other.example', pathname: '/', protocol: 'ws' },
  },
  channels: {
    'events/{id}': {
      address: 'events/{id}',
      servers: [ref('servers/main')],
      parameters: { id: { enum: ['a', 'b'], location: '$message.payload#/a' } },
      bindings: { kafka: { topic: 't', partitions: 3 } },
      messages: { made: ref('components/messages/made'), 'tell.message.1': { name: 'gone', payload: OBJECT } },
    },
    orders: {
      address: 'orders',
      messages: {
        'obey.message': { payload: OBJECT, traits: [{ headers: { type: 'object', properties: { t: T } } }] },
        'answer.message': {
          payload: {
            schemaFormat: 'application/vnd.apache.avro;version=1.9.0',
            schema: { type: 'record', name: 'R', fields: [{ name: 'a', type: 'string' }] },
          },
        },
      },
    },
  },
  operations: {
    tell: {
      action: 'send',
      channel: ref('channels/events~1{id}'),
      bindings: { kafka: { groupId: T } },
      messages: [ref('channels/events~1{id}/messages/made'), ref('channels/events~1{id}/messages/tell.message.1')],
    },
    obey: {
      action: 'receive',
      channel: ref('channels/orders'),
      security: [ref('components/securitySchemes/key')],
      traits: [{ bindings: { http: { method: 'POST' } } }],
      messages: [ref('channels/orders/messages/obey.message')],
    },
    answer: {
      action: 'send',
      channel: ref('channels/orders'),
      messages: [ref('channels/orders/messages/answer.message')],
    },
  },
  components: { messages: { made: MADE }, securitySchemes: { key: KEY, oauth: OAUTH('availableScopes') } },
}

checkRewrites('AsyncAPI', 'asyncapi', [
  [
    'a message in place, and a component',
    api(),
    messages(ref('components/messages/M'), { components: { messages: { M: MADE } } }),
  ],
  [
    'operations in another file that refer back to the document by its name',
    api(),
    api({ operations: { tell: { $ref: 'parts.json#/tell' } } }, { 'parts.json': { tell: backward(SENT), 'x-a': 1 } }),
  ],
  ...(['send', 'receive'] as const).flatMap((action) => [
    ['messages that exchange their keys', exchanged(action, ['p', 'q']), exchanged(action, ['q', 'p'])] as const,
    [
      'messages that exchange their names',
      exchanged(action, ['p', 'q'], ['P', 'Q']),
      exchanged(action, ['p', 'q'], ['Q', 'P']),
    ] as const,
    [
      'messages that change places in a ring',
      exchanged(action, ['p', 'q', 'r']),
      exchanged(action, ['q', 'r', 'p']),
    ] as const,
  ]),
  ...(['send', 'receive'] as const).flatMap((action) => {
    const alone = using(action, { c: channel({ a: A, b: B }) })
    const replying = (payloads: Json): Written =>
      three({
        channels: { c: channel({ q: T }), r: channel(payloads, { address: 'replies' }) },
        operations: { ask: { action, channel: ref('channels/c'), reply: { channel: ref('channels/r') } } },
      })
    const [oldName] = action === 'send' ? ['subscribe'] : ['publish']
    return [
      [`${action}: a payload of either schema, and two messages`, using(action, { c: channel(EITHER) }), alone],
      [
        `${action}: a payload of any of the schemas, and two messages`,
        using(action, { c: channel({ any: { anyOf: [A, B] } }) }),
        alone,
      ],
      [
        `${action}: one of two messages with a payload of either schema, and three messages`,
        using(action, { c: channel({ ...EITHER, other: kind('c') }) }),
        using(action, { c: channel({ a: A, b: B, other: kind('c') }) }),
      ],
      [
        `${action}: alternatives in components, and messages in place`,
        using(
          action,
          { c: channel({ either: { oneOf: [ref('components/schemas/A'), ref('components/schemas/B')] } }) },
          { components: { schemas: { A, B } } },
        ),
        alone,
      ],
      [`${action}: a reply of either schema, and two messages`, replying(EITHER), replying({ a: A, b: B })],
      [
        `${action}: a payload of either schema, and two messages, in 2.6`,
        older(oldName ?? '', { payload: EITHER.either }),
        older(oldName ?? '', { oneOf: [{ payload: A }, { payload: B }] }),
      ],
      [
        `${action}: two channels of one address, and one`,
        using(action, { c: channel({ a: A }), d: channel({ b: B }) }),
        using(action, { c: channel({ a: A, b: B }) }),
      ],
      [
        `${action}: two channels of one address on one server, and one`,
        using(action, { c: channel({ a: A }, MERGED_PLACE), d: channel({ b: B }, MERGED_PLACE) }, MERGED_SERVERS),
        using(action, { d: channel({ a: A, b: B }, MERGED_PLACE) }, MERGED_SERVERS),
      ],
    ] as const
  }),
  ['a message in another file', api(), messages({ $ref: 'parts.json#/M' }, {}, { 'parts.json': { M: MADE } })],
  [
    'a channel in place, and a component',
    api(),
    api({
      channels: { events: ref('components/channels/E') },
      components: { channels: { E: CHANNELS.events } },
    }),
  ],
  [
    'a channel in another file',
    api(),
    api({ channels: { events: { $ref: 'parts.json#/E' } } }, { 'parts.json': { E: CHANNELS.events } }),
  ],
  [
    'an operation in place, and a component',
    api(),
    api({ operations: { tell: ref('components/operations/T') }, components: { operations: { T: SENT } } }),
  ],
  [
    'a parameter in place, and a component',
    api(),
    api({
      channels: { events: { ...CHANNELS.events, parameters: { id: ref('components/parameters/P') } } },
      components: { parameters: { P: { enum: ['b', 'a'] } } },
    }),
  ],
  [
    'another name of a channel',
    api(),
    api({
      channels: { other: CHANNELS.events },
      operations: {
        tell: { ...SENT, channel: ref('channels/other'), messages: [ref('channels/other/messages/made')] },
      },
    }),
  ],
  ['all messages named, and none', api(), api({ operations: { tell: SENT_ALL } })],
  [
    'another key of a message',
    api(),
    api({
      channels: { events: { ...CHANNELS.events, messages: { other: MADE } } },
      operations: { tell: { ...SENT, messages: [ref('channels/events/messages/other')] } },
    }),
  ],
  [
    'members of a trait, and of the message',
    api(),
    messages({
      name: 'made',
      payload: OBJECT,
      correlationId: MADE.correlationId,
      traits: [{ headers: MADE.headers, contentType: MADE.contentType }],
    }),
  ],
  [
    'a content type by default',
    api(),
    messages({ ...MADE, contentType: undefined }, { defaultContentType: 'application/json' }),
  ],
  [
    'a payload with its format',
    api(),
    messages({ ...MADE, payload: { schemaFormat: 'application/vnd.aai.asyncapi;version=3.0.0', schema: OBJECT } }),
  ],
  ['alternatives of security in another order', secured(KEY, { type: 'X509' }), secured({ type: 'X509' }, KEY)],
  ['a security scheme in place, and a component', secured(KEY), secured(ref('components/securitySchemes/key'))],
  [
    'a server that all channels name, and none',
    api({ servers: { s: { host: 'a.example', protocol: 'kafka' } } }),
    api({
      servers: { s: { host: 'a.example', protocol: 'kafka' } },
      channels: { events: { ...CHANNELS.events, servers: [ref('servers/s')] } },
    }),
  ],
  [
    'another name of a server',
    api({ servers: { s: { host: 'a.example', protocol: 'kafka' } } }),
    api({ servers: { z: { host: 'a.example', protocol: 'kafka' } } }),
  ],
  ['extensions', api(), api({ 'x-a': 1 })],
  ['JSON and YAML', api(), { document: dump(JSON.parse(JSON.stringify(api().document))) }],
  ['2.6 and 3.0', two(OLD), three(NEW)],
  [
    '2.0 and 2.6',
    two({ channels: { a: { publish: { message: { payload: OBJECT } } } } }, '2.0.0'),
    two({ channels: { a: { publish: { message: { payload: OBJECT } } } } }),
  ],
  [
    '2.4: one message and oneOf of one',
    two({ channels: { a: { publish: { message: MADE } } } }),
    two({ channels: { a: { publish: { message: { oneOf: [MADE] } } } } }),
  ],
  [
    '2.6: a server of all, and named',
    two({ servers: OLD.servers, components: OLD.components, channels: { a: { publish: { message: MADE } } } }),
    two({
      servers: OLD.servers,
      components: OLD.components,
      channels: { a: { servers: ['main', 'other'], publish: { message: MADE } } },
    }),
  ],
])
