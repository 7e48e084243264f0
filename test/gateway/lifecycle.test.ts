/** A gateway as its own process: start, ready line, signals, and exit codes. */
import assert from 'node:assert/strict'
import { execFile, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startSummary } from '../../gateway/cli/serve.ts'
import { startGateway } from '../../gateway/main.ts'
import { holdServingLock, holdServingLocks } from '../../gateway/store/sqlite/serving-lock.ts'
import { FREE_PORTS, startTestGateway, TEST_KEY } from '../fakes/gateway.ts'

const directory = mkdtempSync(join(tmpdir(), 'preflight-life-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const COMMAND = fileURLToPath(new URL('../../gateway/preflight.js', import.meta.url))

let runs = 0
function newFolder(): string {
  const folder = join(directory, `run-${++runs}`)
  mkdirSync(folder)
  return folder
}

interface Served {
  readonly process: ChildProcessWithoutNullStreams
  readonly ready: Readonly<Record<string, string>>
  readonly stderr: readonly string[]
  readonly exited: Promise<number | null>
}

/** `preflight serve` as a process of its own, once it says that it is ready. */
async function serve(context: TestContext, folder: string, config: object = {}): Promise<Served> {
  writeFileSync(
    join(folder, 'preflight.yaml'),
    JSON.stringify({ listen: FREE_PORTS, data_dir: join(folder, 'data'), ...config }),
  )
  const child = spawn(process.execPath, [COMMAND, 'serve', '--config', 'preflight.yaml'], { cwd: folder })
  context.after(() => child.kill('SIGKILL'))
  const stderr: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => stderr.push(line))
  const exited = once(child, 'exit').then(([code]: (number | null)[]) => code ?? null)
  const lines = createInterface({ input: child.stdout })
  const first = await Promise.race([once(lines, 'line'), exited])
  assert.ok(Array.isArray(first), `the gateway ended: ${stderr.join('\n')}`)
  const ready: Readonly<Record<string, string>> = JSON.parse(String(first[0]))
  return { process: child, ready, stderr, exited }
}

test('serving says ready once as JSON, prints the first key once, answers, and ends with 0 on SIGTERM', async (t) => {
  const folder = newFolder()
  const first = await serve(t, folder)
  assert.equal(first.ready['event'], 'ready')
  for (const name of ['proxy', 'api', 'admin']) assert.match(first.ready[name] ?? '', /^http:\/\/127\.0\.0\.1:\d+$/)
  assert.equal((await fetch(`${first.ready['admin']}/readyz`)).status, 200)
  await until(() => Promise.resolve(first.stderr.length > 0))
  const key = /shown once: (\S+)/.exec(first.stderr.join('\n'))?.[1]
  const ledger = await fetch(`${first.ready['api']}/api/v1/ledger`, { headers: { authorization: `Bearer ${key}` } })
  assert.equal(ledger.status, 200)
  first.process.kill('SIGTERM')
  assert.equal(await first.exited, 0)

  const second = await serve(t, folder)
  assert.ok(!second.stderr.join('\n').includes('shown once'))
  second.process.kill('SIGINT')
  assert.equal(await second.exited, 0)
})

test('the summary for a person names every listener, what is in force, and a call that works', async (t) => {
  const gateway = await startTestGateway(t, {
    routes: [{ name: 'shop', match: { path: '/mcp' }, upstream: 'http://127.0.0.1:9', protocol: 'mcp' }],
    listen: { ...FREE_PORTS, transparent: '127.0.0.1:0', ext_authz: '127.0.0.1:0' },
  })
  const summary = startSummary({ ...gateway, bootstrapKey: TEST_KEY }, false)
  for (const address of Object.values(gateway.addresses)) assert.ok(summary.includes(address))
  for (const fact of [
    'default, enforce, sha256:',
    gateway.keyId,
    'sidecar',
    'ledger.db',
    'log',
    '/mcp → http://127.0.0.1:9',
  ])
    assert.ok(summary.includes(fact), fact)
  const curl = /curl .*/.exec(summary)?.[0] ?? assert.fail('there is nothing to try')
  const { stdout } = await promisify(execFile)('sh', ['-c', curl])
  assert.match(stdout, /^# Contract comparison\n\n\*\*1\*\* breaking/)
})

test('mistakes in the configuration end the start with 2 and are all told', async () => {
  const folder = newFolder()
  writeFileSync(join(folder, 'bad.yaml'), 'tier: x\nlog: { level: loud }\n')
  const child = spawn(process.execPath, [COMMAND, 'serve', '--config', 'bad.yaml'], { cwd: folder })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [code]: (number | null)[] = await once(child, 'close')
  assert.equal(code, 2)
  assert.match(stderr, /bad\.yaml:1:7: .*\n.*bad\.yaml:2:15: /)
})

test('an address in use names the listener and the setting to change, and leaves nothing open', async (t) => {
  const taken = await upstream(t, (response) => response.end())
  const port = portOf(taken)
  for (const [name, variable] of [
    ['proxy', 'PREFLIGHT_PROXY_LISTEN'],
    ['api', 'PREFLIGHT_API_LISTEN'],
    ['admin', 'PREFLIGHT_ADMIN_LISTEN'],
    ['transparent', 'PREFLIGHT_LISTEN_TRANSPARENT'],
    ['ext_authz', 'PREFLIGHT_LISTEN_EXT_AUTHZ'],
  ] as const) {
    const start = startGateway({
      value: { listen: { ...FREE_PORTS, [name]: `127.0.0.1:${port}` }, data_dir: newFolder() },
      environment: { PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY },
    })
    await assert.rejects(start, (error: Error) => {
      assert.match(
        error.message,
        new RegExp(`The ${name} listener .*another program.*listen\\.${name} or ${variable}`, 's'),
      )
      return true
    })
  }
})

test('a data directory that cannot be used is named with the setting to change', async () => {
  const file = join(newFolder(), 'file')
  writeFileSync(file, '')
  await assert.rejects(
    startGateway({ value: { listen: FREE_PORTS, data_dir: join(file, 'below') }, environment: {} }),
    /data directory .*below cannot be created: .*PREFLIGHT_DATA_DIR/,
  )
  const folder = newFolder()
  writeFileSync(join(folder, 'ledger.db'), 'not a database at all, but long enough to look at'.repeat(40))
  await assert.rejects(
    startGateway({ value: { listen: FREE_PORTS, data_dir: folder }, environment: {} }),
    /ledger\.db cannot be opened: .*not a database.*restore it from a backup/s,
  )
})

test('of two gateways on one data directory, or on one ledger, the second does not start', async (t) => {
  const folder = newFolder()
  const value = { listen: FREE_PORTS, data_dir: folder }
  const environment = { PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY }
  const first = await serve(t, newFolder(), value)
  const elsewhere = { ...value, data_dir: newFolder(), store: { url: `file:${join(folder, 'ledger.db')}` } }
  for (const second of [value, elsewhere])
    await assert.rejects(startGateway({ value: second, environment }), /Another gateway serves .*PREFLIGHT_DATA_DIR/s)
  const listed = await promisify(execFile)(process.execPath, [COMMAND, 'keys', 'list', '--data-dir', folder])
  assert.match(listed.stdout, /bootstrap/, 'the command line is not a second gateway')

  first.process.kill('SIGKILL')
  await first.exited
  await assert.rejects(startGateway({ value: elsewhere, environment }), /checkpoint/, 'a data directory without it')
  const second = await startGateway({ value, environment })
  await second.close()
})

/** How the lock files of a running gateway are lost. */
const LOST_LOCKS: readonly {
  readonly name: string
  readonly lose: (file: string) => void
}[] = [
  { name: 'removed', lose: (file) => rmSync(file) },
  {
    name: 'replaced',
    lose(file) {
      rmSync(file)
      writeFileSync(file, '')
    },
  },
  {
    name: 'replaced by their copies',
    lose(file) {
      cpSync(file, `${file}.copy`)
      renameSync(`${file}.copy`, file)
    },
  },
  {
    name: 'replaced by those of another place',
    lose(file) {
      const place = newFolder()
      holdServingLocks([join(place, 'other.lock')], join(place, 'other.db')).close()
      renameSync(join(place, 'other.lock'), file)
    },
  },
]

for (const { name, lose } of LOST_LOCKS)
  test(`lock files that are ${name} while a gateway runs let no second one serve`, async (t) => {
    const folder = newFolder()
    const value = { listen: FREE_PORTS, data_dir: folder }
    const environment = { PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY }
    const first = await serve(t, newFolder(), value)
    const locks = ['serving.lock', 'ledger.db.lock'].map((file) => join(folder, file))
    const served = () => startGateway({ value, environment }).then((gateway) => gateway.close())
    const refused = () => assert.rejects(served, /Another gateway serves .*PREFLIGHT_DATA_DIR/s)
    locks.forEach(lose)
    await refused()
    await refused()
    assert.equal(await decide(first), 200)
    await refused()

    locks.forEach(lose)
    assert.equal(await decide(first), 200)
    first.process.kill('SIGKILL')
    await first.exited
    // A start after a crash, with a log to read and without locks.
    locks.forEach((file) => rmSync(file))
    const second = await startGateway({ value, environment })
    await second.close()
  })

test('a gateway whose lock another process has taken writes nothing more', async (t) => {
  const folder = newFolder()
  const gateway = await serve(t, newFolder(), { listen: FREE_PORTS, data_dir: folder })
  const lock = join(folder, 'serving.lock')
  rmSync(lock)
  const other = holdServingLock(lock)
  t.after(() => other.isOpen && other.close())
  assert.equal(await decide(gateway), 503)
  other.close()
  assert.equal(await decide(gateway), 200)
})

/** Writes a decision to the ledger. */
async function decide({ ready, stderr }: Served): Promise<number> {
  await until(() => Promise.resolve(stderr.length > 0))
  const key = /shown once: (\S+)/.exec(stderr.join('\n'))?.[1]
  const response = await fetch(`${ready['api']}/api/v1/preflight`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      preflight_mode: 'authorize',
      artifacts: [{ id: 'a', type: 'json_schema', before: '{}', after: '{}' }],
      context: { operation: 'merge' },
    }),
  })
  await response.text()
  return response.status
}

