/** The closed vocabularies of an envelope and its bounds (docs/reference/envelope.md). */

export const EVIDENCE_QUALITIES = ['LOW', 'MEDIUM', 'HIGH'] as const
export const SEVERITIES = ['INFO', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const
export const COMPLETENESS_MODES = [
  'UNBOUND',
  'ATTESTED_UNVERIFIED',
  'BOUND_ATTESTED',
  'SERVER_DERIVED',
  'CROSS_VERIFIED',
  'DIVERGED',
  'UNESTABLISHABLE',
] as const
export const NEXT_ACTION_TYPES = [
  'VERIFY_RECEIPT',
  'MONITOR',
  'REQUEST_APPROVAL',
  'REMEDIATE',
  'FIX_INPUT',
  'REEVALUATE',
] as const
export const PRECONDITIONS = ['INPUT_CHANGED', 'POLICY_CHANGED', 'APPROVAL_GRANTED', 'WAIVER_GRANTED'] as const
export const REQUIRED_ACTION_TYPES = [
  'none',
  'proceed_with_note',
  're_preflight',
  'fix_coverage',
  'remediate_or_revert',
  'revert',
  'request_approval',
] as const
export const REQUIRED_ACTION_CHOICES = [
  'continue_monitor',
  're_preflight',
  'obtain_human_approval',
  'revert',
  'migrate',
  'fix_input',
  'escalate',
  'verify_receipt',
  're_preflight_deploy',
] as const
export const AGENT_STEPS = ['re_preflight', 'revert', 'migrate', 'escalate', 'await_approval'] as const

/** Longest lists and texts of an envelope (docs/reference/envelope.md). Texts are counted in UTF-16 units, which is never the laxer count. */
export const ENVELOPE_BOUNDS = {
  reasons: 50,
  degradedReasons: 20,
  evidence: 100,
  nextActions: 25,
  summary: 500,
  requiredAction: 500,
  instruction: 500,
  target: 500,
  message: 300,
  source: 300,
  finding: 500,
} as const
