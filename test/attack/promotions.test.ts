/** Promotions that overtake each other: whoever set a baseline, only the difference that was decided comes into force. And nobody promotes for tenants that are not theirs. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { ok } from '../../engine/internal.ts'
import {
  RouteBaselines,
  contractDigest,
  type BaselineService,
  type OfferedContract,
} from '../../gateway/baselines/baselines.ts'
import { loadConfig } from '../../gateway/config/load.ts'
import type { RouteConfig } from '../../gateway/protocols/route.ts'
import { GatewayError } from '../../gateway/errors/errors.ts'
import { openStore } from '../../gateway/store/opening/open.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'
import { createMetrics } from '../../gateway/telemetry/metrics.ts'
import { NO_CHANGE, scriptedFlow } from '../fakes/scripted-flow.ts'
import { breakListing, startPetRoute } from '../fakes/pet-route.ts'
import { until } from '../fakes/until.ts'
import { at, textAt } from '../json.ts'

function contract(tools: readonly string[]): OfferedContract {
  const content = JSON.stringify({ tools: tools.map((name) => ({ name })) })
  return { type: 'mcp_manifest', content, digest: contractDigest(content) }
}
const [FIRST, OFFERED, RIVAL] = [contract(['a']), contract(['a', 'b', 'c']), contract(['a', 'z'])]
const ACCEPTOR = { tenant: 'local', by: 'alice', groups: [], comment: 'reviewed' }

type Act = (baselines: BaselineService, route: RouteConfig) => unknown
const WAYS: Readonly<Record<string, { readonly act: Act; readonly contract?: object; readonly isReported?: boolean }>> =
  {
    'a promotion of the whole': {
      act: (baselines) => baselines.promote('tools', OFFERED.digest, ACCEPTOR),
      isReported: true,
    },
    'a promotion of a part': {
      act: (baselines) => baselines.promote('tools', OFFERED.digest, ACCEPTOR, ['tool:b']),
      isReported: true,
    },
    'a confirmation': {
      act: (baselines) => baselines.promote('tools', FIRST.digest, ACCEPTOR),
      contract: { max_age: 3600 },
      isReported: true,
    },
    'a registration by preflight': {
      act: (baselines) =>
        baselines.registered({
          tenant: 'local',
          isApprover: true,
          by: 'alice',
          groups: [],
          artifacts: [{ id: 'tools', type: 'mcp_manifest', before: FIRST.content, after: OFFERED.content }],
          context: { operation: 'register', target_id: 'tools' },
          decision: 'ALLOW',
          decisionId: 'dec_1',
        }),
      isReported: true,
    },
    'a change that promotes itself': {
      act: (baselines, route) => baselines.baselineFor(route, OFFERED),
      contract: { auto_promote: 'info' },
    },
    'a source that the configuration names': {
      act: (baselines, route) => baselines.baselineFor(route, OFFERED),
      contract: { baseline: { file: fileOf(OFFERED) } },
    },
  }

function fileOf({ content }: OfferedContract): string {
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-promotions-')), 'tools.json')
  writeFileSync(file, content)
  return file
}

interface Race {
  readonly baselines: BaselineService
  readonly route: RouteConfig
  readonly inForce: () => Promise<string | undefined>
}

/** FIRST is the baseline and OFFERED the candidate. When the act has read them, another process makes RIVAL the baseline. */
async function race(t: TestContext, contractSettings: object): Promise<Race> {
  const routes = [
    {
      name: 'tools',
      match: { path: '/' },
      upstream: 'http://127.0.0.1:9',
      protocol: 'mcp',
      contract: contractSettings,
    },
  ]
  const data_dir = mkdtempSync(join(tmpdir(), 'preflight-promotions-'))
  const loaded = loadConfig({ environment: {}, value: { data_dir, routes } })
  assert.ok(loaded.ok)
  const { config } = loaded.value
  const [route] = config.routes
  assert.ok(route)
  const store = await openStore(config)
  t.after(() => store.close())
  const first = { route: 'tools', artifactId: 'tools', setBy: 'first use', setAt: Date.now() }
  await store.baselines.set({ ...first, ...FIRST, source: 'first_use' }, null)
  await store.baselines.setCandidate({ ...OFFERED, route: 'tools', seenAt: 1 })
  const rival = { ...first, ...RIVAL, source: 'promotion', setBy: 'bob' } as const
  const overtaken = {
    ...store,
    baselines: {
      ...store.baselines,
      byRoute: async (...asked: Parameters<typeof store.baselines.byRoute>) => {
        const read = await store.baselines.byRoute(...asked)
        await store.baselines.set(rival, FIRST.digest)
        return read
      },
    },
  }
  const baselines = new RouteBaselines({
    settings: () => ({ config, generation: 1 }),
    flow: scriptedFlow({ decide: () => 'ALLOW', compare: () => Promise.resolve(ok(NO_CHANGE)) }),
    store: overtaken,
    metrics: createMetrics(),
    logger: createLogger('silent'),
    now: Date.now,
  })
  return { baselines, route, inForce: async () => (await store.baselines.byRoute('tools', 'tools'))?.setBy }
}

for (const [name, { act, contract: settings = {}, isReported = false }] of Object.entries(WAYS))
  test(`${name} does not undo a promotion that it did not know`, async (t) => {
    const { baselines, route, inForce } = await race(t, settings)
    const outcome = await Promise.resolve(act(baselines, route)).catch((error: unknown) => error)
    assert.equal(await inForce(), 'bob')
    if (isReported) assert.ok(outcome instanceof GatewayError && outcome.code === 'APPROVAL_CONFLICT', String(outcome))
    else assert.equal(at(outcome, 'digest'), RIVAL.digest, 'the call is judged by what is in force')
  })

suite('a baseline that several tenants share', () => {
  const TENANTS = [
    { serves: ['local', 'team-a'], by: 'team-a', status: 403 },
    { serves: ['team-a', 'team-b'], by: 'team-a', status: 403 },
    { serves: ['team-a'], by: 'team-b', status: 404 },
    { serves: ['team-a'], by: 'team-a', status: 200 },
    { serves: ['team-a', 'team-b'], by: 'local', status: 200 },
  ] as const
  for (const { serves, by, status } of TENANTS)
    for (const role of ['approver', 'admin'] as const)
      test(`an ${role} of ${by} promotes on a route for ${serves.join(' and ')}: ${status}`, async (t) => {
        const pets = await startPetRoute(t, { tenants: serves })
        await pets.call()
        pets.change(breakListing)
        await pets.call()
        const candidate = async () => at((await pets.api('GET', '/api/v1/baselines/pets')).body, 'candidate')
        await until(async () => (await candidate()) !== null, 'it is seen')
        const digest = textAt(await candidate(), 'digest')
        const made = await pets.api('POST', '/api/v1/keys', { name: role, role, tenant: by })
        const promotion = { digest, comment: 'a reason' }
        const key = textAt(made.body, 'api_key')
        const answer = await pets.api('POST', '/api/v1/baselines/pets/promote', promotion, key)
        assert.equal(answer.status, status, JSON.stringify(answer.body))
        assert.equal((await candidate()) === null, status === 200)
      })
})