test('private keys that every user may read are reported at the start; unreadable ones end it with the fix', async (t) => {
  const folder = newFolder()
  const first = await serve(t, newFolder(), { data_dir: folder })
  first.process.kill('SIGTERM')
  await first.exited
  const keys = join(folder, 'receipt-keys.json')
  chmodSync(keys, 0o644)
  const second = await serve(t, newFolder(), { data_dir: folder })
  await until(() => Promise.resolve(second.stderr.join('\n').includes('chmod 600')))
  second.process.kill('SIGTERM')
  await second.exited
  rmSync(keys)
  mkdirSync(keys)
  const start = startGateway({ value: { listen: FREE_PORTS, data_dir: folder }, environment: {} })
  await assert.rejects(
    start,
    /receipt keys .*receipt-keys\.json cannot be read: .* is a directory.*move the file away/s,
  )
})

test('a read-only data directory ends the start with 2 and what to change', async () => {
  const folder = newFolder()
  chmodSync(directory, 0o755)
  chmodSync(folder, 0o555)
  // Root may write everywhere, so the start is tried as nobody.
  const identity = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const child = spawn(process.execPath, [COMMAND, 'serve', '--data-dir', folder], { cwd: '/', ...identity })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [code]: (number | null)[] = await once(child, 'close')
  assert.equal(code, 2, stderr)
  assert.match(stderr, /ledger\.db cannot be opened: .*PREFLIGHT_DATA_DIR/)
})

