/**
 * The part of the public face that is needed before anything is judged: vocabulary, schema types, hashes, strict JSON, and the
 * verification of receipts. Whoever imports this alone has loaded neither the comparison nor the policies (docs/decisions/0019).
 */
export { fileMistakes, hasFiles, lengthOf, MAX_ARTIFACT_FILES, textOn } from './artifact-files.ts'
export {
  canonicalArtifactType,
  ARTIFACT_TYPES,
  artifactDigest,
  byCodeUnit,
  changeSetDigests,
  inputFingerprint,
} from './change-set.ts'
export { readJson } from './contracts/json-text.ts'
export { DEFAULT_DOCUMENT_LIMITS } from './limits.ts'
export { DECISION_CLASSES, DECISIONS, directiveOf, EMPTY_CONTEXT, EXECUTION_ACTIONS, stricter } from './decision.ts'
export { REASON_CODES, reason } from './decide/reasons.ts'
export { countFindings, countPlaces, expandFindings, LEVELS } from './finding.ts'
export { canonicalJson, digestJson, digestText } from './hash.ts'
export { RECEIPT_FORMAT_VERSION } from './receipts/claims.ts'
export { RECEIPT_REASONS } from './receipts/verification.ts'
export { verifyReceipt } from './receipts/verify.ts'
export { approverWords, requiredApproval } from './policy/required-approval.ts'
export { MAX_EARLIER_DECISIONS } from './policy/history.ts'
export { lookupTable } from './lookup-table.ts'
export { fail, ok } from './result.ts'
export { Type } from './type-builder.ts'
export { compareSemanticVersions, parseSemanticVersion } from './semantic-version.ts'
export { misspelled, nearest } from './suggestion.ts'
