/** The verdict of the engine on a case. The API and the proxy must return the same. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import {
  changeSetDigests,
  compare,
  compilePolicy,
  decide,
  rulesetHash,
  type ArtifactAnalysis,
  type CompiledPolicy,
  type Verdict,
} from '../../engine/internal.ts'
import { NOW } from '../fakes/decisions.ts'
import { sha256 } from '../fakes/keys.ts'
import type { DecisionCase } from './cases.ts'

export function decidedByEngine({
  artifacts,
  context,
  scope,
  policy,
}: Pick<DecisionCase, 'artifacts' | 'context' | 'scope' | 'policy'>): Verdict {
  return decide({
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
    ...changeSetDigests(artifacts, sha256),
    rulesetHash: rulesetHash(sha256),
    policyPin: null,
    now: NOW,
    sha256,
  })
}

function packOf(name: string): CompiledPolicy {
  const source: unknown = parse(readFileSync(new URL(`../../policies/${name}/pack.yaml`, import.meta.url), 'utf8'))
  const compiled = compilePolicy(source, sha256)
  assert.ok(compiled.ok)
  return compiled.value
}
