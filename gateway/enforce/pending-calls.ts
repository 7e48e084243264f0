/**
 * Calls that wait for an approval decision. They are bounded in number; a wait ends with the decision, the deadline,
 * the client or the shutdown, and never outlives the approval request. Decisions taken in another process are found by
 * polling, within a second.
 */
import type { ServerResponse } from 'node:http'
import type { Envelope } from '../../engine/internal.ts'
import { approvalState, isGrantInForce } from '../approvals/request.ts'
import type { JudgedResource } from '../calls/judged-resource.ts'
import { neverHeld, type HoldState } from '../listen/request-context.ts'
import { hasLeft, onLeaving } from '../network/client-left.ts'
import type { StorePart } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'

/** A call that waits for an approval, for whoever shows it to people elsewhere. */
interface PendingCall {
  readonly tenant: string
  readonly resource: Pick<JudgedResource, 'operation' | 'place'>
  readonly envelope: Pick<Envelope, 'derivation'>
  readonly approvalId: string
}

/** Gets every call that waits; the same request for approval may come again. Never rejects. */
export type NotePendingCall = (call: PendingCall) => Promise<void>

/** The caller's side of a wait. */
export interface PendingWait {
  readonly isGone: boolean
  readonly held: HoldState
  /** Calls back when the client disconnects; returns a function that removes the listener. */
  onGone(listener: () => void): () => void
  /** The call is pending from now on. @param headers of the gateway that report it: name, value, name, value … */
  begin(headers: readonly string[]): void
  /** Sends a sign of life, where the protocol has one; called about every `KEEP_ALIVE_MS`. */
  keepAlive(): void
}

/** A wait without sign of life: the client gets nothing before the answer. */
export function silentWait(response: Pick<ServerResponse, 'req' | 'closed' | 'destroyed' | 'on' | 'off'>): PendingWait {
  return {
    get isGone() {
      return response.closed || response.destroyed || hasLeft(response.req)
    },
    held: neverHeld(),
    onGone: (listener) => onLeaving(response, listener),
    begin: () => {},
    keepAlive: () => {},
  }
}

interface Hold {
  readonly approvalId: string
  /** The tenant of the pending decision. */
  readonly tenant: string
  readonly route: string
  /** Milliseconds since the epoch. */
  readonly deadline: number
  readonly waiting: PendingWait
}

/**
 * `granted`: judge again. `released`: an exception was opened, or the pending decision was made elsewhere. `refused`:
 * denied or expired. `over`: the deadline, the bound, the shutdown, or a store that cannot be read. `gone`: the client
 * disconnected.
 */
type HoldEnd = 'granted' | 'released' | 'refused' | 'over' | 'gone'

export interface PendingCalls {
  /** Never rejects. */
  wait(hold: Hold): Promise<HoldEnd>
  /** Number of pending calls. */
  count(): number
  /** Looks immediately: a decision was made in this process. */
  look(): void
  /** Ends every wait; no new one begins. */
  close(): void
}

interface PendingCallsDeps {
  readonly store: StorePart<'approvals.byId'>
  /** True while a break-glass exception of the route is open. */
  readonly isReleased: (route: string) => Promise<boolean>
  /** Maximum number of pending calls. */
  readonly bound: () => number
  readonly logger: Logger
  readonly now: () => number
}

const LOOK_MS = 1000
const KEEP_ALIVE_MS = 10_000

export function createPendingCalls(deps: PendingCallsDeps): PendingCalls {
  const waits = new Set<Wait>()
  let isClosed = false
  return {
    wait(hold) {
      if (hold.waiting.isGone) return Promise.resolve('gone')
      if (isClosed || waits.size >= deps.bound()) return Promise.resolve('over')
      const wait = new Wait(hold, deps)
      waits.add(wait)
      return wait.end.finally(() => waits.delete(wait))
    },
    count: () => waits.size,
    look() {
      for (const wait of waits) wait.look()
    },
    close() {
      isClosed = true
      for (const wait of waits) wait.finish('over')
    },
  }
}

class Wait {
  readonly end: Promise<HoldEnd>
  readonly #hold: Hold
  readonly #deps: PendingCallsDeps
  readonly #stopListening: () => void
  readonly #timers: readonly NodeJS.Timeout[]
  #resolve: (end: HoldEnd) => void = () => {}
  #isLooking = false

  constructor(hold: Hold, deps: PendingCallsDeps) {
    this.#hold = hold
    this.#deps = deps
    this.end = new Promise((resolve) => {
      this.#resolve = resolve
    })
    this.#timers = [
      setInterval(() => this.look(), LOOK_MS),
      setInterval(() => hold.waiting.keepAlive(), KEEP_ALIVE_MS),
      setTimeout(() => this.finish('over'), Math.max(0, hold.deadline - deps.now())),
    ]
    this.#stopListening = hold.waiting.onGone(() => this.finish('gone'))
    hold.waiting.keepAlive()
    this.look()
  }

  look(): void {
    if (this.#isLooking) return
    this.#isLooking = true
    void this.#lookOnce()
  }

  async #lookOnce(): Promise<void> {
    const end = await this.#find()
    this.#isLooking = false
    if (end !== null) this.finish(end)
  }

  finish(end: HoldEnd): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#stopListening()
    this.#resolve(end)
  }

  /** Null: nothing has happened yet. */
  async #find(): Promise<HoldEnd | null> {
    const { store, isReleased, now, logger } = this.#deps
    const { approvalId, tenant, route } = this.#hold
    try {
      const row = await store.approvals.byId(tenant, approvalId)
      if (row === null) return 'refused'
      if (isGrantInForce(row, now())) return 'granted'
      if (approvalState(row, now()) !== 'pending') return 'refused'
      return (await isReleased(route)) ? 'released' : null
    } catch (error) {
      logger.error(
        { event: 'approval.read_failed', err: error, approval_id: approvalId },
        'state of an approval could not be read',
      )
      return 'over'
    }
  }
}
