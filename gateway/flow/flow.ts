/**
 * The road of a call, as one story (design.md): gather → analyze → decide → record. The API and the proxy both enter here;
 * what they do with the answer (respond, enforce, observe) is theirs.
 */
import type {
  Artifact,
  ArtifactAnalysis,
  CompareOptions,
  Comparison,
  DecisionContext,
  Envelope,
  Result,
} from '../../engine/index.ts'

/** Who asks. On the road without a key: tenant `local`, audience null. */
export interface Caller {
  readonly tenant: string
  readonly audience: string | null
}

export interface AuthorizeRequest {
  readonly artifacts: readonly Artifact[]
  readonly context: DecisionContext
  readonly caller: Caller
  readonly correlationId: string
  /** Route name of an intercepted call; null for direct callers. */
  readonly route: string | null
  readonly decisionSpecVersion: '1.0' | '2.0'
  /** Token whose hash becomes the new receipt's `prev`. */
  readonly previousReceipt: string | null
  /**
   * Findings that reach only other operations or tools do not decide when a scope is given (a call of one tool).
   * They stay out of the envelope; findings of the whole contract always count.
   */
  readonly scope: { readonly tool: string } | { readonly method: string; readonly path: string } | null
  readonly idempotency: { readonly key: string; readonly bodyDigest: string } | null
  /** Builds the stored answer from the authorization, before it is recorded; null on the road. */
  readonly response: ((authorization: Authorization) => string) | null
}

/** A decision that is already durable, with its receipt. */
export interface Authorization {
  readonly envelope: Envelope
  readonly token: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
  readonly analyses: readonly ArtifactAnalysis[]
}

export interface Flow {
  /** One artifact compared, in a worker when it is large; cached by content digest. Never throws for what the document does. */
  compare(artifact: Artifact, options: CompareOptions): Promise<Result<Comparison>>
  /** Resolves only after the decision row is durable; rejects with a GatewayError (STORE_UNAVAILABLE, SIGNER_UNAVAILABLE, OVERLOADED …) and then there is no receipt. */
  authorize(request: AuthorizeRequest): Promise<Authorization>
  close(): Promise<void>
}
