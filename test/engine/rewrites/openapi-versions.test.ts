/** One API in Swagger 2.0 and OpenAPI 3.0, and parts of it in 3.0 and 3.1. */
import { KEY, T, THING, post, ref, sent } from './openapi.ts'
import { checkRewrites, type Written } from './run.ts'

const JOINED = ['csv', 'ssv', 'pipes', 'multi'] as const
const STYLES = {
  csv: { style: 'form', explode: false },
  ssv: { style: 'spaceDelimited', explode: false },
  pipes: { style: 'pipeDelimited', explode: false },
  multi: { style: 'form', explode: true },
}

const SWAGGER: Written = {
  document: {
    swagger: '2.0',
    info: { title: 't', version: '1' },
    host: 'api.example',
    basePath: '/v1',
    schemes: ['https'],
    consumes: ['application/json'],
    produces: ['application/json', 'application/xml'],
    security: [{ key: [] }, { basic: [] }, { oauth: ['r'] }],
    securityDefinitions: {
      key: KEY,
      basic: { type: 'basic' },
      oauth: {
        type: 'oauth2',
        flow: 'accessCode',
        authorizationUrl: 'https://id.example/a',
        tokenUrl: 'https://id.example/t',
        scopes: { r: '', w: '' },
      },
      app: { type: 'oauth2', flow: 'application', tokenUrl: 'https://id.example/t', scopes: { r: '' } },
    },
    parameters: {
      limit: { name: 'limit', in: 'query', type: 'integer', minimum: 1, exclusiveMinimum: true, default: 3 },
    },
    responses: { fault: { description: 'd', schema: { $ref: '#/definitions/Fault' } } },
    paths: {
      '/things/{id}': {
        parameters: [{ name: 'id', in: 'path', required: true, type: 'string', pattern: '^a' }],
        get: {
          parameters: [
            { $ref: '#/parameters/limit' },
            { name: 'X-Trace', in: 'header', required: true, type: 'string', enum: ['a', 'b'] },
            ...JOINED.map((format) => ({
              name: format,
              in: 'query',
              type: 'array',
              items: T,
              collectionFormat: format,
            })),
            { name: 'plain', in: 'query', type: 'array', items: { type: 'integer', format: 'int64' } },
            { name: 'list', in: 'header', type: 'array', items: T },
          ],
          responses: {
            200: {
              description: 'd',
              headers: { 'X-A': { type: 'integer' }, 'X-L': { type: 'array', items: T, collectionFormat: 'csv' } },
              schema: { $ref: '#/definitions/Thing' },
            },
            default: { $ref: '#/responses/fault' },
          },
        },
        put: {
          parameters: [{ name: 'body', in: 'body', required: true, schema: { $ref: '#/definitions/Thing' } }],
          responses: { 204: { description: 'd' } },
        },
        post: {
          consumes: ['multipart/form-data'],
          parameters: [
            { name: 'file', in: 'formData', required: true, type: 'file' },
            { name: 'note', in: 'formData', type: 'string', maxLength: 3 },
            { name: 'tags', in: 'formData', type: 'array', items: T, collectionFormat: 'multi' },
          ],
          produces: ['application/octet-stream'],
          responses: { 200: { description: 'd', schema: { type: 'file' } } },
        },
        patch: {
          consumes: ['application/x-www-form-urlencoded'],
          parameters: [{ name: 'note', in: 'formData', required: true, type: 'string' }],
          security: [],
          responses: { 200: { description: 'd' } },
        },
      },
    },
    definitions: {
      Thing: {
        type: 'object',
        required: ['kind'],
        discriminator: 'kind',
        properties: {
          kind: T,
          at: { type: 'string', format: 'date-time', readOnly: true },
          n: { type: 'number', minimum: 0 },
          x: { type: 'string', 'x-nullable': true },
        },
      },
      Fault: {
        type: 'object',
        properties: { code: { type: 'integer', format: 'int32' } },
        additionalProperties: false,
      },
    },
  },
}

