/**
 * The members of AsyncAPI 3.0 by its schema, and a document that has them all: what the change of each one is at the worst.
 * Settings of bindings and schemas have tables of their own. It is one file because the document is one, with every member.
 */
import { checkMembers, API_FOR_PEOPLE, forPeople } from './run.ts'

const GRAMMAR = `
contract: asyncapi id info=info servers=server{} defaultContentType channels=channel{} operations=operation{} components=components
info: title version description termsOfService contact=contact license=license tags=tag[] externalDocs=docs
contact: name url email
license: name url
tag: name description externalDocs=docs
docs: description url
server: host pathname protocol protocolVersion title summary description tags=tag[] externalDocs=docs variables=variable{} security=scheme[] bindings=bindings
variable: enum default description examples
channel: address title summary description tags=tag[] externalDocs=docs parameters=parameter{} servers messages=message{} bindings=bindings
parameter: enum default description examples location
operation: action channel title summary description tags=tag[] externalDocs=docs security=scheme[] bindings=bindings traits=operation[] messages reply=reply
reply: address=address channel messages
address: location description
message: name title summary description tags=tag[] externalDocs=docs examples contentType headers payload correlationId=address deprecated bindings=bindings traits=message[]
components: schemas servers=server{} channels=channel{} operations=operation{} messages=message{} securitySchemes=scheme{} serverVariables=variable{} parameters=parameter{} replies=reply{} replyAddresses=address{} correlationIds=address{} operationTraits=operation{} messageTraits=message{} serverBindings channelBindings operationBindings messageBindings tags=tag{} externalDocs=docs{}
scheme: type description in name scheme bearerFormat openIdConnectUrl flows=flows scopes
flows: implicit=flow password=flow clientCredentials=flow authorizationCode=flow
flow: authorizationUrl tokenUrl refreshUrl availableScopes
bindings: *
`

const T = { type: 'string' },
  N = { type: 'integer' }
