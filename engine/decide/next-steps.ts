/**
 * The steps after a decision: for people (required_action), for agents (next_agent_step) and for both (next_actions).
 * They are suggestions; execution_action is binding.
 */
import type { Decision } from '../model/decision.ts'
import type { NextAction, NextAgentStep, Reason, RequiredActionCore } from './envelope-members.ts'
import { approverWords } from '../policy/required-approval.ts'
import type { Approvers } from '../policy/policy.ts'
import { ENVELOPE_BOUNDS } from './envelope-vocabulary.ts'
import { clip } from './text.ts'

interface StepFacts {
  readonly decision: Decision
  readonly isComplete: boolean
  /** Findings block or hold, not only what could not be judged. */
  readonly hasBlockingFindings: boolean
  /** The whole change set is blocked, whatever was found (a freeze window, a rule about the change set). */
  readonly hasBlockingRulings: boolean
  readonly patterns: readonly string[]
  readonly operation: string | null
  /** The deciding reason: the first blocking reason, else the first warning, else the first degraded reason. */
  readonly leading: Reason | null
  /** Of the policy rule that decided: the target of the first required action. */
  readonly runbook: string | null
  /** The address of the approval request, if there is one. */
  readonly approvalAddress: string | null
  /** Groups whose members may approve; empty: any approver. */
  readonly approvers: Approvers
}

interface NextSteps {
  readonly required_action: string | null
  readonly required_action_core: RequiredActionCore
  readonly next_actions: readonly NextAction[]
  readonly next_agent_step: NextAgentStep | null
}

const PREFLIGHT_TOOL = 'preflight_change_set'

interface Recovery {
  readonly action: NextAgentStep['action']
  readonly resume: string
}

const REVERT: Recovery = { action: 'revert', resume: 'The blocking changes are undone or fixed.' }

/**
 * Patterns → the recovery of a stopped agent. The first matching row counts
 * (docs/reference/envelope.md#rules-for-consumers).
 */
const RECOVERIES: readonly (Recovery & { readonly patterns: RegExp })[] = [
  {
    patterns: /^(ENDPOINT|TOOL)_REMOVED$/,
    action: 'migrate',
    resume: 'An operation or tool that still exists is used instead, or the removal is undone.',
  },
  {
    patterns: /^AUTH_SCOPE_REDUCTION$/,
    action: 're_preflight',
    resume: 'The caller is authenticated again, with the scopes that the contract requires.',
  },
]

/**
 * One row for each decision class. A block only about unreadable input, or only about time or place, has a row of its
 * own.
 */
