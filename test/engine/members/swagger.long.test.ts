/** The members of Swagger 2.0: what the change of each one is at the worst. */
import { checkMembers, API_FOR_PEOPLE, forPeople } from './run.ts'

const GRAMMAR = `
contract: swagger info=info host basePath schemes consumes produces paths=path{} definitions=schema{} parameters=parameter{} responses=response{} securityDefinitions=scheme{} security=requirement[] tags=tag[] externalDocs=docs
info: title description termsOfService contact=contact license=license version
contact: name url email
license: name url
path: $ref get=operation put=operation post=operation delete=operation options=operation head=operation patch=operation parameters=parameter[]
operation: tags summary description externalDocs=docs operationId consumes produces parameters=parameter[] responses=response{} schemes deprecated security=requirement[]
docs: description url
parameter: name in description required schema=schema type format allowEmptyValue items=items collectionFormat default maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems enum multipleOf
items: type format items=items collectionFormat default maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems enum multipleOf
response: description schema=schema headers=header{} examples
header: description type format items=items collectionFormat default maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems enum multipleOf
tag: name description externalDocs=docs
schema: format title description default multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems maxProperties minProperties required enum type items=schema allOf=schema[] properties=schema{} additionalProperties=schema discriminator readOnly xml=xml externalDocs=docs example
xml: name namespace prefix attribute wrapped
scheme: type description name in flow authorizationUrl tokenUrl scopes
requirement: *
`

const FORMATS = { multipleOf: 2, default: 4, format: 'int32' }
const BOUNDS = { maximum: 9, exclusiveMaximum: true, minimum: 1, exclusiveMinimum: true }
const LENGTHS = { maxLength: 9, minLength: 1, pattern: '^a' }
const LISTS = { maxItems: 9, minItems: 1, uniqueItems: false, collectionFormat: 'ssv' }
const NUMBER = { type: 'integer', ...FORMATS }
const BOUNDED = { type: 'integer', ...BOUNDS }
const TEXT = { type: 'string', ...LENGTHS }
const CHOICE = { type: 'string', enum: ['a', 'b'] }
const LIST = { type: 'array', ...LISTS, items: { type: 'array', ...LISTS, items: TEXT } }

/** A value of each form, as parameters and header fields write it. */
const VALUES: Readonly<Record<string, object>> = {
  number: NUMBER,
  bounded: BOUNDED,
  text: TEXT,
  choice: CHOICE,
  list: LIST,
  numbers: { type: 'array', items: NUMBER },
  bounds: { type: 'array', items: BOUNDED },
  choices: { type: 'array', items: CHOICE },
}
const OBJECT = { type: 'object', properties: { a: { type: 'string' } } }

const DEFAULT = 'No value is refused for it.'