const OBJ = { type: 'object', properties: { a: T, b: N } }
const DOCS = {
  title: 't',
  summary: 's',
  description: 'd',
  tags: [{ name: 't', description: 'd', externalDocs: { url: 'https://e' } }],
  externalDocs: { url: 'https://e', description: 'd' },
}
const ref = (p: string) => ({ $ref: `#/${p}` })
const DOCUMENT = {
  asyncapi: '3.0.0',
  id: 'urn:x',
  info: {
    title: 'T',
    version: '1',
    description: 'd',
    termsOfService: 'https://t',
    contact: { name: 'n', url: 'https://u', email: 'a@b.c' },
    license: { name: 'n', url: 'https://u' },
    tags: [{ name: 't' }],
    externalDocs: { url: 'https://e' },
  },
  defaultContentType: 'application/json',
  servers: {
    main: {
      host: '{r}.x.example:{p}',
      pathname: '/v1',
      protocol: 'kafka',
      protocolVersion: '3.2',
      ...DOCS,
      variables: {
        r: { enum: ['eu', 'us'], default: 'eu', description: 'd', examples: ['eu'] },
        p: ref('components/serverVariables/p'),
      },
      security: [
        ref('components/securitySchemes/userPassword'),
        {
          type: 'oauth2',
          flows: { clientCredentials: { tokenUrl: 'https://t', availableScopes: { r: '' } } },
          scopes: ['r'],
        },
      ],
      bindings: {
        kafka: { schemaRegistryUrl: 'https://r', schemaRegistryVendor: 'c', bindingVersion: '0.5.0' },
        solace: { msgVpn: 'v', clientName: 'c' },
        mqtt: {
          clientId: 'c',
          cleanSession: true,
          lastWill: { topic: 't', qos: 1, message: 'm', retain: false },
          keepAlive: 60,
          sessionExpiryInterval: 10,
          maximumPacketSize: 100,
        },
        pulsar: { tenant: 't' },
        jms: { jmsConnectionFactory: 'f', properties: [{ name: 'n', value: 'v' }], clientID: 'c' },
        ibmmq: {
          groupId: 'g',
          ccdtQueueManagerName: 'q',
          cipherSpec: 'c',
          multiEndpointServer: true,
          heartBeatInterval: 3,
        },
        ros2: { rmwImplementation: 'r', domainId: 1 },
      },
    },
    other: ref('components/servers/other'),
  },
  channels: {
    events: {
      address: 'events/{id}/{p}',
      ...DOCS,
      parameters: {
        p: ref('components/parameters/p'),
        id: { enum: ['a', 'b'], default: 'a', description: 'd', examples: ['a'], location: '$message.payload#/a' },
      },
      servers: [ref('servers/main')],
      messages: { made: ref('components/messages/made'), gone: { payload: OBJ } },
      bindings: {
        kafka: {
          topic: 't',
          partitions: 3,
          replicas: 2,
          topicConfiguration: {
            'cleanup.policy': ['delete'],
            'retention.ms': 1,
            'retention.bytes': 1,
            'delete.retention.ms': 1,
            'max.message.bytes': 1,
            'confluent.key.schema.validation': true,
          },
        },
        amqp: {
          is: 'queue',
          exchange: { name: 'e', type: 'topic', durable: true, autoDelete: false, vhost: '/' },
          queue: { name: 'q', durable: true, exclusive: false, autoDelete: false, vhost: '/' },
        },
        ws: { method: 'GET', query: OBJ, headers: OBJ },
        googlepubsub: {
          labels: { a: 'b' },
          messageRetentionDuration: '1s',
          messageStoragePolicy: { allowedPersistenceRegions: ['a'] },
          schemaSettings: { encoding: 'json', firstRevisionId: '1', lastRevisionId: '2', name: 'n' },
        },
        ibmmq: {
          destinationType: 'topic',
          queue: { objectName: 'o', isPartitioned: false, exclusive: false },
          topic: { string: 's', objectName: 'o', durablePermitted: true, lastMsgRetained: true },
          maxMsgLength: 3,
        },
        pulsar: {
          namespace: 'n',
          persistence: 'persistent',
          compaction: 1,
          'geo-replication': ['a'],
          retention: { time: 1, size: 1 },
          ttl: 1,
          deduplication: true,
        },
        sns: {
          name: 'n',
          ordering: { type: 'FIFO', contentBasedDeduplication: true },
          policy: { statements: [{ effect: 'Allow', principal: '*', action: 'sns:Publish' }] },
          tags: { a: 'b' },
        },
        sqs: {
          queue: {
            name: 'q',
            fifoQueue: true,
            deduplicationScope: 'queue',
            fifoThroughputLimit: 'perQueue',
            deliveryDelay: 1,
            visibilityTimeout: 1,
            receiveMessageWaitTime: 1,
            messageRetentionPeriod: 1,
            redrivePolicy: { deadLetterQueue: { name: 'd' }, maxReceiveCount: 3 },
            policy: { statements: [{ effect: 'Allow' }] },
            tags: { a: 'b' },
          },
          deadLetterQueue: { name: 'd', fifoQueue: false },
        },
        anypointmq: { destination: 'd', destinationType: 'queue' },
        jms: { destination: 'd', destinationType: 'queue' },
      },
    },
    replies: { address: null, messages: { done: { payload: OBJ } } },
    replies2: {
      address: 'r2',
      bindings: ref('components/channelBindings/c'),
      messages: { done: { payload: OBJ, bindings: ref('components/messageBindings/m') }, failed: { payload: T } },
    },
    shared: ref('components/channels/shared'),
  },
  operations: {
    tell: {
      action: 'send',
      channel: ref('channels/events'),
      ...DOCS,
      security: [{ type: 'apiKey', in: 'user' }],
      traits: [ref('components/operationTraits/g')],
      messages: [ref('channels/events/messages/made')],
      bindings: {
        kafka: { groupId: T, clientId: T },
        amqp: {
          expiration: 1,
          userId: 'u',
          cc: ['a'],
          priority: 1,
          deliveryMode: 2,
          mandatory: true,
          bcc: ['b'],
          timestamp: true,
          ack: true,
        },
        http: { method: 'POST', query: OBJ },
        mqtt: { qos: 1, retain: true, messageExpiryInterval: 3 },
        nats: { queue: 'q' },
        ros2: {
          role: 'publisher',
          node: 'n',
          qosPolicies: {
            reliability: 'reliable',
            history: 'keepLast',
            durability: 'volatile',
            lifespan: 1,
            deadline: 1,
            liveliness: 'automatic',
            leaseDuration: 1,
          },
        },
        sns: {
          topic: { name: 'n' },
          consumers: [
            {
              protocol: 'sqs',
              endpoint: { name: 'e' },
              filterPolicy: { a: ['b'] },
              filterPolicyScope: 'MessageBody',
              rawMessageDelivery: true,
              redrivePolicy: { deadLetterQueue: { name: 'd' }, maxReceiveCount: 1 },
              deliveryPolicy: { minDelayTarget: 1 },
              displayName: 'd',
            },
          ],
          deliveryPolicy: { maxDelayTarget: 1 },
        },
        sqs: { queues: [{ name: 'n', fifoQueue: true }] },
        solace: {
          destinations: [
            {
              destinationType: 'queue',
              deliveryMode: 'direct',
              queue: {
                name: 'n',
                topicSubscriptions: ['a'],
                accessType: 'exclusive',
                maxMsgSpoolSize: '1',
                maxTtl: '1',
              },
              topic: { topicSubscriptions: ['a'] },
            },
          ],
          timeToLive: 1,
          priority: 1,
          dmqEligible: true,
        },
      },
    },
    obey: {
      action: 'receive',
      channel: ref('channels/shared'),
      security: [ref('components/securitySchemes/httpKey')],
      bindings: ref('components/operationBindings/o'),
      reply: {
        address: { location: '$message.header#/r', description: 'd' },
        channel: ref('channels/replies'),
        messages: [ref('channels/replies/messages/done')],
      },
    },
    obey2: ref('components/operations/obey2'),
  },
  components: {
    schemas: {
      S: { ...OBJ, deprecated: false, discriminator: 'a', externalDocs: { url: 'https://e' } },
      M: { schemaFormat: 'application/vnd.aai.asyncapi;version=3.0.0', schema: OBJ },
    },
    servers: { other: { host: 'o.example', protocol: 'amqp', bindings: ref('components/serverBindings/s') } },
    channels: {
      shared: {
        address: 'shared',
        messages: {
          stop: {
            payload: {
              schemaFormat: 'application/vnd.apache.avro;version=1.9.0',
              schema: { type: 'record', name: 'R', fields: [{ name: 'a', type: 'string' }] },
            },
          },
          oas: {
            payload: {
              schemaFormat: 'application/vnd.oai.openapi;version=3.0.0',
              schema: { type: 'string', nullable: true },
            },
          },
          mul: { payload: ref('components/schemas/M') },
        },
      },
    },
    messages: {
      made: {
        name: 'made',
        ...DOCS,
        contentType: 'application/json',
        headers: OBJ,
        payload: ref('components/schemas/S'),
        correlationId: ref('components/correlationIds/c'),
        examples: [{ name: 'n', summary: 's', headers: {}, payload: {} }],
        traits: [ref('components/messageTraits/t')],
        deprecated: false,
        bindings: {
          kafka: { key: T, schemaIdLocation: 'header', schemaIdPayloadEncoding: '4', schemaLookupStrategy: 's' },
          amqp: { contentEncoding: 'gzip', messageType: 't' },
          http: { headers: OBJ, statusCode: 200 },
          mqtt: { payloadFormatIndicator: 1, correlationData: T, contentType: 'a/b', responseTopic: 'r' },
          anypointmq: { headers: OBJ },
          jms: { headers: OBJ },
          googlepubsub: { attributes: { a: 'b' }, orderingKey: 'k', schema: { name: 's' } },
          ibmmq: { type: 'jms', headers: 'a', description: 'd', expiry: 1 },
        },
      },
    },
    parameters: { p: { enum: ['a', 'b'] } },
    serverVariables: { p: { default: '9092', enum: ['9092', '9093'] } },
    securitySchemes: {
      userPassword: { type: 'userPassword', description: 'd' },
      x: { type: 'X509' },
      httpKey: { type: 'httpApiKey', in: 'header', name: 'K' },
      http: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://o', scopes: ['r'] },
      oauth: {
        type: 'oauth2',
        scopes: ['r'],
        flows: {
          implicit: { authorizationUrl: 'https://a', refreshUrl: 'https://r', availableScopes: { r: '', w: '' } },
          password: { tokenUrl: 'https://t', availableScopes: { r: '' } },
          clientCredentials: { tokenUrl: 'https://t', availableScopes: { r: '' } },
          authorizationCode: { authorizationUrl: 'https://a', tokenUrl: 'https://t', availableScopes: { r: '' } },
        },
      },
    },
    operationTraits: { g: { title: 't', bindings: { jms: { queue: 'q' } }, security: [{ type: 'gssapi' }] } },
    messageTraits: {
      t: {
        contentType: 'application/json',
        headers: { type: 'object', properties: { t: N } },
        correlationId: { location: '$message.header#/a' },
        bindings: { solace: { ttl: 1 } },
      },
    },
    correlationIds: { c: { location: '$message.header#/b', description: 'd' } },
    replies: { rep: { channel: ref('channels/replies2'), address: ref('components/replyAddresses/ra') } },
    replyAddresses: { ra: { location: '$message.header#/q' } },
    serverBindings: { s: { pulsar: { tenant: 't' } } },
    channelBindings: { c: { jms: { destination: 'd' } } },
    operationBindings: { o: { nats: { queue: 'q' } } },
    messageBindings: { m: { amqp: { contentEncoding: 'gzip' } } },
    operations: {
      obey2: {
        action: 'receive',
        channel: ref('channels/shared'),
        reply: ref('components/replies/rep'),
        security: [
          ref('components/securitySchemes/oauth'),
          ref('components/securitySchemes/oidc'),
          ref('components/securitySchemes/http'),
        ],
      },
    },
    tags: { t: { name: 't' } },
    externalDocs: { e: { url: 'https://e' } },
  },
}

checkMembers('AsyncAPI 3.0', {
  type: 'asyncapi',
  grammar: GRAMMAR,
  document: DOCUMENT,
  referable: 'server variable channel parameter operation reply address message scheme tag docs bindings',
  closed: '',
  silent: {
    ...API_FOR_PEOPLE,
    ...forPeople(`
      address.description
      channel.description
      channel.externalDocs
      channel.summary
      channel.tags
      channel.title
      components.externalDocs
      components.tags
      info.externalDocs
      info.tags
      message.description
      message.examples
      message.externalDocs
      message.summary
      message.tags
      message.title
      operation.tags
      operation.title
      parameter.examples
      server.description
      server.externalDocs
      server.summary
      server.tags
      server.title
      variable.description
      variable.examples
    `),
    'contract.id': 'It names the application and is not sent.',
    'message.deprecated': 'The message is still sent and received.',
    'message.name': 'It is not sent.',
    'scheme.bearerFormat': 'A hint on the form of a token that clients pass on as it is.',
  },
  harmless: { 'contract.asyncapi': 'Parts are compared by what they mean in their version.' },
})