const STEPS: Readonly<Record<Decision | 'UNREADABLE' | 'CLOSED', (facts: StepFacts) => NextSteps>> = {
  ALLOW: () => ({
    required_action: null,
    required_action_core: core('none', 'NO_BLOCKING_CHANGE', false, []),
    next_actions: [VERIFY],
    next_agent_step: null,
  }),
  WARN: ({ leading, isComplete, operation }) => ({
    required_action: 'Proceed under monitoring and report the outcome under correlation_id.',
    required_action_core: core('proceed_with_note', leadingCode(leading), !isComplete, [
      'continue_monitor',
      'verify_receipt',
      ...(operation === 'merge' ? (['re_preflight_deploy'] as const) : []),
    ]),
    next_actions: [MONITOR, VERIFY],
    next_agent_step: null,
  }),
  REQUIRE_APPROVAL: ({ leading, runbook, approvalAddress, approvers }) => ({
    required_action: clip(
      `Obtain an approval${approvers.length === 0 ? '' : ` from ${approverWords(approvers)}`}, then request a new authorize preflight.`,
      ENVELOPE_BOUNDS.requiredAction,
    ),
    required_action_core: core('request_approval', leadingCode(leading), true, [
      'obtain_human_approval',
      'revert',
      're_preflight',
    ]),
    next_actions: [
      action(
        'REQUEST_APPROVAL',
        clip(`Ask ${approverWords(approvers)} to review the blocking reasons.`, ENVELOPE_BOUNDS.instruction),
        true,
        { target: runbook ?? approvalAddress },
      ),
      action('REEVALUATE', 'Request a new authorize preflight once the approval is granted.', true, {
        precondition: 'APPROVAL_GRANTED',
      }),
    ],
    next_agent_step: step(
      'await_approval',
      leadingCode(leading),
      'An approval is granted for this change set and operation.',
      null,
    ),
  }),
  BLOCK: ({ leading, patterns, runbook }) => ({
    required_action: 'Undo or fix the changes that the blocking reasons name, then request a new authorize preflight.',
    required_action_core: core('remediate_or_revert', leadingCode(leading), true, [
      'revert',
      'migrate',
      're_preflight',
      'escalate',
    ]),
    next_actions: [
      action('REMEDIATE', 'Fix each change as remediation_transaction.required_changes says, or revert it.', true, {
        target: runbook,
      }),
      action(
        'REEVALUATE',
        'Request a new authorize preflight after the input has changed; the same input is blocked again.',
        true,
        { precondition: 'INPUT_CHANGED' },
      ),
    ],
    next_agent_step: agentStep(patterns, leadingCode(leading)),
  }),
  CLOSED: ({ leading, runbook }) => ({
    required_action:
      'Wait until what the blocking reasons name no longer holds, then request a new authorize preflight.',
    required_action_core: core('re_preflight', leadingCode(leading), true, ['re_preflight', 'escalate']),
    next_actions: [
      action(
        'REEVALUATE',
        'Request a new authorize preflight once what the blocking reasons name no longer holds.',
        true,
        { precondition: 'POLICY_CHANGED', target: runbook },
      ),
    ],
    next_agent_step: step('escalate', leadingCode(leading), 'What the blocking reasons name no longer holds.', null),
  }),
  UNREADABLE: ({ leading }) => ({
    required_action: 'Submit contracts that can be read and analysed, then request a new authorize preflight.',
    required_action_core: core('fix_coverage', leadingCode(leading), true, ['fix_input', 're_preflight', 'escalate']),
    next_actions: [
      action('FIX_INPUT', 'Fix what degraded_reasons names: the artifact, its size or its references.', true),
      action('REEVALUATE', 'Request a new authorize preflight with the fixed input.', true, {
        precondition: 'INPUT_CHANGED',
      }),
    ],
    next_agent_step: step(
      're_preflight',
      leadingCode(leading),
      'Every artifact can be read and analysed.',
      PREFLIGHT_TOOL,
    ),
  }),
}

export function nextSteps(facts: StepFacts): NextSteps {
  const isOfFindings = facts.decision !== 'BLOCK' || facts.hasBlockingFindings
  const other = facts.hasBlockingRulings ? 'CLOSED' : 'UNREADABLE'
  return STEPS[isOfFindings ? facts.decision : other](facts)
}

const VERIFY = action('VERIFY_RECEIPT', 'Verify the receipt with the intended context right before acting.', false)
const MONITOR = action('MONITOR', 'Send execution telemetry tagged with correlation_id and report the outcome.', false)

function action(
  type: NextAction['type'],
  instruction: string,
  required: boolean,
  { precondition = null, target = null }: Partial<Pick<NextAction, 'precondition' | 'target'>> = {},
): NextAction {
  return { type, instruction, target: target && clip(target, ENVELOPE_BOUNDS.target), required, precondition }
}

function core(
  type: RequiredActionCore['type'],
  reasonCode: string,
  recheckRequired: boolean,
  choices: NonNullable<RequiredActionCore['choices']>,
): RequiredActionCore {
  return { type, reason_code: reasonCode, recheck_required: recheckRequired, choices }
}

function agentStep(patterns: readonly string[], code: string): NextAgentStep {
  const { action: way, resume } = RECOVERIES.find((row) => patterns.some((name) => row.patterns.test(name))) ?? REVERT
  return step(way, code, resume, PREFLIGHT_TOOL)
}

function step(
  agentAction: NextAgentStep['action'],
  stepReason: string,
  resumeCondition: string,
  thenCall: string | null,
): NextAgentStep {
  return { action: agentAction, reason: stepReason, resume_condition: resumeCondition, then_call: thenCall }
}

function leadingCode(leading: Reason | null): string {
  return leading?.code ?? 'ANALYSIS_INCOMPLETE'
}
