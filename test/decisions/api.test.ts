/** The decision cases through the API: the same answers over HTTP, with the real store and keys, as from the engine alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkProducerForm, type DecisionContext } from '../../engine/internal.ts'
import { startApi } from '../fakes/api.ts'
import { at } from '../json.ts'
import { assertWanted, decisionCases } from './cases.ts'

/** Only the proxy has a scope: the API judges whole change sets. */
const byPolicy = Map.groupBy(
  decisionCases().filter(({ scope }) => scope === null),
  ({ policy }) => policy,
)

for (const [policy, cases] of byPolicy) {
  test(`the API decides as the engine does under the policy ${policy}`, async (t) => {
    const api = await startApi({ config: { policy } })
    for (const { description, file, artifacts, context, want } of cases) {
      await t.test(`${file}: ${description}`, async () => {
        const { status, body } = await api.post('/api/v1/preflight', { ...modeOf(context), artifacts, context })
        assert.equal(status, 200, JSON.stringify(body))
        const checked = checkProducerForm(at(body, 'decision_result'))
        assert.ok(checked.ok)
        assertWanted(checked.value, want)
        const isPermitted = want.decision === 'ALLOW' || want.decision === 'WARN'
        assert.equal(at(body, 'control_envelope', 'receipt_view', 'currently_authorized'), isPermitted)
      })
    }
    await api.close()
  })
}

/** Only the legacy form can leave out the operation. */
function modeOf({ operation }: DecisionContext): object {
  return operation === null ? { decision_spec_version: '1.0' } : { preflight_mode: 'authorize' }
}
