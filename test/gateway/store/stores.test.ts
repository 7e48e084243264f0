/** What every store does alike: the same tests over SQLite and PostgreSQL, in one file because each suite starts a database. */
import assert from 'node:assert/strict'
import { after, suite, test, type TestContext } from 'node:test'
import { apiKeyRow, mintApiKey } from '../../../gateway/callers/api-keys.ts'
import { exportLines, verifyExport } from '../../../gateway/store/ledger-export.ts'
import type { ObservedUse } from '../../../gateway/store/uses.ts'
import { ROWS_AT_ONCE } from '../../../gateway/store/sql/calls.ts'
import type { Store } from '../../../gateway/store/store.ts'
import type { MergeCheck, WebhookDelivery } from '../../../gateway/store/webhooks.ts'
import type { MonitoringWindowRow } from '../../../gateway/store/windows.ts'
import { approvalOpening, breakGlassRow } from '../../fakes/aggregate-rows.ts'
import { decisionRow } from '../../fakes/decision-row.ts'
import { interception } from '../../fakes/interception.ts'
import { STORE_KINDS } from '../../fakes/stores.ts'

const memberOf = (...groups: readonly string[]) => ({ count: 1, groups })

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const OTHER_TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = `${TRACE}-00f067aa0ba902b7`
const OTHER_SPAN = `${OTHER_TRACE}-b7ad6b7169203331`

