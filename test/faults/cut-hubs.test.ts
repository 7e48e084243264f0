/**
 * Each connection between sidecars, hubs and the database is cut for longer than the bound, while decisions are revoked at the other
 * hub. Calls are so rare that most decisions are not looked at during the cut.
 */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { startCrowd, type CrowdScene } from '../fakes/crowd-scene.ts'
import { postgresMissing } from '../fakes/postgres-server.ts'
import { until as untilWithin } from '../fakes/until.ts'

const SIDECARS = 30
/** Milliseconds: mean time between two calls of an agent, and length of a cut. */
const EVERY = 8000
const CUT = 2500
/** The connections of a scene: three for each hub. */
const EDGES = 6

/** A machine that does much else starts processes slowly. */
const until: typeof untilWithin = (isTrue, what) => untilWithin(isTrue, what, 60_000)

suite('a revoked decision is not used', { skip: postgresMissing() }, () => {
  let scene: CrowdScene
  before(async () => {
    scene = await startCrowd({
      sidecars: SIDECARS,
      every: EVERY,
      newCalls: 0.05,
      canBeCut: true,
      access: { max_age: 0, timeout: 2 },
    })
    assert.equal(scene.edges.length, EDGES)
    await until(() => scene.crowd.isServedSince(0), 'all are served')
  })
  after(() => scene.close())

  for (let index = 0; index < EDGES; index += 1)
    for (const cut of ['answers', 'all'] as const)
      test(`after a cut of connection ${index + 1} of ${EDGES}: ${cut}`, async (t) => {
        const { crowd, edges, hubs } = scene
        const edge = edges[index]
        assert.ok(edge !== undefined)
        t.diagnostic(edge.name)
        await until(() => crowd.isLive(), 'changes arrive')
        const wrong = crowd.counts.wrong
        edge.network.cut = cut
        await pause(CUT / 2)
        const other = edge.name.endsWith('hub 1') ? hubs[1] : hubs[0]
        assert.ok((await scene.revokeSome(other, SIDECARS)) > 0)
        await pause(CUT / 2)
        edge.network.heal()
        await until(() => crowd.isLive(), 'changes arrive')
        await crowd.callAll()
        assert.equal(crowd.counts.wrong, wrong)
      })

  test('and every record is there in the end', async () => {
    assert.deepEqual(await scene.missingRows(), { decisions: [], calls: [], faults: [] })
    assert.ok(scene.crowd.counts.served > 0)
  })
})
