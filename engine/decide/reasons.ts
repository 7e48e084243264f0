/**
 * The registry of our own reason codes (a finding's code is its rule id, see docs/rules.md). Append-only: codes are
 * added, never renamed, and a meaning never changes. Pinned in test/pins/reason-codes.tsv.
 */
import type { Problem } from '../common/result.ts'
import { ENVELOPE_BOUNDS } from './envelope-vocabulary.ts'
import type { Reason } from './envelope-members.ts'
import { clip } from './text.ts'

export const REASON_CODES = {
  BREAKING_CHANGE: 'A breaking change whose rule id does not fit a reason code.',
  DANGEROUS_CHANGE: 'A dangerous change whose rule id does not fit a reason code.',
  NOTABLE_CHANGE: 'Another change that the policy names and whose rule id does not fit a reason code.',
  NO_BLOCKING_CHANGE: 'Nothing that the policy objects to was found.',
  REASONS_TRUNCATED: 'More reasons apply than an envelope may list; the message says how many.',
  ANALYSIS_INCOMPLETE: 'Not everything could be judged, and the policy says what that means (on_incomplete).',
  ANALYSIS_EMPTY: 'Nothing was submitted to be judged.',
  ANALYSIS_FAILED: 'An artifact could not be analysed.',
  POLICY_CONDITION_FAILED: 'A condition of the policy could not be evaluated.',
  POLICY_PIN_DRIFT: 'The policy in force is not the one that is pinned.',
  WAIVED_FINDING: 'A waiver of the policy lowers a finding to a warning.',
  WAIVER_EXPIRES_SOON: 'A waiver that is in use ends within fourteen days.',
  WAIVER_EXPIRED: 'A waiver has ended and its finding counts again.',
  OBSERVED_BLOCK: 'A rule in observe mode would have blocked.',
  OBSERVED_REQUIRE_APPROVAL: 'A rule in observe mode would have asked for an approval.',
  APPROVED_EXCEPTION: 'A person approved what would otherwise need an approval.',
  MONITORING_UNWIRED: 'The decision asks for monitoring and nothing that takes telemetry is wired.',
  DECISION_MALFORMED: 'A consumer was given something that is not a decision result of a version it knows.',
  DECISION_EXPIRED: 'The decision is no longer valid.',
  INPUT_FINGERPRINT_MISMATCH: 'The decision is about another input than the consumer holds.',
  RECEIPT_NOT_AUTHORIZED: 'The receipt was not verified for this very attempt.',
  RECEIPT_FORMAT_UNKNOWN: 'The receipt has a format version that the consumer does not know.',
  STOPPED: 'The decision is STOP.',
  APPROVAL_REQUIRED: 'The decision is REQUEST_APPROVAL.',
  ARTIFACT_UNREADABLE: 'A contract document cannot be read: its text, its references or its version.',
  ARTIFACT_OVER_LIMIT: 'A contract document exceeds a limit: its length, nesting, aliases or expansion.',
  ARTIFACT_TYPE_MISMATCH: 'A contract document is not of the type that it is declared as.',
  UNSUPPORTED_ARTIFACT_TYPE: 'Contracts of this type are not compared.',
  ANALYSIS_TIMEOUT: 'Comparing an artifact took longer than the limit.',
  ANALYSIS_MEMORY: 'Comparing an artifact takes more memory than the gateway may use for it.',
  ANALYSIS_FAULT: 'Comparing an artifact failed inside the gateway.',
  GUARD_CALL_UNRECOGNISED: 'A guarded call does not say in one reading what it would change.',
  GUARD_NO_PRIOR_CONTENT: 'A guarded call writes a whole file and there is nothing to compare it with.',
  GUARD_CONTRACT_UNRECOGNISED: 'A guarded call changes a file of no known kind of contract.',
  GUARD_CONTENT_CHANGED: 'A file was changed by somebody else while its change was being judged.',
  PREFLIGHT_UNREACHABLE: 'A guard could not get or verify a decision.',
  FREEZE_WINDOW: 'A freeze window of the policy is open for this operation and environment.',
  CHANGE_SET_RULE: 'A rule about the change set as a whole applies, and names no code of its own.',
  VERSION_BUMP_TOO_SMALL: 'A contract did not raise its version as far as its changes ask for, and the policy minds.',
  PROTECTED_CONSUMER: 'A breaking or dangerous change reaches a consumer that the policy protects.',
  DERIVATION_INCOMPLETE: 'The gateway could not list the changed files whole.',
  DERIVATION_UNAVAILABLE: 'The platform that knows the change could not be asked.',
  MERGE_RESULT_UNKNOWN:
    'Both branches changed a contract, or git may change one in another way, and the result of the merge is unknown.',
  MISSING_PRIOR_CONTENT: 'A call changes a file whose previous content the same server did not give.',
  REFERENCE_UNRESOLVED: 'A contract refers to something that was not handed in, so that it was not compared.',
  BREAK_ACCEPTED: 'A person accepted a breaking change of a contract that becomes a baseline (operation register).',
  CHANGE_SET_DIVERGED: 'A caller attested another change set for the same commits than the platform has.',
} as const satisfies Readonly<Record<string, string>>

export type ReasonCode = keyof typeof REASON_CODES

const CODE = /^[A-Z][A-Z0-9_]{2,63}$/

/** A reason within the bounds of the envelope. */
export function reason(code: ReasonCode, message: string): Reason {
  return { code, message: clip(message, ENVELOPE_BOUNDS.message) }
}

/** A reason whose code comes from a rule, a policy or a problem; one that does not fit the grammar gets `fallback`. */
export function foreignReason(code: string, message: string, fallback: ReasonCode): Reason {
  return { code: CODE.test(code) ? code : fallback, message: clip(message, ENVELOPE_BOUNDS.message) }
}

export function problemReason(subject: string, problem: Problem): Reason {
  const { line, column } = problem
  const place = line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`
  return foreignReason(problem.code, `${subject}: ${problem.message}${place}`, 'ANALYSIS_FAILED')
}
