/** Takes deliveries from the store and carries them out, a few at a time, with retries. Each is taken by one gateway. */
import { messageOf } from '../errors/startup-error.ts'
import type { StorePart } from '../store/store.ts'
import type { WebhookDeliveryRow } from '../store/webhooks.ts'
import { isJsonObject } from '../json/strict-json.ts'
import { tracedBy, withTrace, type TraceContext } from '../telemetry/trace-context.ts'
import { carryOut, type CheckDeps } from './check.ts'
import { isTask } from './task.ts'
import { nextTry } from '../runtime/retry-schedule.ts'

export interface QueueDeps extends CheckDeps {
  readonly store: CheckDeps['store'] &
    StorePart<'webhooks.claim' | 'webhooks.complete' | 'webhooks.queueDecided' | 'webhooks.forget'>
}

const CLAIMED = 4
/** A gateway that stops in the middle of a task leaves it for the others after this. */
const LEASE_MS = 300_000
/** Deliveries are known, and checks are updated, for so long. */
const KEPT_MS = 30 * 86_400_000
const FORGET_MS = 3_600_000

/** One look at the queue; it can be called again when it returns true: there may be more. */
export function createQueue(deps: QueueDeps): () => Promise<boolean> {
  const { store, now } = deps
  let forgotAt = Number.NEGATIVE_INFINITY
  return async () => {
    await store.webhooks.queueDecided(now(), CLAIMED)
    const due = await store.webhooks.claim(now(), now() + LEASE_MS, CLAIMED)
    await Promise.all(due.map((row) => attempt(row, deps)))
    if (now() - forgotAt >= FORGET_MS) {
      forgotAt = now()
      await store.webhooks.forget(now() - KEPT_MS)
    }
    return due.length > 0
  }
}

async function attempt(row: WebhookDeliveryRow, deps: QueueDeps): Promise<void> {
  const { store, settings, metrics, logger, now } = deps
  const { platform, deliveryId, subject } = row
  const problem = await problemOf(row, deps)
  const at = now()
  const nextAt =
    problem === null ? null : nextTry(row.attempts, at, row.receivedAt, settings().config.scm.checks.give_up * 1000)
  await store.webhooks.complete(platform, deliveryId, { at, problem, nextAt })
  if (problem === null) return
  metrics.count('preflight_merge_checks_total', { platform, result: nextAt === null ? 'given_up' : 'retried' })
  const fields = { platform, delivery: deliveryId, subject, reason: problem }
  if (nextAt === null) logger.error({ event: 'webhook.given_up', ...fields }, 'a check of a pull request was given up')
  else logger.warn({ event: 'webhook.retried', ...fields }, 'a check of a pull request is tried again')
}

/** Null: it was carried out. */
async function problemOf({ platform, task: text }: WebhookDeliveryRow, deps: QueueDeps): Promise<string | null> {
  try {
    const task: unknown = JSON.parse(text)
    // Written by another version: nothing is left to do, and no try makes it better.
    if (isTask(platform, task)) await withTrace(traceOfTask(task), () => carryOut(platform, task, deps))
    return null
  } catch (error) {
    return messageOf(error)
  }
}

/** A task that an approval queued again has none. */
function traceOfTask(task: object): TraceContext | null {
  return 'trace' in task && isJsonObject(task.trace) ? tracedBy(task.trace) : null
}
