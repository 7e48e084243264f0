/**
 * The road of a call, as one story (docs/architecture.md): gather → analyze → decide → record. The API and the proxy both enter here;
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
  Problem,
  Release,
  Result,
  Verdict,
} from '../../engine/internal.ts'
import type { Caller } from '../callers/caller.ts'
import type { DocumentReader } from '../documents/bundle.ts'

/** An artifact that is known to belong to the change set, and why it could not be had whole. */
export interface UnreadableArtifact extends Pick<Artifact, 'id' | 'type'> {
  readonly problem: Problem
}

export interface AnalyzeRequest {
  readonly artifacts: readonly Artifact[]
  /** Makes the analysis incomplete; absent: none. */
  readonly unreadable?: readonly UnreadableArtifact[]
  readonly context: DecisionContext
  /**
   * Findings that reach only other operations or tools do not decide when a scope is given (a call of one tool).
   * They stay out of the envelope; findings of the whole contract always count.
   */
  readonly scope: DecisionScope | null
  /** How the change set came to be; absent: somebody submitted it. */
  readonly completeness?: CompletenessFacts
  /** The publication that carries the artifacts; absent: none does. */
  readonly release?: Release
  /** Name of the route that the policy is to see; absent: none. */
  readonly route?: string | null
  /** Whose past a policy that looks back is shown; absent: it sees none. */
  readonly caller?: Caller
  /** Another policy than the one in force, to see what it would decide. */
  readonly policy?: CompiledPolicy
  /** When the caller has them already. */
  readonly digests?: ChangeSetDigests
}

export interface AuthorizeRequest extends Omit<AnalyzeRequest, 'policy' | 'route'> {
  readonly caller: Caller
  readonly correlationId: string
  /** Route name of an intercepted call; null for direct callers. */
  readonly route: string | null
  readonly decisionSpecVersion: '1.0' | '2.0'
  /** Token whose hash becomes the new receipt's `prev`. */
  readonly previousReceipt: string | null
  readonly idempotency: { readonly key: string; readonly bodyDigest: string } | null
  /** Builds the stored answer from the authorization, before it is recorded; null on the road. */
  readonly response: ((authorization: Authorization) => string) | null
  /** Asked before anything is recorded or handed out; what it throws ends the request without a decision. Absent: nothing is asked. */
  readonly beforeRecord?: (authorization: Pick<Authorization, 'envelope'>) => void
}

/** What an analysis came to; no permission in it. */
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
  /** The request for a person's word that the decision waits for or rests on; null when it needs none. */
  readonly approvalId: string | null
}

export interface Flow extends DocumentReader {
  /** One artifact compared, in a worker when it is large; cached by content digest. Never throws for what the document does; rejects with OVERLOADED when too much waits. */
  compare(artifact: Artifact, options: CompareOptions): Promise<Result<Comparison>>
  /** The two hashes of a change set, in a worker when it is large. */
  digests(artifacts: readonly Artifact[]): Promise<ChangeSetDigests>
  /** The type that both texts show, where nobody has declared it; an empty text shows none. */
  sniff(before: string, after: string): Promise<Result<ArtifactType>>
  /** An OpenAPI baseline with single operations as the candidate has them, in a worker when they are large. @param operations operationId or `METHOD /path` each */
  compose(baseline: string, candidate: string, operations: readonly string[]): Promise<Result<AcceptedOperations>>
  /** The bytes of a request body as JSON with one reading only, in a worker when they are many: then they are handed over, and empty here. */
  readJson(bytes: Uint8Array): Promise<Result<unknown>>
  /** Risk only: nothing is recorded or signed. */
  analyze(request: AnalyzeRequest): Promise<Assessment>
  /** Resolves only after the decision row is durable; rejects with a GatewayError (STORE_UNAVAILABLE, SIGNER_UNAVAILABLE, OVERLOADED …) and then there is no receipt. */
  authorize(request: AuthorizeRequest): Promise<Authorization>
  close(): Promise<void>
}
