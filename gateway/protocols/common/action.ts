/**
 * The result of a recogniser: an action to judge, one to forward unjudged, or a refusal, and how the protocol renders
 * answers.
 */
import type {
  Artifact,
  CompletenessFacts,
  Envelope,
  ExecutionAction,
  IntendedContext,
  ReceiptMismatch,
  ReceiptReason,
  Release,
} from '../../../engine/internal.ts'
import type { OfferedContract } from '../../baselines/baselines.ts'
import type { Answer, AnswerWatcher } from '../../calls/answer.ts'
import type { Route } from '../../routing/route.ts'
import type { Call, CallHead } from '../../calls/call.ts'
import type { JudgedResource } from '../../calls/judged-resource.ts'
import type { ErrorCode } from '../../errors/errors.ts'
import type { UnreadableArtifact } from '../../flow/flow.ts'
import type { CandidateNotice } from './candidate.ts'
import type { BaselineRow } from '../../store/baselines.ts'

/** The basis of the decision on a resource. */
export type CheckBasis =
  /** The contract that the upstream offers now, compared with the baseline of the route. */
  | {
      readonly kind: 'contract'
      readonly offered: OfferedContract
      /** False when neither side of the contract describes the resource: then it cannot be judged. */
      readonly isCovered: (baseline: BaselineRow) => boolean
      /** Name of its baseline, where the route has several: the route's, a slash, and another name. Absent: the route's. */
      readonly baseline?: string
    }
  /** Both sides follow from the call itself: a merge, a publication, an object or a file that is written. */
  | {
      readonly kind: 'change_set'
      readonly artifacts: readonly Artifact[]
      /** Parts of the change set that could not be read completely: they make the analysis incomplete. */
      readonly unreadable: readonly UnreadableArtifact[]
      /** The publication that contains the artifacts; absent: there is none, or it has no version. */
      readonly release?: Release
      /** How the list was derived; absent: the request itself contains all of it. */
      readonly completeness?: CompletenessFacts
    }
  /** There is no contract to compare: the call needs a valid receipt for exactly this operation on this target. */
  | {
      readonly kind: 'receipt'
      /** Members of a place by which such calls say what they do: a receipt that names one is not for a call without it. */
      readonly bound?: readonly ('base' | 'head')[]
    }

/** A receipt that came with a request; the pipeline checks whether it is valid. */
export interface PresentedReceipt {
  readonly token: string
  /** The envelope that came with it; when there is one, the receipt must cover it. */
  readonly envelope?: unknown
}

/** One resource and the basis of its decision. */
export interface ResourceCheck {
  readonly resource: JudgedResource
  readonly basis: CheckBasis
  /**
   * Receipts that the protocol carries in its own form (an annotation of an object), in addition to those of the
   * Preflight-Receipt header.
   */
  readonly receipts?: readonly PresentedReceipt[]
}

/**
 * At least one check, or `nothing`: the request was read completely, and changes nothing that the route judges. An
 * empty list is a fault, and the call undecided.
 */
export type ResourceChecks = readonly ResourceCheck[] | 'nothing'

/** Why a call is refused; each protocol renders it (docs/reference/wire-headers.md#refusals). */
export interface Refusal {
  readonly code: ErrorCode
  readonly message: string
  readonly correlationId: string
  /** The decision that stopped it; null when there is none. */
  readonly envelope: Envelope | null
  /** The refused resource when the request names several; null: all of it. */
  readonly resource: JudgedResource | null
  /** Set when a required receipt is missing: the receipt that it needs. */
  readonly requiredReceipt?: RequiredReceipt
  /** Set when a changed contract of the upstream is the reason. */
  readonly candidate?: CandidateNotice
}

/** A receipt that is required. */
export interface RequiredReceipt {
  /** Context of the authorize preflight that issues it. */
  readonly context: IntendedContext
  /** The change set that it must cover; empty: any. */
  readonly artifacts: readonly Pick<Artifact, 'id' | 'type'>[]
  /** Why the presented one is not valid for this; null when none was presented. */
  readonly reason: ReceiptReason | null
  readonly note: string
  readonly mismatches: readonly ReceiptMismatch[]
}

