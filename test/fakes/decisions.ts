/** Decisions made by the real engine from fake comparisons. */
import {
  buildEnvelope,
  compilePolicy,
  decide,
  EMPTY_CONTEXT,
  issueReceipt,
  type CompiledPolicy,
  type DecideInput,
  type Digest,
  type Envelope,
  type PolicyOccasion,
  type Verdict,
} from '../../engine/internal.ts'
import type { StatusReference } from '../../engine/receipts/status-list.ts'
import { fakeAnalysis, type FakeFinding } from './comparisons.ts'
import { fakeKey, sha256, type FakeKey } from './keys.ts'

/** 2026-11-21T04:00:00Z, seconds. */
export const NOW = 1_795_233_600

export const digest = (text: string): Digest => `sha256:${sha256(text)}`

const DEFAULT_RULES = [
  { id: 'breaking-blocks', when: "finding.level == 'breaking'", then: 'BLOCK' },
  { id: 'dangerous-needs-approval', when: "finding.level == 'dangerous'", then: 'REQUIRE_APPROVAL' },
  { id: 'deprecated-warns', when: "finding.rule.contains('deprecated')", then: 'WARN' },
]

export function fakePolicy(changes: Readonly<Record<string, unknown>> = {}): CompiledPolicy {
  const source = {
    apiVersion: 'preflight.dev/v1',
    kind: 'Policy',
    metadata: { name: 'test' },
    rules: DEFAULT_RULES,
    ...changes,
  }
  const compiled = compilePolicy(source, sha256)
  if (!compiled.ok) throw new Error(compiled.problem.map(({ pointer, message }) => `${pointer}: ${message}`).join('\n'))
  return compiled.value
}

/** A change set without findings, artifacts or a route, but for what the test says. */
export function fakeOccasion(changes: Partial<PolicyOccasion> = {}): PolicyOccasion {
  const nothing = {
    route: null,
    release: null,
    artifacts: [],
    consumers: [],
    changes: [],
    history: { window: 0, decisions: [] },
  }
  return { context: EMPTY_CONTEXT, ...nothing, now: NOW, ...changes }
}

export function decideOn(findings: readonly FakeFinding[], changes: Partial<DecideInput> = {}): Verdict {
  return decide({
    analyses: [fakeAnalysis('api', findings)],
    context: { ...EMPTY_CONTEXT, operation: 'merge' },
    policy: fakePolicy(),
    scope: null,
    inputFingerprint: digest('input'),
    artifactDigest: digest('artifacts'),
    submittedSetDigest: digest('submitted set'),
    rulesetHash: digest('rules'),
    policyPin: null,
    now: NOW,
    sha256,
    ...changes,
  })
}

export interface FakeIssue {
  readonly envelope: Envelope
  readonly token: string
  readonly key: FakeKey
}

export function issueOn(
  verdict: Verdict,
  key: FakeKey = fakeKey(),
  evaluatedAt = NOW,
  tenant: string | null = 'local',
  status: StatusReference | null = null,
): FakeIssue {
  const draft = buildEnvelope(verdict, {
    decisionId: 'dec_1',
    correlationId: 'cor_1',
    evaluatedAt,
    audience: 'v:0123456789ab',
    decisionSpecVersion: '2.0',
    reportUrl: null,
  })
  return {
    ...issueReceipt(draft, key.signer, sha256, { issuer: 'https://preflight.test', tenant, previous: null, status }),
    key,
  }
}

/** `decideOn`, of a verdict that may be issued too. */
export function verdictOn(findings: readonly FakeFinding[], changes: Partial<DecideInput> = {}): Verdict {
  const verdict = decideOn(findings, changes)
  issueOn(verdict)
  return verdict
}
