/**
 * The members of AsyncAPI 2.0 to 2.6 by their schemas: what the change of each one is at the worst. Bindings are in the table
 * of 3.0.
 */
import {
  checkMembers,
  API_FOR_PEOPLE,
  forPeople,
  pruned,
  reasonsFor,
  withPartsInPlace,
  without,
  type Reasons,
} from './run.ts'

const GRAMMAR_26 = `
contract: asyncapi id info=info servers=server{} defaultContentType channels=channel{} components=components tags=tag[] externalDocs=docs
info: title version description termsOfService contact=contact license=license
contact: name url email
license: name url
tag: name description externalDocs=docs
docs: description url
server: url protocol protocolVersion description variables=variable{} security=requirement[] tags=tag[] bindings
variable: enum default description examples
requirement: *
channel: description servers deprecated subscribe=operation publish=operation parameters=parameter{} bindings
parameter: description schema location
operation: operationId summary description security=requirement[] tags=tag[] externalDocs=docs bindings traits=operation[] message=message
message: oneOf=message[] messageId headers payload correlationId=correlation schemaFormat contentType name title summary description deprecated tags=tag[] externalDocs=docs bindings examples traits=message[]
correlation: location description
components: schemas servers=server{} serverVariables=variable{} channels=channel{} messages=message{} securitySchemes=scheme{} parameters=parameter{} correlationIds=correlation{} operationTraits=operation{} messageTraits=message{} serverBindings channelBindings operationBindings messageBindings
scheme: type description name in scheme bearerFormat flows=flows openIdConnectUrl
flows: implicit=flow password=flow clientCredentials=flow authorizationCode=flow
flow: authorizationUrl tokenUrl refreshUrl scopes
`
const ADDED: readonly (readonly [string, string])[] = [
  ['2.5.0', 'server.tags'],
  ['2.4.0', 'operation.security message.messageId components.serverVariables'],
  ['2.3.0', 'components.servers components.channels'],
  ['2.2.0', 'channel.servers'],
]

const T = { type: 'string' }
const OBJECT = { type: 'object', required: ['a'], properties: { a: T, b: { type: 'integer' } } }
const DOCS = { url: 'https://e', description: 'd' }
const TAGS = [{ name: 't', description: 'd', externalDocs: DOCS }]
const ref = (path: string) => ({ $ref: `#/components/${path}` })

