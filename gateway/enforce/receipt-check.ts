/**
 * Receipts that come with a call: which of them authorizes which resource that the call names. A receipt is checked
 * against this request and, where the change is known, against its content, so it never allows anything but what was
 * decided.
 */
import type { IntendedContext, ReceiptReason, ReceiptVerification } from '../../engine/internal.ts'
import type { PresentedReceipt, ResourceCheck, RequiredReceipt } from '../protocols/common/action.ts'
import type { JudgedResource } from '../calls/judged-resource.ts'
import type { Call } from '../calls/call.ts'
import { GatewayError, knownError } from '../errors/errors.ts'
import type { HoldState } from '../listen/request-context.ts'
import { consumePresented, verifyPresented, type PresentedDeps, type ReceiptCheckInput } from './presented-receipt.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { isCommitId } from '../scm/members.ts'
import { changedArtifacts, encodedEnvelope, intendedAct, type CallVerdict, type CallChange } from './verdict-cache.ts'
import { presentedReceipts } from '../protocols/common/presented-receipt.ts'

export interface ReceiptGateDeps extends PresentedDeps {
  readonly metrics: Metrics
  /** The input fingerprint of a change whose content is completely known. */
  readonly fingerprint: (resource: JudgedResource, change: CallChange) => Promise<string>
}

/**
 * The store could not say whether a required receipt is still good, or not mark it as used. Such a call does not go out,
 * whatever its route does with other failures: the receipt may be used, revoked or expired.
 */
export class ReceiptOutage extends GatewayError {
  constructor(cause: unknown) {
    const { code, message } = knownError(cause)
    super(code, message, { cause })
  }
}

/** The receipts of one call. */
export interface ReceiptGate {
  /**
   * The verdict of a receipt that authorizes this resource now; a missing required receipt; or null when the resource
   * is judged anew. Synchronous where no receipt is required or presented. Rejects with a `ReceiptOutage` when the
   * store cannot be asked about a required receipt. An outage of our own is no refusal: the caller may try again.
   * @param change null when there is nothing to compare
   */
  verdictOn(check: ResourceCheck, change: CallChange | null): Promise<CallVerdict | null> | null
  /**
   * Consumes the claimed receipts, where the route asks for single use. Null when all could be consumed, else the
   * receipt that is required again. Synchronous where nothing was claimed. Rejects with a `ReceiptOutage`.
   */
  consume(): Promise<SpentReceipt | null> | null
}

export interface SpentReceipt {
  readonly resource: JudgedResource
  readonly requiredReceipt: RequiredReceipt
}

interface Claim {
  readonly resource: JudgedResource
  readonly check: ReceiptCheckInput
  readonly artifacts: RequiredReceipt['artifacts']
}

/** Each costs a signature check and a look-up; nobody needs more. */
const MAX_PRESENTED = 16
const RECEIPT_HEADER = 'preflight-receipt'

/** @param held what the call has used up is added to it */
export function createReceiptGate(call: Call, held: Pick<HoldState, 'used'>, deps: ReceiptGateDeps): ReceiptGate {
  return new CallReceipts(call, held, deps)
}

const NO_RECEIPTS: readonly PresentedReceipt[] = []
const NO_CLAIMS: readonly Claim[] = []

class CallReceipts implements ReceiptGate {
  readonly #call: Call
  readonly #held: Pick<HoldState, 'used'>
  readonly #deps: ReceiptGateDeps
  #claims = NO_CLAIMS

  constructor(call: Call, held: Pick<HoldState, 'used'>, deps: ReceiptGateDeps) {
    this.#call = call
    this.#held = held
    this.#deps = deps
  }

