/**
 * The path of every decision (docs/architecture.md): gather → analyze → decide → record. The API and the proxy both start here;
 * what they do with the answer (respond, enforce, observe) is theirs.
 */
import type {
  AcceptedOperations,
  Artifact,
  ArtifactAnalysis,
  ArtifactType,
  ChangeSetDigests,
  CompareOptions,
  CompiledPolicy,
  Comparison,
  CompletenessFacts,
  DecisionContext,
  DecisionScope,
  Envelope,
  EnvelopeDraft,
  Problem,
  Release,
  Result,
  Verdict,
} from '../../engine/internal.ts'
import type { Caller } from '../callers/rights.ts'
import type { LinkedSpan, StageClock } from '../telemetry/observation.ts'
import type { DocumentReader } from '../documents/bundle.ts'

/** Absent: `request`. */
type JsonOrigin = 'request' | 'answer'

/** An artifact that is known to belong to the change set, and why it could not be read completely. */
export interface UnreadableArtifact extends Pick<Artifact, 'id' | 'type'> {
  readonly problem: Problem
}

export interface AnalyzeRequest {
  readonly artifacts: readonly Artifact[]
  /** Makes the analysis incomplete; absent: none. */
  readonly unreadable?: readonly UnreadableArtifact[]
  readonly context: DecisionContext
  /**
   * With a scope (a call of one tool), findings that affect only other operations or tools do not decide, and are not in the
   * envelope. Findings of the whole contract always count.
   */
  readonly scope: DecisionScope | null
  /** How the change set was made; absent: a caller submitted it. */
  readonly completeness?: CompletenessFacts
  /** Commit that a platform reported by webhook; absent: none did. Such a decision supersedes only its own kind. */
  readonly commitSha?: string
  /** The publication that contains the artifacts; absent: none does. */
  readonly release?: Release
  /** Name of the route for the policy; absent: none. */
  readonly route?: string | null
  /** The caller whose earlier decisions a policy may use; absent: it gets none. */
  readonly caller?: Caller
  /** Another policy than the one in force, to see its decision. */
  readonly policy?: CompiledPolicy
  /** When the caller has computed them already. */
  readonly digests?: ChangeSetDigests
}

export interface AuthorizeRequest extends Omit<AnalyzeRequest, 'policy' | 'route'> {
  readonly caller: Caller
  readonly correlationId: string
  /** Set for an intercepted call: whoever enforces it writes the entry of the decision log. Absent: the flow does. */
  readonly isCall?: true
  /** Told which stage the decision is in; absent: nobody measures it. */
  readonly stages?: StageClock
  /** Body bytes of the request that asks for it; absent or null: it has no body. */
  readonly requestBytes?: number | null
  /** Route name of an intercepted call; null for direct callers. */
  readonly route: string | null
  readonly decisionSpecVersion: '1.0' | '2.0'
  /** Token whose hash becomes the new receipt's `prev`. */
  readonly previousReceipt: string | null
  readonly idempotency: { readonly key: string; readonly bodyDigest: string } | null
  /** Builds the stored answer from the authorization, before it is recorded; null for intercepted calls. */
  readonly response: ((authorization: Authorization) => string) | null
  /** Called before anything is recorded or issued; an error that it throws ends the request without a decision. */
  readonly beforeRecord?: (decision: { readonly envelope: EnvelopeDraft }) => void
  /** True: an equal decision in force serves as well, where the store has one. Absent: each decision is an act of its own. */
  readonly mayJoin?: boolean
}

/** The result of an analysis; it contains no permission. */
export interface Assessment {
  readonly verdict: Verdict
  readonly analyses: readonly ArtifactAnalysis[]
}

/** A decision that is already durable, with its receipt. */
export interface Authorization extends Assessment {
  readonly envelope: Envelope
  readonly token: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
  /** The approval request that the decision waits for or uses; null when it needs none. */
  readonly approvalId: string | null
  /** The spans of the call that opened that request, and of its grant. */
  readonly approvalLinks: readonly LinkedSpan[]
}

export interface Flow extends DocumentReader {
  /**
   * One artifact compared, in a worker when it is large; cached by content digest. Never throws because of the document;
   * rejects with OVERLOADED when too many tasks wait.
   */
  compare(artifact: Artifact, options: CompareOptions): Promise<Result<Comparison>>
  /** The two hashes of a change set, in a worker when it is large. */
  digests(artifacts: readonly Artifact[]): Promise<ChangeSetDigests>
  /** The type that both texts have, where nobody has declared it; an empty text has none. */
  sniff(before: string, after: string): Promise<Result<ArtifactType>>
  /**
   * An OpenAPI baseline with single operations replaced by the candidate's, in a worker when they are large. @param operations
   * operationId or `METHOD /path` each
   */
  compose(baseline: string, candidate: string, operations: readonly string[]): Promise<Result<AcceptedOperations>>
  /**
   * The bytes of a body as JSON that can be read in only one way. Many bytes go to a worker: they are transferred, and empty
   * here afterwards.
   * @param origin what a request may hold is bounded; the answers of a platform or registry to the gateway's own questions are as
   * large as what they describe
   */
  readJson(bytes: Uint8Array, origin?: JsonOrigin): Promise<Result<unknown>>
  /** Risk only: nothing is recorded or signed. */
  analyze(request: AnalyzeRequest): Promise<Assessment>
  /** Resolves only after the decision row is durable; rejects with a GatewayError (STORE_UNAVAILABLE, SIGNER_UNAVAILABLE, OVERLOADED …) and then there is no receipt. */
  authorize(request: AuthorizeRequest): Promise<Authorization>
  close(): Promise<void>
}
