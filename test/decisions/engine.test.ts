/** The decision cases through the engine alone: compare, decide, issue, verify. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import {
  artifactDigest,
  compare,
  compilePolicy,
  decide,
  inputFingerprint,
  rulesetHash,
  verifyReceipt,
  type ArtifactAnalysis,
  type CompiledPolicy,
} from '../../engine/index.ts'
import { issueOn, NOW } from '../fakes/decisions.ts'
import { keySet, sha256 } from '../fakes/keys.ts'
import { assertWanted, decisionCases, type DecisionCase } from './cases.ts'

for (const decisionCase of decisionCases()) {
  test(`${decisionCase.file}: ${decisionCase.description}`, () => {
    const verdict = decide(decideInput(decisionCase))
    const { envelope, token, key } = issueOn(verdict)
    assertWanted(envelope, decisionCase.want)

    const { context, want } = decisionCase
    const answer = verifyReceipt({
      token,
      keys: keySet(key.published()),
      now: NOW,
      state: 'current',
      sha256,
      envelope,
      context,
    })
    assert.equal(answer.currently_authorized, want.decision === 'ALLOW' || want.decision === 'WARN')
  })
}

function decideInput({ artifacts, context, scope, policy }: DecisionCase) {
  return {
    analyses: artifacts.map((artifact): ArtifactAnalysis => {
      const { id, type } = artifact
      const compared = compare(artifact, {}, sha256)
      return compared.ok
        ? { id, type, ok: true, comparison: compared.value }
        : { id, type, ok: false, problem: compared.problem }
    }),
    context,
    policy: packOf(policy),
    scope,
    inputFingerprint: inputFingerprint(artifacts, sha256),
    artifactDigest: artifactDigest(artifacts, sha256),
    rulesetHash: rulesetHash(sha256),
    policyPin: null,
    now: NOW,
    sha256,
  }
}

function packOf(name: string): CompiledPolicy {
  const source: unknown = parse(readFileSync(new URL(`../../policies/${name}/pack.yaml`, import.meta.url), 'utf8'))
  const compiled = compilePolicy(source, sha256)
  assert.ok(compiled.ok)
  return compiled.value
}