  verdictOn(check: ResourceCheck, change: CallChange | null): Promise<CallVerdict | null> | null {
    const { receipts: rules } = this.#call.route
    const isRequired = rules.require || check.basis.kind === 'receipt'
    if (!isRequired && !rules.accept) return null
    const { receipts = NO_RECEIPTS } = check
    const presented = receipts.concat(headerReceipts(this.#call))
    return presented.length === 0 && !isRequired ? null : this.#verify(check, change, presented, isRequired)
  }

  consume(): Promise<SpentReceipt | null> | null {
    return this.#call.route.receipts.consume && this.#claims.length > 0 ? this.#useUp() : null
  }

  async #verify(
    { resource, basis }: ResourceCheck,
    change: CallChange | null,
    presented: readonly PresentedReceipt[],
    isRequired: boolean,
  ): Promise<CallVerdict | null> {
    const { receipts: rules } = this.#call.route
    const { context, artifacts, isWhole } = await attemptOf(this.#call, resource, change, this.#deps)
    const bound = basis.kind === 'receipt' ? (basis.bound ?? []) : []
    let refused: ReceiptVerification | null = null
    const outages: unknown[] = []
    for (const receipt of isWhole && presented.length <= MAX_PRESENTED ? presented : []) {
      const check = { ...receipt, context, bound, tenants: tenantsOf(this.#call) }
      const isClaimed = rules.consume && this.#claims.some((claim) => claim.check.token === receipt.token)
      const store = isClaimed ? USED : this.#ownStore()
      const { verification, outage } = await verifiedFor(resource, check, { ...this.#deps, store })
      this.#count(verification.currently_authorized === true ? 'authorized' : (verification.reason ?? 'state_unknown'))
      if (verification.currently_authorized === true && verification.payload !== null) {
        this.#claims = [...this.#claims, { resource, check, artifacts }]
        return receiptVerdict(receipt, verification.payload, rules.envelope)
      }
      refused ??= verification
      outages.push(...outage)
    }
    if (!isRequired) return null
    if (outages.length > 0) throw new ReceiptOutage(outages[0])
    if (refused === null) this.#count('missing')
    return requiredReceiptVerdict({ context, artifacts, ...refusalOf(refused, presented.length, isWhole) })
  }

  async #useUp(): Promise<SpentReceipt | null> {
    const outages: unknown[] = []
    const storeFailed = (error: unknown): number => outages.push(error)
    const checks = this.#claims.map(({ check }) => check)
    const verifications = await consumePresented(checks, { ...this.#deps, store: this.#ownStore(), storeFailed })
    for (const [index, { resource, check, artifacts }] of this.#claims.entries()) {
      const verification = verifications[index]
      if (verification?.currently_authorized === true) continue
      this.#count(verification?.reason ?? 'state_unknown')
      if (outages.length > 0) throw new ReceiptOutage(outages[0])
      const { context = {} } = check
      return { resource, requiredReceipt: { context, artifacts, ...refusalOf(verification ?? null, 1, true) } }
    }
    const used = verifications.flatMap(({ payload }) => (payload === null ? [] : [payload.jti]))
    this.#held.used = [...new Set([...this.#held.used, ...used])]
    return null
  }

  /** The store as this call sees it: a receipt that it has used up itself is current, unless something else ended it. */
  #ownStore(): PresentedDeps['store'] {
    const { receipts } = this.#deps.store
    const { used } = this.#held
    if (used.length === 0) return this.#deps.store
    return {
      receipts: {
        async state(decisionId) {
          const state = await receipts.state(decisionId)
          return state === 'consumed' && used.includes(decisionId) ? 'current' : state
        },
        consume(decisionIds, at) {
          const unused = decisionIds.filter((id) => !used.includes(id))
          return unused.length === 0 ? Promise.resolve(true) : receipts.consume(unused, at)
        },
      },
    }
  }

  #count(result: ReceiptReason | 'authorized' | 'missing'): void {
    this.#deps.metrics.count('preflight_receipts_presented_total', { route: this.#call.route.name, result })
  }
}

interface CheckedReceipt {
  readonly verification: ReceiptVerification
  /** Errors of the store, where the receipt would authorize if it is current. */
  readonly outage: readonly unknown[]
}

async function verifiedFor(
  resource: JudgedResource,
  check: ReceiptCheckInput,
  deps: PresentedDeps,
): Promise<CheckedReceipt> {
  const errors: unknown[] = []
  const verification = await verifiedHead(resource, check, { ...deps, storeFailed: (error) => errors.push(error) })
  if (errors.length === 0) return { verification, outage: errors }
  const ifCurrent = await verifiedHead(resource, check, { ...deps, store: CURRENT })
  return { verification, outage: ifCurrent.currently_authorized === true ? errors : [] }
}

/** The names that the call states leave the head open, and a receipt for a commit is for no other one. */
async function verifiedHead(
  { commit }: JudgedResource,
  check: ReceiptCheckInput,
  deps: PresentedDeps,
): Promise<ReceiptVerification> {
  const verification = await verifyPresented(check, deps)
  const signed = verification.payload?.head?.toLowerCase() ?? ''
  const isOther = commit !== undefined && isCommitId(signed) && signed !== commit.toLowerCase()
  if (verification.currently_authorized !== true || !isOther) return verification
  return verifyPresented({ ...check, context: { ...check.context, head: commit } }, deps)
}

/** Tells whether anything but its state is against a receipt. */
const CURRENT: PresentedDeps['store'] = {
  receipts: { state: () => Promise.resolve('current'), consume: () => Promise.resolve(false) },
}

/** For a second resource of the same call a single-use receipt counts as already used. */
const USED: PresentedDeps['store'] = {
  receipts: { state: () => Promise.resolve('consumed'), consume: () => Promise.resolve(false) },
}

interface ReceiptAttempt {
  readonly context: IntendedContext
  readonly artifacts: RequiredReceipt['artifacts']
  /** False when the content of the change is not completely known: no receipt can be checked against it. */
  readonly isWhole: boolean
}

async function attemptOf(
  call: Call,
  resource: JudgedResource,
  change: CallChange | null,
  { fingerprint }: ReceiptGateDeps,
): Promise<ReceiptAttempt> {
  const { repository = null, branch = null, pull_request = null, base = null, head = null } = resource.place ?? {}
  // base and head are names of refs, which move; the fingerprint covers their content. Without a fingerprint only the
  // names identify it.
  const stated = {
    ...(change === null ? { base, head } : {}),
    ...intendedAct(call.route, resource),
    repository,
    branch,
    pull_request,
    audience: call.caller.audience,
  }
  const context: IntendedContext = Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== null))
  if (change === null) return { context, artifacts: [], isWhole: true }
  const { artifacts, unreadable = [] } = changedArtifacts(resource, change)
  const named = [...artifacts, ...unreadable].map(({ id, type }) => ({ id, type }))
  if (unreadable.length > 0 || !isListedWhole(change)) return { context, artifacts: named, isWhole: false }
  return {
    context: { ...context, input_fingerprint: await fingerprint(resource, change) },
    artifacts: named,
    isWhole: true,
  }
}

/** A truncated list of changes may hide one that no receipt covers. */
function isListedWhole(change: CallChange): boolean {
  const origin = change.kind === 'change_set' ? change.completeness?.origin : undefined
  return origin?.kind !== 'derived' || origin.problem === null
}

/** Receipts of the header; the envelope next to them belongs to a single one. */
function headerReceipts({ received: { rawHeaders, headers } }: Call): readonly PresentedReceipt[] {
  if (headers[RECEIPT_HEADER] === undefined) return NO_RECEIPTS
  const tokens: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if ((rawHeaders[index] ?? '').toLowerCase() !== RECEIPT_HEADER) continue
    tokens.push(...(rawHeaders[index + 1] ?? '').split(',').map((token) => token.trim()))
  }
  return presentedReceipts(tokens, headers['preflight-decision'])
}

/** A key counts for its own tenant only, also on a route that serves several. */
function tenantsOf({ route, caller }: Call): readonly string[] {
  return caller.audience === null ? route.tenants : route.tenants.filter((tenant) => tenant === caller.tenant)
}

function receiptVerdict(
  { token, envelope }: PresentedReceipt,
  { jti, act, exp }: NonNullable<ReceiptVerification['payload']>,
  sendsEnvelope: boolean,
): CallVerdict {
  const envelopeHeader = envelope === undefined || !sendsEnvelope ? null : encodedEnvelope(envelope)
  return { basis: 'receipt', action: act, decisionId: jti, token, envelopeHeader, expiresAt: exp * 1000 }
}

function requiredReceiptVerdict(requiredReceipt: RequiredReceipt): CallVerdict {
  return { basis: 'missing_receipt', action: 'STOP', decisionId: null, requiredReceipt }
}

function refusalOf(
  refused: ReceiptVerification | null,
  presented: number,
  isWhole: boolean,
): Pick<RequiredReceipt, 'reason' | 'note' | 'mismatches'> {
  if (refused !== null) return { reason: refused.reason, note: refused.authz_note, mismatches: refused.mismatches }
  if (!isWhole)
    return {
      reason: null,
      note: 'The change could not be read completely, so no receipt can be checked against it.',
      mismatches: [],
    }
  const note =
    presented > MAX_PRESENTED
      ? `More than ${MAX_PRESENTED} receipts came with the call; none was checked.`
      : 'No receipt came with the call.'
  return { reason: null, note, mismatches: [] }
}
