/**
 * Decisions in use in the pipeline. One decision serves all calls of its scope until it expires, is superseded or
 * revoked, or until a contract or the policy changes. So an ordinary call costs a look-up and no signature.
 */
import { LRUCache } from 'lru-cache'
import { EMPTY_CONTEXT } from '../../engine/base.ts'
import type { DecisionContext, Envelope, ExecutionAction } from '../../engine/internal.ts'
import type { BaselinesDeps, OfferedContract } from '../baselines/baselines.ts'
import { approvalState } from '../approvals/request.ts'
import type { Route } from '../routing/route.ts'
import type { AuthorizeRequest } from '../flow/flow.ts'
import type { OfferedCandidate } from '../protocols/common/candidate.ts'
import type { CheckBasis, RequiredReceipt } from '../protocols/common/action.ts'
import type { Caller } from '../callers/rights.ts'
import type { JudgedResource } from '../calls/judged-resource.ts'
import type { BaselineRow } from '../store/baselines.ts'
import { STALE } from '../store/changes.ts'
import type { Store, StorePart } from '../store/store.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { LinkedSpan, StageClock } from '../telemetry/observation.ts'

/**
 * A decision made here, in the form that the pipeline needs: the execution action, and the header values that go with
 * it.
 */
export interface DecisionVerdict {
  readonly basis: 'decision'
  readonly action: ExecutionAction
  readonly decisionId: string
  readonly envelope: Envelope
  readonly token: string
  /**
   * base64url of the envelope; null when the route does not send it, or it does not fit into a header
   * (docs/reference/receipts.md#transport).
   */
  readonly envelopeHeader: string | null
  /** The approval request that the decision waits for or rests on. */
  readonly approvalId: string | null
  /** The spans of the call that opened that request, and of its grant. */
  readonly approvalLinks: readonly LinkedSpan[]
  /** The changed contract that it judges; null: the baseline is offered, or the change is the call's own. */
  readonly candidate: OfferedCandidate | null
}

