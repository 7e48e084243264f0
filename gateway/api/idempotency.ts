/**
 * Answers a repeated authorize request from the store, one request at a time for each key, with the receipt's present state
 * (docs/reference/api.md#post-apiv1preflight).
 */
import { checkProducerForm, type Envelope } from '../../engine/internal.ts'
import { GatewayError } from '../errors/errors.ts'
import { envelopeFacts } from '../flow/decision-facts.ts'
import { isJsonObject } from '../json/strict-json.ts'
import { REPLAYED_FOR_MS, type StoredDecision } from '../store/decisions.ts'
import { currentTraceId } from '../telemetry/trace-context.ts'
import type { ApiDeps } from './deps.ts'
import { controlFor } from './preflight-answer.ts'
import { callerOf, json, type RouteAnswer, type RouteExchange } from './route.ts'

// Two requests with one key at the same time: the second waits, finds the first's answer, and makes no second decision.
const running = new WeakMap<object, Map<string, Promise<unknown>>>()

/** Runs `work` after all earlier work of the same name in the same store has finished. */
export async function serially<T>(store: object, name: string, work: () => Promise<T>): Promise<T> {
  const names = running.get(store) ?? new Map<string, Promise<unknown>>()
  running.set(store, names)
  const before = names.get(name) ?? Promise.resolve()
  const mine = before.then(work, work)
  const finished = mine.catch(() => undefined)
  names.set(name, finished)
  try {
    return await mine
  } finally {
    if (names.get(name) === finished) names.delete(name)
  }
}

/** The stored answer to the same request; null when the key is new. @throws GatewayError IDEMPOTENCY_CONFLICT for another body. */
export async function replayed(
  tenant: string,
  idempotency: { readonly key: string; readonly bodyDigest: string },
  exchange: RouteExchange,
  deps: ApiDeps,
): Promise<RouteAnswer | null> {
  const since = deps.now() - REPLAYED_FOR_MS
  const { audience } = callerOf(exchange)
  const own = await deps.store.decisions.byIdempotencyKey(tenant, idempotency.key, since, audience)
  const row = own ?? (await deps.store.decisions.byIdempotencyKey(tenant, idempotency.key, since))
  if (row === null) return null
  if (row.idempotency?.bodyDigest !== idempotency.bodyDigest) {
    throw new GatewayError('IDEMPOTENCY_CONFLICT', undefined, {
      details: [{ pointer: '/idempotency_key', message: 'was used with another body in the last 24 hours' }],
    })
  }
  // The stored answer holds a token of another caller: a request under another key gets its own decision.
  if (own === null) return null
  const { answer, envelope } = currentAnswer(row, exchange, deps)
  await logReplay(envelope, exchange, deps)
  return json(answer, 200, { 'Idempotency-Replayed': 'true' })
}

/**
 * A replay is an entry of its own: the first answer may never have left the gateway, because the decision log took no entry of
 * it. With `on_full: block`, no replay leaves without one either.
 */
async function logReplay(envelope: Envelope, exchange: RouteExchange, { decisionLog }: ApiDeps): Promise<void> {
  if (!decisionLog.isOn) return
  const { tenant, audience } = callerOf(exchange)
  const entry = {
    kind: 'decision',
    correlation_id: exchange.correlationId,
    trace_id: currentTraceId(),
    ...envelopeFacts(envelope),
    tenant,
    audience,
    request_bytes: exchange.observation.readBytes,
    details: { replayed: true },
  } as const
  if (!(await decisionLog.write([entry]))) throw new GatewayError('DECISION_LOG_UNWRITABLE')
}

/** The stored answer with a new control envelope: a receipt that was revoked or has expired must not look valid. */
function currentAnswer(row: StoredDecision, { settings }: RouteExchange, deps: ApiDeps) {
  const stored: unknown = row.response === null ? null : JSON.parse(row.response)
  const checked = isJsonObject(stored) ? checkProducerForm(stored['decision_result']) : null
  if (!isJsonObject(stored) || !checked?.ok) {
    throw new GatewayError('INTERNAL', undefined, {
      cause: new Error(`the stored answer of ${row.decisionId} is not complete`),
    })
  }
  const control = controlFor(checked.value, row.receiptState, { settings, now: deps.now(), keys: deps.keys })
  return { envelope: checked.value, answer: { ...stored, control_envelope: control } }
}
