/**
 * A call that is judged for long, or whose rows are written for long, while something that was checked first ends: it is judged
 * again, or refused.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ANYBODY } from '../../gateway/callers/proxy-auth.ts'
import { enforceCall } from '../../gateway/enforce/enforcement.ts'
import { allHold, stillHold } from '../../gateway/enforce/long-judgement.ts'
import type { PendingWait } from '../../gateway/enforce/pending-calls.ts'
import type { JudgedAction } from '../../gateway/protocols/common/action.ts'
import { neverHeld } from '../../gateway/listen/request-context.ts'
import { httpRefusal } from '../../gateway/protocols/common/refusal.ts'
import { timedChanges } from '../../gateway/store/changes.ts'
import { createObserver } from '../../gateway/telemetry/observer.ts'
import { breakGlassRow } from '../fakes/aggregate-rows.ts'
import { petContract } from '../fakes/http-upstream.ts'
import { startProxy, type ProxyUnderTest } from '../fakes/proxy-under-test.ts'

const NOW = 1_800_000_000_000
const STATES = ['current', 'superseded', 'revoked', 'consumed', null] as const

const receiptUntil = (expiresAt: number) =>
  ({
    basis: 'receipt',
    action: 'CONTINUE',
    decisionId: 'dec_1',
    token: 't',
    envelopeHeader: null,
    expiresAt,
  }) as const

for (const state of STATES)
  for (const end of [NOW + 1, NOW])
    test(`a receipt that is ${state ?? 'unknown'} and ends in ${end - NOW} ms ${state === 'current' && end > NOW ? 'still holds' : 'has ended'}`, async () => {
      const verdict = receiptUntil(end)
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
      assert.equal(await stillHold([{ verdict }], begun, [], deps(1)), state === 'current' && end > NOW)
      assert.equal(stillHold([{ verdict }], begun, [], deps(60)), true, 'short judgements cost no look-up')
      assert.deepEqual(asked, ['dec_1'])
    })

/** What a call did with receipts, and those that it used up. */
const USES: readonly (readonly [what: string, used: readonly string[]])[] = [
  ['used it up', ['dec_1']],
  ['used others up', ['dec_2', 'dec_3']],
  ['only presented it', []],
]

for (const state of STATES)
  for (const [what, used] of USES) {
    const holds = state === 'current' || (used.includes('dec_1') && state === 'consumed')
    test(`a receipt that is ${state ?? 'unknown'} ${holds ? 'holds' : 'ends'} for a call that ${what}`, async () => {
      const verdict = receiptUntil(NOW + 1)
      const store = { changes: timedChanges(1), receipts: { state: () => Promise.resolve(state) } }
      assert.equal(await allHold([{ verdict }], used, { now: () => NOW, store }), holds)
    })
  }

/** Longer than a revocation on SQLite needs to be in force. */
const LONG_MS = 1100

const MERGE: JudgedAction = {
  kind: 'judge',
  name: 'merge',
  gather: () => [
    {
      resource: { name: 'merge', target: 'merge', scope: null },
      basis: { kind: 'change_set', artifacts: [], unreadable: [] },
    },
  ],
  watch: () => null,
  refuse: (refusal) => httpRefusal(refusal),
}

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
      ...MERGE,
      async confirm() {
        await meanwhile(proxy, clock)
        await pause(LONG_MS)
        return true
      },
    }
    const { pipeline } = proxy.listener
    const result = await enforceCall({ call: callOn(proxy), action, settings: settingsOf(proxy) }, WAITING, pipeline)
    assert.equal(result.kind, end)
    const effects = proxy.interceptions.map(({ effect }) => effect)
    assert.deepEqual(effects, { go: ['forwarded'], readmit: [], halt: ['undecided'] }[end])
  })

type Started = Parameters<typeof startProxy>[0]

/** What is written before a call is sent, and may take long. */
const WRITES: readonly {
  readonly what: string
  readonly decision: 'ALLOW' | 'WARN' | 'BLOCK'
  readonly slow: (wait: () => Promise<void>) => NonNullable<Started['storeFaults']>
  readonly effect: string
}[] = [
  { what: 'its row', decision: 'ALLOW', slow: (wait) => ({ calls: { record: wait } }), effect: 'forwarded' },
  { what: 'its window', decision: 'WARN', slow: (wait) => ({ windows: { open: wait } }), effect: 'forwarded' },
  {
    what: 'its row under an exception',
    decision: 'BLOCK',
    slow: (wait) => ({ calls: { record: wait } }),
    effect: 'break_glass',
  },
]

const revoked: Meanwhile = ({ store }) => store.receipts.revoke('local', 'dec_1', 'leaked', 'v:admin', NOW)
const reloaded: Meanwhile = (proxy) => proxy.nextGeneration()
const closed: Meanwhile = ({ store }) => store.breakGlass.close('bg_1', 'v:admin', 2)
type Meanwhile = (proxy: ProxyUnderTest) => Promise<unknown> | void

const ENDS: readonly (readonly [what: string, Meanwhile, endedFor: readonly string[]])[] = [
  ['nothing happens', () => {}, []],
  ['its decision is revoked', revoked, ['forwarded']],
  ['settings change', reloaded, ['forwarded', 'break_glass']],
  ['the exception is closed', closed, ['break_glass']],
]

for (const { what, decision, slow, effect } of WRITES)
  for (const [happens, meanwhile, endedFor] of ENDS) {
    const end = endedFor.includes(effect) ? 'readmit' : 'go'
    test(`${what} is written for long while ${happens}: ${end}`, async (t) => {
      let isFirst = true
      const wait = async (): Promise<void> => {
        if (!isFirst) return
        isFirst = false
        await meanwhile(proxy)
        await pause(LONG_MS)
      }
      const sinks = { monitoring: { sinks: [{ type: 'log' }] } }
      const proxy = await started(t, { now: Date.now() }, slow(wait), { decide: () => decision, config: sinks })
      await proxy.store.breakGlass.open(breakGlassRow({ id: 'bg_1', route: 'pets', expiresAt: Date.now() + 3_600_000 }))
      const { pipeline } = proxy.listener
      const call = callOn(proxy)
      const result = await enforceCall({ call, action: MERGE, settings: settingsOf(proxy) }, WAITING, pipeline)
      assert.equal(result.kind, end)
      assert.deepEqual(
        proxy.interceptions.map((row) => row.effect),
        [effect],
      )
      assert.equal(proxy.monitoring.openCount(), end === 'go' && decision === 'WARN' ? 1 : 0)
    })
  }

async function started(
  t: TestContext,
  clock: { readonly now: number },
  storeFaults: NonNullable<Started['storeFaults']>,
  options: Partial<Started> = {},
): Promise<ProxyUnderTest> {
  const route = { name: 'pets', match: { path: '/' }, upstream: 'http://127.0.0.1:9', protocol: 'http' }
  const contract = { current: { file: petContract() } }
  const proxy = await startProxy({ routes: [{ ...route, contract }], storeFaults, now: () => clock.now, ...options })
  t.after(() => proxy.close())
  return proxy
}

const WAITING: PendingWait = {
  isGone: false,
  held: neverHeld(),
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
