/**
 * Every element of AsyncAPI 3.0 that is no schema, with each action, in both directions: what it is at the worst.
 * It is one table, so that an element which is missing can be seen.
 */
import { checkElements, type ElementRow } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

interface Parts {
  readonly operation?: Json
  readonly sending?: Json
  readonly channel?: Json
  readonly message?: Json
  readonly server?: Json
  readonly root?: Json
}

const TEXT = { type: 'string' }
const ref = (path: string): Json => ({ $ref: `#/${path}` })

/** An application that receives a message of one channel and sends one of another; what is given stands at both. */
function application(parts: Parts): Json {
  const { server, root } = parts
  return {
    asyncapi: '3.0.0',
    info: { title: 't', version: '1' },
    servers: { s: { host: 'broker.example', protocol: 'kafka', ...server } },
    channels: channelsOf(parts),
    operations: operationsOf(parts),
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'user' },
        user: { type: 'userPassword' },
        token: {
          type: 'oauth2',
          flows: { clientCredentials: { tokenUrl: 'https://id.example/t', availableScopes: { a: 'a', b: 'b' } } },
        },
      },
    },
    ...root,
  }
}

function channelsOf({ channel, message }: Parts): Json {
  return {
    in: { address: 'in/{a}/{b}', messages: { m: { payload: TEXT, ...message } }, parameters: PARAMETERS, ...channel },
    out: { address: 'out', messages: { m: { payload: TEXT, ...message } } },
    replies: { address: 'replies', messages: { r: { payload: TEXT } } },
    others: { address: 'others', messages: { r: { payload: TEXT } } },
  }
}

function operationsOf({ operation, sending }: Parts): Json {
  return {
    hear: { action: 'receive', channel: ref('channels/in'), ...operation },
    tell: { action: 'send', channel: ref('channels/out'), ...sending },
  }
}

const PARAMETERS = { a: { enum: ['x', 'y'] }, b: {} }
const parameters = (a: Json): Parts => ({ channel: { parameters: { ...PARAMETERS, a } } })
const servers = (more: Json): Parts => ({
  root: { servers: { s: { host: 'broker.example', protocol: 'kafka' }, ...more } },
})
const channelsWith = (more: Json): Parts => ({ root: { channels: { ...channelsOf({}), ...more } } })
const operationsWith = (more: Json): Parts => ({ root: { operations: { ...operationsOf({}), ...more } } })
const without = (holder: 'channels' | 'operations', name: string): Parts => {
  const { [name]: _gone, ...rest } = holder === 'channels' ? channelsOf({}) : operationsOf({})
  return { root: { [holder]: rest } }
}
const variable = (region: Json): Parts => ({ server: { host: '{region}.example', variables: { region } } })
const oauth = (
  scopes: readonly string[],
  tokenUrl = 'https://id.example/t',
  availableScopes: Json = { a: 'a', b: 'b' },
): Json => ({
  type: 'oauth2',
  flows: { clientCredentials: { tokenUrl, availableScopes } },
  scopes,
})
const twoFlows = (availableScopes: Json): Json => {
  const tokenUrl = 'https://id.example/t'
  const password = { tokenUrl, availableScopes: { a: 'a', b: 'b' } }
  return { type: 'oauth2', flows: { password, clientCredentials: { tokenUrl, availableScopes } }, scopes: ['a'] }
}
const secured = (...security: readonly Json[]): Parts => ({ operation: { security } })
const securedServer = (...security: readonly Json[]): Parts => ({ server: { security } })
const key = { type: 'apiKey', in: 'user' }
const user = { type: 'userPassword' }
const reply = (more: Json): Parts => ({ operation: { reply: more } })
const toReplies = { channel: ref('channels/replies') }
const traitOf = (member: string, value: unknown): Parts => ({ operation: { traits: [{ [member]: value }] } })
const messageTrait = (member: string, value: unknown): Parts => ({ message: { traits: [{ [member]: value }] } })
const channelBinding = (bindings: Json): Parts => ({ channel: { bindings } })
const at = (location: string): Json => ({ correlationId: { location } })
const two = { m: { payload: TEXT }, n: { payload: TEXT } }

