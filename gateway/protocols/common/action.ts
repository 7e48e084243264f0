/** What a recogniser makes of a request: an action to judge, or one to let pass, and what the protocol has to say on the way back. */
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
import type { Subject } from '../../calls/subject.ts'
import type { ErrorCode } from '../../errors/errors.ts'
import type { UnreadableArtifact } from '../../flow/flow.ts'
import type { CandidateNotice } from './candidate.ts'
import type { BaselineRow } from '../../store/store.ts'

/** What a subject is judged on. */
export type Ground =
  /** The contract that the upstream offers now, held against the baseline of the route. */
  | {
      readonly kind: 'contract'
      readonly offered: OfferedContract
      /** False when neither side of the contract says anything of the subject: then it cannot be judged. */
      readonly isCovered: (baseline: BaselineRow) => boolean
      /** Name of its baseline, where the route has several: the route's, a slash, and another name. Absent: the route's. */
      readonly baseline?: string
    }
  /** Both sides follow from the call itself: a merge, a publication, an object or a file that is written. */
  | {
      readonly kind: 'change_set'
      readonly artifacts: readonly Artifact[]
      /** What belongs to the change set and could not be had whole: makes the analysis incomplete. */
      readonly unreadable: readonly UnreadableArtifact[]
      /** The publication that carries the artifacts; absent: none does, or under no version. */
      readonly release?: Release
      /** How the list came to be, where it was derived; absent: the request itself holds all of it. */
      readonly completeness?: CompletenessFacts
    }
  /** There is no contract to compare: it goes on only with a valid receipt for exactly this operation on this target. */
  | { readonly kind: 'receipt' }

/** A receipt that came with a request; whether it is worth anything is for the road to find out. */
export interface PresentedReceipt {
  readonly token: string
  /** The envelope that came along; when there is one, the receipt must cover it. */
  readonly envelope?: unknown
}

/** One subject and what it is judged on. */
export interface Question {
  readonly subject: Subject
  readonly ground: Ground
  /** Receipts that the protocol carries in its own way (an annotation of an object), beside those of the Preflight-Receipt header. */
  readonly receipts?: readonly PresentedReceipt[]
}

/** Why a call does not go on, as each protocol then tells it (docs/reference/wire-headers.md#refusals). */
export interface Refusal {
  readonly code: ErrorCode
  readonly message: string
  readonly correlationId: string
  /** The decision that stopped it; null when there is none. */
  readonly envelope: Envelope | null
  /** What stopped it when the request names several things; null: all of it. */
  readonly subject: Subject | null
  /** Set when it lacks a receipt: which one it takes. */
  readonly demand?: ReceiptDemand
  /** Set when a changed contract of the upstream stopped it. */
  readonly candidate?: CandidateNotice
}

/** The receipt without which a thing does not go on. */
export interface ReceiptDemand {
  /** Context of the authorize preflight that issues it. */
  readonly context: IntendedContext
  /** The change set that it is to be about; empty: whatever the preflight was given. */
  readonly artifacts: readonly Pick<Artifact, 'id' | 'type'>[]
  /** Why the one that came is not good for this; null when there was none to look at. */
  readonly reason: ReceiptReason | null
  readonly note: string
  readonly mismatches: readonly ReceiptMismatch[]
}

/** Under what a call goes on. */
export interface Permit {
  /** What comes of it is wanted. */
  readonly isMonitored: boolean
  /** One for each subject; none when it goes on although nothing could be decided. */
  readonly subjects: readonly {
    readonly subject: Subject
    readonly verdict: { readonly action: ExecutionAction; readonly decisionId: string | null }
  }[]
}

interface ActionBase {
  /** For the log and the ledger. */
  readonly name: string
  /** What follows a switch to another protocol was judged with the request that asks for it, or is let through in so many words. */
  readonly coversUpgrade?: boolean
  /** @param permit null: it is not judged */
  watch(permit: Permit | null): AnswerWatcher | null
  refuse(refusal: Refusal): Answer
}

/** Nothing to judge: goes on unjudged. */
export interface PassingAction extends ActionBase {
  readonly kind: 'pass'
  /** A stream without end that carries no call (server-sent notifications): broken off at once when the gateway stops. */
  readonly isStanding: boolean
}

export interface JudgedAction extends ActionBase {
  readonly kind: 'judge'
  /** At least one; at once where all is known. Asked again, and to look anew, for a call that was held and may go on now. Throws or rejects with a GatewayError or an UpstreamRefusal when there is no telling. */
  gather(): readonly Question[] | Promise<readonly Question[]>
  /** Asked last, after the verdicts: rejects when what was judged is not what the call would do now. Absent: that cannot change. */
  confirm?(): Promise<void> | undefined
  /** How the caller is kept while the call is held; absent or null: the protocol has no sign of life, the caller just waits. */
  heldAnswer?(): HeldAnswer | null
}

/** An answer that begins before it is known what becomes of a held call. */
export interface HeldAnswer {
  /** Of the answer, which is a 200. */
  readonly headers: Readonly<Record<string, string>>
  /** The next sign of life. */
  sign(): string
  /** A whole answer, as it goes into the one that has begun. */
  embed(status: number, body: string): string
}

/** Not a request that can be judged: answered here. */
export interface RefusedAction {
  readonly kind: 'refuse'
  readonly name: string
  readonly answer: Answer
  /** For the log; absent: it has no single reading. */
  readonly why?: string
  /** It guards the caller, not the contract: refused where the route observes, too. Absent: such a route lets it on. */
  readonly isGuard?: true
}

export type Action = PassingAction | JudgedAction | RefusedAction

/** What of a call is looked at to tell of a fault. */
export type FaultyCall = Pick<Call, 'headers' | 'body'>

/** What went wrong with a call and is no verdict on it: before it was judged, or after it was sent. */
export interface CallFault {
  readonly code: ErrorCode
  readonly message: string
  readonly correlationId: string
}

/** One protocol. Registered by name in the proxy's table of recognisers. */
export interface Recogniser<Own extends Route = Route> {
  /** The body must be read before the request can be recognised; what need not be read streams by. */
  needsBody(head: CallHead<Own>): boolean
  recognise(call: Call<Own>): Action | Promise<Action>
  /** A fault as clients of the protocol read it; absent, or null for this call: as every other error of the gateway (docs/reference/api.md#errors). */
  renderFault?(fault: CallFault, call: FaultyCall): Answer | null
}

/** The upstream refused the gateway's own question with a status that is meant for the caller: who it is, or that its session is over. */
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
