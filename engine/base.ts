/**
 * The part of the public face that is needed before anything is judged: vocabulary, schema types, hashes, strict JSON, and the
 * verification of receipts. Whoever imports this alone has loaded neither the comparison nor the policies (docs/decisions/0019).
 */
import './common/required-runtime.ts'
export { fileMistakes, hasFiles, lengthOf, MAX_ARTIFACT_FILES, textOn } from './model/artifact-files.ts'
export {
  canonicalArtifactType,
  ARTIFACT_TYPES,
  artifactDigest,
  changeSetDigests,
  inputFingerprint,
} from './model/change-set.ts'
export { byCodeUnit } from './common/code-unit-order.ts'
export { appendPointer, nameOfToken, pointerFragment, pointerToken } from './common/json-pointer.ts'
export { endOfString } from './contracts/json-strings.ts'
export { readJson } from './contracts/json-text.ts'
export { DEFAULT_DOCUMENT_LIMITS } from './model/limits.ts'
export {
  DECISION_CLASSES,
  DECISIONS,
  directiveOf,
  EMPTY_CONTEXT,
  EXECUTION_ACTIONS,
  stricterDecision,
} from './model/decision.ts'
export { REASON_CODES, reason } from './decide/reasons.ts'
export { countFindings, countPlaces, expandFindings, LEVELS, occurrenceText } from './model/finding.ts'
export { canonicalJson, digestJson, digestText } from './common/hash.ts'
export { RECEIPT_FORMAT_VERSION } from './receipts/claims.ts'
export { RECEIPT_REASONS } from './receipts/verification.ts'
export { verifyReceipt } from './receipts/verify.ts'
export { approverWords, requiredApproval } from './policy/required-approval.ts'
export { DEFAULT_HISTORY_SECONDS, MAX_EARLIER_DECISIONS } from './policy/history.ts'
export { lookupTable } from './common/lookup-table.ts'
export { percentDecoded } from './common/percent-decoding.ts'
export { fail, ok } from './common/result.ts'
export { Type } from './common/type-builder.ts'
export { compareSemanticVersions, parseSemanticVersion } from './common/semantic-version.ts'
export { misspelled, nearest, spelledNames, type SpelledNames } from './common/suggestion.ts'
