/** A clock that is set forward and back: what has once ended does not come back, one case for each thing that ends. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { SteadyClock } from '../../gateway/runtime/steady-clock.ts'
import { pets, PETS, PETS_WITH_POST, PETS_WITHOUT_DELETE } from '../fakes/contracts.ts'
import { startTestGateway, TEST_KEY, type TestGateway } from '../fakes/gateway.ts'
import { petContract, startHttpUpstream } from '../fakes/http-upstream.ts'
import { run } from '../fakes/command-io.ts'
import { at, listAt, textAt } from '../json.ts'

const HOUR = 3600 * 1000
/** Longer than everything that ends by itself. */
const LONG = 40 * 24 * HOUR

test('steady time follows the clock forward, goes on slower after a step back, and is the clock again once that is there', () => {
  let wall = 1000
  const steps: number[] = []
  const { now } = new SteadyClock(
    () => wall,
    ({ by }) => steps.push(by),
  )
  assert.equal(now(), 1000)
  wall = 90_000
  assert.equal(now(), 90_000)
  wall = 20_000
  assert.equal(now(), 90_000)
  wall = 25_000
  assert.equal(now(), 94_500, 'time goes on')
  wall = 24_500
  assert.equal(now(), 94_500)
  wall = 10_000
  assert.ok(now() >= 94_500)
  let last = now()
  for (wall = 10_001; wall < 1_000_000; wall += 97) {
    assert.ok(now() >= last)
    last = now()
  }
  assert.equal(now(), wall, 'it is the clock again')
  assert.deepEqual(steps, [70_000, 14_500])
})

test('steady time goes on from a later time that was kept, and reports the step', () => {
  const steps: number[] = []
  const clock = new SteadyClock(
    () => 20_000,
    ({ by }) => steps.push(by),
  )
  clock.keep(10_000)
  assert.equal(clock.now(), 20_000)
  assert.equal(clock.ahead(), 0)
  clock.keep(90_000)
  assert.equal(clock.now(), 90_000)
  assert.equal(clock.ahead(), 70_000)
  assert.deepEqual(steps, [70_000])
})

interface Scene {
  readonly gateway: TestGateway
  readonly api: (
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ) => Promise<{ status: number; headers: Headers; body: unknown }>
  readonly call: () => Promise<Response>
  readonly set: (at: number) => void
}

async function scene(t: TestContext, dataDir = folder(t), clock = { now: START }): Promise<Scene> {
  const upstream = await startHttpUpstream((_request, response) => response.end('good'))
  t.after(() => upstream.close())
  const file = petContract()
  const route = {
    name: 'pets',
    match: { path: '/' },
    upstream: upstream.origin,
    protocol: 'http',
    contract: { current: { file } },
  }
  const gateway = await startTestGateway(
    t,
    {
      data_dir: dataDir,
      routes: [route, { ...route, name: 'closed', match: { path: '/closed' }, receipts: { require: true } }],
      approvals: { four_eyes: false },
      policy: policyFile(dataDir),
      rate: { per_minute: 500 },
      scm: { github: { api: 'http://127.0.0.1:9' } },
    },
    { now: () => clock.now },
  )
  const api: Scene['api'] = async (method, path, body, key = TEST_KEY) => {
    const answer = await fetch(gateway.addresses.api + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const parsed: unknown = await answer.json()
    return { status: answer.status, headers: answer.headers, body: parsed }
  }
  return {
    gateway,
    api,
    call: () => fetch(`${gateway.addresses.proxy}/pets`),
    set: (at) => {
      clock.now = at
    },
  }
}

/** Later than the keys that are made at the start. */
const START = Date.now() + HOUR

function folder(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-clock-'))
  // The gateway that still runs may write its lock files again meanwhile.
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 }))
  return directory
}

/** As the default pack asks about a break; a path that nobody uses is waived for ten days. */
function policyFile(directory: string): string {
  const file = join(directory, 'policy.yaml')
  const waiver = { id: 'w', rule: 'api-path-removed-*', location: '/paths/~1toys/get', reason: 'unused', owner: 'o' }
  const policy = {
    apiVersion: 'preflight.dev/v1',
    kind: 'Policy',
    metadata: { name: 'clock' },
    rules: [{ id: 'ask', when: "finding.level == 'breaking'", then: 'REQUIRE_APPROVAL' }],
    waivers: [{ ...waiver, expires: new Date(START + LONG / 2).toISOString().slice(0, 10) }],
  }
  writeFileSync(file, JSON.stringify(policy))
  return file
}

