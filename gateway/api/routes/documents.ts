/** Documents about the API itself: its JSON Schemas and its OpenAPI description. */
import { Type } from '../../../engine/base.ts'
import { GatewayError } from '../../errors/errors.ts'
import { describeApi } from '../openapi.ts'
import { defineRoute, json } from '../route.ts'
import { SERVED_SCHEMA_NAMES, servedSchema } from '../schemas/served.ts'

export const schemaDocument = defineRoute({
  method: 'GET',
  paths: ['/schemas/{name}.json'],
  operationId: 'getSchema',
  tag: 'discovery',
  summary: 'A published JSON Schema',
  access: 'public',
  params: { name: `One of ${SERVED_SCHEMA_NAMES.join(', ')}.` },
  answers: {
    200: {
      description: 'The schema (draft 2020-12).',
      content: { 'application/json': Type.Record(Type.String(), Type.Unknown()) },
    },
  },
  errors: ['NOT_FOUND'],
  async handle({ params }, { configSchema }) {
    const schema = servedSchema(params['name'] ?? '', configSchema)
    if (schema === null) {
      throw new GatewayError('NOT_FOUND', `There is no such schema; there are ${SERVED_SCHEMA_NAMES.join(', ')}.`)
    }
    return json(schema)
  },
})

export const openapiDocument = defineRoute({
  method: 'GET',
  paths: ['/openapi.json'],
  operationId: 'getOpenapi',
  tag: 'discovery',
  summary: 'This API as OpenAPI 3.1',
  access: 'public',
  answers: {
    200: {
      description: 'The description that you are reading.',
      content: { 'application/json': Type.Record(Type.String(), Type.Unknown()) },
    },
  },
  async handle({ settings: { config } }, { routes }) {
    return json(describeApi(routes, config.public_url ?? null))
  },
})
