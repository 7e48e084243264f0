/** Calls held for an approval: they go on by themselves when it is granted, and nothing is left of those that end another way. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { run } from '../../fakes/command-io.ts'
import { breakListing, startPetRoute, type PetRoute } from '../../fakes/pet-route.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt, textAt } from '../../json.ts'

const LONG = 60

function askingPack(): string {
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-pack-')), 'pack.yaml')
  const rules = [{ id: 'breaking-asks', when: "finding.level == 'breaking'", then: 'REQUIRE_APPROVAL' }]
  writeFileSync(
    file,
    JSON.stringify({ apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'asks' }, rules }),
  )
  return file
}

/** A route whose next call needs an approval. */
async function holding(t: TestContext, hold = LONG, config: object = {}): Promise<PetRoute> {
  const scene = await startPetRoute(t, { hold }, { policy: askingPack(), ...config })
  assert.equal((await scene.call()).status, 200)
  scene.change(breakListing)
  return scene
}

async function pendingOf({ api }: PetRoute): Promise<string | null> {
  const { body } = await api('GET', '/api/v1/approvals?state=pending')
  const [first] = listAt(body, 'approvals')
  return first === undefined ? null : textAt(first, 'id')
}

async function pendingApproval(scene: PetRoute): Promise<string> {
  let id: string | null = null
  await until(async () => {
    id = await pendingOf(scene)
    return id !== null
  }, 'an approval is asked for')
  return String(id)
}

const held = async ({ gateway }: PetRoute): Promise<number> =>
  Number(/preflight_calls_held (\d+)/.exec(await gateway.metrics.text())?.[1])

test('calls that wait go on by themselves, under watch, once the approval is granted', async (t) => {
  const scene = await holding(t)
  const calls = [scene.call(), scene.call(), scene.call()]
  const id = await pendingApproval(scene)
  await until(async () => (await held(scene)) === 3, '3 calls are held')
  assert.equal(scene.upstream.requests.length, 1)
  await scene.api('POST', `/api/v1/approvals/${id}/grant`, { comment: 'seen' })
  for (const answer of await Promise.all(calls)) {
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('preflight-action'), 'CONTINUE_WITH_MONITORING')
  }
  assert.equal(scene.upstream.requests.length, 4)
  assert.equal(await held(scene), 0)
})

test('a word given on the command line of another process is heard too', async (t) => {
  const scene = await holding(t)
  const call = scene.call()
  const id = await pendingApproval(scene)
  const granted = await run(['approvals', 'grant', id, '--data-dir', scene.gateway.dataDir])
  assert.equal(granted.code, 0, granted.stderr)
  assert.equal((await call).status, 200)
})

test('a denial ends the wait at once with 428 and where the word was given', async (t) => {
  const scene = await holding(t)
  const call = scene.call()
  const id = await pendingApproval(scene)
  await scene.api('POST', `/api/v1/approvals/${id}/deny`, { comment: 'no' })
  const answer = await call
  assert.equal(answer.status, 428)
  assert.equal(answer.headers.get('location'), `/api/v1/approvals/${id}`)
  assert.equal(at(await answer.json(), 'error'), 'PREFLIGHT_APPROVAL_REQUIRED')
})

test('a call whose time runs out is answered 428', async (t) => {
  const scene = await holding(t, 0.2)
  const answer = await scene.call()
  assert.equal(answer.status, 428)
  assert.match(answer.headers.get('location') ?? '', /^\/api\/v1\/approvals\//)
})

test('a client that goes away ends its wait, and nothing is sent for it later', async (t) => {
  const scene = await holding(t)
  const client = request(`${scene.gateway.addresses.proxy}/pets`)
  client.on('error', () => {})
  client.end()
  const id = await pendingApproval(scene)
  await until(async () => (await held(scene)) === 1, '1 calls are held')
  client.destroy()
  await until(async () => (await held(scene)) === 0, '0 calls are held')
  await scene.api('POST', `/api/v1/approvals/${id}/grant`, { comment: 'late' })
  assert.equal((await scene.call()).status, 200)
  assert.equal(scene.upstream.requests.length, 2)
})

test('past the bound calls are answered at once', async (t) => {
  const scene = await holding(t, LONG, { limits: { held_calls: 1 } })
  const first = scene.call()
  const id = await pendingApproval(scene)
  await until(async () => (await held(scene)) === 1, '1 calls are held')
  assert.equal((await scene.call()).status, 428)
  await scene.api('POST', `/api/v1/approvals/${id}/grant`, { comment: 'seen' })
  assert.equal((await first).status, 200)
})

test('a shutdown answers what is held, and does not wait for its time', async (t) => {
  const scene = await holding(t)
  const call = scene.call()
  await pendingApproval(scene)
  await until(async () => (await held(scene)) === 1, '1 calls are held')
  await scene.gateway.close()
  assert.equal((await call).status, 428)
})

test('an exception that is opened sets held calls free', async (t) => {
  const scene = await holding(t)
  const call = scene.call()
  await pendingApproval(scene)
  await until(async () => (await held(scene)) === 1, '1 calls are held')
  await scene.api('POST', '/api/v1/break-glass', { route: 'pets', reason: 'incident 4711: down', duration: 60 })
  const answer = await call
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('preflight-action'), 'REQUEST_APPROVAL')
})

test('what is approved is what is sent: a contract that changed again while a call waited needs its own approval', async (t) => {
  const scene = await holding(t)
  const call = scene.call()
  const id = await pendingApproval(scene)
  scene.change((paths) => {
    breakListing(paths)
    delete paths['/pets/mine']
    paths['/pets'] = { ...Object(paths['/pets']), get: { responses: {} } }
  })
  await scene.api('POST', `/api/v1/approvals/${id}/grant`, { comment: 'the first change only' })
  const next = await pendingApproval(scene)
  assert.notEqual(next, id)
  assert.equal(scene.upstream.requests.length, 1)
  await scene.api('POST', `/api/v1/approvals/${next}/deny`, { comment: 'no' })
  assert.equal((await call).status, 428)
})
