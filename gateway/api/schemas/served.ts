/** The JSON Schemas that are served under /schemas/ (docs/reference/api.md#get-schemasnamejson), by name. */
import { lookupTable } from '../../../engine/base.ts'
import { decisionResultConsumerSchema, decisionResultProducerSchema, PolicyDocument } from '../../../engine/internal.ts'
import { DecisionLogEntry } from '../../telemetry/decision-log/entry.ts'
import { PreflightAnswer, PreflightRequest } from './preflight.ts'

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
export function servedSchema(name: string, configSchema: object): object | null {
  if (name === 'config') return { ...configSchema, $schema: DIALECT, $id: 'config.json' }
  return Object.hasOwn(OWN_SCHEMAS, name) ? (OWN_SCHEMAS[name] ?? null) : null
}
