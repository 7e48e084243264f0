/**
 * Many sidecars in one process: the product's client of a hub, without the listeners and contracts around it. Each one makes
 * decisions, uses them again as a gateway does, and records its calls.
 */
import { randomBytes } from 'node:crypto'
import { buildEnvelope, type EnvelopeDraft } from '../../engine/internal.ts'
import { createRemoteRecorder } from '../../gateway/hub/remote-recorder.ts'
import type { StoreSettings } from '../../gateway/store/settings.ts'
import { STALE } from '../../gateway/store/changes.ts'
import { connectToHub, type HubConnection } from '../../gateway/store/hub/connection.ts'
import { openHubStore, type HubStore } from '../../gateway/store/hub/store.ts'
import { hubChanges, type HubChanges } from '../../gateway/store/hub/stream.ts'
import { decideOn } from './decisions.ts'
import { interception } from './interception.ts'

/** Seconds of `store.in_force_within`. */
const BOUND = 1

export interface SimulatedSettings {
  readonly url: string
  readonly access: Partial<StoreSettings['hub']>
}

/** A decision in use. */
interface UsedDecision {
  readonly id: string
  mark: number
}

export class SimulatedSidecar {
  /** Receipts that were handed out. */
  readonly issued: string[] = []
  /** Requests for the stream of changes. */
  streams = 0
  /** Ids of the calls that were forwarded. */
  readonly forwarded: string[] = []
  /** `performance.now()` of the last decision that a hub made. */
  decidedAt = Number.NEGATIVE_INFINITY
  readonly #connection: HubConnection
  readonly #changes: HubChanges
  readonly #hub: HubStore
  #used: UsedDecision | null = null
  /** The agent has a call that no decision of before serves; it repeats it until it is served. */
  #hasNewCall = true
  #scopes = 0

  constructor({ url, access }: SimulatedSettings) {
    const now = Date.now
    const settings = { timeout: 5, max_age: 60, ...access }
    const connection = connectToHub(url, settings, {}, now)
    const counted: Pick<HubConnection, 'stream'> = {
      stream: (...given) => {
        this.streams += 1
        return connection.stream(...given)
      },
    }
    const changes = hubChanges({ connection: counted, bound: BOUND, onLive: () => {} })
    const terms = {
      calls: 'batched',
      flushMilliseconds: 50,
      maxAge: settings.max_age * 1000,
      onFault: undefined,
      onRefusedCall: undefined,
      now,
    } as const
    this.#connection = connection
    this.#changes = changes
    this.#hub = openHubStore({ connection, changes, ...terms })
    changes.subscribe(({ kind, key: [id] }) => {
      const used = this.#used
      if (used !== null && kind === 'receipt_event' && (id === undefined || id === used.id)) used.mark = STALE
    })
    changes.start()
  }

  /**
   * One call of its agent. Null: it is refused. Else the decision that it is forwarded with.
   * @param newCalls share of the calls that need a new decision
   */
  async call(newCalls: number): Promise<string | null> {
    this.#hasNewCall ||= Math.random() < newCalls
    try {
      const id = (this.#hasNewCall ? null : await this.#reused()) ?? (await this.decide())
      this.#hasNewCall = false
      const correlationId = `${id}-${this.forwarded.length}`
      await this.#hub.store.calls.record(interception(correlationId, { decisionId: id, at: Date.now() }))
      this.forwarded.push(correlationId)
      return id
    } catch {
      return null
    }
  }

  /** Makes a decision of a scope of its own, and uses it from now on. Rejects when no hub makes it. */
  async decide(): Promise<string> {
    const begin = this.#changes.begin(Date.now())
    const draft = draftNow()
    const { envelope } = await createRemoteRecorder(this.#connection, this.#hub).record({
      draft,
      tenant: 'local',
      route: 'simulated',
      previous: null,
      supersessionKey: `${draft.decision_id}-${(this.#scopes += 1)}`,
      idempotency: null,
      mayJoin: false,
      answerOf: () => null,
    })
    this.issued.push(envelope.decision_id)
    this.decidedAt = performance.now()
    this.#used = { id: envelope.decision_id, mark: this.#changes.mark(begin, Date.now()) }
    return envelope.decision_id
  }

