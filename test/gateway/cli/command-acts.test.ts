/** What people do with commands on the data directory has an entry in the decision log, and a record in the log of the gateway. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { allCommands } from '../../../gateway/cli/main.ts'
import { DecisionLogEntry } from '../../../gateway/telemetry/decision-log/entry.ts'
import { run } from '../../fakes/command-io.ts'
import { startTestGateway, TEST_KEY } from '../../fakes/gateway.ts'
import { petContract, startHttpUpstream } from '../../fakes/http-upstream.ts'
import { breakListing } from '../../fakes/pet-route.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt, textAt } from '../../json.ts'

const isEntry = new Ajv2020({ strict: false }).compile(DecisionLogEntry)

const PACK = {
  apiVersion: 'preflight.dev/v1',
  kind: 'Policy',
  metadata: { name: 'asks' },
  rules: [{ id: 'breaking-asks', when: "finding.level == 'breaking'", then: 'REQUIRE_APPROVAL' }],
}

/** Commands that change nothing a gateway serves from. */
const READERS = new Set([
  'serve',
  'diff',
  'rules',
  'preflight',
  'verify',
  'keys list',
  'keys show',
  'ca show',
  'ledger list',
  'ledger calls',
  'ledger show',
  'ledger verify',
  'ledger verify-chain',
  'ledger export',
  'ledger backup',
  // It fills a store that no gateway uses yet, and refuses one that a gateway uses.
  'store copy',
  'approvals list',
  'approvals show',
  'approvals watch',
  'baselines list',
  'baselines show',
  'baselines candidates',
  'break-glass list',
  'admission test',
  'admission digest',
  'redirect rules',
  'redirect apply',
  'redirect check',
  'webhooks remove',
  'webhooks certify',
  'config check',
  'logs tail',
  'policy lint',
  'policy test',
  'policy simulate',
  'policy explain',
  'policy replay',
  'policy schema',
  'init editors',
  'init api',
  'init cluster',
  'doctor',
  'login',
  'logout',
  'whoami',
  'status',
  'ci',
  'mcp list',
  'mcp changes',
  'mcp serve',
  'mcp daemon',
  'login',
  'logout',
  'whoami',
  'completion',
])

interface Desk {
  /** Runs a command on the data directory; resolves with stdout. */
  readonly preflight: (...argv: readonly string[]) => Promise<string>
  /** Opens a request for approval. */
  readonly ask: () => Promise<string>
  /** Digest of the contract that waits for review. */
  readonly offered: () => Promise<string>
}

interface Act {
  readonly command: string
  readonly act: string
  readonly details: object
  readonly perform: (desk: Desk) => Promise<unknown>
}

const openException = (desk: Desk): Promise<string> =>
  desk.preflight('break-glass', 'open', 'pets', '--reason', 'the upstream is down', '--duration', '60')
const makeKey = (desk: Desk): Promise<string> => desk.preflight('keys', 'create', '--name', 'bot')

const ACTS: readonly Act[] = [
  {
    command: 'approvals grant',
    act: 'approval.decided',
    details: { state: 'granted' },
    perform: async (desk) => desk.preflight('approvals', 'grant', await desk.ask()),
  },
  {
    command: 'approvals deny',
    act: 'approval.decided',
    details: { state: 'denied' },
    perform: async (desk) => desk.preflight('approvals', 'deny', await desk.ask()),
  },
  {
    command: 'baselines promote',
    act: 'baseline.promoted',
    details: { route: 'pets' },
    perform: async (desk) =>
      desk.preflight('baselines', 'promote', 'pets', await desk.offered(), '--comment', 'reviewed'),
  },
  {
    command: 'break-glass open',
    act: 'break_glass.opened',
    details: { route: 'pets', reason: 'the upstream is down' },
    perform: openException,
  },
  {
    command: 'break-glass close',
    act: 'break_glass.closed',
    details: { route: 'pets', calls: 0 },
    perform: async (desk) => {
      const [, id = ''] = /open (bg_\w+)/.exec(await openException(desk)) ?? []
      return desk.preflight('break-glass', 'close', id)
    },
  },
  {
    command: 'keys create',
    act: 'keys.api_key_changed',
    details: { change: 'created', role: 'agent', tenant: 'local' },
    perform: makeKey,
  },
  {
    command: 'keys revoke',
    act: 'keys.api_key_changed',
    details: { change: 'revoked' },
    perform: async (desk) => {
      await makeKey(desk)
      const keys: unknown = JSON.parse(await desk.preflight('keys', 'list', '--format', 'json'))
      const own = Array.isArray(keys) ? keys.find((key) => at(key, 'name') === 'bot') : null
      return desk.preflight('keys', 'revoke', textAt(own, 'audience'))
    },
  },
  {
    command: 'log-level',
    act: 'log.level_changed',
    details: { before: 'info', after: 'debug' },
    perform: (desk) => desk.preflight('log-level', 'debug'),
  },
  {
    command: 'keys rotate',
    act: 'keys.receipt_key_changed',
    details: { change: 'rotated' },
    perform: (desk) => desk.preflight('keys', 'rotate', '--overlap', '0'),
  },
  {
    command: 'keys retire',
    act: 'keys.receipt_key_changed',
    details: { change: 'retired' },
    perform: async (desk) => {
      const id = await desk.preflight('keys', 'rotate', '--overlap', '0')
      return desk.preflight('keys', 'retire', id.trim())
    },
  },
  {
    command: 'ca rotate',
    act: 'interception.authority_rotated',
    details: {},
    perform: (desk) => desk.preflight('ca', 'rotate'),
  },
  {
    command: 'ledger checkpoint',
    act: 'ledger.checkpoint',
    details: {},
    perform: async (desk) => {
      await makeKey(desk)
      return desk.preflight('ledger', 'checkpoint')
    },
  },
  {
    command: 'ledger prune',
    act: 'ledger.pruned',
    details: { before: '2020-01-01T00:00:00Z' },
    perform: (desk) => desk.preflight('ledger', 'prune', '--before', '2020-01-01'),
  },
  {
    command: 'ledger accept',
    act: 'ledger.accepted',
    details: { reason: 'a drill' },
    perform: (desk) => desk.preflight('ledger', 'accept', '--reason', 'a drill'),
  },
]

