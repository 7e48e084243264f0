/** Everything that the gateway uses of the engine. No promise is made to others: they import `index.ts`. Named exports only. */
import './common/required-runtime.ts'
export { lookupTable } from './common/lookup-table.ts'
export { percentDecoded } from './common/percent-decoding.ts'
export {
  canonicalArtifactType,
  ARTIFACT_TYPES,
  artifactDigest,
  changeSetDigests,
  inputFingerprint,
} from './model/change-set.ts'
export { byCodeUnit } from './common/code-unit-order.ts'
export { appendPointer, nameOfToken, pointerFragment, pointerToken } from './common/json-pointer.ts'
export { fileMistakes, hasFiles, lengthOf, MAX_ARTIFACT_FILES, textOn } from './model/artifact-files.ts'
export type { ArtifactFile, ArtifactFiles } from './model/artifact-files.ts'
export type { Artifact, ArtifactType, ChangeSetDigests } from './model/change-set.ts'
export { mayProceed, readDecision } from './guard/consumer.ts'
export type { AttemptFacts, DecisionReading, Permission, ReadDecision } from './guard/consumer.ts'
export { compare, DEFAULT_DOCUMENT_LIMITS } from './formats/compare.ts'
export type {
  ArtifactAnalysis,
  CompareOptions,
  Comparison,
  ComparisonStats,
  DocumentLimits,
} from './formats/compare.ts'
export { readDocument } from './contracts/document.ts'
export { resolveRef } from './contracts/pointer.ts'
export { acceptOperations } from './contracts/openapi/accepted-operations.ts'
export type { AcceptedOperations } from './contracts/openapi/accepted-operations.ts'
export { yamlObjectProblem } from './contracts/yaml-text.ts'
export { endOfString } from './contracts/json-strings.ts'
export { readJson } from './contracts/json-text.ts'
export { asksForSchemaOnly, operationIn, readOperationDocument } from './contracts/graphql/operation.ts'
export { readGraphqlShape } from './contracts/graphql/shape.ts'
export type { GraphqlShape } from './contracts/graphql/shape.ts'
export { touchOf } from './contracts/graphql/touch.ts'
export type { GraphqlTouch } from './contracts/graphql/touch.ts'
export { readRpcs } from './contracts/protobuf/rpcs.ts'
export type { Rpc, RpcTable } from './contracts/protobuf/rpcs.ts'
export { sniffArtifactType } from './formats/sniff.ts'
export type { ApprovalFacts, ApprovalGranted, ApprovalRequested } from './decide/approval.ts'
export type {
  ChangeSetOrigin,
  Commitment,
  CompletenessFacts,
  DerivationFacts,
  Reconciliation,
} from './decide/completeness.ts'
export type { ConsumerUse, DeclaredConsumer } from './decide/consumers.ts'
export {
  DECISION_CLASSES,
  DECISIONS,
  directiveOf,
  EMPTY_CONTEXT,
  EXECUTION_ACTIONS,
  stricterDecision,
} from './model/decision.ts'
export type { Decision, DecisionContext, ExecutionAction } from './model/decision.ts'
export { decide } from './decide/decide.ts'
export type { DecideInput } from './decide/decide.ts'
export { buildEnvelope, EnvelopeInvariantError } from './decide/envelope.ts'
export type { Issuance } from './decide/envelope.ts'
export { checkProducerForm } from './decide/envelope-check.generated.js'
export { decisionResultConsumerSchema, decisionResultProducerSchema } from './decide/envelope-schema.ts'
export type { Envelope, EnvelopeDraft } from './decide/envelope-schema.ts'
export { REASON_CODES, reason } from './decide/reasons.ts'
export type { ReasonCode } from './decide/reasons.ts'
export { RISK_FACTORS, SCORER_VERSION } from './decide/risk.ts'
export type { Evidence, NextAction, NextAgentStep, Reason } from './decide/envelope-members.ts'
export { judgeChangeSet } from './decide/judgement.ts'
export type { DecisionScope, JudgedChangeSet, FindingJudgement as Judgement } from './decide/judgement.ts'
export type { ArtifactVerdict, HumanReport, RiskFactor, SeveritySummary, Verdict } from './decide/verdict.ts'
export { compileEntryExpression } from './policy/expression.ts'
export type { EntryExpression } from './policy/expression.ts'
export { compileRequestExpression, REQUEST_FIELDS } from './policy/request-expression.ts'
export type { RequestExpression, RequestFacts, RequestField } from './policy/request-expression.ts'
export { countFindings, countPlaces, expandFindings, LEVELS, occurrenceText } from './model/finding.ts'
export type { Direction, Finding, FindingGroup, Level, Occurrence, Offer, Operation } from './model/finding.ts'
export { guardMcpClient, guardTools } from './guard/guard.ts'
export { filePathReadings, isFilePattern, isSameFile, pathAndEnds } from './common/file-path.ts'
export { applyFileChange, namedFiles, readFileChanges } from './guard/edits.ts'
export { FILE_ARGUMENTS } from './guard/named-files.ts'
export { furtherPaths } from './guard/further-paths.ts'
export type { FileChange, FileChanges } from './guard/edits.ts'
export type { GuardedClient, GuardedTool, GuardedTools, GuardOutcome, GuardVerdict, ToolTable } from './guard/guard.ts'
export type { GuardOptions, GuardPlace, GuardService } from './guard/options.ts'
export { canonicalJson, digestJson, digestText } from './common/hash.ts'
export type { Digest, Json, Sha256 } from './common/hash.ts'
export { detectPatterns } from './patterns/detect.ts'
export type { DetectedPattern, PatternReport, PatternSource } from './patterns/pattern.ts'
export type { KeySet, KeyStatus, Signer, VerificationKey } from './receipts/signer.ts'
export { ATTESTATION_PAYLOAD_TYPE, ATTESTATION_PREDICATE_TYPE, prepareAttestation } from './receipts/attestation.ts'
export type { DsseEnvelope, PreparedAttestation } from './receipts/attestation.ts'
export { decisionBodyHash } from './receipts/body-hash.ts'
export { RECEIPT_FORMAT_VERSION } from './receipts/claims.ts'
export type { ReceiptClaims, ReceiptIssue } from './receipts/claims.ts'
export { controlEnvelope } from './receipts/control-envelope.ts'
export type { ControlEnvelope, ControlFacts, Enforcement, ReceiptView } from './receipts/control-envelope.ts'
export { issueReceipt, prepareReceipt } from './receipts/issue.ts'
export type { IssuedReceipt, PreparedReceipt } from './receipts/issue.ts'
export { RECEIPT_REASONS } from './receipts/verification.ts'
export type {
  IntendedContext,
  ReceiptMismatch,
  ReceiptReason,
  ReceiptStanding,
  ReceiptStatus,
  ReceiptVerification,
} from './receipts/verification.ts'
export { packStatuses, statusListSigningInput } from './receipts/status-list.ts'
export type { Inflate, StatusListInput, StatusReference, ReceiptState } from './receipts/status-list.ts'
export { verifyReceipt } from './receipts/verify.ts'
export type { VerifyInput } from './receipts/verify.ts'
export { compilePolicy } from './policy/compile.ts'
export { traceCondition, waysToTurn } from './policy/condition-trace.ts'
export type { ConditionPart } from './policy/condition-trace.ts'
export { explainRules, explainWholeRule } from './policy/explain.ts'
export type { RuleTrace } from './policy/explain.ts'
export { compileCondition } from './policy/condition.ts'
export type { Condition } from './policy/condition.ts'
export { approverWords, requiredApproval } from './policy/required-approval.ts'
export { DEFAULT_HISTORY_SECONDS, MAX_EARLIER_DECISIONS } from './policy/history.ts'
export type { EarlierDecision } from './policy/history.ts'
export type {
  Approvers,
  ChangeSetRuling,
  CompiledPolicy,
  PolicyEffect,
  PolicyEvaluator,
  PolicyMode,
  PolicyOccasion,
  Release,
  RequiredApproval,
  RuleAnswer,
} from './policy/policy.ts'
export { PolicyDocument } from './policy/schema.ts'
export { fail, ok } from './common/result.ts'
export type { Problem, Result } from './common/result.ts'
export type { Rule } from './rules/rule.ts'
export { rulesetHash } from './rules/catalog/ruleset.ts'
export { COORDINATES, coordinatesOf } from './rules/catalog/coordinates.ts'
export type { RuleCoordinates } from './rules/catalog/coordinates.ts'
export { MAX_PATTERNS, readLevels } from './rules/catalog/levels.ts'
export type { LevelFault, LevelOverride, RuleLevels } from './rules/catalog/levels.ts'
export { readSelector } from './rules/catalog/selector.ts'
export type { RuleSelector } from './rules/catalog/selector.ts'
export { ABSENT } from './schema/values.ts'
export { formatOf, ruleOf, ruleTable } from './rules/catalog/table.ts'
export { Type } from './common/type-builder.ts'
export { compileLinearPattern, MAX_CALLER_PATTERN, type LinearPattern } from './common/linear-pattern.ts'
export { compareSemanticVersions, parseSemanticVersion } from './common/semantic-version.ts'
export type { SemanticVersion } from './common/semantic-version.ts'
export { misspelled, nearest, spelledNames } from './common/suggestion.ts'
export type { SpelledNames } from './common/suggestion.ts'
