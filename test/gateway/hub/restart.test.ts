/**
 * Hubs are killed and started again under many sidecars, which are clients of the product in one process. SIDECARS=200 takes
 * so many.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { startCrowd } from '../../fakes/crowd-scene.ts'
import { postgresMissing } from '../../fakes/postgres-server.ts'
import { until } from '../../fakes/until.ts'

const SIDECARS = Number(process.env['SIDECARS'] ?? 25)
/** Mean milliseconds between two calls of an agent. */
const EVERY = 4 * SIDECARS
/** Milliseconds; a machine that does much else starts processes slowly. */
const PATIENCE = 60_000
/** Requests for the stream before the pauses have their full length, and milliseconds of the shortest pause then. */
const FIRST_REQUESTS = 8
const SHORTEST_PAUSE = 1000

suite('hubs that are killed under many sidecars', { skip: postgresMissing() }, () => {
  test('serve all of them again, without a storm of requests, a lost row, or a revoked decision in use', async (t) => {
    // Nothing is used without a hub, so a revocation holds whatever is away.
    const scene = await startCrowd({ sidecars: SIDECARS, every: EVERY, access: { max_age: 0, timeout: 20 } })
    t.after(() => scene.close())
    const { crowd, hubs } = scene
    const [first, second] = hubs
    const everyone = (moment: number) => () => crowd.isLive() && crowd.isServedSince(moment)
    await until(everyone(performance.now()), 'all are served', PATIENCE)

    await first.kill()
    const moment = performance.now()
    assert.ok((await scene.revokeSome(second, 10)) > 0)
    await until(everyone(moment), 'the other hub serves all', PATIENCE)

    await second.kill()
    const [began, streams] = [performance.now(), crowd.sidecars.map((sidecar) => sidecar.streams)]
    await pause(3000)
    assert.ok(!crowd.isServedSince(began), 'nothing is decided without a hub')
    const lasted = performance.now() - began
    for (const [index, sidecar] of crowd.sidecars.entries())
      assert.ok(
        sidecar.streams - (streams[index] ?? 0) <= FIRST_REQUESTS + lasted / SHORTEST_PAUSE,
        `${sidecar.streams} requests for the stream in ${lasted} ms`,
      )
    await first.start()
    await second.start()
    const restarted = performance.now()
    await until(everyone(restarted), 'all are served again', PATIENCE)
    assert.ok((await scene.revokeSome(first, 10)) > 0)
    await until(everyone(performance.now()), 'all are served on', PATIENCE)

    assert.deepEqual(await scene.missingRows(), { decisions: [], calls: [], faults: [] })
    t.diagnostic(`${crowd.counts.served} calls were served, ${crowd.counts.refused} refused`)
    assert.equal(crowd.counts.wrong, 0)
    assert.ok(crowd.counts.refused > 0)
  })
})
