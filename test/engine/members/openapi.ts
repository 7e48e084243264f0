/**
 * The members of OpenAPI 3.2 by object, as its published schema lists them, and a document that has them all. Schemas
 * have those that OpenAPI adds to JSON Schema.
 */
export const OPENAPI_GRAMMAR = `
contract: openapi $self info=info jsonSchemaDialect servers=server[] security=requirement[] tags=tag[] externalDocs=docs paths=path{} webhooks=path{} components=components
info: title summary description termsOfService contact=contact license=license version
contact: name url email
license: name identifier url
server: url description name variables=variable{}
variable: enum default description
components: schemas=schema{} responses=response{} parameters=parameter{} examples=example{} requestBodies=body{} headers=header{} securitySchemes=scheme{} links=link{} callbacks=callback{} pathItems=path{} mediaTypes=media{}
path: $ref summary description servers=server[] parameters=parameter[] additionalOperations=operation{} get=operation put=operation post=operation delete=operation options=operation head=operation patch=operation trace=operation query=operation
operation: tags summary description externalDocs=docs operationId parameters=parameter[] requestBody=body responses=response{} callbacks=callback{} deprecated security=requirement[] servers=server[]
docs: description url
parameter: name in description required deprecated allowEmptyValue allowReserved style explode schema=schema content=media{} example examples=example{}
body: description content=media{} required
media: description schema=schema itemSchema=schema encoding=encoding{} prefixEncoding=encoding[] itemEncoding=encoding example examples=example{}
encoding: contentType headers=header{} style explode allowReserved encoding=encoding{} prefixEncoding=encoding[] itemEncoding=encoding
response: summary description headers=header{} content=media{} links=link{}
callback: *=path
example: summary description dataValue serializedValue value externalValue
link: operationRef operationId parameters requestBody description server=server
header: description required deprecated style explode allowReserved schema=schema content=media{} example examples=example{}
tag: name summary description externalDocs=docs parent kind
scheme: type description deprecated name in scheme bearerFormat flows=flows oauth2MetadataUrl openIdConnectUrl
flows: implicit=flow password=flow clientCredentials=flow authorizationCode=flow deviceAuthorization=flow
flow: authorizationUrl refreshUrl scopes tokenUrl deviceAuthorizationUrl
requirement: *
schema: type properties=schema{} items=schema oneOf=schema[] required enum title description default example examples externalDocs=docs deprecated readOnly writeOnly discriminator=discriminator xml=xml
discriminator: propertyName mapping defaultMapping
xml: name namespace prefix attribute wrapped nodeType
`

const T = { type: 'string' },
  N = { type: 'integer' }
