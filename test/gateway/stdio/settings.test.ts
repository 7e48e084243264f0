/** Settings that the user changes while the daemon runs: no call is judged by those of before, of this session or of the next one. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import {
  LINE_SERVER,
  PREFLIGHT,
  startDesk,
  startLineClient,
  type Desk,
  type LineClient,
  started,
} from '../../fakes/desk.ts'
import { run } from '../../fakes/command-io.ts'
import { until } from '../../fakes/until.ts'

const STRICT = 'routes:\n  - name: lines\n    receipts: { require: true }\n'

function offer(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-offer-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'tools.json')
  writeFileSync(file, JSON.stringify([{ name: 'echo', description: 'echo', inputSchema: { type: 'object' } }]))
  return file
}

async function isRefused(client: LineClient, id: string): Promise<boolean> {
  const answer = await client.ask(id, 'tools/call', { name: 'echo', arguments: { a: 'hello' } })
  return JSON.stringify(answer).includes('"isError":true')
}

const change = (desk: Desk, settings: string) => writeFileSync(join(desk.home, 'preflight.yaml'), settings)

test('a session that runs is judged by settings that changed', async (t) => {
  const desk = startDesk(t, '{}\n')
  const client = await started(desk, offer(t))
  assert.equal(await isRefused(client, 'before'), false)
  let tries = 0
  const becomes = (refused: boolean) =>
    until(async () => (await isRefused(client, `try-${(tries += 1)}`)) === refused, `refused: ${refused}`, 15_000)
  change(desk, STRICT)
  await becomes(true)
  change(desk, '{}\n')
  await becomes(false)
})

test('the first call of a session that starts after the change is judged by it', async (t) => {
  const desk = startDesk(t)
  const file = offer(t)
  const client = await started(desk, file)
  assert.equal(await isRefused(client, 'before'), false)
  const daemon = await desk.daemon()
  change(desk, STRICT)
  assert.equal(await isRefused(await started(desk, file), 'after'), true)
  assert.equal(await desk.daemon(), daemon)
})

for (const [what, settings] of [
  ['the settings', 'limits: { proxied_body: none }\n'],
  ['the policy', 'policy: no-such-pack\n'],
] as const)
  test(`a session does not start by what was in force before a mistake of ${what}`, { timeout: 60_000 }, async (t) => {
    const desk = startDesk(t)
    const file = offer(t)
    assert.equal(await isRefused(await started(desk, file), 'before'), false)
    change(desk, settings)
    const client = startLineClient(desk, ['--name', 'lines'], [process.execPath, LINE_SERVER, file])
    assert.equal(await client.exit, 3)
  })

for (const address of ['http://me:secret@127.0.0.1:9/mcp', 'http://127.0.0.1:0/mcp', 'http://010.0.0.1/mcp'])
  test(`a server at ${address} is refused, and the others start`, { timeout: 60_000 }, async (t) => {
    const desk = startDesk(t)
    const file = offer(t)
    assert.equal(await isRefused(await started(desk, file), 'before'), false)
    const refused = startLineClient(desk, ['--name', 'remote', '--url', address], [])
    assert.equal(await refused.exit, 3)
    assert.match(refused.stderr(), /the address or the settings of this server have mistakes:[^]*upstream/)
    assert.doesNotMatch(refused.stderr(), /secret/)
    assert.equal(await isRefused(await started(desk, file), 'after'), false)
    const { code, stdout } = await run(['mcp', 'list'], { environment: desk.environment })
    assert.equal(code, 0)
    assert.doesNotMatch(stdout, /remote/)
  })

const UNUSABLE: readonly (readonly [what: string, file: string, text: string, says: RegExp])[] = [
  [
    'settings without an end',
    'preflight.yaml',
    'foo: [\n',
    /preflight\.yaml:2:1: this is not valid YAML.*write the missing \]/,
  ],
  [
    'settings that contain themselves',
    'preflight.yaml',
    'log: &a [*a]\n',
    /preflight\.yaml:1:10: the alias \*a stands/,
  ],
  ['settings that are a list', 'preflight.yaml', '- a\n', /preflight\.yaml is not a mapping of settings/],
  [
    'a setting of another type',
    'preflight.yaml',
    'limits: {depth: x}\n',
    /preflight\.yaml: .*limits\.depth: must be an integer/,
  ],
  ['a policy that is not there', 'preflight.yaml', 'policy: nope\n', /there is no policy pack named "nope"/],
  [
    'a list of servers that broke off',
    'servers.json',
    '[{"name":',
    /servers\.json is not a list of servers in JSON: remove it/,
  ],
]
for (const [what, file, text, says] of UNUSABLE)
  test(`doctor names ${what}, since no server starts`, async (t) => {
    const home = mkdtempSync(join(tmpdir(), 'preflight-unusable-'))
    t.after(() => rmSync(home, { recursive: true, force: true }))
    writeFileSync(join(home, file), text)
    const { code, stdout } = await run(['doctor'], { environment: { PREFLIGHT_HOME: home } })
    assert.equal(code, 1)
    assert.match(stdout, says)
  })

test('commands look at the daemon, also in the home directory, unless a gateway was started there', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-place-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const table: readonly (readonly [cwd: string, home: string, files: readonly string[], looksAt: string])[] = [
    ['home', 'home/.preflight', [], 'home/.preflight/data'],
    ['elsewhere', 'home/.preflight', [], 'home/.preflight/data'],
    ['both', 'both/.preflight', ['both/.preflight/receipt-keys.json'], 'both/.preflight'],
    ['gateway', 'home/.preflight', ['gateway/.preflight/receipt-keys.json'], 'gateway/.preflight'],
  ]
  for (const [cwd, home, files, looksAt] of table) {
    for (const path of [cwd, home, ...files.map((file) => join(file, '..'))])
      mkdirSync(join(folder, path), { recursive: true })
    writeFileSync(join(folder, home, 'gateway.json'), JSON.stringify({ data_dir: join(folder, home, 'data') }))
    for (const file of files) writeFileSync(join(folder, file), '{"keys":[]}')
    const { stderr } = spawnSync(process.execPath, [PREFLIGHT, 'baselines', 'list'], {
      cwd: join(folder, cwd),
      env: { PATH: process.env['PATH'], PREFLIGHT_HOME: join(folder, home) },
      encoding: 'utf8',
    })
    assert.ok(stderr.includes(`there are no records at ${join(folder, looksAt, 'ledger.db')};`), `${cwd}: ${stderr}`)
  }
})
