/** A gateway that starts under an earlier clock while its store fails decides nothing before it knows the time that it had. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { startGateway, type Gateway } from '../../gateway/main.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'
import { devNull, FREE_PORTS, TEST_KEY } from '../fakes/gateway.ts'
import { pets, PETS } from '../fakes/contracts.ts'
import { keyAt, postTo, startHubCluster, startSilently } from '../fakes/hub-scene.ts'
import { until } from '../fakes/until.ts'
import { at, textAt } from '../json.ts'

const BEHIND_MS = 40 * 24 * 3600 * 1000
/** Milliseconds. More than a start takes, and much less than the difference. */
const EXACT_MS = 120_000

function startAt(value: object, now: () => number): Promise<Gateway> {
  const options = { output: devNull(), logger: createLogger('silent'), now }
  return startGateway({ value, environment: { PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY } }, options)
}

const earlier = (): number => Date.now() - BEHIND_MS

/** The time of a decision in milliseconds since the epoch; null: there is none. */
async function decisionTime(gateway: Gateway): Promise<number | null> {
  const answer = await fetch(`${gateway.addresses.api}/api/v1/preflight`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ preflight_mode: 'authorize', artifacts: [pets(PETS)], context: { operation: 'merge' } }),
  })
  const body: unknown = await answer.json()
  if (answer.status === 503) return null
  assert.equal(answer.status, 200, JSON.stringify(body))
  return Date.parse(textAt(body, 'timestamp'))
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-unread-time-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }))
  return folder
}

test('the kept time is read where the store cannot keep it', async (t) => {
  const config = { listen: FREE_PORTS, data_dir: folderOf(t) }
  const first = await startAt(config, earlier)
  await first.close()
  const database = new DatabaseSync(join(config.data_dir, 'ledger.db'))
  database.prepare('UPDATE latest_time SET at = ?').run(Date.now())
  for (const change of ['INSERT', 'UPDATE'])
    database.exec(
      `CREATE TRIGGER no_${change} BEFORE ${change} ON latest_time BEGIN SELECT RAISE(ABORT, 'no space'); END`,
    )
  database.close()
  const second = await startAt(config, earlier)
  t.after(() => second.close())
  const time = await decisionTime(second)
  assert.ok(time !== null && Math.abs(time - Date.now()) < EXACT_MS, `decided at ${time}`)
})

/** Milliseconds. More than a receipt is valid for. */
const EXPIRED_MS = 2 * 24 * 3600 * 1000

test('a sidecar that starts before its hub, under an earlier clock, verifies no receipt that has expired', async (t) => {
  const cluster = await startHubCluster()
  t.after(() => cluster.close())
  const data = cluster.folder()
  const first = await startSilently(cluster.hubConfig('127.0.0.1:0', data))
  const { hub: url = '' } = first.addresses
  const key = await keyAt(first.addresses.api, 'agent', 'team-a')
  const issuing = await cluster.startSidecar(t, url)
  assert.equal(await issuing.call(), 200)
  const token = String(cluster.upstream.requests.at(-1)?.headers['preflight-receipt'])
  await first.close()

  const file = join(cluster.root, 'sidecar-token')
  writeFileSync(file, await cluster.token('team-a', { life: '3d' }))
  const store = { url, hub: { token_file: file, timeout: 20 } }
  const sidecar = await startSilently({ listen: FREE_PORTS, data_dir: cluster.folder(), store })
  t.after(() => sidecar.close())
  const hub = await startAt(cluster.hubConfig(new URL(url).host, data), () => Date.now() + EXPIRED_MS)
  t.after(() => hub.close())
  const answers = new Set<unknown>()
  await until(async () => {
    const answer = await postTo(sidecar.addresses.api, '/api/v1/verify-receipt', key, { token })
    if (answer.status === 200) answers.add(at(await answer.json(), 'status'))
    return answers.has('VERIFIED_EXPIRED')
  }, 'the sidecar knows the time')
  assert.deepEqual(
    [...answers].filter((status) => status !== 'UNDECIDABLE' && status !== 'UNKNOWN_KEY'),
    ['VERIFIED_EXPIRED'],
  )
})