/** An earlier decision whose receipt came with the call and authorizes it. */
export interface ReceiptVerdict {
  readonly basis: 'receipt'
  readonly action: ExecutionAction
  readonly decisionId: string
  readonly token: string
  readonly envelopeHeader: string | null
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

/** No decision: a receipt is required, and none was presented that authorizes this. */
interface MissingReceiptVerdict {
  readonly basis: 'missing_receipt'
  readonly action: 'STOP'
  readonly decisionId: null
  readonly requiredReceipt: RequiredReceipt
}

export type CallVerdict = DecisionVerdict | ReceiptVerdict | MissingReceiptVerdict

/** A change of the contract that the call uses, or a change that the call makes. */
export type CallChange =
  | { readonly kind: 'contract'; readonly baseline: BaselineRow; readonly offered: OfferedContract }
  | Extract<CheckBasis, { readonly kind: 'change_set' }>

export interface VerdictRequest {
  readonly route: Route
  /** The owner of the decision, which is never shared with another tenant or audience. */
  readonly caller: Caller
  readonly resource: JudgedResource
  readonly change: CallChange
  readonly generation: number
  /** Of the first call that needs the decision; the decision carries it. */
  readonly correlationId: string
  readonly stages: StageClock
}

export interface Verdicts {
  /**
   * Synchronous while a decision is in use, else a promise. Rejects with a GatewayError when no decision could be made
   * or its state cannot be read.
   */
  verdictOn(request: VerdictRequest): DecisionVerdict | Promise<DecisionVerdict>
  /** A receipt was revoked or consumed in this process: its state is looked up before the decision is used again. */
  receiptChanged(decisionId: string): void
  /** Keys were revoked or replaced: every decision is made and signed anew. */
  keysChanged(): void
  /**
   * An approval decision was made in this process: decisions that wait for one are looked up before they are used
   * again.
   */
  approvalDecided(): void
  /** The decisions in the cache, the most recently used first. @param most rows */
  inspect(most: number): {
    readonly entries: number
    readonly bytes: number
    readonly verdicts: readonly object[]
  }
}

type VerdictStore = StorePart<'receipts.state' | 'approvals.byId'> & Pick<Store, 'changes'>

interface VerdictsDeps {
  readonly flow: Pick<BaselinesDeps['flow'], 'authorize'>
  readonly store: VerdictStore
  readonly metrics: Metrics
  readonly now: () => number
}

interface CachedVerdict {
  readonly tenant: string
  readonly verdict: Promise<DecisionVerdict>
  /** Null until the verdict is known. */
  made: DecisionVerdict | null
  /** Set once the verdict is known. */
  usableUntil: number
  /** Of the last look at its state (store/changes.ts). */
  mark: number
  /** Its approximate size in bytes. */
  weight: number
}

const MAX_ENTRIES = 10_000
/**
 * Callers name resources, so they choose how many decisions there are; the contract determines how long each one is.
 */
const MAX_WEIGHT = 64 * 1024 * 1024
const MAX_ENVELOPE_HEADER = 8 * 1024
/** An incomplete analysis may succeed soon: it is repeated after this time. */
const INCOMPLETE_MS = 5000

export function createVerdicts(deps: VerdictsDeps): Verdicts {
  const verdicts = new VerdictCache(deps)
  deps.store.changes.subscribe(({ kind, key: [id = ''] }) => {
    if (kind === 'receipt_event') verdicts.receiptChanged(id)
    if (kind === 'approval') verdicts.approvalDecided()
  })
  return verdicts
}

class VerdictCache implements Verdicts {
  readonly #deps: VerdictsDeps
  readonly #changes: VerdictStore['changes']
  readonly #entries = new LRUCache<string, CachedVerdict>({
    max: MAX_ENTRIES,
    maxSize: MAX_WEIGHT,
    sizeCalculation: ({ weight }) => weight,
  })

  constructor(deps: VerdictsDeps) {
    this.#deps = deps
    this.#changes = deps.store.changes
  }

  verdictOn(request: VerdictRequest): DecisionVerdict | Promise<DecisionVerdict> {
    const { change } = request
    const { flow, now: clock } = this.#deps
    // Each merge or publication is an act of its own: its receipt serves no other one.
    if (change.kind === 'change_set') return authorizeChange(request, flow).then(({ verdict }) => verdict)
    const key = verdictKey(request, change)
    const now = clock()
    const known = this.#entries.get(key)
    const isInUse =
      known !== undefined && now < known.usableUntil && (known.made === null || this.#changes.isFresh(known.mark, now))
    if (!isInUse) return this.#renew(key, known, now, request)
    this.#count('hit')
    return known.made ?? known.verdict
  }

  inspect(most: number): ReturnType<Verdicts['inspect']> {
    return {
      entries: this.#entries.size,
      bytes: this.#entries.calculatedSize,
      verdicts: [...this.#entries.values()].slice(0, most).map(({ tenant, made, usableUntil }) => ({
        tenant,
        decision_id: made?.decisionId ?? null,
        decision: made?.envelope.decision ?? null,
        target: made?.envelope.target_id ?? null,
        usable_until: Number.isFinite(usableUntil) ? new Date(usableUntil).toISOString() : null,
      })),
    }
  }

  receiptChanged(decisionId: string): void {
    for (const entry of this.#entries.values()) if (entry.made?.decisionId === decisionId) entry.mark = STALE
  }

  keysChanged(): void {
    this.#entries.clear()
  }

  approvalDecided(): void {
    for (const entry of this.#entries.values()) if (entry.made?.action === 'REQUEST_APPROVAL') entry.mark = STALE
  }

  /** @param known in use and due to be looked up again, or no longer usable */
  async #renew(
    key: string,
    known: CachedVerdict | undefined,
    now: number,
    request: VerdictRequest,
  ): Promise<DecisionVerdict> {
    const isUsable =
      known !== undefined && now < known.usableUntil && (await isStillCurrent(known, now, this.#deps.store))
    this.#count(isUsable ? 'hit' : 'miss')
    if (isUsable) return known.verdict
    // Another request may have renewed it while the state was looked up: that result is as good.
    const newer = this.#entries.peek(key)
    return newer !== undefined && newer !== known ? newer.verdict : this.#decide(key, request).verdict
  }

  #decide(key: string, request: VerdictRequest): CachedVerdict {
    const { flow, now } = this.#deps
    const begin = this.#changes.begin(now())
    const entry: CachedVerdict = {
      tenant: request.caller.tenant,
      made: null,
      usableUntil: Number.POSITIVE_INFINITY,
      mark: STALE,
      weight: 1,
      verdict: authorizeChange(request, flow).then(
        ({ verdict, expiresAt }) => {
          const madeAt = now()
          entry.usableUntil = verdict.envelope.analysis_complete
            ? expiresAt
            : Math.min(expiresAt, madeAt + INCOMPLETE_MS)
          entry.mark = this.#changes.mark(begin, madeAt)
          entry.made = verdict
          this.#weigh(key, entry, verdict)
          return verdict
        },
        (error: unknown) => {
          if (this.#entries.peek(key) === entry) this.#entries.delete(key)
          throw error
        },
      ),
    }
    this.#entries.set(key, entry)
    return entry
  }

  /** The size of an entry is not known when it is added. */
  #weigh(key: string, entry: CachedVerdict, verdict: DecisionVerdict): void {
    if (this.#entries.peek(key) !== entry) return
    this.#entries.delete(key)
    entry.weight = weightOf(verdict)
    this.#entries.set(key, entry)
  }

  #count(result: 'hit' | 'miss'): void {
    this.#deps.metrics.count('preflight_cache_requests_total', { cache: 'verdict', result })
  }
}

/** As objects an envelope takes about four times the bytes of its text. */
function weightOf({ envelope, token, envelopeHeader }: DecisionVerdict): number {
  return JSON.stringify(envelope).length * 4 + token.length + (envelopeHeader?.length ?? 0)
}

/**
 * Everything the decision rests on. Names hold no line breaks that could shift a border: digests and the generation end
 * it. Most offers are the baseline, whose digest is then written once: the key is read at every call.
 */
function verdictKey(
  { route, caller, resource, generation }: VerdictRequest,
  { baseline, offered }: Extract<CallChange, { readonly kind: 'contract' }>,
): string {
  const operation = resource.operation ?? route.operation
  const digest = offered.digest === baseline.digest ? '' : offered.digest
  return `${generation}\n${caller.tenant}\n${caller.audience ?? ''}\n${baseline.digest}\n${digest}\n${operation}\n${route.environment ?? ''}\n${resource.target}`
}

/**
 * For decisions whose mark is not fresh. Rejects when the store cannot be read: a decision that may
 * be revoked is not used.
 */
async function isStillCurrent(entry: CachedVerdict, now: number, store: VerdictStore): Promise<boolean> {
  const verdict = await entry.verdict
  const begin = store.changes.begin(now)
  const isCurrent =
    (await store.receipts.state(verdict.decisionId)) === 'current' &&
    (await isUnanswered(verdict, entry.tenant, now, store))
  entry.mark = store.changes.mark(begin, now)
  return isCurrent
}

/** A decision that waits for an approval is made anew once it is decided, or once it cannot be decided any more. */
async function isUnanswered(
  { action, approvalId }: DecisionVerdict,
  tenant: string,
  now: number,
  store: VerdictStore,
): Promise<boolean> {
  if (action !== 'REQUEST_APPROVAL' || approvalId === null) return true
  const row = await store.approvals.byId(tenant, approvalId)
  if (row === null || now >= row.expiresAt) return false
  return approvalState(row, now) !== 'granted'
}

/** The artifacts of the change, as an authorize preflight would receive them. */
export function changedArtifacts(
  { target }: Pick<JudgedResource, 'target'>,
  change: CallChange,
): Pick<AuthorizeRequest, 'artifacts' | 'unreadable' | 'completeness' | 'release'> {
  if (change.kind === 'change_set') {
    const { kind: _kind, ...changed } = change
    return changed
  }
  const { baseline, offered } = change
  return { artifacts: [{ id: target, type: offered.type, before: baseline.content, after: offered.content }] }
}

/** Which operation on which target: bound into a decision about the resource, and required of a receipt for it. */
export function intendedAct(
  route: Pick<Route, 'operation' | 'environment'>,
  { operation, target }: Pick<JudgedResource, 'operation' | 'target'>,
): Pick<DecisionContext, 'operation' | 'environment' | 'target_id'> {
  return {
    operation: operation ?? route.operation,
    environment: route.environment ?? null,
    target_id: target,
  }
}

/** Null when it is too long for a header. */
export function encodedEnvelope(envelope: unknown): string | null {
  const encoded = Buffer.from(JSON.stringify(envelope)).toString('base64url')
  return encoded.length <= MAX_ENVELOPE_HEADER ? encoded : null
}

function candidateOf(change: CallChange): OfferedCandidate | null {
  if (change.kind !== 'contract' || change.offered.digest === change.baseline.digest) return null
  return { baseline: change.baseline.route, digest: change.offered.digest }
}

async function authorizeChange(
  { route, caller, resource, change, correlationId, stages }: VerdictRequest,
  flow: Pick<BaselinesDeps['flow'], 'authorize'>,
): Promise<{ readonly verdict: DecisionVerdict; readonly expiresAt: number }> {
  const { envelope, token, expiresAt, approvalId, approvalLinks } = await flow.authorize({
    ...changedArtifacts(resource, change),
    context: { ...EMPTY_CONTEXT, ...resource.place, ...intendedAct(route, resource) },
    caller,
    correlationId,
    stages,
    isCall: true,
    route: route.name,
    decisionSpecVersion: '2.0',
    previousReceipt: null,
    scope: resource.scope,
    idempotency: null,
    response: null,
    // A change that a call makes is an act of its own; what a contract allows holds for every replica.
    mayJoin: change.kind === 'contract',
  })
  return {
    expiresAt,
    verdict: {
      basis: 'decision',
      action: envelope.execution_action,
      decisionId: envelope.decision_id,
      envelope,
      token,
      approvalId,
      approvalLinks,
      candidate: candidateOf(change),
      envelopeHeader: route.receipts.envelope ? encodedEnvelope(envelope) : null,
    },
  }
}
