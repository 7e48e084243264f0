/** Two gateways write the same thing to one store in the same moment: it is there once, nothing fails, and the ledger stays whole. */
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test, type TestContext } from 'node:test'
import { apiKeyRow, mintApiKey } from '../../gateway/callers/api-keys.ts'
import { openPostgresStore } from '../../gateway/store/postgres/store.ts'
import { openSqliteStore } from '../../gateway/store/sqlite/store.ts'
import { RefusedRowError, type Store } from '../../gateway/store/store.ts'
import { approvalOpening, breakGlassRow } from '../fakes/aggregate-rows.ts'
import { decisionRow } from '../fakes/decision-row.ts'
import { postgresMissing, startPostgres } from '../fakes/postgres-server.ts'
import { postgresOptions } from '../fakes/stores.ts'
import { startTestGateway, TEST_KEY } from '../fakes/gateway.ts'
import { pets, PETS_WITH_POST } from '../fakes/contracts.ts'
import { at, textAt } from '../json.ts'

type Pair = readonly [Store, Store]

interface Kind {
  readonly name: string
  readonly missing: () => string | false
  readonly start: () => { readonly open: () => Promise<Pair>; readonly stop: () => Promise<void> }
}

const KINDS: readonly Kind[] = [
  {
    name: 'SQLite',
    missing: () => false,
    start: () => ({
      open: async () => {
        const file = join(mkdtempSync(join(tmpdir(), 'preflight-races-')), 'ledger.db')
        const one = () => openSqliteStore({ file, calls: 'durable', flushMilliseconds: 5 })
        return [await one(), await one()]
      },
      stop: () => Promise.resolve(),
    }),
  },
  {
    name: 'PostgreSQL',
    missing: postgresMissing,
    start: () => {
      const server = startPostgres()
      return {
        open: async () => {
          const url = await (await server).database()
          return [await openPostgresStore(postgresOptions(url)), await openPostgresStore(postgresOptions(url))]
        },
        stop: async () => (await server).stop(),
      }
    },
  },
]

/** A race: what each of six writers does in a round, and what has to be true of their results. */
interface Race {
  readonly before?: (store: Store, round: string) => Promise<unknown>
  readonly write: (store: Store, round: string, writer: number) => Promise<unknown>
  readonly holds: (results: readonly unknown[], store: Store, round: string) => Promise<void> | void
}

const baseline = (route: string, digest: string) =>
  ({
    route,
    artifactId: route,
    type: 'openapi',
    content: digest,
    digest,
    source: 'promotion',
    setBy: 'x',
    setAt: 1,
  }) as const
const grant = { tenant: 'local', state: 'granted', groups: [], comment: '', isFourEyes: true, required: [] } as const

function one(results: readonly unknown[]): void {
  assert.equal(new Set(results).size, 1, String(results))
}
function once(results: readonly unknown[], value: unknown): void {
  assert.equal(results.filter((result) => result === value).length, 1, String(results))
}

