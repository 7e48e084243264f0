/** The runbook of docs/operations.md#volume-full, carried out on a real volume that a ledger has filled, while the gateway runs. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSqliteStore } from '../../gateway/store/sqlite/store.ts'
import { run } from '../fakes/command-io.ts'
import { pets, PETS_REORDERED } from '../fakes/contracts.ts'
import { decisionRow } from '../fakes/decision-row.ts'
import { TEST_KEY } from '../fakes/gateway.ts'
import { startKillable, type KillableGateway } from '../fakes/killable-gateway.ts'
import { smallVolume } from '../fakes/small-volume.ts'
import { until } from '../fakes/until.ts'
import { at } from '../json.ts'

const DAY = 86_400_000
/** As the runbook says. */
const ROOM_MB = 4

/** Decisions of the last days, enough for most of the volume. */
async function fillLedger(data: string): Promise<void> {
  const store = await openSqliteStore({ file: join(data, 'ledger.db'), calls: 'durable', flushMilliseconds: 5 })
  const envelope = JSON.stringify({ text: 'finding '.repeat(500) })
  for (let day = 20; day > 0; day -= 1) {
    const evaluatedAt = Date.now() - day * DAY
    const rows = Array.from({ length: 150 }, (_, n) =>
      decisionRow({ decisionId: `dec_${day}_${n}`, evaluatedAt, expiresAt: evaluatedAt + 1000, envelope }),
    )
    await Promise.all(rows.map((row) => store.decisions.record(row)))
  }
  await store.close()
}

async function decide({ addresses }: KillableGateway): Promise<unknown> {
  const answer = await fetch(`${addresses.api}/api/v1/preflight`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      preflight_mode: 'authorize',
      artifacts: [pets(PETS_REORDERED)],
      context: { operation: 'merge', target_id: `t-${Math.random()}` },
    }),
  })
  return answer.json()
}

test('a full volume: a little room and a prune are enough, and the gateway goes on without a restart', async (t) => {
  const volume = smallVolume(t, 48)
  if (volume === null) return
  const data = join(volume.folder, 'state')
  await fillLedger(data)
  const gateway = await startKillable(volume.folder, {})
  t.after(() => gateway.end('SIGKILL'))
  assert.equal(at(await decide(gateway), 'execution_action'), 'CONTINUE')
  const isReady = async (): Promise<boolean> => (await fetch(`${gateway.addresses.admin}/readyz`)).status === 200

  volume.fill()
  await until(async () => at(await decide(gateway), 'error') === 'STORE_UNAVAILABLE', 'decisions are refused')
  assert.equal(await isReady(), false)
  assert.ok(gateway.log.some((line) => line.includes('store.unwritable') && line.includes('disk is full')))

  const before = new Date(Date.now() - 5 * DAY).toISOString()
  const prune = () => run(['ledger', 'prune', '--before', before, '--data-dir', data])
  assert.notEqual((await prune()).code, 0, 'without any room nothing can be removed')
  volume.makeRoom(ROOM_MB)
  const pruned = await prune()
  assert.match(pruned.stdout, /^removed 4\d\d\d rows/, pruned.stderr)
  // Nearly all of the room is taken again. So what the prune freed has to be enough, for rows and for their log.
  volume.fill()
  volume.makeRoom(1)
  await until(isReady, 'it is ready again with the next write')
  for (let n = 0; n < 300; n += 1) assert.equal(at(await decide(gateway), 'execution_action'), 'CONTINUE')
  const checked = await run(['ledger', 'verify', '--data-dir', data])
  assert.equal(checked.code, 0, checked.stdout + checked.stderr)
})
