/** Property: whatever fails, wherever on the decision path, nothing is permitted by it. Each use of everything that can fail fails once. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { compilePolicy, EMPTY_CONTEXT, type CompiledPolicy, type ExecutionAction } from '../../engine/internal.ts'
import { loadConfig } from '../../gateway/config/load.ts'
import { createRecorder } from '../../gateway/flow/recorder.ts'
import { createFlow } from '../../gateway/flow/authorize.ts'
import type { AuthorizeRequest } from '../../gateway/flow/flow.ts'
import { sha256Hex } from '../../gateway/runtime/hash.ts'
import { openSqliteStore } from '../../gateway/store/sqlite/store.ts'
import type { Store } from '../../gateway/store/store.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'
import { createMetrics } from '../../gateway/telemetry/metrics.ts'
import { PETS, PETS_WITH_POST, PETS_WITHOUT_DELETE } from '../fakes/contracts.ts'
import { petContract, startHttpUpstream } from '../fakes/http-upstream.ts'
import { fakeKey } from '../fakes/keys.ts'
import { startProxy, type ProxyOptions } from '../fakes/proxy-under-test.ts'

const PERMITTING: ReadonlySet<ExecutionAction> = new Set(['CONTINUE', 'CONTINUE_WITH_MONITORING'])
const NOW = Date.parse('2026-11-21T10:00:00Z')

function policyOf(pack: object): CompiledPolicy {
  const rules = [{ id: 'breaking', when: "finding.level == 'breaking'", then: 'BLOCK' }]
  const head = { apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'p' } }
  const compiled = compilePolicy({ ...head, rules, ...pack }, sha256Hex)
  assert.ok(compiled.ok)
  return compiled.value
}

interface FlowScene {
  readonly policy: CompiledPolicy
  readonly after: string
  /** What comes out when nothing fails. */
  readonly good: ExecutionAction
  readonly prepare?: (store: Store, authorize: () => Promise<unknown>) => Promise<void>
}

const LOOKS_BACK = { id: 'back', for: 'change_set', when: 'history.block > 100', then: 'BLOCK' }
const ASKS = { id: 'asks', when: "finding.level == 'breaking'", then: 'REQUIRE_APPROVAL' }

const SCENES: Readonly<Record<string, FlowScene>> = {
  'a change that is allowed': { policy: policyOf({}), after: PETS_WITH_POST, good: 'CONTINUE' },
  'a policy that looks back': {
    policy: policyOf({ rules: [LOOKS_BACK] }),
    after: PETS_WITH_POST,
    good: 'CONTINUE',
  },
  'a change that a person approved': {
    policy: policyOf({ rules: [ASKS] }),
    after: PETS_WITHOUT_DELETE,
    good: 'CONTINUE_WITH_MONITORING',
    async prepare(store, authorize) {
      await authorize()
      const [row] = await store.approvals.list({ tenant: 'local', limit: 1, now: NOW })
      assert.ok(row)
      const word = { state: 'granted', by: 'v:1', groups: [], comment: '', at: NOW, validUntil: NOW + 60_000 } as const
      await store.approvals.decide({
        tenant: 'local',
        approvalId: row.approvalId,
        isFourEyes: true,
        required: [],
        ...word,
      })
    },
  },
}

suite('a decision', () => {
  for (const [name, scene] of Object.entries(SCENES))
    test(`${name}: no fault on the way permits it`, async (t) => {
      const store = await opened(t)
      await scene.prepare?.(store, () => decided(t, scene, store, new FaultCounter(0)))
      const sound = new FaultCounter(0)
      assert.equal(await decided(t, scene, store, sound), scene.good)
      assert.ok(sound.uses > 20, `${sound.uses} uses`)
      for (let failAt = 1; failAt <= sound.uses; failAt += 1) {
        const counter = new FaultCounter(failAt)
        const action = await decided(t, scene, store, counter).catch(() => null)
        assert.ok(counter.failed !== null, `use ${failAt} was not reached`)
        assert.ok(action === null || !PERMITTING.has(action), `${counter.failed} failed (use ${failAt}): ${action}`)
      }
    })
})