const TOYS =
  '{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/toys":{"get":{"responses":{"200":{"description":"d"}}}}}}'
const WITHOUT_TOYS = TOYS.replace(/"paths".*/, '"paths":{}}')

const preflight = async ({ api }: Scene, after: string, more: object = {}) => {
  const answer = await api('POST', '/api/v1/preflight', {
    preflight_mode: 'authorize',
    artifacts: [pets(after)],
    context: { operation: 'register', repository: 'acme/pets' },
    ...more,
  })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer
}

const approvalOf = (body: unknown): string =>
  textAt(
    listAt(body, 'decision_result', 'evidence').find((row) => at(row, 'type') === 'APPROVAL'),
    'source',
  )

/** `make` returns a function that reports whether the made object has ended. */
interface Ending {
  readonly what: string
  /** It ends at a date of the configuration, and is not made again. */
  readonly isDated?: true
  readonly make: (scene: Scene) => Promise<(scene: Scene) => Promise<boolean>>
}

const ENDINGS: readonly Ending[] = [
  {
    what: 'a receipt',
    async make(scene) {
      const { body } = await preflight(scene, PETS_WITH_POST)
      const question = {
        token: textAt(body, 'chain_receipt'),
        context: { operation: 'register', repository: 'acme/pets' },
      }
      return async ({ api }) =>
        at((await api('POST', '/api/v1/verify-receipt', question)).body, 'currently_authorized') === false
    },
  },
  {
    what: 'a stored decision',
    async make(scene) {
      const { body } = await preflight(scene, PETS_WITH_POST)
      const id = textAt(body, 'decision_result', 'decision_id')
      return async ({ api }) =>
        at(
          (await api('GET', `/api/v1/decisions/${id}`)).body,
          'control_envelope',
          'receipt_view',
          'currently_authorized',
        ) === false
    },
  },
  {
    what: 'an answer under an idempotency key',
    async make(scene) {
      const key = { idempotency_key: 'one' }
      const first = await preflight(scene, PETS_WITH_POST, key)
      const id = textAt(first.body, 'decision_result', 'decision_id')
      return async (later) =>
        textAt((await preflight(later, PETS_WITH_POST, key)).body, 'decision_result', 'decision_id') !== id
    },
  },
  {
    what: 'a request for an approval',
    async make(scene) {
      const id = approvalOf((await preflight(scene, PETS_WITHOUT_DELETE)).body)
      return async (later) => {
        const asked = approvalOf((await preflight(later, PETS_WITHOUT_DELETE)).body)
        const { body } = await later.api('GET', `/api/v1/approvals/${id}`)
        return asked !== id && at(body, 'approval', 'state') === 'expired'
      }
    },
  },
  {
    what: 'a grant',
    async make(scene) {
      const id = approvalOf((await preflight(scene, PETS_WITHOUT_DELETE)).body)
      assert.equal((await scene.api('POST', `/api/v1/approvals/${id}/grant`, { comment: 'seen' })).status, 200)
      return async (later) =>
        at((await preflight(later, PETS_WITHOUT_DELETE)).body, 'execution_action') === 'REQUEST_APPROVAL'
    },
  },
  {
    what: 'a waiver',
    isDated: true,
    async make() {
      const artifacts = [{ id: 'toys', type: 'openapi', before: TOYS, after: WITHOUT_TOYS }]
      return async (later) =>
        at((await preflight(later, PETS, { artifacts })).body, 'execution_action') === 'REQUEST_APPROVAL'
    },
  },
  {
    what: 'a denial, which keeps the same question from being asked again',
    async make(scene) {
      const id = approvalOf((await preflight(scene, PETS_WITHOUT_DELETE)).body)
      assert.equal((await scene.api('POST', `/api/v1/approvals/${id}/deny`, { comment: 'no' })).status, 200)
      return async (later) => approvalOf((await preflight(later, PETS_WITHOUT_DELETE)).body) !== id
    },
  },
  {
    what: 'a break-glass exception',
    async make({ api }) {
      const opening = { route: 'closed', reason: 'an outage of the service', duration: 600 }
      assert.equal((await api('POST', '/api/v1/break-glass', opening)).status, 200)
      return async ({ gateway }) =>
        (await fetch(`${gateway.addresses.proxy}/closed`)).headers.get('preflight-break-glass') === null
    },
  },
  {
    what: 'an API key',
    async make({ api }) {
      const made = await api('POST', '/api/v1/keys', { name: 'ci', role: 'agent', lifetime: 3600 })
      const key = textAt(made.body, 'api_key')
      return async (later) => (await later.api('GET', '/api/v1/whoami', undefined, key)).status === 401
    },
  },
  {
    what: 'a verdict that calls reuse',
    async make({ call }) {
      const id = (await call()).headers.get('preflight-decision-id')
      assert.ok(id !== null)
      return async (later) => (await later.call()).headers.get('preflight-decision-id') !== id
    },
  },
  {
    what: 'a challenge to prove a repository',
    async make({ api }) {
      const { body } = await api('POST', '/api/v1/bindings/challenge', { platform: 'scm_a', repository: 'acme/pets' })
      const id = textAt(body, 'challenge_id')
      return async (later) => {
        const proof = await later.api('POST', '/api/v1/bindings/prove', { challenge_id: id })
        return proof.status === 404 || /expired/.test(JSON.stringify(proof.body))
      }
    },
  },
]