test('a call under way finishes within the drain, readiness goes first, and new calls are not taken', async (t) => {
  const waiting = Promise.withResolvers<ServerResponse>()
  const server = await upstream(t, (response) => waiting.resolve(response))
  const gateway = await startTestGateway(t, {
    shutdown: { drain: 20 },
    routes: [{ name: 'slow', match: { path: '/' }, upstream: `http://127.0.0.1:${portOf(server)}`, protocol: 'mcp' }],
  })
  const call = fetch(`${gateway.addresses.proxy}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  })
  const response = await waiting.promise
  const closed = gateway.close()
  const readiness = await fetch(`${gateway.addresses.admin}/readyz`)
  assert.equal(readiness.status, 503)
  await assert.rejects(fetch(`${gateway.addresses.proxy}/`, { method: 'POST', body: '{}' }))
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":1,"result":{}}')
  assert.deepEqual(await (await call).json(), { jsonrpc: '2.0', id: 1, result: {} })
  await closed
  await assert.rejects(fetch(`${gateway.addresses.admin}/livez`))
})

test('SIGUSR2 turns the level debug on and off, and each change is a record', async (t) => {
  const served = await serve(t, newFolder(), { log: { level: 'info' } })
  const changes = () =>
    served.stderr
      .filter((line) => line.includes('"log.level_changed"'))
      .map((line): { readonly before: string; readonly after: string; readonly by: string } => JSON.parse(line))
      .map(({ before, after: level, by }) => [before, level, by])
  for (const wanted of [1, 2]) {
    served.process.kill('SIGUSR2')
    await until(() => Promise.resolve(changes().length === wanted))
  }
  assert.deepEqual(changes(), [
    ['info', 'debug', 'signal'],
    ['debug', 'info', 'signal'],
  ])
})

test('SIGHUP takes a changed configuration up; a broken one is refused and reported by log, metric and readiness', async (t) => {
  const folder = newFolder()
  const served = await serve(t, folder)
  const file = join(folder, 'preflight.yaml')
  const base = { listen: FREE_PORTS, data_dir: join(folder, 'data') }
  const reloaded = async (config: string, expected: RegExp): Promise<void> => {
    writeFileSync(file, config)
    served.process.kill('SIGHUP')
    await until(async () => expected.test(await metricsOf(served)))
  }
  await reloaded(JSON.stringify({ ...base, policy: 'strict' }), /preflight_settings_generation 2/)
  await reloaded(
    JSON.stringify({ ...base, policy: 'strickt' }),
    /preflight_reloads_total\{what="settings",result="refused"\} [1-9]/,
  )
  await until(() => Promise.resolve(served.stderr.join('\n').includes('there is no policy pack named')))
  const readiness = await fetch(`${served.ready['admin']}/readyz`)
  assert.equal(readiness.status, 200)
  assert.match(await readiness.text(), /policy strict; the files on disk have 1 mistake/)
  await reloaded(
    JSON.stringify({ ...base, policy: 'strict', monitoring: { window: 60 } }),
    /preflight_settings_mistakes 0/,
  )
  const restart = await fetch(`${served.ready['admin']}/readyz`)
  assert.match(await restart.text(), /policy strict; changes of monitoring wait for a restart/)
  served.process.kill('SIGTERM')
  assert.equal(await served.exited, 0)
})

test('a receipt key rotated by the command line signs the next decision of the running gateway', async (t) => {
  const folder = newFolder()
  const served = await serve(t, folder)
  const rotate = spawn(process.execPath, [
    COMMAND,
    'keys',
    'rotate',
    '--overlap',
    '0',
    '--data-dir',
    join(folder, 'data'),
  ])
  const [newKey] = (await once(rotate.stdout, 'data')).map(String)
  await until(async () => {
    const readiness = await (await fetch(`${served.ready['admin']}/readyz`)).text()
    return readiness.includes(newKey?.trim() ?? 'no key')
  })
  const published = await (await fetch(`${served.ready['api']}/.well-known/jwks.json`)).text()
  assert.match(published, /"status":"retired"[\s\S]*"status":"active"/)
})

async function metricsOf({ ready }: Served): Promise<string> {
  return (await fetch(`${ready['admin']}/metrics`)).text()
}

/** Waits for something that another process does in its own time; the runner's timeout bounds it. */
async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20))
}

async function upstream(context: TestContext, answer: (response: ServerResponse) => void): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume()
    answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return server
}

function portOf(server: Server): number {
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}
