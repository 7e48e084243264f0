/** A store with a row of every kind that is under the chain. */
import { apiKeyRow, mintApiKey } from '../../gateway/callers/api-keys.ts'
import type { Store } from '../../gateway/store/store.ts'
import { decisionRow } from './decision-row.ts'

/** Some of the rows are changed afterwards. */
export async function fillStore(store: Store): Promise<void> {
  for (const id of ['a', 'b', 'c', 'd'])
    await store.decisions.record(decisionRow({ decisionId: `dec_${id}`, supersessionKey: id < 'c' ? 'one' : id }))
  await store.receipts.consume(['dec_b'], 1)
  await store.receipts.revoke('local', 'dec_c', 'leaked', 'v:1', 2)
  const call = {
    tenant: 'local',
    route: 'shop',
    protocol: 'http',
    action: 'GET /',
    executionAction: 'CONTINUE',
  } as const
  const rest = {
    decisionId: 'dec_a',
    enforced: true,
    effect: 'forwarded',
    breakGlassId: null,
    traceId: null,
    violations: null,
  } as const
  for (let n = 0; n < 3; n += 1) await store.calls.record({ ...call, ...rest, correlationId: `c${n}`, at: n })
  const baseline = { route: 'shop', artifactId: 'shop', type: 'openapi', content: '{}', digest: 'd' } as const
  await store.baselines.set({ ...baseline, source: 'file', setBy: 'x', setAt: 1 }, null)
  await store.baselines.set({ ...baseline, source: 'promotion', setBy: 'y', setAt: 2 }, baseline.digest)
  const key = apiKeyRow({ key: mintApiKey(), name: 'k', role: 'agent', at: 1 })
  await store.apiKeys.create(key)
  await store.apiKeys.revoke(key.hash, 2)
  const exception = { route: 'shop', reason: 'r', openedBy: 'cli:x', openedAt: 1, expiresAt: 10 }
  await store.breakGlass.open({ id: 'bg', ...exception, closedBy: null, closedAt: null, endedAt: null, calls: 0 })
  await store.breakGlass.use('shop', 2)
  await store.breakGlass.close('bg', 'cli:y', 3)
  await store.bindings.record({
    tenant: 'local',
    platform: 'scm_a',
    repository: 'Acme/Pets',
    provenAt: 1,
    provenBy: 'v:1',
  })
  await store.bindings.record({
    tenant: 'local',
    platform: 'scm_a',
    repository: 'acme/pets',
    provenAt: 2,
    provenBy: 'v:1',
  })
  await store.approvals.open({
    approvalId: 'apr',
    key: 'k',
    tenant: 'local',
    requester: 'v:2',
    decisionId: 'dec_d',
    route: null,
    operation: 'merge',
    environment: null,
    repository: null,
    branch: null,
    pullRequest: null,
    targetId: null,
    inputFingerprint: 'i',
    policyHash: 'p',
    summary: 's',
    riskScore: 1,
    reasons: '[]',
    openedAt: 1,
    expiresAt: 9,
    approvers: [],
  })
  const settling = {
    tenant: 'local',
    approvalId: 'apr',
    isFourEyes: true,
    required: [],
    state: 'granted',
    by: 'v:3',
    groups: [],
  } as const
  await store.approvals.decide({ ...settling, comment: 'fine', at: 2, validUntil: 99 })
}
