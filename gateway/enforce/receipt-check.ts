/**
 * Receipts that come with a call: which of them stands for which thing that the call names. A receipt is held against this very
 * request and, where the change is known, against its content, so it never lets through what was not decided for exactly that.
 */
import type { IntendedContext, ReceiptReason, ReceiptVerification } from '../../engine/internal.ts'
import type { PresentedReceipt, Question, ReceiptDemand } from '../protocols/common/action.ts'
import type { Subject } from '../calls/subject.ts'
import type { Call } from '../calls/call.ts'
import { consumePresented, verifyPresented, type PresentedDeps, type ReceiptQuestion } from './presented-receipt.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { changedArtifacts, encodedEnvelope, intendedAct, type CallVerdict, type CallChange } from './verdict-cache.ts'
import { presentedReceipts } from '../protocols/common/presented-receipt.ts'

export interface ReceiptGateDeps extends PresentedDeps {
  readonly metrics: Metrics
  /** The input fingerprint of a change whose content is known whole. */
  readonly fingerprint: (subject: Subject, change: CallChange) => Promise<string>
}

/** The receipts of one call. */
export interface ReceiptGate {
  /**
   * The verdict of a receipt that authorizes this subject now; a demand for one where it must have one; null when it is judged anew.
   * At once where no receipt is asked for or came.
   * @param change null when there is nothing to compare
   */
  verdictOn(question: Question, change: CallChange | null): Promise<CallVerdict | null> | null
  /** Uses up what was claimed, where the route says single use. Null when all could be; else the demand that is left. At once where nothing was claimed. */
  consume(): Promise<SpentReceipt | null> | null
}

export interface SpentReceipt {
  readonly subject: Subject
  readonly demand: ReceiptDemand
}

interface Claim {
  readonly subject: Subject
  readonly question: ReceiptQuestion
  readonly artifacts: ReceiptDemand['artifacts']
}

/** Each costs a signature check and a look-up; nobody needs more. */
const MAX_PRESENTED = 16
const RECEIPT_HEADER = 'preflight-receipt'

export function createReceiptGate(call: Call, deps: ReceiptGateDeps): ReceiptGate {
  const { receipts: rules, name: route } = call.route
  const claims: Claim[] = []
  const count = (result: ReceiptReason | 'authorized' | 'missing'): void =>
    deps.metrics.count('preflight_receipts_presented_total', { route, result })

  const verify = async (
    { subject }: Question,
    change: CallChange | null,
    presented: readonly PresentedReceipt[],
    isRequired: boolean,
  ): Promise<CallVerdict | null> => {
    const { context, artifacts, isWhole } = await attemptOf(call, subject, change, deps)
    let refused: ReceiptVerification | null = null
    for (const receipt of isWhole && presented.length <= MAX_PRESENTED ? presented : []) {
      const question = { ...receipt, context, tenants: tenantsOf(call) }
      const isClaimed = rules.consume && claims.some((claim) => claim.question.token === receipt.token)
      const verification = await verifyPresented(question, isClaimed ? { ...deps, store: USED } : deps)
      count(verification.currently_authorized === true ? 'authorized' : (verification.reason ?? 'state_unknown'))
      if (verification.currently_authorized === true && verification.payload !== null) {
        claims.push({ subject, question, artifacts })
        return receiptVerdict(receipt, verification.payload, rules.envelope)
      }
      refused ??= verification
    }
    if (!isRequired) return null
    if (refused === null) count('missing')
    return demandVerdict({ context, artifacts, ...refusalOf(refused, presented.length, isWhole) })
  }
  const useUp = async (): Promise<SpentReceipt | null> => {
    for (const { subject, question, artifacts } of claims) {
      const verification = await consumePresented(question, deps)
      if (verification.currently_authorized === true) continue
      count(verification.reason ?? 'state_unknown')
      const { context = {} } = question
      return { subject, demand: { context, artifacts, ...refusalOf(verification, 1, true) } }
    }
    return null
  }

  return {
    verdictOn(question, change) {
      const isRequired = rules.require || question.ground.kind === 'receipt'
      if (!isRequired && !rules.accept) return null
      const presented = [...(question.receipts ?? []), ...headerReceipts(call)]
      return presented.length === 0 && !isRequired ? null : verify(question, change, presented, isRequired)
    },
    consume: () => (rules.consume && claims.length > 0 ? useUp() : null),
  }
}

