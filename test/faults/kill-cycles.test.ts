/**
 * Gateways and their database are killed (SIGKILL) in the middle of commits, again and again. After each kill: every receipt that
 * left has its row, a consumed one stays consumed, and at the end the ledger verifies. `npm run kill-cycles` runs 500 of them.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { run } from '../fakes/command-io.ts'
import { pets, PETS_REORDERED } from '../fakes/contracts.ts'
import { TEST_KEY } from '../fakes/gateway.ts'
import { startKillable, type KillableGateway } from '../fakes/killable-gateway.ts'
import { postgresMissing, startPostgres } from '../fakes/postgres-server.ts'
import { until } from '../fakes/until.ts'
import { at, textAt } from '../json.ts'

/** Of all stores together. */
const CYCLES = Number(process.env['CYCLES'] ?? 6)
const PER_STORE = Math.ceil(CYCLES / 2)
/** Callers of each gateway. */
const CALLERS = 3
/** The whole ledger is checked after so many cycles, and at the end. */
const CHECKED_EVERY = 25
/** Receipts that are looked up after a cycle are those of the last ones. */
const REMEMBERED = 400

/** What can be killed and started again on the same files. */
interface Victim {
  kill(): Promise<void>
  start(): Promise<void>
}

/** The place of one gateway, whether it runs or not. */
class Member implements Victim {
  readonly #folder: string
  readonly #config: object
  #running: KillableGateway | null = null

  constructor(folder: string, config: object) {
    this.#folder = folder
    this.#config = config
  }

  async start(): Promise<void> {
    this.#running = await startKillable(this.#folder, this.#config)
  }

  async kill(): Promise<void> {
    await this.#running?.end('SIGKILL')
    this.#running = null
  }

  async post(path: string, body: object): Promise<unknown> {
    const answer = await fetch(`${this.#running?.addresses.api}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return answer.json()
  }

  async isReady(): Promise<boolean> {
    const answer = await fetch(`${this.#running?.addresses.admin}/readyz`).catch(() => null)
    return answer?.status === 200
  }
}

interface Left {
  readonly receipt: string
  readonly context: { readonly operation: string; readonly target_id: string }
  /** The answer to its consumption left too. */
  isConsumed: boolean
  /** The consumption was asked for, and its answer was lost: it may be consumed. */
  isUnsure: boolean
}

/** Callers that ask for receipts and use every second one, until they are stopped. */
class Load {
  readonly left: Left[] = []
  readonly #members: readonly Member[]
  #isOver = false
  #count = 0

  constructor(members: readonly Member[]) {
    this.#members = members
  }

  /** Resolves when every caller has stopped. @param whileRunning kills something */
  async during(whileRunning: () => Promise<void>): Promise<void> {
    this.#isOver = false
    const callers = this.#members.flatMap((member, place) =>
      Array.from({ length: CALLERS }, () => this.#call(member, this.#members[(place + 1) % this.#members.length])),
    )
    await whileRunning()
    this.#isOver = true
    await Promise.all(callers)
  }

  async #call(member: Member, other: Member | undefined): Promise<void> {
    while (!this.#isOver) {
      try {
        const left = await this.#ask(member)
        if (left !== null && (this.#count += 1) % 2 === 0) await consume(left, other ?? member)
      } catch {
        // A connection to a process that was killed. What left before is checked.
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
  }

  async #ask(member: Member): Promise<Left | null> {
    const context = { operation: 'merge', target_id: `t-${Math.random()}` }
    const body = { preflight_mode: 'authorize', artifacts: [pets(PETS_REORDERED)], context }
    const answer = await member.post('/api/v1/preflight', body)
    if (at(answer, 'execution_action') !== 'CONTINUE') return null
    const left = { receipt: textAt(answer, 'chain_receipt'), context, isConsumed: false, isUnsure: false }
    this.left.push(left)
    return left
  }
}

async function consume(left: Left, member: Member): Promise<void> {
  left.isUnsure = true
  const answer = await member.post('/api/v1/verify-receipt', {
    token: left.receipt,
    context: left.context,
    consume: true,
  })
  left.isConsumed = at(answer, 'currently_authorized') === true
  // Anything else is an answer of a store that was not there.
  left.isUnsure = !left.isConsumed
}

/** Neither is a receipt without its row, nor one that may be used twice. */
async function assertKept(left: readonly Left[], member: Member): Promise<void> {
  for (const { receipt, context, isConsumed, isUnsure } of left) {
    const answer = await member.post('/api/v1/verify-receipt', { token: receipt, context, consume: isConsumed })
    if (isUnsure && at(answer, 'status') === 'VERIFIED_CONSUMED') continue
    assert.equal(at(answer, 'currently_authorized'), !isConsumed, JSON.stringify(answer))
  }
}

interface Scene {
  readonly members: readonly Member[]
  /** In the order in which they start. */
  readonly victims: readonly (readonly Victim[])[]
  /** Of the first gateway. */
  readonly folder: string
}

async function runCycles(t: TestContext, { members, victims, folder }: Scene): Promise<void> {
  const load = new Load(members)
  let receipts = 0
  for (let cycle = 0; cycle < PER_STORE; cycle += 1) {
    const killed = victims[cycle % victims.length] ?? []
    await load.during(async () => {
      const reached = load.left.length
      await until(() => load.left.length > reached + 2, 'receipts leave', 60_000)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 60))
      await Promise.all(killed.map((victim) => victim.kill()))
    })
    for (const victim of killed) await victim.start()
    await until(
      async () => (await Promise.all(members.map((member) => member.isReady()))).every(Boolean),
      'it recovers',
      60_000,
    )
    const other = members[cycle % members.length]
    assert.ok(other !== undefined)
    await assertKept(load.left, other)
    receipts += load.left.length
    if ((cycle + 1) % CHECKED_EVERY === 0) t.diagnostic(`${cycle + 1} cycles`)
    if (load.left.length > REMEMBERED) load.left.splice(0, load.left.length - REMEMBERED)
    if ((cycle + 1) % CHECKED_EVERY === 0 || cycle + 1 === PER_STORE) await assertVerifies(folder)
  }
  t.diagnostic(`${PER_STORE} cycles, ${receipts} look-ups of receipts that left`)
}

async function assertVerifies(folder: string): Promise<void> {
  const { code, stdout, stderr } = await run(['ledger', 'verify', '--config', join(folder, 'preflight.yaml')], {
    environment: { PREFLIGHT_DATA_DIR: join(folder, 'state') },
  })
  assert.equal(code, 0, stdout + stderr)
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-kills-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('SQLite: what left a gateway that is killed is there when it starts again', async (t) => {
  const folder = folderOf(t)
  const member = new Member(folder, {})
  t.after(() => member.kill())
  await member.start()
  await runCycles(t, { members: [member], victims: [[member]], folder })
})

test(
  'PostgreSQL: what left is there after gateways and the server are killed',
  { skip: postgresMissing() },
  async (t) => {
    const server = await startPostgres()
    t.after(() => server.stop())
    const store = { url: await server.database(), connect_timeout: 5, in_force_within: 0.5 }
    const folder = folderOf(t)
    const folders = [join(folder, 'one'), join(folder, 'two')] as const
    const [one, two] = [new Member(folders[0], { store }), new Member(folders[1], { store })]
    t.after(() => Promise.all([one.kill(), two.kill()]))
    await Promise.all([one.start(), two.start()])
    const victims = [[one], [server], [two], [server], [server, one, two]]
    await runCycles(t, { members: [one, two], victims, folder: folders[0] })
  },
)
