/**
 * What a sidecar records: decisions and calls. The hub signs a decision and makes it durable in one step, so no receipt leaves
 * without its row. The tenant is that of the caller, the claims come from the envelope, and the clock is that of the hub within
 * a bound.
 */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import type { Digest, Envelope, EnvelopeDraft } from '../../engine/internal.ts'
import { GatewayError } from '../errors/errors.ts'
import type { DecisionRecorder } from '../flow/recorder.ts'
import { engine } from '../loading/lazy-engine.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import { RefusedRowError, type StorePart } from '../store/store.ts'
import type { HubIdentity } from './identity.ts'
import type { HubSettings } from './settings.ts'
import { storedOrNull, tenantScope, isOwned } from './tenant-scope.ts'
import type { InterceptionRow } from '../store/calls.ts'
import { valuesBody, checkedForm, readForm } from './forms.ts'
import { CALL, CALL_BATCH } from './method-values.ts'

const INSTANT = '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,16}Z$'

const Draft = Type.Unsafe<EnvelopeDraft>({
  type: 'object',
  required: ['decision_id', 'evaluated_at', 'expires_at', 'fingerprint'],
  properties: {
    decision_id: { type: 'string', pattern: '^dec_[0-9a-f]{32}$' },
    evaluated_at: { type: 'string', pattern: INSTANT },
    expires_at: { type: 'string', pattern: INSTANT },
    fingerprint: { type: 'string', maxLength: 100 },
  },
})

export const DECISION_REQUEST = Type.Object(
  {
    draft: Draft,
    route: Type.Union([Type.String({ maxLength: 200 }), Type.Null()]),
    previous: Type.Unsafe<Digest | null>({ type: ['string', 'null'], pattern: '^sha256:[0-9a-f]{64}$' }),
    supersessionKey: Type.String({ maxLength: 8000 }),
    mayJoin: Type.Boolean(),
  },
  { additionalProperties: false },
)
type DecisionRequest = Static<typeof DECISION_REQUEST>

interface RecordDeps {
  readonly hub: HubSettings
  readonly store: StorePart<'decisions.byId' | 'decisions.byFingerprint'>
  readonly recorder: DecisionRecorder
  readonly keys: Pick<KeyRing, 'published'>
  readonly now: () => number
}

/** Longest life of a receipt that a sidecar may ask for, milliseconds. */
const LONGEST_LIFE = 30 * 86_400_000
/** A decision in force is not joined when it ends within this time, milliseconds. */
const JOINED_FOR = 60_000

/** Throws INVALID_INPUT when the envelope is none, or its times are not those of now. */
export async function recordForCaller(
  request: DecisionRequest,
  { tenant }: HubIdentity,
  deps: RecordDeps,
): Promise<Envelope> {
  const { draft, previous, supersessionKey, mayJoin } = request
  requireTimes(draft, deps)
  const earlier = await deps.store.decisions.byId(tenant, draft.decision_id)
  // The answer was lost on its way: the same decision is asked for again.
  if (earlier !== null) return sameDecision(draft, JSON.parse(earlier.envelope))
  const joined = mayJoin ? await decisionInForce(request, tenant, deps) : null
  if (joined !== null) return joined
  const scope = tenantScope(tenant)
  try {
    const { envelope } = await deps.recorder.record({
      draft,
      tenant,
      route: storedOrNull(scope, request.route),
      previous,
      supersessionKey,
      idempotency: null,
      mayJoin: false,
      answerOf: () => null,
    })
    return envelope
  } catch (error) {
    const recorded =
      error instanceof RefusedRowError ? await deps.store.decisions.byId(tenant, draft.decision_id) : null
    // The same request was answered meanwhile, or is being answered.
    if (recorded !== null) return sameDecision(draft, JSON.parse(recorded.envelope))
    if (!(error instanceof engine().EnvelopeInvariantError)) throw error
    throw new GatewayError('INVALID_INPUT', 'The envelope of the decision is not valid.', { cause: error })
  }
}

function requireTimes({ evaluated_at: evaluatedAt, expires_at: expiresAt }: EnvelopeDraft, deps: RecordDeps): void {
  const [from, to] = [Date.parse(evaluatedAt), Date.parse(expiresAt)]
  const skew = Math.abs(from - deps.now())
  if (!(skew <= deps.hub.clock_skew * 1000))
    throw new GatewayError(
      'INVALID_INPUT',
      `The clock of the sidecar differs by ${Math.round(skew / 1000)} s from that of the hub; hub.clock_skew allows ${deps.hub.clock_skew} s.`,
    )
  if (!(to > from && to - from <= LONGEST_LIFE))
    throw new GatewayError('INVALID_INPUT', 'The decision expires before it is made, or after too long.')
}

function sameDecision(draft: EnvelopeDraft, envelope: Envelope): Envelope {
  if (envelope.fingerprint === draft.fingerprint) return envelope
  throw new GatewayError('IDEMPOTENCY_CONFLICT', 'The hub has another decision under this id.')
}

/**
 * The decision in force for the same verdict and scope, which another sidecar of the tenant asked for. Without it, replicas of
 * one workload would supersede each other's decisions.
 */
async function decisionInForce(
  { draft, supersessionKey }: DecisionRequest,
  tenant: string,
  { store, keys, now }: RecordDeps,
): Promise<Envelope | null> {
  const row = await store.decisions.byFingerprint(tenant, draft.fingerprint, draft.audience ?? null)
  if (row?.receiptState !== 'current' || row.supersessionKey !== supersessionKey) return null
  if (row.expiresAt < now() + JOINED_FOR) return null
  const envelope: Envelope = JSON.parse(row.envelope)
  const key = keys.published().keys.find(({ kid }) => kid === envelope.receipt.key_id)
  if (key === undefined || key.status === 'revoked') return null
  const isSame = (envelope.audience ?? null) === (draft.audience ?? null)
  return isSame && envelope.execution_action === draft.execution_action ? envelope : null
}

/** A record that was not stored, by its place in the batch. */
interface RefusedRecord {
  readonly index: number
  readonly message: string
}

interface BatchAnswer {
  /** Records that are durable. */
  readonly value: number
  readonly refused: readonly RefusedRecord[]
}

const Batch = Type.Unsafe<{ readonly values: readonly [readonly unknown[]] }>(valuesBody(CALL_BATCH))

/** @throws GatewayError INVALID_INPUT when the body is no batch */
export async function recordCalls(
  body: unknown,
  { tenant }: HubIdentity,
  { store, now }: { readonly store: StorePart<'calls.recordAll'>; readonly now: () => number },
): Promise<BatchAnswer> {
  const [records] = checkedForm(Batch, body).values
  const scope = tenantScope(tenant)
  const refused: RefusedRecord[] = []
  const own: InterceptionRow[] = []
  const received = now()
  for (const [index, record] of records.entries()) {
    const read = readForm(CALL, record)
    if (!read.ok) refused.push({ index, message: `${read.problem.pointer} ${read.problem.message}`.trim() })
    else if (!isOwned(scope, read.value.tenant)) refused.push({ index, message: '/tenant is not that of the caller' })
    else {
      const { traceId = null, isTraceSampled = false, route } = read.value
      // A call that has not happened yet would never be old enough to be pruned.
      const at = Math.min(read.value.at, received)
      own.push({ ...read.value, traceId, isTraceSampled, tenant, route: scope.stored(route), at })
    }
  }
  // Whoever gets the answer forgets the records, so they may not wait in this process.
  if (own.length > 0) await store.calls.recordAll(own)
  return { value: own.length, refused }
}
