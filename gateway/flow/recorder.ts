/**
 * Issues the receipt of a decision and makes the decision durable: one step of the flow, whoever signs and whoever stores. No
 * receipt leaves it without a durable row (law 3 of CONTRIBUTING.md).
 */
import type { Digest, EnvelopeDraft, IssuedReceipt } from '../../engine/internal.ts'
import { GatewayError } from '../errors/errors.ts'
import { receiptSignature, type ReceiptSigner } from '../keys/receipt-signer.ts'
import { engine } from '../loading/lazy-engine.ts'
import { sha256Hex } from '../runtime/hash.ts'
import { createStatusAllocator } from '../status-lists/allocator.ts'
import type { DecisionRow } from '../store/decisions.ts'
import type { StorePart } from '../store/store.ts'
import { currentTraceId } from '../telemetry/trace-context.ts'

interface DecisionToRecord {
  /** The envelope without receipt and body hash. */
  readonly draft: EnvelopeDraft
  readonly tenant: string
  readonly route: string | null
  /** Hash of the receipt that this one follows. */
  readonly previous: Digest | null
  readonly supersessionKey: string
  readonly idempotency: DecisionRow['idempotency']
  /** True: an equal decision in force may be used in place of this one, and keeps its own id. */
  readonly mayJoin: boolean
  /** The answer to store with the issued decision; null for intercepted calls. */
  readonly answerOf: (issued: IssuedReceipt) => string | null
}

export interface DecisionRecorder {
  /** Resolves once the row is durable. Rejects with STORE_UNAVAILABLE or SIGNER_UNAVAILABLE, and then there is no receipt. */
  record(decision: DecisionToRecord): Promise<IssuedReceipt>
}

interface RecorderDeps {
  readonly settings: () => { readonly config: { readonly public_url?: string } }
  readonly store: StorePart<'decisions.record' | 'statusLists.open'>
  /** The key that signs now; read for each decision, so that a rotation takes effect immediately. Throws SIGNER_UNAVAILABLE. */
  readonly signer: () => ReceiptSigner
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** `iss` claim of receipts of a gateway without `public_url`. */
const ISSUER = 'preflight-gateway'

/** Signs with a key at hand, then writes to the store. */
export function createRecorder(deps: RecorderDeps): DecisionRecorder {
  const publicUrl = () => deps.settings().config.public_url
  const places = createStatusAllocator({ store: deps.store, publicUrl, now: deps.now })
  return {
    async record(decision) {
      const { draft, tenant, previous, answerOf } = decision
      const { list, idx, uri } = await places.next()
      const signer = signerOf(deps)
      const prepared = engine().prepareReceipt(draft, signer.keyId, sha256Hex, {
        issuer: publicUrl() ?? ISSUER,
        tenant,
        previous,
        status: { idx, uri },
      })
      const issued = prepared.finish(await receiptSignature(signer, prepared.signingInput))
      const response = answerOf(issued)
      await deps.store.decisions.record({
        ...decisionRowOf(decision, issued),
        response,
        statusPlace: { list, index: idx },
      })
      return issued
    },
  }
}

function signerOf({ signer }: RecorderDeps): ReceiptSigner {
  try {
    return signer()
  } catch (error) {
    throw error instanceof GatewayError ? error : new GatewayError('SIGNER_UNAVAILABLE', undefined, { cause: error })
  }
}

function decisionRowOf(
  { tenant, route, supersessionKey, idempotency }: DecisionToRecord,
  { envelope }: IssuedReceipt,
): Omit<DecisionRow, 'response' | 'statusPlace'> {
  return {
    decisionId: envelope.decision_id,
    tenant,
    route,
    decision: envelope.decision,
    executionAction: envelope.execution_action,
    operation: envelope.operation ?? null,
    environment: envelope.environment ?? null,
    repository: envelope.repository ?? null,
    fingerprint: envelope.fingerprint,
    inputFingerprint: envelope.input_fingerprint,
    evaluatedAt: Date.parse(envelope.evaluated_at),
    expiresAt: Date.parse(envelope.expires_at),
    supersessionKey,
    envelope: JSON.stringify(envelope),
    idempotency,
    traceId: currentTraceId(),
  }
}