const LIST = { type: 'array', items: T }
const OBJ = { type: 'object', properties: { a: T, b: N } }
export const OPENAPI_DOCUMENT = {
  openapi: '3.2.0',
  $self: 'https://api.example/openapi.json',
  info: {
    title: 'T',
    summary: 's',
    description: 'd',
    termsOfService: 'https://t.example',
    version: '1.0.0',
    contact: { name: 'n', url: 'https://c', email: 'a@b.c' },
    license: { name: 'MIT', identifier: 'MIT', url: 'https://l' },
  },
  jsonSchemaDialect: 'https://example.com/dialect',
  servers: [
    {
      url: 'https://{r}.example/v1',
      name: 'n',
      description: 'd',
      variables: { r: { enum: ['eu', 'us'], default: 'eu', description: 'd' } },
    },
  ],
  security: [{ key: [] }],
  tags: [
    {
      name: 't',
      summary: 's',
      description: 'd',
      parent: 'p',
      kind: 'nav',
      externalDocs: { url: 'https://e', description: 'd' },
    },
    { name: 'p' },
  ],
  externalDocs: { url: 'https://e', description: 'd' },
  paths: {
    '/a/{id}': {
      summary: 's',
      description: 'd',
      servers: [{ url: 'https://p.example' }],
      parameters: [{ name: 'id', in: 'path', required: true, schema: T }],
      get: {
        tags: ['t'],
        summary: 's',
        description: 'd',
        externalDocs: { url: 'https://e', description: 'd' },
        operationId: 'get',
        deprecated: false,
        security: [{ oauth: ['read'] }],
        servers: [{ url: 'https://o.example' }],
        parameters: [
          {
            name: 'q',
            in: 'query',
            description: 'd',
            required: false,
            deprecated: false,
            allowEmptyValue: false,
            allowReserved: false,
            style: 'form',
            explode: true,
            schema: LIST,
            examples: { e: { summary: 's', description: 'd', dataValue: 'x', serializedValue: 'x' } },
          },
          { name: 'j', in: 'query', content: { 'application/json': { schema: OBJ } }, example: 'x' },
          { name: 'h', in: 'header', style: 'simple', explode: false, schema: LIST, example: 'x' },
          { name: 'c', in: 'cookie', style: 'cookie', explode: true, schema: OBJ },
          { name: 'd', in: 'query', style: 'deepObject', explode: true, schema: OBJ },
        ],
        responses: {
          200: {
            summary: 's',
            description: 'd',
            headers: {
              'X-A': {
                description: 'd',
                required: false,
                deprecated: false,
                style: 'simple',
                explode: false,
                allowReserved: false,
                schema: OBJ,
                example: 'x',
              },
              'X-C': { content: { 'application/json': { schema: OBJ } }, examples: { e: { value: 1 } } },
            },
            content: {
              'application/json': { schema: { $ref: '#/components/schemas/S' }, example: 'x', description: 'd' },
              'application/jsonl': { itemSchema: OBJ },
              'application/xml': { schema: { $ref: '#/components/schemas/S' } },
            },
            links: {
              next: {
                operationId: 'get',
                parameters: { id: '$response.body#/a', 'path.id': 'x' },
                requestBody: 'x',
                description: 'd',
                server: { url: 'https://l.example' },
              },
              ref: { operationRef: '#/paths/~1b/post' },
            },
          },
          '4XX': { $ref: '#/components/responses/R', summary: 's', description: 'd' },
          default: { description: 'd' },
        },
      },
      query: {
        requestBody: { content: { 'application/sql': { schema: T } } },
        responses: { 200: { description: 'd' } },
      },
      additionalOperations: { COPY: { operationId: 'copy', responses: { 200: { description: 'd' } } } },
    },
    '/b': {
      servers: [{ url: 'https://b.example' }],
      post: {
        requestBody: {
          description: 'd',
          required: true,
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/S' },
              examples: { e: { value: 1, externalValue: 'https://x' } },
            },
            'multipart/mixed': {
              itemSchema: OBJ,
              prefixEncoding: [{ contentType: 'application/json' }],
              itemEncoding: {
                contentType: 'multipart/mixed',
                headers: { 'X-P': { required: true, schema: T } },
                prefixEncoding: [{ contentType: 'a/b' }],
                itemEncoding: { contentType: 'a/c' },
              },
            },
            'multipart/form-data': {
              schema: { type: 'object', properties: { a: OBJ, b: LIST, f: {} } },
              encoding: {
                a: {
                  contentType: 'multipart/form-data',
                  headers: { 'X-P': { required: true, schema: T } },
                  encoding: { b: { contentType: 'text/csv' } },
                },
                b: { style: 'form', explode: true, allowReserved: false },
              },
            },
          },
        },
        responses: { 201: { $ref: '#/components/responses/R' } },
        callbacks: {
          cb: {
            '{$request.body#/u}': {
              post: {
                requestBody: { content: { 'application/json': { schema: OBJ } } },
                responses: { 200: { description: 'd' } },
              },
            },
          },
          kept: { $ref: '#/components/callbacks/C' },
        },
      },
      put: {
        parameters: [
          { $ref: '#/components/parameters/P' },
          {
            name: 'qs',
            in: 'querystring',
            content: {
              'application/x-www-form-urlencoded': {
                schema: OBJ,
                encoding: { a: { style: 'form', explode: true, allowReserved: false } },
              },
            },
          },
        ],
        requestBody: { $ref: '#/components/requestBodies/B' },
        responses: {
          200: {
            description: 'd',
            content: { 'text/event-stream': { $ref: '#/components/mediaTypes/M' } },
            headers: { L: { $ref: '#/components/headers/H' } },
            links: { k: { $ref: '#/components/links/L' } },
          },
        },
      },
    },
    '/c': { $ref: '#/components/pathItems/I' },
    '/d': { $ref: '#/paths/~1c' },
  },
  webhooks: {
    w: {
      post: {
        parameters: [{ name: 'X', in: 'header', required: true, schema: T }],
        requestBody: { required: true, content: { 'application/json': { schema: OBJ } } },
        responses: { 200: { description: 'd', content: { 'application/json': { schema: OBJ } } } },
      },
    },
  },
  components: {
    schemas: {
      S: {
        type: 'object',
        required: ['kind'],
        properties: {
          kind: T,
          at: { type: 'string', xml: { name: 'at', attribute: true, namespace: 'https://n', prefix: 'p' } },
          arr: { type: 'array', items: T, xml: { nodeType: 'element' } },
          list: { type: 'array', items: T, xml: { wrapped: true } },
          old: {
            type: 'string',
            deprecated: false,
            readOnly: false,
            writeOnly: false,
            default: 'x',
            example: 'e',
            examples: ['e'],
            title: 't',
            description: 'd',
            externalDocs: { url: 'https://e' },
          },
        },
        discriminator: { propertyName: 'kind', mapping: { c: '#/components/schemas/C', d: 'D' }, defaultMapping: 'C' },
        oneOf: [{ $ref: '#/components/schemas/C' }, { $ref: '#/components/schemas/D' }],
      },
      C: { type: 'object', properties: { kind: { enum: ['c', 'C'] }, x: T } },
      D: { type: 'object', properties: { kind: { enum: ['d', 'D'] }, y: N } },
    },
    responses: { R: { description: 'd', content: { 'application/json': { schema: OBJ } } } },
    parameters: { P: { name: 'P', in: 'query', schema: T } },
    examples: { E: { value: 1 } },
    requestBodies: { B: { content: { 'application/json': { schema: OBJ } } } },
    headers: { H: { schema: T } },
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'X-Key', description: 'd', deprecated: false },
      http: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example/.well-known' },
      oauth: {
        type: 'oauth2',
        oauth2MetadataUrl: 'https://id.example/m',
        flows: {
          implicit: { authorizationUrl: 'https://id/a', refreshUrl: 'https://id/r', scopes: { read: '', write: 'w' } },
          password: { tokenUrl: 'https://id/t', scopes: { read: '' } },
          clientCredentials: { tokenUrl: 'https://id/t', scopes: { read: '' } },
          authorizationCode: { authorizationUrl: 'https://id/a', tokenUrl: 'https://id/t', scopes: { read: '' } },
          deviceAuthorization: {
            deviceAuthorizationUrl: 'https://id/d',
            tokenUrl: 'https://id/t',
            scopes: { read: '' },
          },
        },
      },
    },
    links: { L: { operationId: 'get' } },
    callbacks: {
      C: {
        'https://x.example': {
          put: {
            requestBody: { content: { 'application/json': { schema: OBJ } } },
            responses: { 200: { description: 'd' } },
          },
        },
      },
    },
    pathItems: {
      I: {
        get: { security: [{ http: [] }, { oidc: [] }], responses: { 200: { description: 'd' } } },
        options: { responses: { 200: { description: 'd' } } },
        head: { responses: { 200: { description: 'd' } } },
        trace: { responses: { 200: { description: 'd' } } },
        patch: { responses: { 200: { description: 'd' } } },
        delete: { responses: { 200: { description: 'd' } } },
      },
    },
    mediaTypes: { M: { schema: OBJ, itemSchema: OBJ } },
  },
}
