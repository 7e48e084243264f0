/** A call that is judged for long, while something that was checked first ends: it is judged again, or refused. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ANYBODY } from '../../gateway/callers/proxy-auth.ts'
import { enforceCall } from '../../gateway/enforce/enforcement.ts'
import { stillHold } from '../../gateway/enforce/long-judgement.ts'
import type { PendingWait } from '../../gateway/enforce/pending-calls.ts'
import type { JudgedAction } from '../../gateway/protocols/common/action.ts'
import { httpRefusal } from '../../gateway/protocols/common/refusal.ts'
import { timedChanges } from '../../gateway/store/changes.ts'
import { createObserver } from '../../gateway/telemetry/observer.ts'
import { petContract } from '../fakes/http-upstream.ts'
import { startProxy, type ProxyUnderTest } from '../fakes/proxy-under-test.ts'

const NOW = 1_800_000_000_000
const STATES = ['current', 'superseded', 'revoked', 'consumed', null] as const

for (const state of STATES)
  for (const end of [NOW + 1, NOW])
    test(`a receipt that is ${state ?? 'unknown'} and ends in ${end - NOW} ms ${state === 'current' && end > NOW ? 'still holds' : 'has ended'}`, async () => {
      const verdict = {
        basis: 'receipt',
        action: 'CONTINUE',
        decisionId: 'dec_1',
        token: 't',
        envelopeHeader: null,
        expiresAt: end,
      } as const
      const asked: string[] = []
      const deps = (bound: number) => ({
        now: () => NOW,
        store: {
          changes: timedChanges(bound),
          receipts: {
            state: (id: string) => {
              asked.push(id)
              return Promise.resolve(state)
            },
          },
        },
      })
      const begun = performance.now() - 2000
      assert.equal(await stillHold([{ verdict }], begun, deps(1)), state === 'current' && end > NOW)
      assert.equal(stillHold([{ verdict }], begun, deps(60)), true, 'short judgements cost no look-up')
      assert.deepEqual(asked, ['dec_1'])
    })

/** Longer than a revocation on SQLite needs to be in force. */
const LONG_MS = 1100

const CASES: readonly {
  readonly what: string
  readonly meanwhile: (proxy: ProxyUnderTest, clock: { now: number }) => Promise<unknown> | void
  readonly faults?: Parameters<typeof startProxy>[0]['storeFaults']
  readonly end: 'go' | 'readmit' | 'halt'
}[] = [
  { what: 'nothing happens', meanwhile: () => {}, end: 'go' },
  {
    what: 'its decision is revoked',
    meanwhile: ({ store }) => store.receipts.revoke('local', 'dec_1', 'leaked', 'v:admin', NOW),
    end: 'readmit',
  },
  {
    what: 'its decision expires',
    meanwhile: (_, clock) => {
      clock.now += 24 * 3600 * 1000
    },
    end: 'readmit',
  },
  {
    what: 'the store becomes unreadable',
    meanwhile: () => {},
    faults: { receipts: { state: () => Promise.reject(new Error('away')) } },
    end: 'halt',
  },
]

for (const { what, meanwhile, faults = {}, end } of CASES)
  test(`a call that is judged for long while ${what}: ${end}`, async (t) => {
    const clock = { now: Date.now() }
    const proxy = await started(t, clock, faults)
    const action: JudgedAction = {
      kind: 'judge',
      name: 'merge',
      gather: () => [
        {
          resource: { name: 'merge', target: 'merge', scope: null },
          basis: { kind: 'change_set', artifacts: [], unreadable: [] },
        },
      ],
      async confirm() {
        await meanwhile(proxy, clock)
        await pause(LONG_MS)
      },
      watch: () => null,
      refuse: (refusal) => httpRefusal(refusal),
    }
    const { pipeline } = proxy.listener
    const result = await enforceCall({ call: callOn(proxy), action, settings: settingsOf(proxy) }, WAITING, pipeline)
    assert.equal(result.kind, end)
    const effects = proxy.interceptions.map(({ effect }) => effect)
    assert.deepEqual(effects, { go: ['forwarded'], readmit: [], halt: ['undecided'] }[end])
  })

async function started(
  t: TestContext,
  clock: { readonly now: number },
  storeFaults: NonNullable<Parameters<typeof startProxy>[0]['storeFaults']>,
): Promise<ProxyUnderTest> {
  const route = { name: 'pets', match: { path: '/' }, upstream: 'http://127.0.0.1:9', protocol: 'http' }
  const contract = { current: { file: petContract() } }
  const proxy = await startProxy({ routes: [{ ...route, contract }], storeFaults, now: () => clock.now })
  t.after(() => proxy.close())
  return proxy
}

const WAITING: PendingWait = {
  isGone: false,
  held: { until: null, granted: null },
  onGone: () => () => {},
  begin: () => {},
  keepAlive: () => {},
}

function settingsOf({ settings, listener }: ProxyUnderTest) {
  return { ...settings(), generation: listener.pipeline.settings().generation }
}

function callOn({ settings, metrics }: ProxyUnderTest): Parameters<typeof enforceCall>[0]['call'] {
  const [route] = settings().config.routes
  assert.ok(route !== undefined)
  const observation = createObserver({ metrics, spans: null }).begin({ method: 'POST', headers: {} })
  const head = { headers: {}, rawHeaders: [] }
  const { correlationId } = observation
  const place = { trafficPath: 'reverse', route, origin: '', method: 'POST', upstreamPath: '/', body: null } as const
  return { ...head, ...place, received: head, correlationId, observation, caller: ANYBODY }
}
