/** The JSON Schemas that are served under /schemas/ (wire.md §2), by name. */
import { lookupTable } from '../../../engine/base.ts'
import { decisionResultConsumerSchema, decisionResultProducerSchema, PolicyDocument } from '../../../engine/internal.ts'
import { configInputSchema } from '../../config/input-schema.ts'
import { PreflightAnswer, PreflightRequest } from './preflight.ts'

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

export const SERVED_SCHEMAS: Readonly<Record<string, object>> = lookupTable({
  'decision-result.v1.producer': decisionResultProducerSchema,
  'decision-result.v1.consumer': decisionResultConsumerSchema,
  'preflight-request': { ...PreflightRequest, $schema: DIALECT, $id: 'preflight-request.json' },
  'preflight-response': { ...PreflightAnswer, $schema: DIALECT, $id: 'preflight-response.json' },
  policy: PolicyDocument,
  config: { ...configInputSchema, $schema: DIALECT, $id: 'config.json' },
})
