/** `preflight mcp --hub`: the calls of servers on a desk are decided with the state of the hub of a company. */
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { hashApiKey } from '../../../gateway/callers/api-keys.ts'
import { keepSession } from '../../../gateway/cli/session-file.ts'
import { initialize, LINE_SERVER, startDesk, startLineClient, type Desk, type LineClient } from '../../fakes/desk.ts'
import { api, keyOf, startHubCluster, type HubCluster, type HubScene } from '../../fakes/hub-scene.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt, textAt } from '../../json.ts'

const HUB_KEY = 'pf_hub_0123456789abcdefghijklmnopqrstuvwxyz'
const KEYS = [{ name: 'desks', tenant: 'team-a', sha256: hashApiKey(HUB_KEY) }]
/** Answers of a hub that is away are used for a moment only. A machine that does much else answers late. */
const SETTINGS = 'store:\n  hub: { max_age: 3, timeout: 20 }\nroutes:\n  - name: lines\n    contract: { refresh: 0 }\n'

let cluster: HubCluster
before(async () => {
  cluster = await startHubCluster()
})
after(() => cluster.close())

interface Scene {
  readonly desk: Desk
  readonly hub: HubScene
  readonly tools: string
  readonly offer: (required: readonly string[]) => void
  readonly client: (options?: readonly string[]) => LineClient
}

async function deskAtHub(t: TestContext, hubSettings: object): Promise<Scene> {
  const hub = await cluster.startHub(t, hubSettings)
  const desk = startDesk(t, SETTINGS)
  const tools = join(desk.home, 'tools.json')
  const offer = (required: readonly string[]): void =>
    writeFileSync(
      tools,
      JSON.stringify([
        {
          name: 'echo',
          description: 'Repeats.',
          inputSchema: { type: 'object', properties: { a: { type: 'string' } }, required },
        },
        { name: 'noise', description: 'Makes noise.', inputSchema: { type: 'object' } },
      ]),
    )
  offer([])
  return {
    desk,
    hub,
    tools,
    offer,
    client: (options = []) =>
      startLineClient(desk, ['--name', 'lines', '--hub', hub.url, ...options], [process.execPath, LINE_SERVER, tools]),
  }
}

const call = (client: LineClient, id: string, name: string) =>
  client.ask(id, 'tools/call', { name, arguments: { a: 'hello' } })

/** A hub on a machine that does much else may be late at first. */
async function answers(client: LineClient, id: string): Promise<void> {
  let tries = 0
  await until(
    async () => {
      tries += 1
      return JSON.stringify(await call(client, `${id}-${tries}`, 'echo')).includes('hello')
    },
    'the tool answers',
    60_000,
  )
}

test('decisions and pins are at the hub, and a change is accepted there', async (t) => {
  const { desk, hub, client, offer } = await deskAtHub(t, { keys: KEYS })
  const file = join(desk.home, 'hub.key')
  writeFileSync(file, `${HUB_KEY}\n`, { mode: 0o600 })
  const editor = client(['--hub-token', file])
  await initialize(editor)
  await answers(editor, '1')
  const approver = await keyOf(hub, 'approver', 'team-a')
  const entries = listAt(await api(hub, '/api/v1/ledger', approver), 'entries')
  assert.ok(entries.length > 0 && entries.every((entry) => at(entry, 'route') === 'team-a:lines'))
  assert.ok(!existsSync(join(desk.home, 'data')), 'nothing is kept at the desk')

  offer(['a', 'b'])
  assert.match(JSON.stringify(await call(editor, '2', 'echo')), /Preflight stopped/)
  const [view] = listAt(await api(hub, '/api/v1/baselines', approver), 'baselines')
  const digest = textAt(view, 'candidate', 'digest')
  await api(hub, '/api/v1/baselines/team-a:lines/promote', approver, { digest, comment: 'reviewed' })
  let tries = 0
  await until(
    async () => {
      tries += 1
      return !JSON.stringify(await call(editor, `again-${tries}`, 'echo')).includes('isError')
    },
    'the accepted tool answers',
    60_000,
  )
})

test('a person who is signed in at the host of the hub needs no key', async (t) => {
  const { desk, hub, client } = await deskAtHub(t, { people: true })
  const key = await keyOf(hub, 'agent', 'team-a')
  const signedOut = client()
  assert.equal(await signedOut.exit, 2)
  assert.match(signedOut.stderr(), /nobody is signed in at 127\.0\.0\.1: run preflight login/)
  keepSession(desk.environment, { origin: hub.gateway.addresses.api, key, expires_at: null })
  const editor = client()
  await initialize(editor)
  await answers(editor, '1')
  const approver = await keyOf(hub, 'approver', 'team-a')
  assert.ok(listAt(await api(hub, '/api/v1/ledger', approver), 'entries').length > 0)
})

const REFUSED: readonly (readonly [what: string, hub: object, role: string, says: RegExp])[] = [
  ['a hub that does not accept people', { people: false }, 'agent', /hub\.people/],
  ['a role that may not ask for decisions', { people: true }, 'viewer', /role viewer may not connect/],
]

for (const [what, settings, role, says] of REFUSED)
  test(`${what} refuses the session, and the server is stopped`, async (t) => {
    const { desk, hub, client } = await deskAtHub(t, settings)
    const key = await keyOf(hub, role, 'team-a')
    keepSession(desk.environment, { origin: hub.gateway.addresses.api, key, expires_at: null })
    const editor = client()
    editor.send({ id: 'init', method: 'initialize', params: {} })
    assert.equal(await editor.exit, 3)
    assert.match(editor.stderr(), says)
    assert.match(JSON.stringify(await editor.answer('init')), /"error"/)
  })

test('while the hub is away, calls are refused with a reason that a model reads', async (t) => {
  const { desk, hub, client } = await deskAtHub(t, { keys: KEYS })
  const file = join(desk.home, 'hub.key')
  writeFileSync(file, `${HUB_KEY}\n`, { mode: 0o600 })
  const editor = client(['--hub-token', file])
  await initialize(editor)
  await answers(editor, '1')
  await hub.gateway.close()
  let answer: unknown
  let tries = 0
  await until(
    async () => {
      tries += 1
      answer = await call(editor, `away-${tries}`, 'echo')
      return !JSON.stringify(answer).includes('hello')
    },
    'the hub is missed',
    60_000,
  )
  assert.match(JSON.stringify(answer), /STORE_UNAVAILABLE/)
  assert.match(JSON.stringify(answer), /The call was not sent\. You may retry it later\./)
})