const ELEMENTS: readonly ElementRow<Parts>[] = [
  ['a channel', {}, channelsWith({ more: { address: 'more' } }), 'info', 'breaking'],
  ['a channel with its operation', without('operations', 'tell'), {}, 'info', 'breaking'],
  ['a receiving operation', without('operations', 'hear'), {}, 'info', 'breaking'],
  ['the direction of an operation', {}, { operation: { action: 'send' } }, 'breaking', 'breaking'],
  ['the channel of an operation', {}, { sending: { channel: ref('channels/others') } }, 'breaking', 'breaking'],
  ['the address of a channel', {}, { channel: { address: 'into/{a}/{b}' } }, 'breaking', 'breaking'],
  [
    'the name of an address parameter',
    {},
    { channel: { address: 'in/{c}/{b}', parameters: { c: PARAMETERS.a, b: {} } } },
    'none',
    'none',
  ],
  ['places of address parameters', {}, { channel: { address: 'in/{b}/{a}' } }, 'breaking', 'breaking'],
  [
    'a value of a parameter',
    parameters({ enum: ['x', 'y'] }),
    parameters({ enum: ['x', 'y', 'z'] }),
    'dangerous',
    'breaking',
  ],
  ['a list of values of a parameter', parameters({}), parameters({ enum: ['x'] }), 'breaking', 'dangerous'],
  ['the order of values of a parameter', {}, parameters({ enum: ['y', 'x'] }), 'none', 'none'],
  ['the default of a parameter', {}, parameters({ enum: ['x', 'y'], default: 'x' }), 'dangerous', 'dangerous'],
  [
    'the location of a parameter',
    {},
    parameters({ enum: ['x', 'y'], location: '$message.payload#/a' }),
    'dangerous',
    'dangerous',
  ],
  ['the description of a parameter', {}, parameters({ enum: ['x', 'y'], description: 'd' }), 'none', 'none'],
  ['a message of a received channel', {}, { channel: { messages: two } }, 'info', 'breaking'],
  [
    'a message of a sent operation',
    channelsWith({ out: { address: 'out', messages: two } }),
    {},
    'dangerous',
    'dangerous',
  ],
  [
    'a message that an operation names',
    { channel: { messages: two } },
    { channel: { messages: two }, operation: { messages: [ref('channels/in/messages/m')] } },
    'breaking',
    'info',
  ],
  [
    'the servers of a channel',
    servers({ t: { host: 'b.example', protocol: 'kafka' } }),
    { ...servers({ t: { host: 'b.example', protocol: 'kafka' } }), channel: { servers: [ref('servers/s')] } },
    'breaking',
    'info',
  ],
  [
    'the payload of a channel without operations',
    channelsWith({ others: { address: 'others', messages: { r: { payload: { type: ['string', 'integer'] } } } } }),
    {},
    'breaking',
    'breaking',
  ],
  [
    'a message of a channel without operations',
    channelsWith({ others: { address: 'others', messages: { r: { payload: TEXT }, s: { payload: TEXT } } } }),
    {},
    'breaking',
    'dangerous',
  ],
  [
    'a message of a channel that its operation does not use',
    { channel: { messages: two }, operation: { messages: [ref('channels/in/messages/m')] } },
    { channel: { messages: { m: two.m } }, operation: { messages: [ref('channels/in/messages/m')] } },
    'breaking',
    'info',
  ],
  [
    'a message of a channel that its operation uses from now on',
    { channel: { messages: two }, operation: { messages: [ref('channels/in/messages/m')] } },
    { channel: { messages: two } },
    'info',
    'breaking',
  ],

  ['a reply', {}, reply(toReplies), 'info', 'breaking'],
  ['a reply to what is sent', {}, { sending: { reply: toReplies } }, 'dangerous', 'breaking'],
  ['the channel of a reply', reply(toReplies), reply({ channel: ref('channels/others') }), 'breaking', 'breaking'],
  [
    'the address of a reply',
    reply(toReplies),
    reply({ ...toReplies, address: { location: '$message.header#/r' } }),
    'dangerous',
    'breaking',
  ],
  [
    'another address of a reply',
    reply({ ...toReplies, address: { location: '$message.header#/a' } }),
    reply({ ...toReplies, address: { location: '$message.header#/b' } }),
    'breaking',
    'breaking',
  ],
  [
    'a message of a reply',
    {
      ...reply(toReplies),
      ...channelsWith({ replies: { address: 'replies', messages: { r: { payload: TEXT }, e: { payload: TEXT } } } }),
    },
    reply(toReplies),
    'dangerous',
    'dangerous',
  ],

  ['the content type of a message', {}, { message: { contentType: 'application/avro' } }, 'breaking', 'breaking'],
  [
    'the content type of all messages',
    {},
    { root: { defaultContentType: 'application/avro' } },
    'breaking',
    'breaking',
  ],
  [
    'the language of a payload',
    {},
    { message: { payload: { schemaFormat: 'application/vnd.apache.avro;version=1.9.0', schema: TEXT } } },
    'dangerous',
    'dangerous',
  ],
  [
    'a payload in another language',
    { message: { payload: { schemaFormat: 'application/vnd.apache.avro;version=1.9.0', schema: { type: 'int' } } } },
    { message: { payload: { schemaFormat: 'application/vnd.apache.avro;version=1.9.0', schema: { type: 'long' } } } },
    'breaking',
    'breaking',
  ],
  ['a payload', {}, { message: { payload: undefined } }, 'breaking', 'breaking'],
  [
    'headers',
    {},
    { message: { headers: { type: 'object', required: ['a'], properties: { a: TEXT } } } },
    'breaking',
    'breaking',
  ],
  ['a correlation', {}, { message: at('$message.header#/id') }, 'info', 'dangerous'],
  [
    'another correlation',
    { message: at('$message.header#/id') },
    { message: at('$message.header#/other') },
    'dangerous',
    'dangerous',
  ],
  ['the name of a message', { message: { name: 'a' } }, { message: { name: 'b' } }, 'none', 'none'],
  ['examples of a message', {}, { message: { examples: [{ payload: 'a' }] } }, 'none', 'none'],
  [
    'texts of a message',
    {},
    {
      message: {
        title: 't',
        summary: 's',
        description: 'd',
        tags: [{ name: 'a' }],
        externalDocs: { url: 'https://x' },
      },
    },
    'none',
    'none',
  ],
  [
    'headers by a trait',
    {},
    messageTrait('headers', { type: 'object', required: ['a'], properties: { a: TEXT } }),
    'breaking',
    'breaking',
  ],
  ['a content type by a trait', {}, messageTrait('contentType', 'application/avro'), 'breaking', 'breaking'],
  [
    'another correlation by a trait',
    messageTrait('correlationId', at('$message.header#/a').correlationId),
    messageTrait('correlationId', at('$message.header#/b').correlationId),
    'dangerous',
    'dangerous',
  ],
  [
    'a binding by a trait of a message',
    messageTrait('bindings', { kafka: { schemaIdLocation: 'header' } }),
    messageTrait('bindings', { kafka: { schemaIdLocation: 'payload' } }),
    'breaking',
    'breaking',
  ],

  [
    'a binding by a trait of an operation',
    traitOf('bindings', { mqtt: { qos: 1 } }),
    traitOf('bindings', { mqtt: { qos: 0 } }),
    'dangerous',
    'dangerous',
  ],
  ['security by a trait of an operation', {}, traitOf('security', [key]), 'breaking', 'dangerous'],
  [
    'texts of an operation',
    {},
    { operation: { title: 't', summary: 's', description: 'd', tags: [{ name: 'a' }] } },
    'none',
    'none',
  ],

  ['security of an operation', {}, secured(key), 'breaking', 'dangerous'],
  ['a further way in', secured(key), secured(key, user), 'dangerous', 'breaking'],
  ['another scheme', secured(key), secured(user), 'breaking', 'breaking'],
  ['all listed scopes', secured(oauth(['a'])), secured(oauth(['a'], undefined, {})), 'breaking', 'none'],
  ['an offered scope', secured(oauth(['a'])), secured(oauth(['a'], undefined, { a: 'a' })), 'breaking', 'none'],
  [
    'a scope that one of its flows offers',
    secured(twoFlows({ a: 'a', b: 'b' })),
    secured(twoFlows({ b: 'b' })),
    'breaking',
    'none',
  ],
  ['a scope', secured(oauth(['a'])), secured(oauth(['a', 'b'])), 'breaking', 'dangerous'],
  [
    'the token address',
    secured(oauth(['a'])),
    secured(oauth(['a'], 'https://other.example/t')),
    'breaking',
    'breaking',
  ],
  ['the place of a key', secured(key), secured({ type: 'apiKey', in: 'password' }), 'breaking', 'breaking'],
  [
    'the name of a key',
    secured({ type: 'httpApiKey', in: 'header', name: 'a' }),
    secured({ type: 'httpApiKey', in: 'header', name: 'b' }),
    'breaking',
    'breaking',
  ],
  [
    'the scheme of HTTP security',
    secured({ type: 'http', scheme: 'basic' }),
    secured({ type: 'http', scheme: 'bearer' }),
    'breaking',
    'breaking',
  ],
  [
    'the format of a bearer token',
    secured({ type: 'http', scheme: 'bearer' }),
    secured({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }),
    'none',
    'none',
  ],
  [
    'the address of OpenID Connect',
    secured({ type: 'openIdConnect', openIdConnectUrl: 'https://a.example', scopes: [] }),
    secured({ type: 'openIdConnect', openIdConnectUrl: 'https://b.example', scopes: [] }),
    'breaking',
    'breaking',
  ],
  ['the mechanism of SASL', secured({ type: 'scramSha256' }), secured({ type: 'scramSha512' }), 'breaking', 'breaking'],
  ['security of a server', {}, securedServer(key), 'breaking', 'dangerous'],
  ['another scheme of a server', securedServer(key), securedServer(user), 'breaking', 'breaking'],

  ['a server', {}, servers({ t: { host: 'b.example', protocol: 'kafka' } }), 'info', 'breaking'],
  [
    'the name of a server',
    { root: { servers: { s: { host: 'broker.example', protocol: 'kafka' } } } },
    { root: { servers: { t: { host: 'broker.example', protocol: 'kafka' } } } },
    'info',
    'info',
  ],
  [
    'the topic of a channel, which is its address',
    {},
    channelBinding({ kafka: { topic: 'in/{a}/{b}' } }),
    'none',
    'none',
  ],
  [
    'the order of topic policies',
    channelBinding({ kafka: { topicConfiguration: { 'cleanup.policy': ['compact', 'delete'] } } }),
    channelBinding({ kafka: { topicConfiguration: { 'cleanup.policy': ['delete', 'compact'] } } }),
    'none',
    'none',
  ],
  [
    'a parameter behind a reference',
    {},
    { ...parameters(ref('components/parameters/a')), root: { components: { parameters: { a: PARAMETERS.a } } } },
    'none',
    'none',
  ],
  [
    'the names of two messages',
    { channel: { messages: { a: { payload: TEXT }, b: { payload: { type: 'integer' } } } } },
    { channel: { messages: { c: { payload: { type: 'integer' } }, d: { payload: TEXT } } } },
    'none',
    'none',
  ],
  ...['Application/JSON', 'application/json; charset=utf-8'].map((contentType): ElementRow<Parts> => [
    `the media type ${contentType}`,
    {},
    { message: { contentType } },
    'none',
    'none',
  ]),
  ['the host of a server', {}, { server: { host: 'other.example' } }, 'breaking', 'breaking'],
  ['the path of a server', {}, { server: { pathname: '/v1' } }, 'breaking', 'breaking'],
  ['the protocol of a server', {}, { server: { protocol: 'amqp' } }, 'breaking', 'breaking'],
  [
    'the version of a protocol',
    { server: { protocolVersion: '2.8' } },
    { server: { protocolVersion: '3.0' } },
    'dangerous',
    'dangerous',
  ],
  ['a first version of a protocol', {}, { server: { protocolVersion: '3.0' } }, 'none', 'dangerous'],
  [
    'texts of a server',
    {},
    { server: { title: 't', summary: 's', description: 'd', tags: [{ name: 'a' }] } },
    'none',
    'none',
  ],
  [
    'a value of a variable',
    variable({ enum: ['a', 'b'], default: 'a' }),
    variable({ enum: ['a'], default: 'a' }),
    'breaking',
    'info',
  ],
  [
    'the default of a variable',
    variable({ enum: ['a', 'b'], default: 'a' }),
    variable({ enum: ['a', 'b'], default: 'b' }),
    'dangerous',
    'dangerous',
  ],
  [
    'the definition of a variable',
    variable({ default: 'a' }),
    { server: { host: '{region}.example', variables: {} } },
    'dangerous',
    'none',
  ],
  [
    'a list of values of a variable',
    variable({ default: 'a' }),
    variable({ enum: ['a'], default: 'a' }),
    'breaking',
    'info',
  ],
  [
    'the name of a variable',
    variable({ default: 'a' }),
    { server: { host: '{zone}.example', variables: { zone: { default: 'a' } } } },
    'none',
    'none',
  ],
  [
    'the binding of a server',
    {},
    { server: { bindings: { kafka: { schemaRegistryUrl: 'https://r' } } } },
    'dangerous',
    'dangerous',
  ],

  ['the version of the language', {}, { root: { asyncapi: '3.1.0' } }, 'info', 'info'],
  ['texts of the document', {}, { root: { info: { title: 'other', version: '1', description: 'd' } } }, 'none', 'none'],
  [
    'the security of either of two operations',
    operationsWith({
      again: { action: 'receive', channel: ref('channels/in'), security: [key] },
      hear: { action: 'receive', channel: ref('channels/in'), security: [key] },
    }),
    operationsWith({
      again: { action: 'receive', channel: ref('channels/in'), security: [key] },
      hear: { action: 'receive', channel: ref('channels/in'), security: [user] },
    }),
    'breaking',
    'breaking',
  ],
  [
    'the binding of either of two operations',
    operationsWith({
      again: { action: 'receive', channel: ref('channels/in'), bindings: { mqtt: { qos: 1 } } },
      hear: { action: 'receive', channel: ref('channels/in'), bindings: { mqtt: { qos: 1 } } },
    }),
    operationsWith({
      again: { action: 'receive', channel: ref('channels/in'), bindings: { mqtt: { qos: 1 } } },
      hear: { action: 'receive', channel: ref('channels/in'), bindings: { mqtt: { qos: 2 } } },
    }),
    'dangerous',
    'dangerous',
  ],
  [
    'a second operation of the same address, with security',
    operationsWith({ again: { action: 'receive', channel: ref('channels/in') } }),
    operationsWith({ again: { action: 'receive', channel: ref('channels/in'), security: [key] } }),
    'breaking',
    'dangerous',
  ],
  [
    'a second operation of the same address, with a binding',
    operationsWith({ again: { action: 'receive', channel: ref('channels/in'), bindings: { mqtt: { qos: 1 } } } }),
    operationsWith({ again: { action: 'receive', channel: ref('channels/in'), bindings: { mqtt: { qos: 0 } } } }),
    'dangerous',
    'dangerous',
  ],
  [
    'a second operation of the same address, with a reply',
    operationsWith({ again: { action: 'receive', channel: ref('channels/in'), reply: toReplies } }),
    operationsWith({
      again: { action: 'receive', channel: ref('channels/in'), reply: { channel: ref('channels/others') } },
    }),
    'breaking',
    'breaking',
  ],
  [
    'the payload of either of two channels of the same address',
    channelsWith({
      out2: { address: 'out', messages: { m: { payload: TEXT } } },
      out: { address: 'out', messages: { m: { payload: { type: ['string', 'integer'] } } } },
    }),
    channelsWith({
      out2: { address: 'out', messages: { m: { payload: TEXT } } },
      out: { address: 'out', messages: { m: { payload: TEXT } } },
    }),
    'info',
    'breaking',
  ],
  [
    'a second channel of the same address',
    {},
    channelsWith({ out2: { address: 'out', messages: { m: { payload: TEXT } } } }),
    'info',
    'breaking',
  ],
  [
    'a binding of a second channel of the same address',
    channelsWith({ again: { address: 'out', bindings: { kafka: { topic: 'a' } } } }),
    channelsWith({ again: { address: 'out', bindings: { kafka: { topic: 'b' } } } }),
    'breaking',
    'breaking',
  ],
  [
    'a binding of a first channel of the same address',
    channelsWith({ aaa: { address: 'out', bindings: { kafka: { topic: 'a' } } } }),
    channelsWith({ aaa: { address: 'out', bindings: { kafka: { topic: 'b' } } } }),
    'breaking',
    'breaking',
  ],
]

checkElements('an element of AsyncAPI', 'asyncapi', ELEMENTS, application)
