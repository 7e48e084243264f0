/** The vocabulary of decisions (docs/reference/envelope.md#decisions-and-execution-actions): closed enums, and what each decision class directs. */

export const DECISIONS = ['ALLOW', 'WARN', 'REQUIRE_APPROVAL', 'BLOCK'] as const
export type Decision = (typeof DECISIONS)[number]

export const EXECUTION_ACTIONS = ['CONTINUE', 'CONTINUE_WITH_MONITORING', 'REQUEST_APPROVAL', 'STOP'] as const
export type ExecutionAction = (typeof EXECUTION_ACTIONS)[number]

/** One row a decision class: its directive, its legacy flag and its strictness (higher wins). */
export const DECISION_CLASSES: Readonly<
  Record<Decision, { readonly action: ExecutionAction; readonly safeForAgent: boolean; readonly strictness: number }>
> = {
  ALLOW: { action: 'CONTINUE', safeForAgent: true, strictness: 0 },
  WARN: { action: 'CONTINUE_WITH_MONITORING', safeForAgent: true, strictness: 1 },
  REQUIRE_APPROVAL: { action: 'REQUEST_APPROVAL', safeForAgent: false, strictness: 2 },
  BLOCK: { action: 'STOP', safeForAgent: false, strictness: 3 },
}

interface Directive {
  /** The effect may take place, with all else that it needs. */
  readonly proceeds: boolean
  /** Proceeds only with a receiver for its telemetry. */
  readonly isMonitored: boolean
  /** A person may still permit it; then a new decision is needed. */
  readonly isHeld: boolean
  /** If several directives apply to one request, the greatest counts. */
  readonly strictness: number
}

/** What each directive means for whoever is about to act: the one table of the consumer, the guard and the proxy. */
export const DIRECTIVES: Readonly<Record<ExecutionAction, Directive>> = {
  CONTINUE: { proceeds: true, isMonitored: false, isHeld: false, strictness: 0 },
  CONTINUE_WITH_MONITORING: { proceeds: true, isMonitored: true, isHeld: false, strictness: 1 },
  REQUEST_APPROVAL: { proceeds: false, isMonitored: false, isHeld: true, strictness: 2 },
  STOP: { proceeds: false, isMonitored: false, isHeld: false, strictness: 3 },
}

/**
 * The meaning of a received directive. An unknown one is STOP
 * (docs/reference/envelope.md#decisions-and-execution-actions).
 */
export function directiveOf(action: string): Directive {
  const known = EXECUTION_ACTIONS.find((name) => name === action)
  return DIRECTIVES[known ?? 'STOP']
}

/** The stricter of two decisions; the first if they are equal. */
export function stricterDecision(a: Decision, b: Decision): Decision {
  return DECISION_CLASSES[a].strictness >= DECISION_CLASSES[b].strictness ? a : b
}

/**
 * What the caller states about the change: bound into the receipt, and readable by the policy. Absent members are
 * null.
 */
export interface DecisionContext {
  readonly operation: string | null
  readonly environment: string | null
  readonly repository: string | null
  readonly branch: string | null
  /** Stringified id. */
  readonly pull_request: string | null
  readonly base: string | null
  readonly head: string | null
  readonly target_id: string | null
  readonly target_uri: string | null
}

export const EMPTY_CONTEXT: DecisionContext = {
  operation: null,
  environment: null,
  repository: null,
  branch: null,
  pull_request: null,
  base: null,
  head: null,
  target_id: null,
  target_uri: null,
}
