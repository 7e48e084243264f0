/**
 * POST /api/v1/telemetry: reports of direct callers on executions that continued with monitoring
 * (docs/reference/telemetry.md#monitoring-windows).
 */
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { GatewayError } from '../../errors/errors.ts'
import { EVENT_TYPES, OUTCOMES } from '../../telemetry/events.ts'
import type { ExecutionReport } from '../../monitoring/monitoring.ts'
import {
  type BodyMistake,
  callerOf,
  defineRoute,
  bodyMistake,
  json,
  type RouteAnswer,
  type RouteExchange,
} from '../route.ts'
import type { ApiDeps } from '../deps.ts'
import { ownAudience } from '../visibility.ts'
import { CorrelationId, ID_PATTERN, instant, maybe } from '../schemas/shapes.ts'

const ExecutionEvent = Type.Object(
  {
    specversion: Type.Literal('1.0'),
    id: Type.String({ minLength: 1, maxLength: 200 }),
    source: Type.String({ minLength: 1, maxLength: 1000 }),
    type: Type.Enum(EVENT_TYPES),
    subject: Type.Optional(Type.String({ pattern: ID_PATTERN, description: 'The correlation id of the decision.' })),
    time: Type.Optional(instant()),
    data: Type.Optional(
      Type.Object(
        {
          correlation_id: Type.Optional(Type.String({ pattern: ID_PATTERN, description: 'Instead of subject.' })),
          decision_id: Type.Optional(
            Type.String({
              pattern: ID_PATTERN,
              description:
                'Selects one of several executions under one correlation id; default: the one that has been open longest.',
            }),
          ),
          outcome: Type.Optional(Type.Enum(OUTCOMES)),
          status: maybe(Type.Integer({ minimum: 0, maximum: 999 })),
          duration_ms: Type.Optional(Type.Number({ minimum: 0 })),
          bytes: Type.Optional(Type.Integer({ minimum: 0 })),
        },
        // The same events as the gateway's own, which have more members.
        { additionalProperties: true },
      ),
    ),
  },
  {
    title: 'ExecutionEvent',
    description: 'A CloudEvents 1.0 event in structured mode.',
    // CloudEvents 1.0 §3.1: extension attributes.
    additionalProperties: true,
  },
)
type Event = Static<typeof ExecutionEvent>

const TelemetryRequest = Type.Union([ExecutionEvent, Type.Array(ExecutionEvent, { minItems: 1, maxItems: 1000 })], {
  title: 'TelemetryRequest',
})

export const telemetry = defineRoute({
  method: 'POST',
  paths: ['/api/v1/telemetry'],
  operationId: 'reportExecution',
  tag: 'monitoring',
  summary: 'Report executions under CONTINUE_WITH_MONITORING, one event or a batch',
  access: 'ask',
  body: TelemetryRequest,
  consumes: ['application/cloudevents+json', 'application/cloudevents-batch+json'],
  mistakes: (body) =>
    eventsIn(body).flatMap((event, index) => eventMistakes(event, Array.isArray(body) ? `/${index}` : '')),
  answers: {
    202: {
      description: 'Accepted. `unknown` lists the correlation ids without an open window.',
      content: {
        'application/json': Type.Object(
          {
            accepted: Type.Integer({ minimum: 0 }),
            unknown: Type.Array(Type.String()),
            correlation_id: CorrelationId,
          },
          { title: 'TelemetryAnswer' },
        ),
      },
    },
  },
  errors: ['NOT_FOUND', 'MONITORING_UNWIRED'],
  handle: runTelemetry,
})

async function runTelemetry(exchange: RouteExchange<Event | readonly Event[]>, deps: ApiDeps): Promise<RouteAnswer> {
  const caller = callerOf(exchange)
  const { tenant } = caller
  const audience = ownAudience(caller)
  const mayReport = async (decisionId: string): Promise<boolean> =>
    audience === null || (await deps.store.decisions.byId(tenant, decisionId, audience)) !== null
  const events = eventsIn(exchange.body)
  const unknown: string[] = []
  // In order: `started` and `finished` of one execution may be in one batch.
  for (const event of events) {
    const id = eventSubject(event) ?? ''
    const name = { tenant, correlationId: id, decisionId: event.data?.decision_id ?? null }
    const reported = await deps.monitoring.report(name, reportOf(event), mayReport)
    if (reported === 'unwired') throw new GatewayError('MONITORING_UNWIRED', UNWIRED)
    if (reported === 'unknown') unknown.push(id)
  }
  if (unknown.length === events.length)
    throw new GatewayError('NOT_FOUND', 'No open monitoring window has this correlation id.')
  return json({ accepted: events.length - unknown.length, unknown, correlation_id: exchange.correlationId }, 202)
}

const UNWIRED = 'MONITORING_UNWIRED: no telemetry sink takes events now, so what needs monitoring must not be done.'

function reportOf({ type, data }: Event): ExecutionReport {
  const outcome = data?.outcome ?? 'UNKNOWN'
  if (type === 'preflight.execution.started') return { type: 'started' }
  if (type === 'preflight.monitoring.closed') return { type: 'closed', outcome }
  return {
    type: 'finished',
    result: { outcome, status: data?.status ?? null, durationMs: data?.duration_ms ?? 0, bytes: data?.bytes ?? 0 },
  }
}

function eventSubject({ subject, data }: Event): string | undefined {
  return data?.correlation_id ?? subject
}

function eventsIn(body: Event | readonly Event[]): readonly Event[] {
  return isList(body) ? body : [body]
}

function isList(body: Event | readonly Event[]): body is readonly Event[] {
  return Array.isArray(body)
}

function eventMistakes(event: Event, at: string): readonly BodyMistake[] {
  const mistakes: BodyMistake[] = []
  const addMistake = (pointer: string, message: string) => mistakes.push(bodyMistake(pointer, message))
  if (eventSubject(event) === undefined) addMistake(`${at}/data/correlation_id`, 'is required (or subject)')
  if (event.type === 'preflight.execution.finished' && event.data?.outcome === undefined) {
    addMistake(`${at}/data/outcome`, `is required: ${OUTCOMES.join(', ')}`)
  }
  return mistakes
}