async function startDesk(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-acts-'))
  const pack = join(folder, 'pack.json')
  writeFileSync(pack, JSON.stringify(PACK))
  const file = join(folder, 'decisions.ndjson')
  writeFileSync(file, '')
  const upstream = await startHttpUpstream((_request, response) => response.end('good'))
  t.after(() => upstream.close())
  const contract = petContract()
  const pets = {
    name: 'pets',
    match: { path: '/' },
    upstream: `${upstream.origin}/v1`,
    protocol: 'http',
    contract: { current: { file: contract }, refresh: 0 },
  }
  const config = { policy: pack, decision_log: { sinks: [{ type: 'file', path: file }] }, routes: [pets] }
  const gateway = await startTestGateway(t, config)
  const place = join(folder, 'preflight.json')
  writeFileSync(place, JSON.stringify({ ...config, data_dir: gateway.dataDir }))
  const desk: Desk = {
    preflight: async (...argv) => {
      const { code, stdout, stderr } = await run([...argv, '--config', place])
      assert.equal(code, 0, stderr)
      assert.doesNotMatch(stderr, /no entry/)
      return stdout
    },
    ask: async () => {
      const answer = await fetch(`${gateway.addresses.api}/api/v1/preflight`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          preflight_mode: 'authorize',
          artifacts: [{ id: 'pets', type: 'openapi', before: readFileSync(contract, 'utf8'), after: broken(contract) }],
          context: { operation: 'deploy' },
        }),
      })
      const body: unknown = await answer.json()
      const row = listAt(body, 'decision_result', 'evidence').find((one) => at(one, 'type') === 'APPROVAL')
      return textAt(row, 'source')
    },
    offered: async () => {
      await fetch(`${gateway.addresses.proxy}/pets`)
      writeFileSync(contract, broken(contract))
      await fetch(`${gateway.addresses.proxy}/pets`)
      const views: unknown = JSON.parse(await desk.preflight('baselines', 'list', '--format', 'json'))
      return textAt(views, 0, 'candidate', 'digest')
    },
  }
  const entries = () =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line): unknown => JSON.parse(line))
  return { desk, entries, gateway }
}

function broken(file: string): string {
  const document: unknown = JSON.parse(readFileSync(file, 'utf8'))
  const paths = at(document, 'paths')
  assert.ok(typeof paths === 'object' && paths !== null)
  const edited: Record<string, unknown> = { ...paths }
  breakListing(edited)
  return JSON.stringify({ ...Object(document), paths: edited })
}

test('each command acts, and then it is in the table, or only reads', async () => {
  const names = (await allCommands()).flatMap((entry) =>
    'commands' in entry ? entry.commands.map(({ name }) => `${entry.name} ${name}`) : [entry.name],
  )
  const acting = ACTS.map(({ command }) => command)
  // It promotes like `baselines promote`, for the servers of editors.
  const known = new Set([...READERS, ...acting, 'mcp accept'])
  assert.deepEqual(
    names.filter((name) => !known.has(name)),
    [],
    'a command that changes what a gateway serves from leaves an act',
  )
})

for (const { command, act, details, perform } of ACTS)
  test(`preflight ${command} has an entry in the decision log`, async (t) => {
    const { desk, entries, gateway } = await startDesk(t)
    await perform(desk)
    const acts = () => entries().filter((entry) => at(entry, 'kind') === 'act' && at(entry, 'act') === act)
    const found = () => acts().find((entry) => includes(at(entry, 'details'), details))
    await until(() => found() !== undefined, 'the gateway takes the act from the store')
    const entry = found()
    assert.ok(isEntry(entry), JSON.stringify(isEntry.errors))
    assert.equal(entry.actor, command === 'log-level' ? 'cli:data-dir' : `cli:${userInfo().username}`)
    assert.deepEqual(new Set(acts().map((one) => at(one, 'id'))).size, acts().filter(isFirst).length)
    await until(() => gateway.log.some(({ event }) => event === act), 'the log reports it too')
  })

function includes(value: unknown, wanted: object): boolean {
  return Object.entries(wanted).every(([name, member]) => at(value, name) === member)
}

function isFirst(entry: unknown, index: number, all: readonly unknown[]): boolean {
  return all.findIndex((one) => at(one, 'id') === at(entry, 'id')) === index
}
