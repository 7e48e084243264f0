/** The control envelope of an authorize answer (docs/reference/envelope.md#control-envelope): what an agent runtime branches on, beside the full decision. */
import { DECISION_CLASSES, type Decision, type ExecutionAction } from '../model/decision.ts'
import type { Envelope } from '../decide/envelope-schema.ts'
import type { NextAgentStep } from '../decide/envelope-members.ts'
import { instantSeconds } from '../decide/text.ts'
import type { ReceiptStanding } from './verification.ts'

/** What stands behind the decision: whether it is enforced here, and what this deployment guarantees (docs/architecture.md, Tiers). */
export interface Enforcement {
  readonly mode: 'enforce' | 'observe'
  readonly tier: 'sidecar' | 'gateway' | 'verifier'
  /** How the agent's connections come: redirected by the network, or because the agent is configured for the gateway. */
  readonly traffic: 'transparent' | 'explicit'
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
  /** The token's signature held: true for one that was just issued here. */
  readonly verified: boolean
  readonly state: ReceiptStanding
  /** Seconds since the epoch. */
  readonly now: number
  readonly enforcement: Enforcement
}

/** What a consumer branches on, and what its receipt is good for now: `currently_authorized` needs all of the facts to hold. */
export function controlEnvelope(envelope: Envelope, facts: ControlFacts): ControlEnvelope {
  const { decision, execution_action, safe_for_agent, required_action } = envelope
  return {
    control_version: 'control/1.0',
    decision,
    execution_action,
    safe_for_agent,
    receipt_view: receiptView(envelope, facts),
    required_action,
    next_agent_step: envelope.next_agent_step ?? null,
    enforcement: facts.enforcement,
  }
}

/** Seconds, as for the receipt itself: the clock of whoever decided may be ahead of this one by so much. */
const LEEWAY = 30

/** @param now seconds since the epoch */
function isWithin({ evaluated_at: from, expires_at: until }: Envelope, now: number): boolean {
  return now + LEEWAY >= instantSeconds(from) && now < instantSeconds(until)
}

/** Authorized only while everything is known to hold: a state that nobody asked for is not enough here. */
function receiptView(envelope: Envelope, { verified, state, now }: ControlFacts): ReceiptView {
  const { action, safeForAgent } = DECISION_CLASSES[envelope.decision]
  const permits = safeForAgent && action === envelope.execution_action
  return {
    present: true,
    verified,
    binds_to: {
      operation: envelope.operation ?? null,
      environment: envelope.environment ?? null,
      target_id: envelope.target_id ?? null,
      repository: envelope.repository ?? null,
      branch: envelope.branch ?? null,
      pull_request: envelope.pull_request ?? null,
      base: envelope.base ?? null,
      head: envelope.head ?? null,
      srcmode: envelope.srcmode ?? null,
      completeness_mode: envelope.completeness_mode ?? null,
    },
    expires_at: envelope.expires_at,
    currently_authorized: permits && verified && state === 'current' && isWithin(envelope, now),
  }
}
