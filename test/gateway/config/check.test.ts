/** `preflight config check`: the answer of a start, without one. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { DatabaseSync } from 'node:sqlite'
import { openKeyRing } from '../../../gateway/keys/key-ring.ts'
import { openSqliteStore } from '../../../gateway/store/sqlite/store.ts'
import { run } from '../../fakes/command-io.ts'
import { FREE_PORTS, startTestGateway } from '../../fakes/gateway.ts'

const PROGRAM = join(import.meta.dirname, '../../../gateway/preflight.js')

function scratch(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-config-check-'))
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 9 }))
  return directory
}

function written(directory: string, config: object): string {
  const file = join(directory, 'preflight.json')
  writeFileSync(file, JSON.stringify({ listen: FREE_PORTS, ...config }))
  return file
}

test('a good configuration is reported, and nothing is made', async (t) => {
  const directory = scratch(t)
  const file = written(directory, { data_dir: join(directory, 'state/deep') })
  const { code, stdout, stderr } = await run(['config', 'check', '--config', file])
  assert.equal(code, 0, stderr)
  assert.equal(stdout, `${file}: good (0 routes)\n`)
  assert.deepEqual(readdirSync(directory), ['preflight.json'])
})

test('without a file it is the default configuration that is good, not the file of its policy pack', async (t) => {
  const environment = { PREFLIGHT_DATA_DIR: scratch(t) }
  const { stdout, stderr } = await run(['config', 'check'], { environment })
  assert.equal(stdout, 'the default configuration: good (0 routes)\n', stderr)
})

test('a preflight.yaml that no one named is not read, and a warning says so', async (t) => {
  const directory = scratch(t)
  writeFileSync(join(directory, 'preflight.yaml'), 'policy: strict\n')
  // Without variables that tests use for tools of theirs: each one that is no setting is a warning.
  const options = { cwd: directory, env: {}, timeout: 60_000 }
  const check = (...flags: readonly string[]) =>
    promisify(execFile)(process.execPath, [PROGRAM, 'config', 'check', ...flags], options)
  const unnamed = await check()
  assert.equal(unnamed.stdout, 'the default configuration: good (0 routes)\n')
  assert.match(unnamed.stderr, /^warning: preflight\.yaml: .*is not read.*--config preflight\.yaml/)
  const named = await check('--config', 'preflight.yaml')
  assert.deepEqual([named.stdout, named.stderr], ['preflight.yaml: good (0 routes)\n', ''])
})

test('every mistake has its place, and the exit code is 2', async (t) => {
  const file = written(scratch(t), { polcy: 'default', tls: { ca: { certificate: 'none.crt', key: 'none.key' } } })
  const { code, stderr } = await run(['config', 'check', '--config', file])
  assert.equal(code, 2)
  assert.match(stderr, /preflight\.json:1:\d+: .*polcy/)
  assert.match(stderr, /none\.crt does not exist; make it, or name another file \(ENOENT\)/)
})

test('warnings are printed, and --strict makes them the answer', async (t) => {
  const file = written(scratch(t), { monitoring: { sinks: [] } })
  const plain = await run(['config', 'check', '--config', file])
  assert.equal(plain.code, 0)
  assert.match(plain.stderr, /^warning: .*there is no sink/m)
  const strict = await run(['config', 'check', '--config', file, '--strict'])
  assert.equal(strict.code, 1)
})

test('what a start finds outside of the settings is found too', async (t) => {
  const directory = scratch(t)
  writeFileSync(join(directory, 'a-file'), '')
  const file = written(directory, {
    data_dir: join(directory, 'a-file/below'),
    listen: { ...FREE_PORTS, api: '192.0.2.1:0' },
  })
  const environment = { PREFLIGHT_BOOTSTRAP_KEY: 'short' }
  const { code, stderr } = await run(['config', 'check', '--config', file], { environment })
  assert.equal(code, 2)
  assert.match(stderr, /The data directory .*a-file\/below cannot be created: .*a-file is not a directory/)
  assert.match(stderr, /PREFLIGHT_BOOTSTRAP_KEY must have at least 24/)
  assert.match(stderr, /The api listener cannot be opened on 192\.0\.2\.1:0: this machine has no such address/)
})

test('keys that cannot be read, and a ledger that is missing beside them, are found', async (t) => {
  const directory = scratch(t)
  const file = written(directory, { data_dir: directory })
  writeFileSync(join(directory, 'receipt-keys.json'), '{"version":1,"keys":"none"}')
  const { code, stderr } = await run(['config', 'check', '--config', file])
  assert.equal(code, 2)
  assert.match(stderr, /The receipt keys .* cannot be read/)
  assert.match(stderr, /The ledger .* is missing/)
})

/** What a start refuses in a ledger that is there: how it is damaged, and the answer. */
const REFUSED_LEDGERS: Readonly<Record<string, { readonly damage: (data: string) => void; readonly report: RegExp }>> =
  {
    'an older copy': {
      damage: (data) => {
        copyFileSync(join(data, 'first.db'), join(data, 'ledger.db'))
        for (const end of ['-wal', '-shm']) rmSync(join(data, `ledger.db${end}`), { force: true })
      },
      report: /ends at entry \d+, before entry \d+ .* To accept this ledger instead: preflight ledger accept/s,
    },
    'no database': { damage: (data) => writeFileSync(join(data, 'ledger.db'), 'text'), report: /not a database/ },
    'a newer version': {
      damage: (data) => {
        const database = new DatabaseSync(join(data, 'ledger.db'))
        database.exec('PRAGMA user_version = 1000')
        database.close()
      },
      report: /written by a newer version \(schema 1000/,
    },
  }

for (const [name, { damage, report }] of Object.entries(REFUSED_LEDGERS))
  test(`a ledger that a start refuses is found: ${name}`, async (t) => {
    const data = scratch(t)
    const place = ['--data-dir', data]
    await openKeyRing(data)
    const opened = await openSqliteStore({ file: join(data, 'ledger.db'), calls: 'durable', flushMilliseconds: 5 })
    await opened.close()
    assert.equal((await run(['ledger', 'backup', join(data, 'first.db'), ...place])).code, 0)
    assert.equal((await run(['keys', 'create', '--name', 'me', ...place])).code, 0)
    assert.equal((await run(['ledger', 'checkpoint', ...place])).code, 0)
    const file = written(data, { data_dir: data })
    const intact = await run(['config', 'check', '--config', file])
    assert.equal(intact.code, 0, intact.stderr)
    damage(data)
    const { code, stderr } = await run(['config', 'check', '--config', file])
    assert.equal(code, 2)
    assert.match(stderr, report)
  })

test('a ledger of an older version is left as it is: the start migrates it', async (t) => {
  const data = scratch(t)
  await openKeyRing(data)
  const database = new DatabaseSync(join(data, 'ledger.db'))
  database.exec('CREATE TABLE old (n INTEGER); PRAGMA user_version = 1')
  database.close()
  const { code, stderr } = await run(['config', 'check', '--config', written(data, { data_dir: data })])
  assert.equal(code, 0, stderr)
  const after = new DatabaseSync(join(data, 'ledger.db'), { readOnly: true })
  assert.deepEqual({ ...after.prepare('PRAGMA user_version').get() }, { user_version: 1 })
  after.close()
})

test('the check passes next to the running gateway of the same configuration', async (t) => {
  const { addresses, dataDir } = await startTestGateway(t)
  const listen = Object.fromEntries(Object.entries(addresses).map(([name, url]) => [name, new URL(url).host]))
  const file = written(scratch(t), { data_dir: dataDir, listen })
  const { code, stderr } = await run(['config', 'check', '--config', file])
  assert.equal(code, 0, stderr)
})

test('a data directory below /proc ends the start', async (t) => {
  if (!existsSync('/proc/self')) return t.skip('this system has no /proc')
  const environment = { ...process.env, PREFLIGHT_DATA_DIR: '/proc/preflight-state' }
  await assert.rejects(
    promisify(execFile)(process.execPath, [PROGRAM, 'serve'], { env: environment, timeout: 60_000 }),
    (error: NodeJS.ErrnoException & { readonly stderr?: string }) => {
      assert.equal(Number(error.code), 2)
      assert.match(error.stderr ?? '', /The data directory \/proc\/preflight-state cannot be created/)
      return true
    },
  )
  const checked = await run(['config', 'check'], { environment: { PREFLIGHT_DATA_DIR: '/proc/preflight-state' } })
  assert.equal(checked.code, 2)
})
