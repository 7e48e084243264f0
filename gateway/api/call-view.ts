/** A call record as the API shows it, and its shape in openapi.json. */
import { Type } from '../../engine/base.ts'
import { EFFECTS, type StoredCall } from '../store/calls.ts'
import { DRIFT_PATTERN } from '../validation/message.ts'
import { ExecutionAction, instant, nullable } from './schemas/shapes.ts'

export const Effect = Type.Enum(EFFECTS, { description: 'What was done with the call.' })

export const CallRecord = Type.Object(
  {
    sequence: Type.Integer({ minimum: 1, description: 'Position among the call records.' }),
    correlation_id: Type.String(),
    trace_id: nullable(Type.String({ description: 'The W3C trace that the call belongs to.' })),
    decision_id: nullable(Type.String({ description: 'The decision that it went on under, or was stopped by.' })),
    route: Type.String(),
    protocol: Type.String(),
    call: Type.String({ description: 'What was called, e.g. `tools/call search` or `GET /pets/{petId}`.' }),
    execution_action: ExecutionAction,
    effect: nullable(Effect),
    enforced: Type.Boolean({ description: 'False on a route that observes.' }),
    break_glass_id: nullable(Type.String()),
    pattern: nullable(Type.String({ description: '`TOOL_RESULT_SHAPE_DRIFT` on records of answers that drifted.' })),
    violations: nullable(
      Type.Array(
        Type.Object({
          where: Type.String({ description: 'E.g. `query.limit` or `body#/pets/0/name`.' }),
          message: Type.String(),
        }),
        { description: 'Where a refused call, or the answer to one that went on, departs from the pinned contract.' },
      ),
    ),
    at: instant(),
  },
  { title: 'CallRecord' },
)

export function callEntry(row: StoredCall) {
  return {
    sequence: row.sequence,
    correlation_id: row.correlationId,
    trace_id: row.traceId,
    decision_id: row.decisionId,
    route: row.route,
    protocol: row.protocol,
    call: row.action,
    execution_action: row.executionAction,
    effect: row.effect,
    enforced: row.enforced,
    break_glass_id: row.breakGlassId,
    pattern: row.effect === 'drifted' ? DRIFT_PATTERN : null,
    violations: row.violations,
    at: new Date(row.at).toISOString(),
  }
}