const RACES: Readonly<Record<string, Race>> = {
  'equal requests for approval are one request, of all who asked': {
    write: async (store, round, writer) =>
      (
        await store.approvals.open(
          approvalOpening({ approvalId: `apr_${round}_${writer}`, key: round, requester: `v:${writer}` }),
        )
      ).approvalId,
    async holds(results, store) {
      one(results)
      const row = await store.approvals.byId('local', String(results[0]))
      assert.equal(row?.requesters.length, results.length)
    },
  },
  'a request is granted once, whoever joins it': {
    before: (store, round) => store.approvals.open(approvalOpening({ approvalId: `apr_${round}`, key: round })),
    write: (store, round, writer) =>
      writer < 3
        ? store.approvals.decide({ ...grant, approvalId: `apr_${round}`, by: `v:${writer}`, at: 10, validUntil: 50 })
        : store.approvals.open(
            approvalOpening({
              approvalId: `apr_${round}_${writer}`,
              key: round,
              requester: `v:${writer}`,
              openedAt: 2,
            }),
          ),
    holds: (results) => once(results, 'settled'),
  },
  'a request ends once when its time is over': {
    before: (store, round) => store.approvals.open(approvalOpening({ approvalId: `apr_${round}`, key: round })),
    write: async (store, round, writer) =>
      writer < 5
        ? (await store.approvals.endExpired(200)).filter((id) => id === `apr_${round}`).length
        : store.approvals.decide({ ...grant, approvalId: `apr_${round}`, by: 'v:1', at: 200, validUntil: 250 }),
    holds(results) {
      assert.equal(results[5], 'conflict')
      assert.ok(results.slice(0, 5).filter((ended) => ended === 1).length <= 1, String(results))
    },
  },
  'the requests of a route end once when its baseline changes': {
    before: (store, round) =>
      store.approvals.open(approvalOpening({ approvalId: `apr_${round}`, key: round, route: round, targetId: round })),
    write: async (store, round) => (await store.approvals.endMoot(round, 'x', 10)).length,
    holds: (results) => once(results, 1),
  },
  'an exception ends once when its time is over': {
    before: (store, round) => store.breakGlass.open(breakGlassRow({ id: `bg_${round}`, route: round })),
    write: (store, round) => store.breakGlass.use(round, 200),
    holds: (results) => one(results),
  },
  'a first contract is pinned once': {
    write: async (store, round, writer) => (await store.baselines.set(baseline(round, `d${writer}`), null)).digest,
    holds: (results) => one(results),
  },
  'one promotion replaces a baseline': {
    before: (store, round) => store.baselines.set(baseline(round, 'first'), null),
    write: async (store, round, writer) => (await store.baselines.set(baseline(round, `d${writer}`), 'first')).digest,
    holds: (results) => one(results),
  },
  'a binding is recorded in one spelling': {
    write: (store, round, writer) =>
      store.bindings.record({
        tenant: 'local',
        platform: 'scm_a',
        repository: writer % 2 === 0 ? `acme/${round}` : `Acme/${round}`,
        provenAt: 1,
        provenBy: 'x',
      }),
    async holds(_results, store, round) {
      const rows = await store.bindings.list('local')
      assert.equal(rows.filter(({ repository }) => repository.toLowerCase() === `acme/${round}`).length, 1)
    },
  },
  'a mail address signs up once': {
    write: (store, round) =>
      store.apiKeys.signUp(apiKeyRow({ key: mintApiKey(), name: 'k', role: 'agent', at: 1 }), round),
    holds: (results) => once(results, true),
  },
  'a receipt is consumed once': {
    before: (store, round) => store.decisions.record(decisionRow({ decisionId: `dec_${round}` })),
    write: (store, round) => store.receipts.consume([`dec_${round}`], 5),
    holds: (results) => assert.equal(new Set(results.map((result) => JSON.stringify(result))).size, 2, String(results)),
  },
  'a request with an idempotency key has one decision': {
    write: (store, round, writer) =>
      store.decisions
        .record(
          decisionRow({
            decisionId: `dec_${round}_${writer}`,
            envelope: '{"audience":"v:1"}',
            idempotency: { key: round, bodyDigest: 'd' },
          }),
        )
        .then(
          () => 'recorded',
          (error: unknown) => (error instanceof RefusedRowError ? 'refused' : error),
        ),
    holds(results) {
      once(results, 'recorded')
      assert.equal(results.filter((result) => result === 'refused').length, results.length - 1, String(results))
    },
  },
  'of the decisions of one scope one is current': {
    write: async (store, round, writer) => {
      await store.decisions.record(decisionRow({ decisionId: `dec_${round}_${writer}`, supersessionKey: round }))
      return `dec_${round}_${writer}`
    },
    async holds(results, store) {
      const states = await Promise.all(results.map((id) => store.decisions.byId('local', String(id))))
      once(
        states.map((row) => row?.receiptState),
        'current',
      )
    },
  },
}

const ROUNDS = 8

for (const { name, missing, start } of KINDS)
  suite(`two gateways on one ${name}`, { skip: missing() }, () => {
    const server = missing() === false ? start() : null
    after(() => server?.stop())
    const opened = async (t: TestContext): Promise<Pair> => {
      assert.ok(server)
      const stores = await server.open()
      t.after(() => Promise.all(stores.map((store) => store.close())))
      return stores
    }
    for (const [what, race] of Object.entries(RACES))
      test(what, async (t) => {
        const stores = await opened(t)
        const [first, second] = stores
        for (let n = 0; n < ROUNDS; n += 1) {
          const round = `r${n}`
          await race.before?.(first, round)
          const writes = Array.from({ length: 6 }, (_, writer) =>
            race.write(writer % 2 === 0 ? first : second, round, writer),
          )
          await race.holds(await Promise.all(writes), second, round)
        }
        assert.deepEqual((await first.ledger.inspect()).faults, [])
      })
  })

suite('one request at two gateways on one PostgreSQL', { skip: postgresMissing() }, () => {
  test('has one decision under its idempotency key, and another body is a conflict', async (t) => {
    const server = await startPostgres()
    t.after(() => server.stop())
    const config = { store: { url: await server.database() } }
    const gateways = [await startTestGateway(t, config), await startTestGateway(t, config)]
    const ask = async (n: number, operation: string) => {
      const answer = await fetch(`${gateways[n % 2]?.addresses.api}/api/v1/preflight`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          preflight_mode: 'authorize',
          artifacts: [pets(PETS_WITH_POST)],
          context: { operation },
          idempotency_key: 'once',
        }),
      })
      const body: unknown = await answer.json()
      return { status: answer.status, body }
    }
    const answers = await Promise.all([0, 1, 2, 3, 4, 5].map((n) => ask(n, 'merge')))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    one(answers.map(({ body }) => textAt(body, 'chain_receipt')))
    for (const n of [0, 1]) {
      const { status, body } = await ask(n, 'deploy')
      assert.deepEqual([status, at(body, 'error')], [409, 'IDEMPOTENCY_CONFLICT'])
    }
  })
})