const DOCUMENT = {
  asyncapi: '2.6.0',
  id: 'urn:x',
  info: {
    title: 't',
    version: '1',
    description: 'd',
    termsOfService: 'https://t',
    contact: { name: 'n', url: 'https://u', email: 'a@b.c' },
    license: { name: 'n', url: 'https://u' },
  },
  tags: TAGS,
  externalDocs: DOCS,
  defaultContentType: 'application/json',
  servers: {
    main: {
      url: 'kafka://{r}.example:{p}/v1',
      protocol: 'kafka',
      protocolVersion: '3',
      description: 'd',
      tags: TAGS,
      variables: {
        r: { enum: ['a', 'b'], default: 'a', description: 'd', examples: ['a'] },
        p: ref('serverVariables/p'),
      },
      security: [{ oauth: ['r'] }, { key: [] }, { http: [] }, { oidc: [] }],
      bindings: { kafka: { schemaRegistryUrl: 'https://r' } },
    },
    other: ref('servers/other'),
  },
  channels: {
    'events/{id}/{q}': {
      description: 'd',
      deprecated: false,
      servers: ['main'],
      bindings: { kafka: { topic: 't' } },
      parameters: {
        id: { description: 'd', schema: { type: 'string', enum: ['a', 'b'] }, location: '$message.payload#/a' },
        q: ref('parameters/q'),
      },
      subscribe: {
        operationId: 'tell',
        summary: 's',
        description: 'd',
        security: [{ key: [] }],
        tags: TAGS,
        externalDocs: DOCS,
        bindings: { kafka: { groupId: T } },
        traits: [ref('operationTraits/o')],
        message: { oneOf: [ref('messages/made'), { name: 'gone', payload: OBJECT }] },
      },
      publish: {
        operationId: 'obey',
        message: {
          schemaFormat: 'application/vnd.apache.avro;version=1.9.0',
          payload: { type: 'record', name: 'R', fields: [{ name: 'a', type: 'string' }] },
        },
      },
    },
    shared: ref('channels/shared'),
  },
  components: {
    schemas: { S: OBJECT },
    servers: { other: { url: 'o.example', protocol: 'amqp', bindings: ref('serverBindings/s') } },
    serverVariables: { p: { enum: ['9092', '9093'], default: '9092' } },
    channels: {
      shared: {
        bindings: ref('channelBindings/c'),
        publish: {
          bindings: ref('operationBindings/b'),
          message: { payload: OBJECT, bindings: ref('messageBindings/m') },
        },
      },
    },
    messages: {
      made: {
        messageId: 'made',
        headers: { type: 'object', properties: { h: T } },
        payload: ref('schemas/S'),
        correlationId: ref('correlationIds/c'),
        contentType: 'application/json',
        name: 'made',
        title: 't',
        summary: 's',
        description: 'd',
        deprecated: false,
        tags: TAGS,
        externalDocs: DOCS,
        bindings: { kafka: { key: T } },
        examples: [{ payload: {} }],
        traits: [ref('messageTraits/t')],
      },
    },
    securitySchemes: {
      key: { type: 'httpApiKey', description: 'd', in: 'header', name: 'K' },
      http: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://o' },
      oauth: {
        type: 'oauth2',
        flows: {
          implicit: { authorizationUrl: 'https://a', refreshUrl: 'https://r', scopes: { r: '', w: '' } },
          password: { tokenUrl: 'https://t', scopes: { r: '' } },
          clientCredentials: { tokenUrl: 'https://t', scopes: { r: '' } },
          authorizationCode: { authorizationUrl: 'https://a', tokenUrl: 'https://t', scopes: { r: '' } },
        },
      },
    },
    parameters: { q: { schema: { type: 'string', enum: ['a', 'b'] } } },
    correlationIds: { c: { location: '$message.header#/h', description: 'd' } },
    operationTraits: { o: { security: [{ http: [] }], bindings: { amqp: { ack: true } } } },
    messageTraits: { t: { headers: { type: 'object', properties: { t: T } } } },
    serverBindings: { s: { pulsar: { tenant: 't' } } },
    channelBindings: { c: { jms: { destination: 'd' } } },
    operationBindings: { b: { nats: { queue: 'q' } } },
    messageBindings: { m: { amqp: { contentEncoding: 'gzip' } } },
  },
}

const TABLES: { readonly silent: Reasons; readonly harmless: Reasons } = {
  silent: {
    ...API_FOR_PEOPLE,
    ...forPeople(`
      channel.description
      contract.externalDocs
      contract.tags
      correlation.description
      message.description
      message.examples
      message.externalDocs
      message.summary
      message.tags
      message.title
      operation.tags
      server.description
      server.tags
      variable.description
      variable.examples
    `),
    'channel.deprecated': 'Messages are still sent and received.',
    'contract.id': 'It names the application and is not sent.',
    'message.deprecated': 'The message is still sent and received.',
    'message.messageId': 'It is not sent.',
    'message.name': 'It is not sent.',
    'operation.operationId': 'It is not sent.',
    'scheme.bearerFormat': 'A hint on the form of a token that clients pass on as it is.',
  },
  harmless: { 'contract.asyncapi': 'Parts are compared by what they mean in their version.' },
}

const { servers, channels, serverVariables } = DOCUMENT.components
/** Components that an earlier version does not have, by the reference to each. */
const PARTS = [
  [ref('servers/other'), servers.other],
  [ref('channels/shared'), channels.shared],
  [ref('serverVariables/p'), serverVariables.p],
] as const

for (const version of ['2.0.0', '2.1.0', '2.2.0', '2.3.0', '2.4.0', '2.5.0', '2.6.0']) {
  const later = ADDED.filter(([since]) => since > version).flatMap(([, members]) => members)
  const grammar = without(GRAMMAR_26, later.join(' '))
  const parts = PARTS.filter(([{ $ref }]) =>
    later.some((members) => members.includes($ref.split('/').slice(1, 3).join('.'))),
  )
  const document = withPartsInPlace(
    { ...DOCUMENT, asyncapi: version },
    new Map<unknown, unknown>(parts.map(([{ $ref }, part]) => [$ref, part])),
  )
  checkMembers(`AsyncAPI ${version}`, {
    type: 'asyncapi',
    grammar,
    document: pruned(document, grammar),
    referable: 'server variable channel parameter message correlation scheme',
    closed: 'requirement',
    silent: reasonsFor(grammar, TABLES.silent),
    harmless: reasonsFor(grammar, TABLES.harmless),
  })
}
