/**
 * The public face of the engine, for everybody: compare two contracts, decide on what changed, verify a receipt, guard tools.
 * Named exports only. What only the gateway needs beside it is `internal.ts`; what a start needs first is `base.ts`.
 */
import './common/required-runtime.ts'
export { ARTIFACT_TYPES, canonicalArtifactType, changeSetDigests } from './model/change-set.ts'
export type { Artifact, ArtifactType, ChangeSetDigests } from './model/change-set.ts'
export type { ArtifactFile, ArtifactFiles } from './model/artifact-files.ts'
export { compare, DEFAULT_DOCUMENT_LIMITS } from './formats/compare.ts'
export type {
  ArtifactAnalysis,
  CompareOptions,
  Comparison,
  ComparisonStats,
  DocumentLimits,
} from './formats/compare.ts'
export { sniffArtifactType } from './formats/sniff.ts'
export { countFindings, expandFindings, LEVELS } from './model/finding.ts'
export type { Direction, Finding, FindingGroup, Level, Occurrence, Offer, Operation } from './model/finding.ts'
export type { DetectedPattern, PatternReport, PatternSource } from './patterns/pattern.ts'
export { ruleOf, ruleTable } from './rules/catalog/table.ts'
export { rulesetHash } from './rules/catalog/ruleset.ts'
export type { Rule } from './rules/rule.ts'

export { compilePolicy } from './policy/compile.ts'
export type { CompiledPolicy, PolicyEffect, PolicyMode } from './policy/policy.ts'
export { PolicyDocument } from './policy/schema.ts'
export { decide } from './decide/decide.ts'
export type { DecideInput } from './decide/decide.ts'
export { DECISION_CLASSES, DECISIONS, directiveOf, EMPTY_CONTEXT, EXECUTION_ACTIONS } from './model/decision.ts'
export type { Decision, DecisionContext, ExecutionAction } from './model/decision.ts'
export type { ArtifactVerdict, HumanReport, RiskFactor, SeveritySummary, Verdict } from './decide/verdict.ts'
export type { NextAction, NextAgentStep, Reason } from './decide/envelope-members.ts'

export { decisionResultConsumerSchema } from './decide/envelope-schema.ts'
export { mayProceed, readDecision } from './guard/consumer.ts'
export type { AttemptFacts, DecisionReading, Permission, ReadDecision } from './guard/consumer.ts'
export { verifyReceipt } from './receipts/verify.ts'
export type { VerifyInput } from './receipts/verify.ts'
export type { Inflate, StatusListInput } from './receipts/status-list.ts'
export { RECEIPT_REASONS } from './receipts/verification.ts'
export type { IntendedContext, ReceiptReason, ReceiptVerification } from './receipts/verification.ts'
export type { KeySet, VerificationKey } from './receipts/signer.ts'

export { guardMcpClient, guardTools } from './guard/guard.ts'
export type { GuardedClient, GuardedTool, GuardedTools, GuardOutcome, GuardVerdict, ToolTable } from './guard/guard.ts'
export type { GuardOptions, GuardPlace, GuardService } from './guard/options.ts'

export { canonicalJson, digestText } from './common/hash.ts'
export type { Digest, Json, Sha256 } from './common/hash.ts'
export type { Problem, Result } from './common/result.ts'
