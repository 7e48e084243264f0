/**
 * Documents about the API itself: its JSON Schemas by name (docs/reference/api.md#get-schemasnamejson), and its OpenAPI
 * description.
 */
import { Type, lookupTable } from '../../../engine/base.ts'
import { GatewayError } from '../../errors/errors.ts'
import { describeApi } from '../openapi.ts'
import { defineRoute, json } from '../route.ts'
import { decisionResultConsumerSchema, decisionResultProducerSchema, PolicyDocument } from '../../../engine/internal.ts'
import { DecisionLogEntry } from '../../telemetry/decision-log/entry.ts'
import { PreflightAnswer, PreflightRequest } from '../schemas/preflight.ts'

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

const OWN_SCHEMAS: Readonly<Record<string, object>> = lookupTable({
  'decision-result.v1.producer': decisionResultProducerSchema,
  'decision-result.v1.consumer': decisionResultConsumerSchema,
  'preflight-request': { ...PreflightRequest, $schema: DIALECT, $id: 'preflight-request.json' },
  'preflight-response': { ...PreflightAnswer, $schema: DIALECT, $id: 'preflight-response.json' },
  policy: PolicyDocument,
  'decision-log-entry': { ...DecisionLogEntry, $schema: DIALECT, $id: 'decision-log-entry.json' },
})

export const SERVED_SCHEMA_NAMES: readonly string[] = [...Object.keys(OWN_SCHEMAS), 'config']

/** Null: there is none of this name. @param configSchema of the configuration, which knows all parts of the gateway and is handed in */
function servedSchema(name: string, configSchema: object): object | null {
  if (name === 'config') return { ...configSchema, $schema: DIALECT, $id: 'config.json' }
  return Object.hasOwn(OWN_SCHEMAS, name) ? (OWN_SCHEMAS[name] ?? null) : null
}

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
