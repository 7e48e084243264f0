/** A flow that decides what the test says and remembers what it was asked; envelopes have every required member. */
import {
  acceptOperations,
  changeSetDigests,
  DECISION_CLASSES,
  DEFAULT_DOCUMENT_LIMITS,
  ok,
  readJson,
  type Comparison,
  type Decision,
  type Envelope,
} from '../../engine/internal.ts'
import { sha256Hex } from '../../gateway/runtime/hash.ts'
import type { BaselinesDeps, IssuedDecision } from '../../gateway/baselines/baselines.ts'
import type { ContractTexts } from '../../gateway/scm/selector.ts'
import { INLINE_TEXTS } from './contract-texts.ts'
import type { AuthorizeRequest, Flow } from '../../gateway/flow/flow.ts'

export type ScriptedFlow = BaselinesDeps['flow'] &
  ContractTexts &
  Pick<Flow, 'digests' | 'readJson'> & {
    /** Every authorize request, in order. */
    readonly asked: AuthorizeRequest[]
  }

export interface Script {
  /** What to decide; may throw what a failing flow throws. */
  readonly decide: (request: AuthorizeRequest) => Decision
  readonly ttlMs?: number
  readonly compare?: Flow['compare']
  /** Makes the decision durable, as the flow does. */
  readonly record?: (request: AuthorizeRequest, issued: IssuedDecision) => Promise<void>
}

export const NO_CHANGE: Comparison = {
  groups: [],
  stats: { operations: { base: 1, head: 1 }, schemas_compared: 1, touched: { endpoints: 0, fields: 0, params: 0 } },
  spec_versions: { base: null, head: null },
  patterns: [],
  pattern_sources: [],
  detected_patterns: [],
  unresolved: [],
  reads_day: false,
}

export function scriptedFlow(script: Script): ScriptedFlow {
  const asked: AuthorizeRequest[] = []
  return {
    asked,
    ...INLINE_TEXTS,
    compose: (baseline, candidate, operations) =>
      Promise.resolve(acceptOperations(baseline, candidate, operations, DEFAULT_DOCUMENT_LIMITS)),
    readJson: (bytes) => Promise.resolve(readJson(Buffer.from(bytes).toString('utf8'), DEFAULT_DOCUMENT_LIMITS)),
    digests: (artifacts) => Promise.resolve(changeSetDigests(artifacts, sha256Hex)),
    compare: script.compare ?? (() => Promise.resolve(ok(NO_CHANGE))),
    analyze(request) {
      const decision = script.decide({
        caller: { tenant: 'local', audience: null },
        correlationId: 'analysis',
        decisionSpecVersion: '2.0',
        previousReceipt: null,
        idempotency: null,
        response: null,
        ...request,
        route: request.route ?? null,
      })
      const { safeForAgent } = DECISION_CLASSES[decision]
      return Promise.resolve({ verdict: { decision, safe_for_agent: safeForAgent, required_approvals: [] } })
    },
    async authorize(request) {
      asked.push(request)
      const decision = script.decide(request)
      const expiresAt = Date.now() + (script.ttlMs ?? 900_000)
      const envelope = envelopeOf(request, decision, `dec_${asked.length}`, expiresAt)
      const issued = { envelope, token: envelope.receipt.token, expiresAt, approvalId: null, approvalLinks: [] }
      await script.record?.(request, issued)
      return issued
    },
  }
}

function second(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}

function envelopeOf(request: AuthorizeRequest, decision: Decision, decisionId: string, expiresAt: number): Envelope {
  const { action, safeForAgent } = DECISION_CLASSES[decision]
  const reason = { code: 'MCP_RESULT_PROPERTY_REMOVED', message: `${request.context.target_id} lost a result field.` }
  const isHeld = decision === 'BLOCK' || decision === 'REQUIRE_APPROVAL'
  return {
    spec_version: 'decision-result.v1',
    decision,
    safe_for_agent: safeForAgent,
    execution_action: action,
    decision_id: decisionId,
    correlation_id: request.correlationId,
    evaluated_at: second(Date.now()),
    expires_at: second(expiresAt),
    summary: `${decision} for ${request.context.target_id}.`,
    blocking_reasons: isHeld ? [reason] : [],
    warnings: decision === 'WARN' ? [reason] : [],
    required_action: null,
    next_actions: isHeld
      ? [
          {
            type: decision === 'BLOCK' ? 'REEVALUATE' : 'REQUEST_APPROVAL',
            instruction: 'Ask the owner of the tool.',
            target: null,
            required: true,
            precondition: null,
          },
        ]
      : [],
    fingerprint: `sha256:${'a'.repeat(64)}`,
    input_fingerprint: `sha256:${'b'.repeat(64)}`,
    decision_body_hash: null,
    receipt: {
      token: `header.${decisionId}.signature`,
      format_version: 'preflight-receipt.v1',
      key_id: 'test-key',
      issued_at: second(Date.now()),
    },
    report_url: null,
    evidence_quality: 'HIGH',
    confidence: null,
    evidence: isHeld ? [{ type: 'FINDING', source: 'test', finding: 'a field went', severity: 'HIGH' }] : [],
    analysis_complete: true,
    risk_score: isHeld ? 80 : 0,
    patterns: [],
  }
}