async function opened(t: TestContext): Promise<Store> {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-faults-'))
  const store = await openSqliteStore({ file: join(directory, 'ledger.db'), calls: 'durable', flushMilliseconds: 1 })
  t.after(async () => {
    await store.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return store
}

/** Everything new but the store: no cache of an earlier run spares a step. */
async function decided(
  t: TestContext,
  { policy, after }: FlowScene,
  store: Store,
  counter: FaultCounter,
): Promise<ExecutionAction> {
  const loaded = loadConfig({ environment: {}, value: {} })
  assert.ok(loaded.ok)
  const { config } = loaded.value
  const { signer } = fakeKey('k1')
  const settings = () => ({ config, policy, generation: 1 })
  const faultyStore = faulty(store, counter)
  const flow = createFlow({
    settings,
    store: faultyStore,
    recorder: createRecorder({ settings, store: faultyStore, signer: () => faulty(signer, counter), now: () => NOW }),
    inputs: null,
    metrics: faulty(createMetrics(), counter),
    logger: createLogger('silent'),
    now: () => NOW,
  })
  t.after(() => flow.close())
  const artifact = faultyMembers({ id: 'pets/GET /pets', type: 'openapi', before: PETS, after } as const, counter)
  const request: AuthorizeRequest = {
    artifacts: [artifact],
    context: faultyMembers({ ...EMPTY_CONTEXT, operation: 'merge' }, counter),
    scope: null,
    caller: { tenant: 'local', audience: null },
    correlationId: 'c-1',
    route: 'pets',
    decisionSpecVersion: '2.0',
    previousReceipt: null,
    idempotency: null,
    response: null,
  }
  const { envelope } = await flow.authorize(request)
  return envelope.execution_action
}

/** What comes after the bytes are out, or informs only, may fail: the effect is there, and was permitted. */
const AFTERWARDS: ReadonlySet<string> = new Set([
  'windows.close',
  'uses.record',
  'uses.salt',
  // What an operator is shown of a contract that came and went.
  'baselines.dropCandidate',
])

async function called(t: TestContext, options: Partial<ProxyOptions>, counter: FaultCounter) {
  const upstream = await startHttpUpstream((_request, response) => response.end('good'))
  const contract = { current: { file: petContract() } }
  const route = { name: 'pets', match: { path: '/' }, upstream: upstream.origin, protocol: 'http', contract }
  let isCounting = false
  const start = { routes: [route], ...options }
  const proxy = await startProxy({
    ...start,
    wrapStore: (store) => {
      const counted = faulty(store, counter)
      return new Proxy(store, { get: (_, name) => Reflect.get(isCounting ? counted : store, name) })
    },
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  isCounting = true
  const { status } = await fetch(`${proxy.url}/pets`).then(async (answer) => {
    await answer.arrayBuffer()
    return answer
  })
  isCounting = false
  return { status, forwarded: upstream.requests.length }
}

suite('an intercepted call', () => {
  for (const [decision, name] of [
    ['ALLOW', 'that is allowed'],
    ['WARN', 'that is forwarded and monitored'],
  ] as const)
    test(`${name}: no fault of the store lets it through`, async (t) => {
      const sound = new FaultCounter(0)
      assert.deepEqual(await called(t, { decide: () => decision }, sound), { status: 200, forwarded: 1 })
      assert.ok(sound.uses >= 3, `${sound.uses} uses`)
      for (let failAt = 1; failAt <= sound.uses; failAt += 1) {
        const counter = new FaultCounter(failAt)
        const { status, forwarded } = await called(t, { decide: () => decision }, counter)
        if (counter.failed === null || AFTERWARDS.has(counter.failed)) continue
        assert.equal(forwarded, 0, `${counter.failed} failed, and the call was forwarded`)
        assert.ok(status === 503 || status === 403, `${counter.failed}: ${status}`)
      }
    })
})

/** Counts uses of everything that was made with it. */
class FaultCounter {
  /** Uses so far. */
  uses = 0
  /** The use that fails, from 1; 0: none. */
  readonly failAt: number
  /** Name of what failed; null while nothing has. */
  failed: string | null = null

  constructor(failAt: number) {
    this.failAt = failAt
  }

  /** @throws at the use that is to fail */
  use(name: string): void {
    this.uses += 1
    if (this.uses !== this.failAt) return
    this.failed = name
    throw new Error(`the fault that was asked for, in ${name}`)
  }
}

/** The same object; each call of a method is a use. A method that answers a promise rejects, any other throws. */
function faulty<T extends object>(target: T, counter: FaultCounter, prefix = ''): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name)
      if (isAggregate(value)) return faulty(value, counter, `${String(name)}.`)
      if (typeof value !== 'function') return value
      return (...args: unknown[]): unknown => {
        const isAsync = isLikelyAsync(target, name)
        try {
          counter.use(prefix + String(name))
        } catch (error) {
          if (isAsync) return Promise.reject(error)
          throw error
        }
        return Reflect.apply(value, target, args)
      }
    },
  })
}

/** The same values; each reading of a member is a use. */
function faultyMembers<T extends object>(target: T, counter: FaultCounter): T {
  return new Proxy(target, {
    get(_, name) {
      if (typeof name === 'string') counter.use(name)
      return Reflect.get(target, name)
    },
  })
}

/** The methods of a store are in its aggregates. */
function isAggregate(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && Object.values(value).some((member) => typeof member === 'function')
  )
}

/** Metrics and signers are synchronous; everything else here is a store. */
function isLikelyAsync(target: object, name: string | symbol): boolean {
  return !('sample' in target) && name !== 'sign'
}
