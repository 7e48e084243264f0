/** An OpenAPI document with what a validator has to read: every place of a parameter, styles, references, directions, media types. */

const pet = {
  type: 'object',
  required: ['id', 'name'],
  properties: {
    id: { type: 'integer', readOnly: true },
    name: { type: 'string', minLength: 1, nullable: true },
    kind: { type: 'string', enum: ['cat', 'dog'] },
    secret: { type: 'string', writeOnly: true },
    parent: { $ref: '#/components/schemas/Pet' },
    weight: { type: 'number', minimum: 0, exclusiveMinimum: true },
  },
  additionalProperties: false,
}

export const SHOP = {
  openapi: '3.0.3',
  info: { title: 'shop', version: '1' },
  servers: [{ url: '/v1' }],
  paths: {
    '/pets': {
      parameters: [{ name: 'X-Shop', in: 'header', schema: { type: 'string', pattern: '^[a-z]+$' } }],
      get: {
        parameters: [
          { $ref: '#/components/parameters/Limit' },
          {
            name: 'kinds',
            in: 'query',
            explode: false,
            schema: { type: 'array', items: { type: 'string', enum: ['cat', 'dog'] } },
          },
          {
            name: 'where',
            in: 'query',
            style: 'deepObject',
            schema: { type: 'object', properties: { age: { type: 'integer' } } },
          },
          { name: 'session', in: 'cookie', schema: { type: 'string', minLength: 3 } },
        ],
        responses: {
          200: {
            description: 'pets',
            content: { 'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Pet' } } } },
          },
          '4XX': { description: 'wrong' },
        },
      },
      post: {
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
        },
        responses: { 201: { $ref: '#/components/responses/Made' } },
      },
    },
    '/pets/{petId}.json': {
      get: {
        parameters: [{ name: 'petId', in: 'path', required: true, schema: { type: 'integer', minimum: 1 } }],
        responses: { default: { description: 'any' } },
      },
    },
  },
  components: {
    parameters: { Limit: { name: 'limit', in: 'query', required: true, schema: { type: 'integer', maximum: 100 } } },
    responses: {
      Made: { description: 'made', content: { 'application/*': { schema: { $ref: '#/components/schemas/Pet' } } } },
    },
    schemas: { Pet: pet },
  },
}