const THREE: Written = {
  document: {
    openapi: '3.0.3',
    info: { title: 't', version: '1' },
    servers: [{ url: 'https://api.example/v1' }],
    security: [{ key: [] }, { basic: [] }, { oauth: ['r'] }],
    paths: {
      '/things/{id}': {
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '^a' } }],
        get: {
          parameters: [
            ref('parameters/limit'),
            { name: 'X-Trace', in: 'header', required: true, schema: { type: 'string', enum: ['a', 'b'] } },
            ...JOINED.map((format) => ({
              name: format,
              in: 'query',
              schema: { type: 'array', items: T },
              ...STYLES[format],
            })),
            {
              name: 'plain',
              in: 'query',
              style: 'form',
              explode: false,
              schema: { type: 'array', items: { type: 'integer', format: 'int64' } },
            },
            { name: 'list', in: 'header', schema: { type: 'array', items: T } },
          ],
          responses: {
            200: {
              description: 'd',
              headers: { 'X-A': { schema: { type: 'integer' } }, 'X-L': { schema: { type: 'array', items: T } } },
              content: {
                'application/json': { schema: ref('schemas/Thing') },
                'application/xml': { schema: ref('schemas/Thing') },
              },
            },
            default: ref('responses/fault'),
          },
        },
        put: {
          requestBody: { required: true, content: { 'application/json': { schema: ref('schemas/Thing') } } },
          responses: { 204: { description: 'd' } },
        },
        post: {
          requestBody: {
            required: true,
            content: {
              'multipart/form-data': {
                schema: {
                  type: 'object',
                  required: ['file'],
                  properties: {
                    file: { type: 'string', format: 'binary' },
                    note: { type: 'string', maxLength: 3 },
                    tags: { type: 'array', items: T },
                  },
                },
              },
            },
          },
          responses: {
            200: {
              description: 'd',
              content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
            },
          },
        },
        patch: {
          requestBody: {
            required: true,
            content: {
              'application/x-www-form-urlencoded': {
                schema: { type: 'object', required: ['note'], properties: { note: T } },
              },
            },
          },
          security: [],
          responses: { 200: { description: 'd' } },
        },
      },
    },
    components: {
      parameters: {
        limit: {
          name: 'limit',
          in: 'query',
          schema: { type: 'integer', minimum: 1, exclusiveMinimum: true, default: 3 },
        },
      },
      responses: {
        fault: {
          description: 'd',
          content: {
            'application/json': { schema: ref('schemas/Fault') },
            'application/xml': { schema: ref('schemas/Fault') },
          },
        },
      },
      securitySchemes: {
        key: KEY,
        basic: { type: 'http', scheme: 'basic' },
        oauth: {
          type: 'oauth2',
          flows: {
            authorizationCode: {
              authorizationUrl: 'https://id.example/a',
              tokenUrl: 'https://id.example/t',
              scopes: { r: '', w: '' },
            },
          },
        },
        app: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://id.example/t', scopes: { r: '' } } } },
      },
      schemas: {
        Thing: {
          type: 'object',
          required: ['kind'],
          discriminator: { propertyName: 'kind' },
          properties: {
            kind: T,
            at: { type: 'string', format: 'date-time', readOnly: true },
            n: { type: 'number', minimum: 0 },
            x: { type: 'string', nullable: true },
          },
        },
        Fault: {
          type: 'object',
          properties: { code: { type: 'integer', format: 'int32' } },
          additionalProperties: false,
        },
      },
    },
  },
}

checkRewrites('OpenAPI in two versions', 'openapi', [
  ['Swagger 2.0 and OpenAPI 3.0', SWAGGER, THREE],
  ['3.0 and 3.1: null', sent({ type: 'string', nullable: true }, '3.0.3'), sent({ type: ['string', 'null'] }, '3.1.0')],
  [
    '3.0 and 3.1: null of an enum',
    sent({ type: 'string', nullable: true, enum: ['a', null] }, '3.0.3'),
    sent({ type: ['string', 'null'], enum: ['a', null] }, '3.1.0'),
  ],
  [
    '3.0 and 3.1: null beside allOf',
    sent({ allOf: [THING], nullable: true, type: 'object' }, '3.0.3'),
    sent({ anyOf: [THING, { type: 'null' }] }, '3.1.0'),
  ],
  [
    '3.0 and 3.1: exclusive bounds',
    sent({ type: 'integer', minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: true }, '3.0.3'),
    sent({ type: 'integer', exclusiveMinimum: 1, exclusiveMaximum: 9 }, '3.1.0'),
  ],
  [
    '3.0 and 3.1: a bound that is not exclusive',
    sent({ type: 'integer', minimum: 1, exclusiveMinimum: false }, '3.0.3'),
    sent({ type: 'integer', minimum: 1 }, '3.1.0'),
  ],
  [
    '3.0 and 3.1: examples',
    sent({ type: 'string', example: 'a' }, '3.0.3', { example: 'a' }),
    sent({ type: 'string', examples: ['a'] }, '3.1.0', { examples: { e: { value: 'a' } } }),
  ],
  ['3.0 and 3.1: a constant', sent({ type: 'string', enum: ['a'] }, '3.0.3'), sent({ const: 'a' }, '3.1.0')],
  [
    '3.0 and 3.1: binary content',
    post(
      { requestBody: { content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } } },
      {},
      '3.0.3',
    ),
    post({ requestBody: { content: { 'application/octet-stream': {} } } }),
  ],
  [
    '3.0 and 3.1: base64',
    sent({ type: 'string', format: 'byte' }, '3.0.3'),
    sent({ type: 'string', contentEncoding: 'base64' }, '3.1.0'),
  ],
  [
    '3.0 and 3.1: a file of a form',
    post(
      {
        requestBody: {
          content: {
            'multipart/form-data': {
              schema: { type: 'object', properties: { f: { type: 'string', format: 'binary' } } },
            },
          },
        },
      },
      {},
      '3.0.3',
    ),
    post({
      requestBody: {
        content: {
          'multipart/form-data': {
            schema: {
              type: 'object',
              properties: { f: { type: 'string', contentMediaType: 'application/octet-stream' } },
            },
          },
        },
      },
    }),
  ],
])
