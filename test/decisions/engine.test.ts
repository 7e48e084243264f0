/** The decision cases through the engine alone: compare, decide, issue, verify. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyReceipt } from '../../engine/internal.ts'
import { issueOn, NOW } from '../fakes/decisions.ts'
import { keySet, sha256 } from '../fakes/keys.ts'
import { assertWanted, decisionCases } from './cases.ts'
import { decidedByEngine } from './engine-verdict.ts'

for (const decisionCase of decisionCases()) {
  test(`${decisionCase.file}: ${decisionCase.description}`, () => {
    const verdict = decidedByEngine(decisionCase)
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
