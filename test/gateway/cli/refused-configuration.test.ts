/** Commands on a data directory while the configuration on disk is refused and its gateway goes on with the one before. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { test, type TestContext } from 'node:test'
import { startGateway } from '../../../gateway/main.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { run } from '../../fakes/command-io.ts'
import { devNull, FREE_PORTS, TEST_KEY } from '../../fakes/gateway.ts'
import { PREFLIGHT } from '../../fakes/killable-gateway.ts'
import { textAt } from '../../json.ts'

const ROUTE = { name: 'pets', match: { path: '/' }, upstream: 'http://127.0.0.1:9', protocol: 'mcp' }

async function scene(t: TestContext, settings: object = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-refused-'))
  const data = join(folder, 'data')
  const file = join(folder, 'preflight.yaml')
  const good = { listen: FREE_PORTS, data_dir: data, routes: [ROUTE], break_glass: { maximum: 600 }, ...settings }
  writeFileSync(file, JSON.stringify(good))
  const environment = { PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY }
  const logger = createLogger('silent')
  const gateway = await startGateway({ file, environment }, { output: devNull(), logger })
  t.after(async () => {
    await gateway.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const command = (...argv: readonly string[]) => run([...argv, '--config', file])
  return { gateway, data, file, good, command }
}

const WARNING = /has mistakes \(preflight config check\); the settings of the gateway that serves from .* are used/

const READS: readonly (readonly string[])[] = [
  ['approvals', 'list'],
  ['break-glass', 'list'],
  ['keys', 'list'],
  ['keys', 'show'],
  ['ledger', 'list'],
  ['ledger', 'verify'],
  ['ledger', 'calls'],
  ['ledger', 'verify-chain'],
]

test('commands that need only the data directory work with the settings of the gateway, and warn once', async (t) => {
  const { file, good, data, command } = await scene(t)
  for (const text of [JSON.stringify({ ...good, limits: { artifact_side: 'much' } }), 'routes: [\n']) {
    writeFileSync(file, text)
    const place = text.startsWith('{') ? [] : ['--data-dir', data]
    for (const read of READS) {
      const { code, stderr } = await command(...read, ...place)
      assert.equal(code, 0, `${read.join(' ')}: ${stderr}`)
      assert.match(stderr, WARNING)
      assert.equal(stderr.split('has mistakes').length, 2)
    }
  }
})

test('an exception is opened and closed, for a route and within the maximum of the settings in force', async (t) => {
  const { file, good, command } = await scene(t)
  writeFileSync(file, JSON.stringify({ ...good, break_glass: { maximum: 'a day' }, routes: [] }))
  const reason = ['--reason', 'the upstream is broken']
  const open = await command('break-glass', 'open', 'pets', ...reason, '--duration', '600')
  assert.equal(open.code, 0, open.stderr)
  const [, id = ''] = /^open (\S+) on pets/.exec(open.stdout) ?? []
  const other = await command('break-glass', 'open', 'toys', ...reason, '--duration', '600')
  assert.match(other.stderr, /no route "toys"/)
  const long = await command('break-glass', 'open', 'pets', ...reason, '--duration', '601')
  assert.notEqual(long.code, 0)
  assert.match(long.stderr, /600/)
  const closed = await command('break-glass', 'close', id)
  assert.equal(closed.code, 0, closed.stderr)
})

test('the ledger is that of the gateway, whichever folder the command runs in', async (t) => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'preflight-ledger-'))
  t.after(() => rmSync(elsewhere, { recursive: true, force: true }))
  const ledger = join(elsewhere, 'own.db')
  const { file, good, data } = await scene(t, { store: { url: `file:${relative(process.cwd(), ledger)}` } })
  const serving: unknown = JSON.parse(readFileSync(join(data, 'serving.json'), 'utf8'))
  assert.equal(textAt(serving, 'settings', 'sections', 'store', 'url'), `file:${ledger}`)
  writeFileSync(file, JSON.stringify({ ...good, limits: { artifact_side: 'much' } }))
  const program = [PREFLIGHT, 'ledger', 'verify', '--config', file]
  const { status, stderr } = spawnSync(process.execPath, program, { cwd: elsewhere, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  assert.match(stderr, WARNING)
})

test('the settings are those of the last reload', async (t) => {
  const { file, good, gateway, command } = await scene(t)
  writeFileSync(file, JSON.stringify({ ...good, routes: [{ ...ROUTE, name: 'toys' }] }))
  gateway.reload()
  writeFileSync(file, 'routes: 7\n')
  gateway.reload()
  const list = await command('break-glass', 'list')
  assert.notEqual(list.code, 0)
  writeFileSync(file, JSON.stringify({ ...good, routes: 7 }))
  const opening = ['--reason', 'the upstream is broken', '--duration', '60']
  assert.equal((await command('break-glass', 'open', 'toys', ...opening)).code, 0)
  assert.match((await command('break-glass', 'open', 'pets', ...opening)).stderr, /no route "pets"/)
})

const OTHERS: readonly (readonly string[])[] = [
  ['keys', 'create', '--name', 'a', '--role', 'viewer'],
  ['keys', 'rotate'],
  ['baselines', 'list'],
]

for (const other of OTHERS)
  test(`preflight ${other.join(' ')} needs the whole configuration, and names its mistakes`, async (t) => {
    const { file, good, command } = await scene(t)
    writeFileSync(file, JSON.stringify({ ...good, limits: { artifact_side: 'much' } }))
    const { code, stderr } = await command(...other)
    assert.notEqual(code, 0)
    assert.match(stderr, /artifact_side/)
  })

test('without such a gateway, the mistakes are named and what to do', async (t) => {
  const { file, good, gateway, data, command } = await scene(t)
  const serving: unknown = JSON.parse(readFileSync(join(data, 'serving.json'), 'utf8'))
  const broken = JSON.stringify({ ...good, limits: { artifact_side: 'much' } })
  writeFileSync(file, broken)
  const elsewhere = join(file, '..', 'other.yaml')
  writeFileSync(elsewhere, broken)
  assert.equal(textAt(serving, 'config'), file)
  const { pid } = spawnSync(process.execPath, ['--version'])
  const killed = () => {
    assert.ok(typeof serving === 'object')
    writeFileSync(join(data, 'serving.json'), JSON.stringify({ ...serving, pid }), { mode: 0o600 })
    return command('break-glass', 'list')
  }
  const ended = async () => {
    await gateway.close()
    return command('break-glass', 'list')
  }
  for (const refused of [() => run(['break-glass', 'list', '--config', elsewhere]), killed, ended]) {
    const { code, stderr } = await refused()
    assert.equal(code, 2, stderr)
    assert.match(stderr, /artifact_side/)
    assert.match(stderr, /fix the mistakes of the configuration first.*--data-dir.*--url/)
  }
})
