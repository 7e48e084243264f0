/**
 * Answers a repeated authorize request from the store, one request at a time for each key, with the receipt's present state
 * (docs/reference/api.md#post-apiv1preflight).
 */
import { checkProducerForm } from '../../engine/internal.ts'
import { GatewayError } from '../errors/errors.ts'
import { isJsonObject } from '../json/strict-json.ts'
import type { StoredDecision } from '../store/decisions.ts'
import type { ApiDeps } from './deps.ts'
import { controlFor } from './preflight-answer.ts'
import { callerOf, json, type RouteAnswer, type RouteExchange } from './route.ts'

const REPLAYED_FOR_MS = 24 * 3600 * 1000

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
  return json(currentAnswer(row, exchange, deps), 200, { 'Idempotency-Replayed': 'true' })
}

/** The stored answer with a new control envelope: a receipt that was revoked or has expired must not look valid. */
function currentAnswer(row: StoredDecision, { settings }: RouteExchange, deps: ApiDeps): object {
  const stored: unknown = row.response === null ? null : JSON.parse(row.response)
  const checked = isJsonObject(stored) ? checkProducerForm(stored['decision_result']) : null
  if (!isJsonObject(stored) || !checked?.ok) {
    throw new GatewayError('INTERNAL', undefined, {
      cause: new Error(`the stored answer of ${row.decisionId} is not complete`),
    })
  }
  return {
    ...stored,
    control_envelope: controlFor(checked.value, row.receiptState, { settings, now: deps.now(), keys: deps.keys }),
  }
}
