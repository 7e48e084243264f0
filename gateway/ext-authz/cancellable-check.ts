/**
 * Enforces a call that another proxy forwards, unless its client cancels it meanwhile by another request (MCP, Cancellation). The
 * calling proxy still waits for an answer then, which a client that disconnects does not.
 */
import { enforceCall, type EnforcementDeps, type EnforcementResult } from '../enforce/enforcement.ts'
import type { PendingWait } from '../enforce/pending-calls.ts'

/** Never rejects. */
export async function enforceUnlessCancelled(
  judged: Parameters<typeof enforceCall>[0],
  waiting: PendingWait,
  deps: EnforcementDeps,
): Promise<EnforcementResult | 'cancelled'> {
  const wait = new CancellableWait(waiting)
  const stop = judged.action.onCancelled?.(() => wait.cancel())
  try {
    const result = await enforceCall(judged, wait, deps)
    return result.kind === 'gone' && !waiting.isGone ? 'cancelled' : result
  } finally {
    stop?.()
  }
}

class CancellableWait implements PendingWait {
  readonly #waiting: PendingWait
  readonly #listeners = new Set<() => void>()
  #isCancelled = false

  constructor(waiting: PendingWait) {
    this.#waiting = waiting
  }

  get isGone(): boolean {
    return this.#isCancelled || this.#waiting.isGone
  }

  get held(): PendingWait['held'] {
    return this.#waiting.held
  }

  cancel(): void {
    this.#isCancelled = true
    for (const listener of this.#listeners) listener()
  }

  onGone(listener: () => void): () => void {
    this.#listeners.add(listener)
    const stop = this.#waiting.onGone(listener)
    return () => {
      this.#listeners.delete(listener)
      stop()
    }
  }

  begin(headers: readonly string[]): void {
    this.#waiting.begin(headers)
  }

  keepAlive(): void {
    this.#waiting.keepAlive()
  }
}