  /** Pushed changes arrive. */
  isLive(): boolean {
    return this.#changes.lag() !== null
  }

  close(): Promise<void> {
    return this.#hub.store.close()
  }

  /** The decision in use, looked up where no pushed change proves it; null: a new one has to be made. */
  async #reused(): Promise<string | null> {
    const used = this.#used
    if (used === null) return null
    if (this.#changes.isFresh(used.mark, Date.now())) return used.id
    const begin = this.#changes.begin(Date.now())
    if ((await this.#hub.store.receipts.state(used.id)) !== 'current') return null
    used.mark = this.#changes.mark(begin, Date.now())
    return used.id
  }
}

/** A decision that lets a call pass, of a scope of its own. */
export function draftNow(): EnvelopeDraft {
  const now = Math.floor(Date.now() / 1000)
  const verdict = decideOn([], { now })
  return buildEnvelope(verdict, {
    decisionId: `dec_${randomBytes(16).toString('hex')}`,
    correlationId: `cor_${randomBytes(16).toString('hex')}`,
    evaluatedAt: now,
    audience: null,
    decisionSpecVersion: '2.0',
    reportUrl: null,
  })
}

/** What the calls of all sidecars came to. */
export interface CrowdCounts {
  served: number
  refused: number
  /** Decisions that were used after the bound of their revocation: the guarantee is broken. */
  wrong: number
}

/** Sidecars whose agents call all the time. */
export class SidecarCrowd {
  readonly sidecars: readonly SimulatedSidecar[]
  readonly counts: CrowdCounts = { served: 0, refused: 0, wrong: 0 }
  readonly #inForceAt = new Map<string, number>()
  readonly #agents: readonly Promise<void>[]
  #isOver = false

  /**
   * @param every mean milliseconds between two calls of an agent
   * @param newCalls share of the calls that need a new decision
   */
  constructor(settings: readonly SimulatedSettings[], every: number, newCalls: number) {
    this.sidecars = settings.map((each) => new SimulatedSidecar(each))
    this.#agents = this.sidecars.map((sidecar) => this.#callRepeatedly(sidecar, every, newCalls))
  }

  /** The decision may not be used from `BOUND` seconds after now. Call it when the revocation was answered. */
  revoked(id: string): void {
    this.#inForceAt.set(id, performance.now() + BOUND * 1000)
  }

  /** Whether every sidecar got a decision since then (`performance.now`). */
  isServedSince(moment: number): boolean {
    return this.sidecars.every(({ decidedAt }) => decidedAt > moment)
  }

  /** Whether pushed changes arrive at every sidecar. */
  isLive(): boolean {
    return this.sidecars.every((sidecar) => sidecar.isLive())
  }

  /** Ends the calls, and resolves when all records are written. */
  async close(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    await Promise.all(this.#agents)
    await Promise.all(this.sidecars.map((sidecar) => sidecar.close()))
  }

  /** One call of each agent, now, under the decision that it uses if there is one. */
  async callAll(): Promise<void> {
    await Promise.all(this.sidecars.map((sidecar) => this.#call(sidecar, 0)))
  }

  async #callRepeatedly(sidecar: SimulatedSidecar, every: number, newCalls: number): Promise<void> {
    while (!this.#isOver) {
      await this.#call(sidecar, newCalls)
      await new Promise((resolve) => setTimeout(resolve, every * (0.5 + Math.random())))
    }
  }

  async #call(sidecar: SimulatedSidecar, newCalls: number): Promise<void> {
    const began = performance.now()
    const id = await sidecar.call(newCalls)
    if (id === null) this.counts.refused += 1
    else {
      this.counts.served += 1
      if (began > (this.#inForceAt.get(id) ?? Number.POSITIVE_INFINITY)) this.counts.wrong += 1
    }
  }
}