for (const kind of STORE_KINDS) {
  suite(`a store in ${kind.name}`, { skip: kind.missing() }, () => {
    const stores = kind.start()
    after(() => stores.stop())
    const open = async (t: TestContext): Promise<Store> => {
      const store = await stores.open()
      t.after(() => store.close())
      return store
    }

    test('a decision is found again by id, fingerprint and idempotency key, and only by its tenant', async (t) => {
      const store = await open(t)
      const row = decisionRow({ idempotency: { key: 'k', bodyDigest: 'sha256:0' }, response: '{}' })
      await store.decisions.record(row)
      const stored = await store.decisions.byId('local', 'dec_1')
      assert.equal(stored?.sequence, 1)
      assert.equal(stored.receiptState, 'current')
      assert.deepEqual({ ...stored, ...row }, stored)
      assert.equal((await store.decisions.byFingerprint('local', row.fingerprint))?.decisionId, 'dec_1')
      assert.equal((await store.decisions.byIdempotencyKey('local', 'k', 1_000))?.decisionId, 'dec_1')
      assert.equal(await store.decisions.byIdempotencyKey('local', 'k', 1_001), null)
      assert.equal(await store.decisions.byId('other', 'dec_1'), null)
      assert.equal(await store.decisions.byFingerprint('other', row.fingerprint), null)
    })

    test('a newer decision supersedes the older one of the same tenant and key, and no other', async (t) => {
      const store = await open(t)
      await store.decisions.record(decisionRow({ decisionId: 'old', supersessionKey: 'place' }))
      await store.decisions.record(decisionRow({ decisionId: 'elsewhere', supersessionKey: 'another place' }))
      await store.decisions.record(decisionRow({ decisionId: 'foreign', supersessionKey: 'place', tenant: 'other' }))
      await store.decisions.record(decisionRow({ decisionId: 'new', supersessionKey: 'place' }))
      const states = await Promise.all(['old', 'elsewhere', 'foreign', 'new'].map((id) => store.receipts.state(id)))
      assert.deepEqual(states, ['superseded', 'current', 'current', 'current'])
    })

    test('a receipt is consumed by exactly one of many concurrent callers', async (t) => {
      const store = await open(t)
      await store.decisions.record(decisionRow())
      const answers = await Promise.all(Array.from({ length: 50 }, () => store.receipts.consume(['dec_1'], 1_500)))
      assert.equal(answers.filter(Boolean).length, 1)
      assert.equal(await store.receipts.state('dec_1'), 'consumed')
      assert.equal(await store.receipts.consume(['never issued'], 1_500), false)
    })

    test('of several receipts all are consumed or none, whatever order concurrent callers name them in', async (t) => {
      const store = await open(t)
      const ids = ['a', 'b', 'c', 'd', 'revoked']
      for (const decisionId of ids)
        await store.decisions.record(decisionRow({ decisionId, supersessionKey: decisionId }))
      await store.receipts.revoke('local', 'revoked', 'leaked', 'v:1', 1_100)
      const states = () => Promise.all(ids.map((id) => store.receipts.state(id)))
      for (const ended of ['revoked', 'never issued'])
        assert.equal(await store.receipts.consume(['a', ended, 'b'], 1_200), false)
      assert.deepEqual(await states(), ['current', 'current', 'current', 'current', 'revoked'])
      const groups = [['a', 'b'], ['b', 'c'], ['c', 'b', 'a'], ['b'], ['b', 'b', 'd']]
      const wanted = Array.from({ length: 50 }, (_, n) => groups[n % groups.length] ?? [])
      const answers = await Promise.all(wanted.map((group) => store.receipts.consume(group, 1_300)))
      // Each group has `b`, so one of them gets it, and nothing of the others is used.
      const [won, ...further] = wanted.filter((_, n) => answers[n])
      assert.deepEqual(further, [])
      assert.deepEqual(
        await states(),
        ids.map((id) => (id === 'revoked' ? id : won?.includes(id) === true ? 'consumed' : 'current')),
      )
      assert.deepEqual((await store.ledger.inspect()).faults, [])
    })

    test('a revoked receipt cannot be consumed any more, and revoking speaks before consuming', async (t) => {
      const store = await open(t)
      await store.decisions.record(decisionRow({ decisionId: 'a' }))
      await store.decisions.record(decisionRow({ decisionId: 'b' }))
      assert.equal(await store.receipts.revoke('local', 'a', 'leaked', 'v:1', 1_100), true)
      assert.equal(await store.receipts.consume(['a'], 1_200), false)
      assert.equal(await store.receipts.consume(['b'], 1_200), true)
      assert.equal(await store.receipts.revoke('local', 'b', 'leaked', 'v:1', 1_300), true)
      assert.equal(await store.receipts.revoke('local', 'b', 'again', 'v:1', 1_400), true)
      assert.equal(await store.receipts.state('b'), 'revoked')
      assert.equal(await store.receipts.revoke('other', 'a', 'not mine', 'v:2', 1_400), false)
      assert.equal(await store.receipts.state('never issued'), null)
    })

    test('the ledger answers newest first, filtered, in pages', async (t) => {
      const store = await open(t)
      for (let n = 1; n <= 5; n += 1)
        await store.decisions.record(
          decisionRow({
            decisionId: `dec_${n}`,
            evaluatedAt: n,
            operation: n % 2 === 0 ? 'deploy' : 'merge',
            traceId: n > 3 ? TRACE : null,
          }),
        )
      const ids = async (filter: object): Promise<readonly string[]> =>
        (await store.decisions.list({ tenant: 'local', limit: 10, ...filter })).map(({ decisionId }) => decisionId)
      assert.deepEqual(await ids({ limit: 2 }), ['dec_5', 'dec_4'])
      assert.deepEqual(await ids({ limit: 2, before: 4 }), ['dec_3', 'dec_2'])
      assert.deepEqual(await ids({ operation: 'deploy' }), ['dec_4', 'dec_2'])
      assert.deepEqual(await ids({ from: 2, to: 4 }), ['dec_3', 'dec_2'])
      assert.deepEqual(await ids({ traceId: TRACE }), ['dec_5', 'dec_4'])
      assert.deepEqual(await ids({ traceId: TRACE, tenant: 'other' }), [])
      assert.equal((await store.decisions.byId('local', 'dec_5'))?.traceId, TRACE)
      assert.equal((await store.decisions.byId('local', 'dec_3'))?.traceId, null)
      assert.equal(await store.ledger.verifyChain(), null)
      assert.deepEqual(await ids({ tenant: 'other' }), [])
    })

    test('decisions are counted by period, route and kind, of one tenant and from a moment on', async (t) => {
      const store = await open(t)
      for (const [decisionId, evaluatedAt, more] of [
        ['before', 999, {}],
        ['first', 1000, { route: 'a' }],
        ['second', 1099, { route: 'a' }],
        ['blocked', 1099, { route: 'a', decision: 'BLOCK' }],
        ['later', 1250, {}],
        ['foreign', 1000, { tenant: 'other' }],
      ] as const)
        await store.decisions.record(decisionRow({ decisionId, evaluatedAt, route: null, ...more }))
      const counts = await store.decisions.counts({ tenant: 'local', from: 1000, period: 100 })
      const found = counts.map(({ period, route, decision, count }) => `${period} ${route} ${decision} ${count}`)
      assert.deepEqual(new Set(found), new Set(['0 a ALLOW 2', '0 a BLOCK 1', '2 null ALLOW 1']))
    })

    test('one row that breaks a constraint fails alone, in whatever transaction it was put', async (t) => {
      const store = await open(t)
      const results = await Promise.allSettled([
        store.decisions.record(decisionRow({ decisionId: 'a' })),
        store.decisions.record(decisionRow({ decisionId: 'a' })),
        store.decisions.record(decisionRow({ decisionId: 'b' })),
      ])
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      )
      assert.equal((await store.decisions.byId('local', 'b'))?.sequence, 2)
      assert.equal(await store.ledger.verifyChain(), null)
    })

    test('calls are read newest first by tenant, route, effect and time, with where they depart from the contract', async (t) => {
      const store = await open(t)
      const violations = [{ where: 'body#/id', message: 'must be integer' }]
      await store.calls.recordAll([])
      await store.calls.recordAll([interception('c1'), interception('c2', { tenant: 'other', at: 2 })])
      await store.calls.record(interception('c3', { effect: 'drifted', violations, decisionId: 'd', at: 3 }))
      await store.calls.record(
        interception('c4', { effect: 'refused', violations, route: 'pets', traceId: TRACE, at: 4 }),
      )
      const ids = async (filter: object): Promise<readonly string[]> =>
        (await store.calls.list({ tenant: 'local', limit: 10, ...filter })).rows.map(
          ({ correlationId }) => correlationId,
        )
      assert.deepEqual(await ids({}), ['c4', 'c3', 'c1'])
      assert.deepEqual(await ids({ tenant: 'other' }), ['c2'])
      assert.deepEqual(await ids({ route: 'shop' }), ['c3', 'c1'])
      assert.deepEqual(await ids({ effect: 'drifted' }), ['c3'])
      assert.deepEqual(await ids({ effect: 'forwarded' }), ['c1'])
      assert.deepEqual(await ids({ correlationId: 'c3' }), ['c3'])
      assert.deepEqual(await ids({ traceId: TRACE }), ['c4'])
      assert.deepEqual(await ids({ traceId: TRACE, tenant: 'other' }), [])
      assert.deepEqual((await store.ledger.inspect()).faults, [])
      assert.deepEqual(await ids({ from: 3, to: 4 }), ['c3'])
      const drifted = interception('c3', { effect: 'drifted', violations, decisionId: 'd', at: 3 })
      assert.deepEqual((await store.calls.list({ tenant: 'local', effect: 'drifted', limit: 1 })).rows, [
        { sequence: 3, ...drifted },
      ])
      const first = await store.calls.list({ tenant: 'local', limit: 2 })
      assert.equal(first.next, 3)
      assert.deepEqual(await store.calls.list({ tenant: 'nobody', limit: 2 }), { rows: [], next: null })
      assert.deepEqual(await ids({ before: 3 }), ['c1'])
    })

    test('a sampled trace is found at any age on the first page, any other on the pages of its rows', async (t) => {
      const mixed = 'e'.repeat(32)
      const store = await open(t)
      await store.calls.recordAll([
        interception('unsampled', { traceId: OTHER_TRACE }),
        interception('sampled', { traceId: TRACE, isTraceSampled: true }),
        interception('mixed', { traceId: mixed, isTraceSampled: true }),
      ])
      const filler = interception('filler', { traceId: 'f'.repeat(32) })
      for (let n = 0; n < 10; n += 1) await store.calls.recordAll(Array.from({ length: 10_000 }, () => filler))
      await store.calls.recordAll([
        interception('late', { traceId: TRACE, isTraceSampled: true }),
        interception('late mixed', { traceId: mixed }),
      ])
      const page = async (traceId: string, before?: number) => {
        const found = await store.calls.list({
          tenant: 'local',
          limit: 10,
          traceId,
          ...(before !== undefined && { before }),
        })
        return { ids: found.rows.map(({ correlationId }) => correlationId), next: found.next }
      }
      assert.deepEqual(await page(TRACE), { ids: ['late', 'sampled'], next: null })
      for (const [trace, recent, old] of [
        [OTHER_TRACE, [], ['unsampled']],
        [mixed, ['late mixed'], ['mixed']],
      ] as const) {
        const { ids, next } = await page(trace)
        assert.deepEqual(ids, recent)
        const rest = await page(trace, next ?? assert.fail('there are further pages'))
        assert.deepEqual(rest, { ids: old, next: null })
      }
    })

    test('baselines are kept whole and replaced by route and artifact', async (t) => {
      const store = await open(t)
      const row = {
        route: 'shop',
        artifactId: 'tools',
        type: 'mcp_manifest',
        content: '{"tools":[]}',
        digest: 'sha256:1',
        source: 'first_use',
        setBy: 'route',
        setAt: 1,
      } as const
      await store.baselines.set(row, null)
      const promoted = { ...row, content: '{}', digest: 'sha256:2', source: 'promotion' } as const
      assert.deepEqual(await store.baselines.set(promoted, 'sha256:0'), row, 'of another baseline')
      assert.deepEqual(await store.baselines.set(promoted, row.digest), promoted)
      assert.deepEqual(await store.baselines.byRoute('shop', 'tools'), promoted)
      assert.equal((await store.baselines.list()).length, 1)
      assert.equal(await store.baselines.byRoute('shop', 'none'), null)
    })

    test('a monitoring window closes once, whoever shares its correlation id', async (t) => {
      const store = await open(t)
      const window: MonitoringWindowRow = {
        windowId: 'w1',
        correlationId: 'c',
        decisionId: 'd',
        tenant: 'local',
        route: null,
        observer: 'caller',
        openedAt: 1,
        closedAt: null,
        outcome: null,
      }
      const other: MonitoringWindowRow = { ...window, windowId: 'w2', observer: 'gateway', openedAt: 2 }
      await store.windows.open(other)
      await store.windows.open(window)
      assert.deepEqual(await store.windows.listOpen(), [window, other])
      await store.windows.open(window)
      await assert.rejects(store.windows.open({ ...window, decisionId: 'dec_9' }), { name: 'RefusedRowError' })
      assert.deepEqual(await store.windows.listOpen(), [window, other], 'a repeated row changes nothing')
      assert.equal(await store.windows.close('w1', 'SUCCEEDED', 2), true)
      assert.equal(await store.windows.close('w1', 'FAILED', 3), false)
      await store.windows.open(window)
      assert.deepEqual(await store.windows.listOpen(), [other], 'a repeated row opens no closed window')
    })

    test('API keys are found by hash, and revoked once', async (t) => {
      const store = await open(t)
      const key = apiKeyRow({ key: mintApiKey(), name: 'ci', role: 'agent', at: 1 })
      await store.apiKeys.create(key)
      assert.deepEqual(await store.apiKeys.byHash(key.hash), key)
      assert.equal(await store.apiKeys.revoke(key.hash, 5), true)
      assert.equal(await store.apiKeys.revoke(key.hash, 9), true)
      assert.equal((await store.apiKeys.byHash(key.hash))?.revokedAt, 5)
      assert.equal(await store.apiKeys.revoke('unknown', 5), false)
    })

    test('keys of ended sign-ins are removed, unless a record names them, and the ledger is intact', async (t) => {
      const store = await open(t)
      const signIn = async (expiresAt: number | null, more: { owner?: string; revokedAt?: number } = {}) => {
        const { revokedAt, owner = 'oidc:corp:ana' } = more
        const key = apiKeyRow({ key: mintApiKey(), name: 'Ana', role: 'approver', at: 1, expiresAt, owner })
        await store.apiKeys.create(key)
        await store.apiKeys.touch(key.hash, 2)
        if (revokedAt !== undefined) await store.apiKeys.revoke(key.hash, revokedAt)
        return key
      }
      const [ended, revoked] = [await signIn(50), await signIn(900, { revokedAt: 50 })]
      const named = await signIn(50)
      await store.decisions.record(
        decisionRow({ decisionId: 'dec_named', envelope: JSON.stringify({ audience: named.audience }) }),
      )
      const decided = await signIn(50)
      await store.approvals.open({ ...approvalOpening({ approvalId: 'apr_1' }), expiresAt: 500 })
      const word = { state: 'denied', by: decided.audience, groups: [], comment: '', at: 10, validUntil: 20 } as const
      const request = { tenant: 'local', approvalId: 'apr_1', isFourEyes: true, required: [memberOf()] }
      assert.equal(await store.approvals.decide({ ...word, ...request }), 'settled')
      // Without its key, what it handed over would be in force again.
      const delegating = await signIn(50)
      const handed = { tenant: 'local', groups: ['payments'], to: 'oidc:corp:bo', approvalId: null, reason: 'away' }
      await store.approvals.delegate({ ...handed, delegationId: 'dlg_1', by: delegating.audience, at: 10, until: 999 })
      const kept = [
        named,
        decided,
        delegating,
        await signIn(900),
        await signIn(null),
        await signIn(50, { owner: 'ci' }),
      ]
      // A recorded end is no earlier one.
      await store.apiKeys.endExpired(100)
      assert.equal(await store.apiKeys.removeEndedSignIns(40, 1), 0)
      assert.equal(await store.apiKeys.removeEndedSignIns(100, 1), 1)
      assert.equal(await store.apiKeys.removeEndedSignIns(100, 10), 1)
      assert.equal(await store.apiKeys.removeEndedSignIns(100, 10), 0)
      for (const { hash } of [ended, revoked]) assert.equal(await store.apiKeys.byHash(hash), null)
      for (const { hash } of kept) assert.notEqual(await store.apiKeys.byHash(hash), null)
      assert.deepEqual((await store.ledger.inspect()).faults, [])
      const { faults } = await verifyExport(exportLines(store, 1), null)
      assert.deepEqual(faults, ['No key set was given, so no signature was checked.'])
    })

    test('uses are counted up to the limit of the month, and not past it under concurrency', async (t) => {
      const store = await open(t)
      const counts = await Promise.all(Array.from({ length: 20 }, () => store.quotas.count('local', '2026-01', 5)))
      // Each number once; connections to a database answer in any order.
      assert.deepEqual(
        counts.filter((count) => count !== null).toSorted((a, b) => a - b),
        [1, 2, 3, 4, 5],
      )
      assert.equal(await store.quotas.used('local', '2026-01'), 5)
      assert.equal(await store.quotas.used('local', '2026-02'), 0)
      assert.equal(await store.quotas.count('local', '2026-02', 5), 1)
      assert.equal(await store.quotas.count('other', '2026-01', 0), null)
      assert.equal(await store.quotas.count('local', '2026-03', Number.POSITIVE_INFINITY), 1)
      await store.quotas.count('team-a', '2026-01', 5)
      assert.deepEqual(
        (await store.quotas.ofMonth('2026-01')).toSorted((a, b) => a.tenant.localeCompare(b.tenant)),
        [
          { tenant: 'local', used: 5 },
          { tenant: 'team-a', used: 1 },
        ],
      )
      assert.deepEqual(await store.quotas.ofMonth('2025-12'), [])
    })

    test('a request for approval is joined while it is pending, and decided by exactly one of many', async (t) => {
      const store = await open(t)
      const opened = await store.approvals.open(approvalOpening({ requester: 'v:1', openedIn: SPAN }))
      const joined = await store.approvals.open(approvalOpening({ approvalId: 'apr_2', requester: 'v:2' }))
      assert.equal(joined.approvalId, opened.approvalId)
      assert.deepEqual([...joined.requesters].sort(), ['v:1', 'v:2'])
      const foreign = approvalOpening({ approvalId: 'apr_b', tenant: 'other', requester: 'v:3' })
      assert.equal((await store.approvals.open(foreign)).approvalId, 'apr_b', 'another tenant has requests of its own')
      assert.equal((await store.approvals.byId('local', 'apr_1'))?.requesters.length, 2)
      const word = { tenant: 'local', approvalId: 'apr_1', state: 'granted', groups: [], comment: '' } as const
      const request = { ...word, at: 10, validUntil: 50, isFourEyes: true, required: [], decidedIn: OTHER_SPAN }
      assert.equal(await store.approvals.decide({ ...request, by: 'v:2' }), 'own')
      assert.equal(await store.approvals.decide({ ...request, by: 'v:9', tenant: 'other' }), 'missing')
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => store.approvals.decide({ ...request, by: `v:1${n}` })),
      )
      assert.equal(answers.filter((answer) => answer === 'settled').length, 1)
      assert.equal(answers.filter((answer) => answer === 'conflict').length, 19)
      const granted = await store.approvals.byId('local', 'apr_1')
      assert.equal(granted?.result?.state, 'granted')
      assert.deepEqual([granted.openedIn, granted.decidedIn], [SPAN, OTHER_SPAN])
      const states = async (now: number) => [
        (await store.approvals.list({ tenant: 'local', state: 'granted', limit: 5, now })).length,
        (await store.approvals.list({ tenant: 'local', state: 'pending', limit: 5, now })).length,
      ]
      assert.deepEqual(await states(20), [1, 0])
      // The grant has ended: the same change asks again.
      const again = await store.approvals.open(approvalOpening({ approvalId: 'apr_3', openedAt: 60, expiresAt: 90 }))
      assert.equal(again.approvalId, 'apr_3')
      assert.deepEqual(await states(60), [1, 1])
      assert.equal((await store.approvals.byId('local', 'apr_1'))?.endedAt, 60)
      assert.deepEqual((await store.ledger.inspect()).faults, [])
    })

    test('requests that wait are listed in the order in which they expire, page by page', async (t) => {
      const store = await open(t)
      // Neither in the order of their ids nor of their opening; several expire at one moment.
      const expiries = [500, 300, 900, 300, 700, 20, 300, 600]
      for (const [n, expiresAt] of expiries.entries())
        await store.approvals.open(approvalOpening({ approvalId: `apr_${n}`, key: `k${n}`, openedAt: 10, expiresAt }))
      const foreign = approvalOpening({ approvalId: 'apr_b', tenant: 'other', openedAt: 10, expiresAt: 400 })
      await store.approvals.open(foreign)
      const listed = async (limit: number, after?: string) => {
        const filter = { tenant: 'local', limit, now: 50, ...(after !== undefined && { after }) }
        return (await store.approvals.pending(filter)).map(({ approvalId }) => approvalId)
      }
      const order = ['apr_1', 'apr_3', 'apr_6', 'apr_0', 'apr_7', 'apr_4', 'apr_2']
      assert.deepEqual(await listed(50), order)
      for (const limit of [1, 2, 3]) {
        const seen: string[] = []
        for (let page = await listed(limit); page.length > 0; page = await listed(limit, page.at(-1)))
          seen.push(...page)
        assert.deepEqual(seen, order, String(limit))
      }
      // One that was decided meanwhile keeps its place.
      const word = {
        tenant: 'local',
        approvalId: 'apr_6',
        state: 'denied',
        by: 'v:9',
        groups: [],
        comment: '',
      } as const
      const decision = { ...word, at: 60, validUntil: null, isFourEyes: true, required: [] }
      assert.equal(await store.approvals.decide(decision), 'settled')
      assert.deepEqual(await listed(2, 'apr_6'), ['apr_0', 'apr_7'])
      assert.deepEqual(
        await listed(50),
        order.filter((id) => id !== 'apr_6'),
      )
      for (const unknown of ['apr_b', 'apr_none']) assert.deepEqual(await listed(50, unknown), [])
    })

    test('several grants at one moment are counted, each person once', async (t) => {
      const store = await open(t)
      await store.approvals.open(approvalOpening({}))
      const word = { tenant: 'local', approvalId: 'apr_1', state: 'granted', groups: [], comment: '' } as const
      const request = { ...word, at: 10, validUntil: 50, isFourEyes: true, required: [{ count: 3, groups: [] }] }
      const people = ['v:1', 'v:2', 'v:2', 'v:3', 'v:4']
      const answers = await Promise.all(people.map((by) => store.approvals.decide({ ...request, by })))
      assert.equal(answers.filter((answer) => answer === 'settled').length, 1)
      const steps = await store.approvals.steps('local', 'apr_1')
      assert.equal(new Set(steps.map(({ by }) => by)).size, 3)
      assert.deepEqual((await store.ledger.inspect()).faults, [])
    })

    test('groups of approvers are asked for, and a denial stands until its end', async (t) => {
      const store = await open(t)
      await store.approvals.open(
        approvalOpening({ approvers: [memberOf('payments'), memberOf('security', 'platform')] }),
      )
      const request = {
        tenant: 'local',
        approvalId: 'apr_1',
        comment: 'no',
        at: 10,
        isFourEyes: false,
        required: [],
      } as const
      const granted = { ...request, state: 'granted', by: 'v:1', validUntil: 20 } as const
      assert.equal(await store.approvals.decide({ ...granted, groups: ['support'] }), 'group')
      assert.equal(await store.approvals.decide({ ...granted, groups: ['payments'] }), 'counted')
      assert.equal(
        await store.approvals.decide({ ...request, state: 'denied', by: 'v:1', groups: [], validUntil: null }),
        'settled',
      )
      const joined = await store.approvals.open(approvalOpening({ approvalId: 'apr_2', openedAt: 20 }))
      assert.equal(joined.result?.state, 'denied')
    })

    test('an accepted time ends what was made later, and nothing that was made earlier', async (t) => {
      const store = await open(t)
      const handed = { tenant: 'local', by: 'a', groups: ['payments'], to: 'b', approvalId: null, reason: 'away' }
      const keys = [50, 200].map((at) =>
        apiKeyRow({ key: mintApiKey(), name: 'ci', role: 'agent', at, expiresAt: 900 }),
      )
      const lasting = apiKeyRow({ key: mintApiKey(), name: 'ci', role: 'agent', at: 200 })
      for (const key of [...keys, lasting]) await store.apiKeys.create(key)
      for (const at of [50, 200]) {
        await store.breakGlass.open(breakGlassRow({ id: `bg_${at}`, openedAt: at, expiresAt: 900 }))
        await store.approvals.delegate({ ...handed, delegationId: `dlg_${at}`, at, until: 900 })
        await store.approvals.open(
          approvalOpening({ approvalId: `apr_${at}`, key: `key_${at}`, openedAt: at, expiresAt: 900 }),
        )
      }
      await store.ledger.accept('admin', 'the clock was wrong', 100)
      const exceptions = await store.breakGlass.list({ openAt: 100, limit: 9 })
      const delegations = await store.approvals.delegations('local', 9)
      const requests = await store.approvals.list({ tenant: 'local', state: 'pending', limit: 9, now: 100 })
      assert.deepEqual(
        exceptions.map(({ id }) => id),
        ['bg_50'],
      )
      assert.deepEqual(
        delegations.filter(({ ended }) => ended === null).map(({ delegationId }) => delegationId),
        ['dlg_50'],
      )
      assert.deepEqual(
        requests.map(({ approvalId }) => approvalId),
        ['apr_50'],
      )
      const ends = await Promise.all([...keys, lasting].map(({ hash }) => store.apiKeys.byHash(hash)))
      assert.deepEqual(
        ends.map((key) => key?.expiresAt),
        [900, -100, null],
      )
      assert.deepEqual((await store.ledger.inspect()).faults, [])
    })

    test('a right that is handed over is listed by its tenant only, and ends once', async (t) => {
      const store = await open(t)
      const row = {
        delegationId: 'del_1',
        tenant: 'local',
        by: 'oidc:corp:a',
        groups: ['payments'],
        to: 'oidc:corp:b',
        approvalId: null,
        reason: 'a holiday',
        at: 1,
        until: 100,
      }
      assert.equal(await store.approvals.delegate(row), true)
      assert.deepEqual(await store.approvals.delegations('other', 10), [])
      assert.deepEqual(await store.approvals.delegations('local', 10), [{ ...row, ended: null }])
      assert.equal(await store.approvals.endDelegation('other', 'del_1', { by: 'x', at: 2 }), false)
      assert.equal(await store.approvals.endDelegation('local', 'del_1', { by: 'oidc:corp:a', at: 2 }), true)
      assert.equal(await store.approvals.endDelegation('local', 'del_1', { by: 'oidc:corp:a', at: 3 }), false)
      const [ended] = await store.approvals.delegations('local', 10)
      assert.deepEqual(ended?.ended, { at: 2, by: 'oidc:corp:a' })
    })

    test('an exception counts its calls until it is closed or over', async (t) => {
      const store = await open(t)
      await store.breakGlass.open(breakGlassRow({ id: 'a', expiresAt: 100 }))
      await store.breakGlass.open(breakGlassRow({ id: 'b', expiresAt: 50 }))
      const uses = await Promise.all(Array.from({ length: 5 }, () => store.breakGlass.use('pets', 10)))
      assert.deepEqual(
        uses.map((row) => row?.calls ?? 0).sort((a, b) => a - b),
        [1, 2, 3, 4, 5],
      )
      assert.equal(await store.breakGlass.use('other', 10), null)
      assert.equal((await store.breakGlass.list({ openAt: 60, limit: 5 })).length, 1)
      assert.equal((await store.breakGlass.close('a', 'v:1', 70))?.closedBy, 'v:1')
      assert.equal((await store.breakGlass.close('b', 'v:1', 70))?.endedAt, 70)
      assert.equal(await store.breakGlass.close('none', 'v:1', 70), null)
      // Setting the clock back brings nothing back.
      assert.equal(await store.breakGlass.use('pets', 10), null)
      assert.deepEqual((await store.ledger.inspect()).faults, [])
    })

    test('a binding is found in any letter case of its repository, and keeps its first spelling', async (t) => {
      const store = await open(t)
      const row = { tenant: 'acme', platform: 'scm_a', repository: 'Acme/Shop', provenAt: 1, provenBy: 'v:1' } as const
      await store.bindings.record(row)
      await store.bindings.record({ ...row, repository: 'acme/shop', provenAt: 2 })
      assert.deepEqual(await store.bindings.list('acme'), [{ ...row, provenAt: 2 }])
      const challenge = { ...row, challengeId: 'c1', marker: 'm', createdAt: 5, expiresAt: 10 }
      await store.bindings.openChallenge(challenge)
      assert.equal((await store.bindings.challenge('acme', 'c1'))?.marker, 'm')
      assert.equal(await store.bindings.challenge('other', 'c1'), null)
      assert.deepEqual((await store.ledger.inspect()).faults, [])
    })

    test('candidates keep their first sight, and are announced by one of many', async (t) => {
      const store = await open(t)
      const row = { route: 'pets', type: 'openapi', content: '{}', digest: 'sha256:1', seenAt: 5 }
      await store.baselines.setCandidate(row)
      await store.baselines.setCandidate({ ...row, seenAt: 9 })
      assert.deepEqual(await store.baselines.candidates(), [row])
      await store.baselines.setCandidate({ ...row, digest: 'sha256:2', seenAt: 9 })
      assert.equal((await store.baselines.candidate('pets'))?.seenAt, 9)
      const announced = await Promise.all(
        Array.from({ length: 10 }, () => store.baselines.announceCandidate('pets', 'sha256:2', 9)),
      )
      assert.equal(announced.filter(Boolean).length, 1)
      await store.baselines.dropCandidate('pets')
      assert.equal(await store.baselines.candidate('pets'), null)
    })

    test('inputs are kept once each, within their bound', async (t) => {
      const store = await open(t)
      const input = { decisionId: 'd', input: '{"a":1}', digests: ['x', 'y'], at: 1 }
      assert.deepEqual(await store.inputs.keep(input), ['x', 'y'])
      await store.inputs.keepContent({ digest: 'x', packed: new Uint8Array([1, 2, 3]) }, 1, 5)
      assert.deepEqual(await store.inputs.keep({ ...input, at: 2 }), ['y'])
      assert.deepEqual([...((await store.inputs.content('x')) ?? [])], [1, 2, 3])
      await store.inputs.keepContent({ digest: 'y', packed: new Uint8Array([4, 5, 6]) }, 3, 5)
      assert.equal(await store.inputs.content('x'), null)
      assert.equal(await store.inputs.byDecision('d'), '{"a":1}')
      assert.equal(await store.inputs.byDecision('none'), null)
    })

    test('observed uses are bounded for each target, and one salt serves all', async (t) => {
      const store = await open(t)
      assert.equal(await store.uses.salt('first'), 'first')
      assert.equal(await store.uses.salt('second'), 'first')
      await store.uses.record({ uses: [use('a', 5), use('b', 6), use('c', 7)], limit: 2, since: 0 })
      await store.uses.record({ uses: [use('a', 8)], limit: 2, since: 6 })
      const known = await store.uses.of(['tools/echo'], 0)
      assert.deepEqual(known.map(({ consumer }) => consumer).sort(), ['b', 'others'])
    })

    test('a message is claimed by one of several gateways, and by another one when the first did not finish', async (t) => {
      const { notifications } = await open(t)
      await notifications.enqueue([], [message('a', 'chat', 1), message('b', 'other', 1), message('c', 'chat', 2)])
      const claims = (now: number) =>
        Promise.all([1, 2, 3].map(async () => (await notifications.claim(now, now + 100, 10)).map(({ id }) => id)))
      const first = (await claims(5)).flat()
      assert.deepEqual(first.toSorted(), ['a', 'b'], 'each once; c waits for a, which is about the same subject')
      assert.deepEqual((await claims(50)).flat(), [])
      await notifications.complete('b', { at: 60, problem: null, nextAt: null, reference: null })
      assert.deepEqual((await claims(105)).flat(), ['a'], 'the lease has ended')
      await notifications.complete('a', { at: 110, problem: 'it answered 500', nextAt: null, reference: null })
      assert.deepEqual((await claims(110)).flat(), ['c'], 'what was given up holds nothing up')
    })

    test('a later message knows where its channel shows the first one about the same subject', async (t) => {
      const store = await open(t)
      const { notifications } = store
      const threadOf = async (now: number) =>
        (await notifications.claim(now, now + 100, 10)).map(({ id, thread }) => [id, thread])
      const done = { at: 5, problem: null, nextAt: null }
      await notifications.enqueue([], [message('a', 'chat', 1), message('b', 'other', 1)])
      assert.deepEqual(await threadOf(5), [
        ['a', null],
        ['b', null],
      ])
      await notifications.complete('a', { ...done, reference: '{"ts":"1"}' })
      await notifications.complete('b', { ...done, reference: null })
      await notifications.enqueue([], [message('c', 'chat', 6), message('d', 'other', 6)])
      assert.deepEqual(await threadOf(10), [
        ['c', '{"ts":"1"}'],
        ['d', null],
      ])
    })

    test('a delivery is accepted once by id and by body, and a newer one of its subject replaces it', async (t) => {
      const store = await open(t)
      assert.equal(await store.webhooks.accept(delivery('a', 1)), true)
      assert.equal(await store.webhooks.accept(delivery('a', 1)), false)
      assert.equal(await store.webhooks.accept({ ...delivery('a', 1), deliveryId: 'other' }), false)
      assert.equal(await store.webhooks.accept(delivery('b', 2)), true)
      assert.deepEqual(await store.webhooks.backlog(), { waiting: 1, oldestAt: 2 })
      const claimed = await store.webhooks.claim(5, 100, 10)
      assert.deepEqual(
        claimed.map(({ deliveryId }) => deliveryId),
        ['b'],
      )
      assert.deepEqual(await store.webhooks.claim(99, 200, 10), [], 'it is claimed')
      assert.equal(await store.webhooks.accept(delivery('c', 6)), true)
      assert.deepEqual(await store.webhooks.claim(99, 200, 10), [], 'one task of a subject at a time')
      await store.webhooks.complete('scm_a', 'b', { at: 7, problem: 'no answer', nextAt: 50 })
      assert.deepEqual((await store.webhooks.claim(50, 200, 10))[0]?.attempts, 1)
      await store.webhooks.complete('scm_a', 'b', { at: 51, problem: null, nextAt: null })
      assert.deepEqual((await store.webhooks.claim(60, 200, 10))[0]?.deliveryId, 'c')
    })

    test('one of many claims a delivery, and what has ended is forgotten', async (t) => {
      const store = await open(t)
      await store.webhooks.accept(delivery('a', 1))
      const claims = await Promise.all(Array.from({ length: 8 }, () => store.webhooks.claim(5, 100, 10)))
      assert.equal(claims.flat().length, 1)
      await store.webhooks.complete('scm_a', 'a', { at: 6, problem: null, nextAt: null })
      await store.webhooks.forget(7)
      assert.equal(await store.webhooks.accept(delivery('a', 8)), true)
    })

    test('a check whose approval has ended is queued once, with its task or as expired', async (t) => {
      const store = await open(t)
      const granted = await store.approvals.open(approvalOpening({ approvalId: 'apr_1', key: 'k1' }))
      const unanswered = await store.approvals.open(approvalOpening({ approvalId: 'apr_2', key: 'k2' }))
      await store.webhooks.saveCheck(mergeCheck('#1', granted.approvalId))
      await store.webhooks.saveCheck(mergeCheck('#2', unanswered.approvalId))
      assert.equal(await store.webhooks.queueDecided(granted.openedAt, 10), 0)
      await store.approvals.decide({
        tenant: 'local',
        approvalId: 'apr_1',
        isFourEyes: true,
        required: [],
        state: 'granted',
        by: 'v:someone',
        groups: [],
        comment: 'good',
        at: granted.openedAt + 1,
        validUntil: granted.expiresAt,
      })
      const queued = await Promise.all([1, 2].map(() => store.webhooks.queueDecided(granted.openedAt + 2, 10)))
      assert.deepEqual(
        queued.toSorted((a, b) => a - b),
        [0, 1],
      )
      assert.equal(await store.webhooks.queueDecided(unanswered.expiresAt, 10), 1)
      const tasks = (await store.webhooks.claim(unanswered.expiresAt, unanswered.expiresAt + 100, 10)).map(
        ({ task }) => task,
      )
      assert.equal(tasks[0], '{"n":1}')
      assert.match(tasks[1] ?? '', /"kind":"approval_expired".*"subject":"#2"/)
    })

    test('checks of one commit are found together, and go with their subject', async (t) => {
      const store = await open(t)
      await store.webhooks.saveCheck(mergeCheck('#1', null))
      await store.webhooks.saveCheck(mergeCheck('#2', null))
      await store.webhooks.saveCheck({ ...mergeCheck('#1', null), shown: '7', at: 3 })
      const checks = await store.webhooks.checksAt('scm_a', 'acme/pets', 'c0')
      assert.deepEqual(
        checks.map(({ subject, shown }) => [subject, shown]),
        [
          ['#1', '7'],
          ['#2', null],
        ],
      )
      assert.deepEqual(await store.webhooks.removeChecks('scm_a', '#1'), ['c0'])
      assert.equal((await store.webhooks.checksAt('scm_a', 'acme/pets', 'c0')).length, 1)
    })

    test('the calls of a batch are stored whole and in their order, whatever its length', async (t) => {
      const store = await open(t)
      const lengths = [0, 1, ROWS_AT_ONCE - 1, ROWS_AT_ONCE, ROWS_AT_ONCE + 1, 2 * ROWS_AT_ONCE, 3 * ROWS_AT_ONCE - 1]
      let written = 0
      const batches = lengths.map((length) =>
        Array.from({ length }, () => {
          const at = (written += 1)
          const trace = { traceId: at % 2 === 0 ? TRACE : null, isTraceSampled: at % 4 === 0 }
          return interception(`c${at}`, { ...trace, at, decisionId: at % 5 === 0 ? 'd' : null, enforced: at % 7 > 0 })
        }),
      )
      for (const batch of batches) await store.calls.recordAll(batch)
      const { rows } = await store.calls.list({ tenant: 'local', limit: written + 1 })
      const stored = batches.flat().map((row, index) => ({ sequence: index + 1, ...row }))
      assert.deepEqual(rows.toReversed(), stored)
      assert.deepEqual((await store.ledger.inspect()).faults, [])
    })

    test('a receipt is superseded by another decision than a newer one of its scope', async (t) => {
      const store = await open(t)
      await store.decisions.record(decisionRow({ decisionId: 'attested' }))
      await store.receipts.supersede('other', 'attested', { reason: 'not yours', by: 'dec_2', at: 5 })
      assert.equal(await store.receipts.state('attested'), 'current')
      await store.receipts.supersede('local', 'attested', { reason: 'it diverged', by: 'dec_2', at: 5 })
      await store.receipts.supersede('local', 'attested', { reason: 'it diverged', by: 'dec_2', at: 6 })
      assert.equal(await store.receipts.state('attested'), 'superseded')
      assert.equal(await store.receipts.consume(['attested'], 7), false)
    })

    test('texts that a database cannot hold as they are do not stop a write', async (t) => {
      const store = await open(t)
      await store.calls.record(interception('c\0', { action: 'half \ud800 pair, and a text \\udc00' }))
      await store.decisions.record(decisionRow({ repository: 'a\0b\udc00', envelope: '{"x":"\\u0000"}' }))
      assert.equal((await store.decisions.byId('local', 'dec_1'))?.envelope, '{"x":"\\u0000"}')
      assert.equal((await store.calls.list({ tenant: 'local', limit: 5 })).rows.length, 1)
      assert.deepEqual((await store.ledger.inspect()).faults, [])
      assert.equal(await store.ledger.verifyChain(), null)
    })
  })
}

function message(id: string, channel: string, createdAt: number) {
  return { id, channel, kind: 'test' as const, subject: 'apr_1', payload: '{}', createdAt }
}

function delivery(deliveryId: string, receivedAt: number): WebhookDelivery {
  return {
    platform: 'scm_a',
    deliveryId,
    digest: `sha256:${deliveryId}`,
    subject: 'acme/pets#7',
    task: '{}',
    receivedAt,
  }
}

function mergeCheck(subject: string, approvalId: string | null): MergeCheck {
  const place = { platform: 'scm_a', repository: 'acme/pets', commit: 'c0', subject, tenant: 'local' } as const
  const task = `{"n":${subject.slice(1)}}`
  return { ...place, task, decisionId: 'dec_1', approvalId, report: '{}', shown: null, at: 1 }
}

function use(consumer: string, at: number): ObservedUse {
  return { route: 'tools', target: 'tools/echo', operation: null, tool: 'echo', consumer, calls: 1, at }
}
