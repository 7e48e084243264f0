/** What is to be done after a decision: for people (required_action), for agents (next_agent_step) and for both (next_actions). Suggestions; execution_action rules. */
import type { Decision } from './decision.ts'
import type { NextAction, NextAgentStep, Reason, RequiredActionCore } from './envelope-parts.ts'

export interface StepFacts {
  readonly decision: Decision
  readonly isComplete: boolean
  /** Findings hold it up, rather than only what could not be judged. */
  readonly hasBlockingFindings: boolean
  readonly patterns: readonly string[]
  readonly operation: string | null
  /** What decided: the first blocking reason, else the first warning, else the first degraded reason. */
  readonly leading: Reason | null
}

export interface NextSteps {
  readonly required_action: string | null
  readonly required_action_core: RequiredActionCore
  readonly next_actions: readonly NextAction[]
  readonly next_agent_step: NextAgentStep | null
}

const PREFLIGHT_TOOL = 'preflight_change_set'
const REMOVED = /^(ENDPOINT|TOOL|OPERATION)_REMOVED$/

/** One row a situation: a decision class, with a block that is only about unreadable input apart from a block of findings. */
const STEPS: Readonly<Record<Decision | 'UNREADABLE', (facts: StepFacts) => NextSteps>> = {
  ALLOW: () => ({
    required_action: null,
    required_action_core: core('none', 'NO_BLOCKING_CHANGE', false, []),
    next_actions: [VERIFY],
    next_agent_step: null,
  }),
  WARN: ({ leading, isComplete, operation }) => ({
    required_action: 'Proceed under monitoring and report the outcome under correlation_id.',
    required_action_core: core('proceed_with_note', codeOf(leading), !isComplete, [
      'continue_monitor',
      'verify_receipt',
      ...(operation === 'merge' ? (['re_preflight_deploy'] as const) : []),
    ]),
    next_actions: [MONITOR, VERIFY],
    next_agent_step: null,
  }),
  REQUIRE_APPROVAL: ({ leading }) => ({
    required_action: 'Obtain an approval, then request a new authorize preflight.',
    required_action_core: core('request_approval', codeOf(leading), true, [
      'obtain_human_approval',
      'revert',
      're_preflight',
    ]),
    next_actions: [
      action('REQUEST_APPROVAL', 'Ask a person who may approve to review the blocking reasons.', true),
      action('REEVALUATE', 'Request a new authorize preflight once the approval is granted.', true, 'APPROVAL_GRANTED'),
    ],
    next_agent_step: step(
      'await_approval',
      codeOf(leading),
      'An approval is granted for this change set and operation.',
      null,
    ),
  }),
  BLOCK: ({ leading, patterns }) => ({
    required_action: 'Undo or mend the changes that the blocking reasons name, then request a new authorize preflight.',
    required_action_core: core('remediate_or_revert', codeOf(leading), true, [
      'revert',
      'migrate',
      're_preflight',
      'escalate',
    ]),
    next_actions: [
      action('REMEDIATE', 'Mend each change as remediation_transaction.required_changes says, or revert it.', true),
      action(
        'REEVALUATE',
        'Request a new authorize preflight after the input has changed; the same input is blocked again.',
        true,
        'INPUT_CHANGED',
      ),
    ],
    next_agent_step: patterns.some((name) => REMOVED.test(name))
      ? step(
          'migrate',
          codeOf(leading),
          'An operation or tool that still exists is used instead, or the removal is undone.',
          PREFLIGHT_TOOL,
        )
      : step('revert', codeOf(leading), 'The blocking changes are undone or mended.', PREFLIGHT_TOOL),
  }),
  UNREADABLE: ({ leading }) => ({
    required_action: 'Submit contracts that can be read and analysed, then request a new authorize preflight.',
    required_action_core: core('fix_coverage', codeOf(leading), true, ['fix_input', 're_preflight', 'escalate']),
    next_actions: [
      action('FIX_INPUT', 'Mend what degraded_reasons names: the artifact, its size or its references.', true),
      action('REEVALUATE', 'Request a new authorize preflight with the mended input.', true, 'INPUT_CHANGED'),
    ],
    next_agent_step: step('re_preflight', codeOf(leading), 'Every artifact can be read and analysed.', PREFLIGHT_TOOL),
  }),
}

export function nextSteps(facts: StepFacts): NextSteps {
  const isUnreadable = facts.decision === 'BLOCK' && !facts.hasBlockingFindings
  return STEPS[isUnreadable ? 'UNREADABLE' : facts.decision](facts)
}

const VERIFY = action('VERIFY_RECEIPT', 'Verify the receipt with the intended context right before acting.', false)
const MONITOR = action('MONITOR', 'Send execution telemetry tagged with correlation_id and report the outcome.', false)

function action(
  type: NextAction['type'],
  instruction: string,
  required: boolean,
  precondition: NextAction['precondition'] = null,
): NextAction {
  return { type, instruction, target: null, required, precondition }
}

function core(
  type: RequiredActionCore['type'],
  reasonCode: string,
  recheckRequired: boolean,
  choices: NonNullable<RequiredActionCore['choices']>,
): RequiredActionCore {
  return { type, reason_code: reasonCode, recheck_required: recheckRequired, choices }
}

function step(
  agentAction: NextAgentStep['action'],
  stepReason: string,
  resumeCondition: string,
  thenCall: string | null,
): NextAgentStep {
  return { action: agentAction, reason: stepReason, resume_condition: resumeCondition, then_call: thenCall }
}

function codeOf(leading: Reason | null): string {
  return leading?.code ?? 'ANALYSIS_INCOMPLETE'
}