/** The decision with which a call is forwarded. */
export interface Permit {
  /** The outcome must be reported. */
  readonly isMonitored: boolean
  /** One for each resource; none when the call is forwarded although nothing could be decided. */
  readonly resources: readonly {
    readonly resource: JudgedResource
    readonly verdict: { readonly action: ExecutionAction; readonly decisionId: string | null }
  }[]
}

interface ActionBase {
  /** For the log and the ledger. */
  readonly name: string
  /** Traffic after a switch to another protocol was judged with the request, or is explicitly allowed. */
  readonly coversUpgrade?: boolean
  /** @param permit null: it is not judged */
  watch(permit: Permit | null): AnswerWatcher | null
  refuse(refusal: Refusal): Answer
}

/** Nothing to judge: forwarded unjudged. */
export interface PassingAction extends ActionBase {
  readonly kind: 'pass'
  /**
   * A stream without an end that carries no call (server-sent notifications): closed immediately when the gateway
   * stops.
   */
  readonly isStanding: boolean
}

export interface JudgedAction extends ActionBase {
  readonly kind: 'judge'
  /**
   * Synchronous where all is known. Called again, to read anew, for a pending call that may be forwarded now. Throws or
   * rejects with a GatewayError or an UpstreamRefusal when it cannot be known.
   */
  gather(): ResourceChecks | Promise<ResourceChecks>
  /**
   * Called last, after the verdicts. False: something else is offered by now, so the call is judged again. Rejects when the
   * call would now do something else than what was judged. Absent: neither can change.
   */
  confirm?(): boolean | Promise<boolean>
  /**
   * How the client's connection is kept open while the call is pending; absent or null: the protocol has no sign of
   * life, the client just waits.
   */
  pendingAnswer?(): PendingAnswer | null
  /**
   * Calls back when the client takes the call back by another message before it is forwarded. Returns a function that
   * removes the listener. Absent: it can only disconnect.
   */
  onCancelled?(listener: () => void): () => void
}

/** An answer that begins before a pending call is decided. */
export interface PendingAnswer {
  /** Of the answer, which is a 200. */
  readonly headers: Readonly<Record<string, string>>
  /** The next sign of life. */
  sign(): string
  /** Renders a complete answer inside the one that has begun. */
  embed(status: number, body: string): string
}

/** A request that cannot be judged: the gateway answers it. */
export interface RefusedAction {
  readonly kind: 'refuse'
  readonly name: string
  readonly answer: Answer
  /** For the log; absent: the request has no single reading. */
  readonly why?: string
  /**
   * It protects the caller, not the contract: refused in observe mode too. Absent: a route in observe mode forwards it.
   */
  readonly isGuard?: true
}

export type Action = PassingAction | JudgedAction | RefusedAction

/** The part of a call that a fault is rendered from. */
export type FaultyCall = Pick<Call, 'headers' | 'body'>

/** A failure of a call that is not a verdict on it: before it was judged, or after it was sent. */
export interface CallFault {
  readonly code: ErrorCode
  readonly message: string
  readonly correlationId: string
}

/** One protocol. Registered by name in the proxy's table of recognisers. */
export interface Recogniser<Own extends Route = Route> {
  /** True when the body must be read before the request can be recognised; other bodies are streamed. */
  needsBody(head: CallHead<Own>): boolean
  /** True when a short body, if there is one to read, makes the judgement more exact. Absent: none does. */
  usesBody?(head: CallHead<Own>): boolean
  /**
   * Asked where `needsBody` is false: true when a body that begins with these bytes must be read. Absent: none does.
   * @param start at least one byte, if there is any
   */
  needsBodyFrom?(head: CallHead<Own>, start: Buffer): boolean
  recognise(call: Call<Own>): Action | Promise<Action>
  /**
   * A fault in the form of the protocol; absent, or null for this call: in the form of every other error of the gateway
   * (docs/reference/api.md#errors).
   */
  renderFault?(fault: CallFault, call: FaultyCall): Answer | null
}

/**
 * The upstream refused the gateway's own request with a status that concerns the caller: its credentials are refused,
 * or its session has ended.
 */
export class UpstreamRefusal extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, headers: Readonly<Record<string, string>>) {
    super(`The upstream answered ${status}.`)
    this.name = 'UpstreamRefusal'
    this.status = status
    this.headers = headers
  }
}