suite('what has ended does not come back when the clock is set back', () => {
  for (const { what, make } of ENDINGS)
    test(what, async (t) => {
      const started = await scene(t)
      const isOver = await make(started)
      assert.equal(await isOver(started), false, 'at first')
      started.set(START + LONG)
      assert.equal(await isOver(started), true, 'after its end')
      for (const moment of [START, START + 1000, START - HOUR, START + LONG - 1]) {
        started.set(moment)
        assert.equal(await isOver(started), true, `with the clock at ${moment - START} ms`)
      }
      assert.ok(started.gateway.log.some((line) => line['event'] === 'clock.set_back'))
    })
})

suite('what has ended stays so in a gateway that starts under an earlier clock', () => {
  for (const { what, make } of ENDINGS)
    test(what, async (t) => {
      const directory = folder(t)
      const before = await scene(t, directory)
      const isOver = await make(before)
      assert.equal(await isOver(before), false)
      before.set(START + LONG)
      assert.equal(await isOver(before), true)
      await before.gateway.close()
      const after = await scene(t, directory)
      assert.equal(await isOver(after), true)
      assert.ok(after.gateway.log.some((line) => line['event'] === 'clock.set_back'))
    })
})

suite(
  'what was made under a clock that was wrong in the future lasts no longer than it says, once a person accepts the ledger',
  () => {
    for (const { what, make } of ENDINGS.filter(({ isDated }) => isDated === undefined))
      test(what, async (t) => {
        const directory = folder(t)
        const before = await scene(t, directory, { now: START + LONG })
        const isOver = await make(before)
        assert.equal(await isOver(before), false)
        await before.gateway.close()
        const accepted = await run(['ledger', 'accept', '--reason', 'the clock was wrong', '--data-dir', directory])
        assert.equal(accepted.code, 0, accepted.stderr)
        const after = await scene(t, directory)
        assert.equal(await isOver(after), true, 'before it was made')
        after.set(START + LONG / 2)
        assert.equal(await isOver(after), true, 'longer than it says')
      })
  },
)

test('after a step forward and back, new receipts, grants and exceptions serve', async (t) => {
  for (const { what, make } of ENDINGS.filter(({ isDated }) => isDated === undefined)) {
    const started = await scene(t)
    started.set(START + LONG)
    await started.call()
    await preflight(started, PETS)
    started.set(START)
    await preflight(started, PETS)
    const isOver = await make(started)
    assert.equal(await isOver(started), false, what)
  }
})

test('a clock that goes back and forth frees no sign-ups of a minute', async (t) => {
  const clock = { now: Math.floor(START / 60_000) * 60_000 + 1000 }
  const { now: start } = clock
  const { api, set } = await scene(t, folder(t), clock)
  let count = 0
  const signUp = async () => {
    count += 1
    return (await api('POST', '/api/signup', { email: `a${count}@example.org` })).status
  }
  for (let made = 0; made < 30; made += 1) assert.equal(await signUp(), 201)
  for (const step of [0, -61_000, 0, -LONG, 1, -1]) {
    set(start + step)
    assert.equal(await signUp(), 429, String(step))
  }
  set(start + 60_000)
  assert.equal(await signUp(), 201)
})
