/**
 * Checks a presented receipt against the attempt that it is to authorize. The API, the proxy and ext_authz all use it.
 */
import { verifyReceipt } from '../../engine/base.ts'
import type { IntendedContext, ReceiptStanding, ReceiptVerification, VerifyInput } from '../../engine/internal.ts'
import { sha256Hex } from '../runtime/hash.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import type { StorePart } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'

export interface PresentedDeps {
  readonly keys: Pick<KeyRing, 'keySet'>
  readonly store: StorePart<'receipts.state' | 'receipts.consume'>
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Called when a receipt was consumed: cached decisions behind it are looked up again. */
  readonly receiptChanged: (decisionId: string) => void
  /** Called with the error when the store could not answer. Absent: the verification says `UNDECIDABLE`, no more. */
  readonly storeFailed?: (error: unknown) => void
}

export interface ReceiptCheckInput {
  readonly token: string
  /** The `decision_result` sent along; absent: none was. */
  readonly envelope?: unknown
  /** The attempt; absent: only authenticity is checked. */
  readonly context?: IntendedContext
  /** Tenants whose receipts are accepted; absent: those of every tenant. */
  readonly tenants?: readonly string[]
  /** Members that a receipt may be bound to only if the attempt states them, in addition to those that always are. */
  readonly bound?: readonly (keyof IntendedContext)[]
}

/** Never rejects: if the store cannot be read the state of the receipt is unknown, and nothing is authorized. */
export async function verifyPresented(question: ReceiptCheckInput, deps: PresentedDeps): Promise<ReceiptVerification> {
  const input = inputOf(question, deps)
  // Authenticity first, without the store: a token of another issuer must not cost a look-up.
  const authentic = verifyReceipt({ ...input, state: 'unchecked' })
  if (authentic.payload === null) return authentic
  return verifyReceipt({ ...input, state: await standing(authentic.payload.jti, deps) })
}

/**
 * Verifies, and consumes authorized receipts: all, or none. Of several concurrent callers exactly one gets them, once that is
 * durable. Never rejects. The verifications are in the order of the questions.
 */
export async function consumePresented(
  questions: readonly ReceiptCheckInput[],
  deps: PresentedDeps,
): Promise<readonly ReceiptVerification[]> {
  const verdicts = await verifiedEach(questions, deps)
  const decisionIds = [...new Set(verdicts.flatMap(({ payload }) => (payload === null ? [] : [payload.jti])))]
  if (!areAuthorized(verdicts)) return verdicts
  try {
    if (await deps.store.receipts.consume(decisionIds, deps.now())) {
      for (const id of decisionIds) deps.receiptChanged(id)
      return verdicts
    }
  } catch (error) {
    deps.storeFailed?.(error)
    deps.logger.error(
      { event: 'receipt.consume_failed', err: error, decision_id: decisionIds.join(' ') },
      'receipt could not be marked as used',
    )
    return questions.map((question) => verifyReceipt({ ...inputOf(question, deps), state: 'undecidable' }))
  }
  // Which of them has ended meanwhile.
  const ended = await verifiedEach(questions, deps)
  if (!areAuthorized(ended)) return ended
  return questions.map((question) => verifyReceipt({ ...inputOf(question, deps), state: 'consumed' }))
}

function verifiedEach(
  questions: readonly ReceiptCheckInput[],
  deps: PresentedDeps,
): Promise<readonly ReceiptVerification[]> {
  return Promise.all(questions.map((question) => verifyPresented(question, deps)))
}

function areAuthorized(verdicts: readonly ReceiptVerification[]): boolean {
  return verdicts.every((verdict) => verdict.currently_authorized === true && verdict.payload !== null)
}

function inputOf(
  { token, envelope, context, tenants, bound }: ReceiptCheckInput,
  deps: PresentedDeps,
): Omit<VerifyInput, 'state'> {
  return {
    token,
    keys: deps.keys.keySet(),
    now: Math.floor(deps.now() / 1000),
    sha256: sha256Hex,
    ...(context !== undefined && { context }),
    ...(tenants !== undefined && { tenants }),
    ...(bound !== undefined && { bound }),
    ...(envelope !== undefined && { envelope }),
  }
}

async function standing(decisionId: string, { store, logger, storeFailed }: PresentedDeps): Promise<ReceiptStanding> {
  try {
    return (await store.receipts.state(decisionId)) ?? 'unknown'
  } catch (error) {
    storeFailed?.(error)
    logger.error(
      { event: 'receipt.read_failed', err: error, decision_id: decisionId },
      'state of a receipt could not be read',
    )
    return 'undecidable'
  }
}
