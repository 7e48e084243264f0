/** The control envelope of an authorize answer (wire.md §4): what an agent runtime branches on, beside the full decision. */
import type { Decision, ExecutionAction } from '../decide/decision.ts'
import type { Envelope } from '../decide/envelope.ts'
import type { NextAgentStep } from '../decide/envelope-schema.ts'
import type { ReceiptStanding } from './verify.ts'

export interface Enforcement {
  readonly mode: 'enforce' | 'observe'
  readonly tier: 'sidecar' | 'gateway' | 'verifier'
}

export interface ReceiptView {
  readonly present: boolean
  readonly verified: boolean
  readonly binds_to: {
    readonly operation: string | null
    readonly environment: string | null
    readonly target_id: string | null
    readonly repository: string | null
    readonly branch: string | null
    readonly pull_request: string | null
    readonly base: string | null
    readonly head: string | null
    readonly srcmode: string | null
    readonly completeness_mode: string | null
  }
  readonly expires_at: string
  readonly currently_authorized: boolean
}

export interface ControlEnvelope {
  readonly control_version: 'control/1.0'
  readonly decision: Decision
  readonly execution_action: ExecutionAction
  readonly safe_for_agent: boolean
  readonly receipt_view: ReceiptView
  readonly required_action: string | null
  readonly next_agent_step: NextAgentStep | null
  readonly enforcement: Enforcement
}

export interface ControlFacts {
  /** The token's signature held: true for one just issued here. */
  readonly verified: boolean
  readonly state: ReceiptStanding
  /** Seconds since the epoch. */
  readonly now: number
  readonly enforcement: Enforcement
}

export declare function controlEnvelope(envelope: Envelope, facts: ControlFacts): ControlEnvelope
