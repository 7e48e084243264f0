/**
 * The clocks of two gateways on one PostgreSQL differ by two minutes. Both use the time of the database, so what one of them
 * states is exact for the other: receipts, approvals, exceptions, leases and retention.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { pets, PETS_REORDERED, PETS_WITHOUT_DELETE } from '../fakes/contracts.ts'
import { TEST_KEY } from '../fakes/gateway.ts'
import { petContract } from '../fakes/http-upstream.ts'
import { startKillable, type KillableGateway } from '../fakes/killable-gateway.ts'
import { postgresMissing, startPostgres, type PostgresServer } from '../fakes/postgres-server.ts'
import { at, listAt, textAt } from '../json.ts'

const ASKING_PACK = fileURLToPath(new URL('../fakes/asking-pack.yaml', import.meta.url))
const AHEAD_MS = 120_000
/** Seconds. More than the machine needs from one step of a test to the next, and much less than the difference. */
const EXACT = 30

suite('two gateways whose clocks differ by two minutes', { skip: postgresMissing() }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-skew-'))
  let server: PostgresServer
  let database = ''
  let gateways: readonly [behind: KillableGateway, ahead: KillableGateway]
  before(async () => {
    server = await startPostgres()
    const url = await server.database()
    database = new URL(url).pathname.slice(1)
    const store = { url, in_force_within: 0.5 }
    const contract = { current: { file: petContract() } }
    const routes = [{ name: 'pets', match: { path: '/' }, upstream: 'http://127.0.0.1:9', protocol: 'http', contract }]
    const config = { store, routes, policy: ASKING_PACK, approvals: { four_eyes: false } }
    gateways = [
      await startKillable(join(folder, 'one'), config),
      await startKillable(join(folder, 'two'), config, { clockAhead: AHEAD_MS }),
    ]
  })
  after(async () => {
    for (const gateway of gateways) await gateway.end('SIGKILL')
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  /** Each of both makes something, and the other one looks at it. */
  const eachWay = async (work: (maker: KillableGateway, other: KillableGateway) => Promise<void>): Promise<void> => {
    await work(gateways[0], gateways[1])
    await work(gateways[1], gateways[0])
  }

  test('the one with the wrong clock says so, and the other does not', () => {
    assert.ok(gateways[1].log.some((line) => /"clock\.differs".*"by_ms":-1[12]\d{4}/.test(line)))
    assert.ok(!gateways[0].log.some((line) => line.includes('clock.differs')))
  })

  test('a receipt is valid on both immediately, ends when it says, and is used once', () =>
    eachWay(async (maker, other) => {
      const context = { operation: 'merge', target_id: `t-${Math.random()}` }
      const made = await api(maker, 'POST', '/api/v1/preflight', {
        preflight_mode: 'authorize',
        artifacts: [pets(PETS_REORDERED)],
        context,
      })
      const question = { token: textAt(made, 'chain_receipt'), context, consume: true }
      const used = await api(other, 'POST', '/api/v1/verify-receipt', question)
      assert.equal(at(used, 'currently_authorized'), true, JSON.stringify(used))
      assertNow(Number(at(used, 'payload', 'iat')), 'iat')
      const again = await api(maker, 'POST', '/api/v1/verify-receipt', question)
      assert.equal(at(again, 'status'), 'VERIFIED_CONSUMED')
    }))

  test('an approval that one opened ends for both at the same time, and a grant of the other is in force', () =>
    eachWay(async (maker, other) => {
      const context = { operation: 'merge', target_id: `t-${Math.random()}` }
      const artifacts = [pets(PETS_WITHOUT_DELETE)]
      const ask = () => api(maker, 'POST', '/api/v1/preflight', { preflight_mode: 'authorize', artifacts, context })
      const asked = await ask()
      assert.equal(at(asked, 'execution_action'), 'REQUEST_APPROVAL')
      const evidence = listAt(asked, 'decision_result', 'evidence')
      const id = textAt(
        evidence.find((row) => at(row, 'type') === 'APPROVAL'),
        'source',
      )
      const opened = at(await api(other, 'GET', `/api/v1/approvals/${id}`), 'approval')
      assert.equal(at(opened, 'state'), 'pending')
      assertNow(Date.parse(textAt(opened, 'opened_at')) / 1000, 'opened_at')
      await api(other, 'POST', `/api/v1/approvals/${id}/grant`, { comment: 'seen' })
      assert.equal(at(await ask(), 'execution_action'), 'CONTINUE_WITH_MONITORING')
    }))

  test('an exception of one is in force on the other, for the stated time', () =>
    eachWay(async (maker, other) => {
      const opening = { route: 'pets', reason: 'an outage of the service', duration: 60 }
      const opened = at(await api(maker, 'POST', '/api/v1/break-glass', opening), 'break_glass')
      const id = textAt(opened, 'id')
      assertNow(Date.parse(textAt(opened, 'expires_at')) / 1000 - 60, 'expires_at')
      const isOpen = async (): Promise<boolean> =>
        listAt(await api(other, 'GET', '/api/v1/break-glass?state=open'), 'items').some((row) => at(row, 'id') === id)
      assert.ok(await isOpen())
      await api(maker, 'DELETE', `/api/v1/break-glass/${id}`)
      assert.ok(!(await isOpen()))
    }))

  test('no time in the database is later than its clock: leases and retention compare with these', async () => {
    const columns = await server.sql(
      `SELECT table_name AS name, column_name AS of FROM information_schema.columns
       WHERE table_schema = 'public' AND data_type = 'bigint' AND column_name ~ '(^|_)at$'
         AND column_name NOT IN ('expires_at', 'next_at')`,
      database,
    )
    assert.ok(columns.length > 30)
    const written: string[] = []
    for (const { name, of } of columns) {
      // Keys and their ends are in seconds.
      const [row] = await server.sql(
        `SELECT max(${String(of)})::float8 AS newest, extract(epoch FROM clock_timestamp())::float8 * 1000 AS now FROM ${String(name)}`,
        database,
      )
      const newest = Number(row?.['newest'] ?? 0)
      if (newest > 0) written.push(`${String(name)}.${String(of)}`)
      const limit = name === 'receipt_keys' ? Number(row?.['now']) / 1000 : Number(row?.['now'])
      assert.ok(newest <= limit + 2000, `${String(name)}.${String(of)} is ahead by ${newest - limit} ms`)
    }
    for (const column of [
      'decisions.evaluated_at',
      'approvals.settled_at',
      'fleet_members.seen_at',
      'ledger_checkpoints.at',
    ])
      assert.ok(written.includes(column), column)
  })
})

function assertNow(seconds: number, what: string): void {
  const difference = seconds - Date.now() / 1000
  assert.ok(Math.abs(difference) < EXACT, `${what} differs by ${difference} s`)
}

async function api({ addresses }: KillableGateway, method: string, path: string, body?: object): Promise<unknown> {
  const answer = await fetch(`${addresses.api}${path}`, {
    method,
    headers: { authorization: `Bearer ${TEST_KEY}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  assert.ok(answer.ok, `${method} ${path} ${answer.status} ${await answer.clone().text()}`)
  return answer.json()
}