checkMembers('Swagger 2.0', {
  type: 'openapi',
  grammar: GRAMMAR,
  document: {
    swagger: '2.0',
    info: {
      title: 't',
      description: 'd',
      termsOfService: 'https://t',
      contact: { name: 'n', url: 'https://u', email: 'a@b.c' },
      license: { name: 'n', url: 'https://l' },
      version: '1',
    },
    host: 'api.example',
    basePath: '/v1',
    schemes: ['https', 'http'],
    consumes: ['application/xml'],
    produces: ['application/xml'],
    security: [{ key: [] }],
    tags: [{ name: 't', description: 'd', externalDocs: { url: 'https://e', description: 'd' } }],
    externalDocs: { url: 'https://e', description: 'd' },
    paths: {
      '/a/{id}': {
        parameters: [{ name: 'id', in: 'path', required: true, type: 'string' }],
        get: {
          tags: ['t'],
          summary: 's',
          description: 'd',
          externalDocs: { url: 'https://e', description: 'd' },
          operationId: 'get',
          consumes: ['application/json'],
          produces: ['application/xml', 'text/csv'],
          schemes: ['https'],
          deprecated: false,
          security: [{ oauth: ['r'] }],
          parameters: [
            { name: 'q', in: 'query', description: 'd', required: false, allowEmptyValue: false, type: 'string' },
            ...Object.entries(VALUES).map(([name, value]) => ({ name, in: 'query', ...value })),
            { $ref: '#/parameters/p' },
          ],
          responses: {
            200: {
              description: 'd',
              schema: { $ref: '#/definitions/S' },
              headers: { ...VALUES, plain: { description: 'd', type: 'string' } },
              examples: { 'application/json': {} },
            },
            default: { $ref: '#/responses/r' },
          },
        },
        put: {
          parameters: [{ name: 'b', in: 'body', required: true, schema: { $ref: '#/definitions/S' } }],
          responses: { 200: { description: 'd' } },
        },
        post: {
          consumes: ['multipart/form-data'],
          parameters: [
            { name: 'f', in: 'formData', type: 'file', required: true },
            { name: 'g', in: 'formData', ...LIST },
          ],
          responses: { 200: { description: 'd' } },
        },
        delete: { responses: { 200: { description: 'd' } } },
        options: { responses: { 200: { description: 'd' } } },
        head: { responses: { 200: { description: 'd' } } },
        patch: { security: [{ basic: [] }], responses: { 200: { description: 'd', schema: OBJECT } } },
      },
      '/b': { $ref: '#/x-items/b' },
    },
    'x-items': { b: { get: { responses: { 200: { description: 'd' } } } } },
    definitions: {
      S: {
        type: 'object',
        title: 't',
        description: 'd',
        discriminator: 'kind',
        required: ['kind'],
        maxProperties: 9,
        minProperties: 1,
        additionalProperties: { type: 'string' },
        externalDocs: { url: 'https://e', description: 'd' },
        example: {},
        xml: { name: 'S', namespace: 'https://n', prefix: 'p' },
        properties: {
          kind: { type: 'string' },
          n: NUMBER,
          b: BOUNDED,
          c: CHOICE,
          t: { ...TEXT, xml: { attribute: true } },
          l: {
            type: 'array',
            maxItems: 9,
            minItems: 1,
            uniqueItems: false,
            items: { type: 'string' },
            xml: { wrapped: true },
          },
          r: { type: 'string', readOnly: true },
          o: { allOf: [OBJECT, { required: ['a'] }] },
        },
      },
      T: { allOf: [{ $ref: '#/definitions/S' }, OBJECT] },
    },
    parameters: { p: { name: 'p', in: 'query', type: 'string' } },
    responses: { r: { description: 'd', schema: OBJECT } },
    securityDefinitions: {
      key: { type: 'apiKey', description: 'd', in: 'header', name: 'K' },
      basic: { type: 'basic' },
      oauth: {
        type: 'oauth2',
        flow: 'accessCode',
        authorizationUrl: 'https://a',
        tokenUrl: 'https://t',
        scopes: { r: '', w: '' },
      },
    },
  },
  referable: 'path parameter response schema',
  closed: 'requirement',
  silent: {
    ...API_FOR_PEOPLE,
    ...forPeople(`
    contract.externalDocs
    contract.tags
    header.description
    response.description
    response.examples
    schema.description
    schema.example
    schema.externalDocs
    schema.title
  `),
    'contract.swagger': 'Parts are compared by what they mean in their version. Another edition of 2.0 is read as 2.0.',
    'xml.prefix': 'Readers know a namespace by its address (Namespaces in XML 1.0 §2.1).',
  },
  harmless: {
    'header.default': DEFAULT,
    'items.default': DEFAULT,
    'operation.deprecated': 'Callers are still served.',
    'operation.operationId': 'It is not sent. Generated clients are made anew.',
    'operation.tags': 'It is not sent.',
    'schema.default': DEFAULT,
    'schema.readOnly': 'Of an optional property: no value is refused for it.',
  },
})
