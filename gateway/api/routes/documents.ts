/** Documents about the API itself: its JSON Schemas and its OpenAPI description. */
import { Type } from '../../../engine/base.ts'
import { GatewayError } from '../../errors/errors.ts'
import { describeApi } from '../openapi.ts'
import { defineRoute, json } from '../route.ts'
import { SERVED_SCHEMAS } from '../schemas/served.ts'

export const schemaDocument = defineRoute({
  method: 'GET',
  paths: ['/schemas/{name}.json'],
  operationId: 'getSchema',
  tag: 'discovery',
  summary: 'A published JSON Schema',
  access: 'public',
  params: { name: `One of ${Object.keys(SERVED_SCHEMAS).join(', ')}.` },
  answers: {
    200: {
      description: 'The schema (draft 2020-12).',
      content: { 'application/json': Type.Record(Type.String(), Type.Unknown()) },
    },
  },
  errors: ['NOT_FOUND'],
  async handle({ params }) {
    const name = params['name'] ?? ''
    const schema = Object.hasOwn(SERVED_SCHEMAS, name) ? SERVED_SCHEMAS[name] : undefined
    if (schema === undefined) {
      throw new GatewayError(
        'NOT_FOUND',
        `There is no such schema; there are ${Object.keys(SERVED_SCHEMAS).join(', ')}.`,
      )
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