/** To a second thing of the same call a receipt for one use is as used as it will be in a moment. */
const USED: PresentedDeps['store'] = {
  receiptState: () => Promise.resolve('consumed'),
  consumeReceipt: () => Promise.resolve(false),
}

interface Attempt {
  readonly context: IntendedContext
  readonly artifacts: ReceiptDemand['artifacts']
  /** False when the content of the change is not known whole: no receipt can be held against it. */
  readonly isWhole: boolean
}

async function attemptOf(
  call: Call,
  subject: Subject,
  change: CallChange | null,
  { fingerprint }: ReceiptGateDeps,
): Promise<Attempt> {
  const { repository = null, branch = null, pull_request = null, base = null, head = null } = subject.place ?? {}
  // base and head are names that move; what they stood for is in the fingerprint. Without one they are all that says it.
  const stated = {
    ...(change === null ? { base, head } : {}),
    ...intendedAct(call.route, subject),
    repository,
    branch,
    pull_request,
    audience: call.caller.audience,
  }
  const context: IntendedContext = Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== null))
  if (change === null) return { context, artifacts: [], isWhole: true }
  const { artifacts, unreadable = [] } = changedArtifacts(subject, change)
  const named = [...artifacts, ...unreadable].map(({ id, type }) => ({ id, type }))
  if (unreadable.length > 0 || !isListedWhole(change)) return { context, artifacts: named, isWhole: false }
  return {
    context: { ...context, input_fingerprint: await fingerprint(subject, change) },
    artifacts: named,
    isWhole: true,
  }
}

/** A list of changes that was cut off may hide what no receipt is about. */
function isListedWhole(change: CallChange): boolean {
  const origin = change.kind === 'change_set' ? change.completeness?.origin : undefined
  return origin?.kind !== 'derived' || origin.problem === null
}

/** Those of the header; the envelope beside them belongs to a single one. */
function headerReceipts({ received: { rawHeaders, headers } }: Call): readonly PresentedReceipt[] {
  if (headers[RECEIPT_HEADER] === undefined) return []
  const tokens: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if ((rawHeaders[index] ?? '').toLowerCase() !== RECEIPT_HEADER) continue
    tokens.push(...(rawHeaders[index + 1] ?? '').split(',').map((token) => token.trim()))
  }
  return presentedReceipts(tokens, headers['preflight-decision'])
}

/** Of the tenants that the route serves, a key stands for its own only. */
function tenantsOf({ route, caller }: Call): readonly string[] {
  return caller.audience === null ? route.tenants : route.tenants.filter((tenant) => tenant === caller.tenant)
}

function receiptVerdict(
  { token, envelope }: PresentedReceipt,
  { jti, act }: NonNullable<ReceiptVerification['payload']>,
  sendsEnvelope: boolean,
): CallVerdict {
  const envelopeHeader = envelope === undefined || !sendsEnvelope ? null : encodedEnvelope(envelope)
  return { basis: 'receipt', action: act, decisionId: jti, token, envelopeHeader }
}

function demandVerdict(demand: ReceiptDemand): CallVerdict {
  return { basis: 'demand', action: 'STOP', decisionId: null, demand }
}

function refusalOf(
  refused: ReceiptVerification | null,
  presented: number,
  isWhole: boolean,
): Pick<ReceiptDemand, 'reason' | 'note' | 'mismatches'> {
  if (refused !== null) return { reason: refused.reason, note: refused.authz_note, mismatches: refused.mismatches }
  if (!isWhole)
    return {
      reason: null,
      note: 'What it changes could not be read whole, so no receipt can be held against it.',
      mismatches: [],
    }
  const note =
    presented > MAX_PRESENTED
      ? `More than ${MAX_PRESENTED} receipts came with it; none was looked at.`
      : 'No receipt came with it.'
  return { reason: null, note, mismatches: [] }
}
