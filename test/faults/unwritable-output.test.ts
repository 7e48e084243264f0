/** Where the gateway writes is full or gone: it serves on, says what was lost when it can, and ends when it is asked to. */
import assert from 'node:assert/strict'
import { execFileSync, spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { pets, PETS_REORDERED } from '../fakes/contracts.ts'
import { TEST_KEY } from '../fakes/gateway.ts'
import { PREFLIGHT } from '../fakes/killable-gateway.ts'
import { hasProgram } from '../fakes/programs.ts'
import { smallVolume } from '../fakes/small-volume.ts'
import { until } from '../fakes/until.ts'

interface Serving {
  readonly child: ChildProcess
  readonly api: string
  readonly admin: string
}

/** @param stdout a file that its ready line goes to */
async function serve(t: TestContext, { stdout, stderr, config = {} }: ServeOptions): Promise<Serving> {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-unwritable-'))
  writeFileSync(join(folder, 'preflight.yaml'), JSON.stringify(config))
  const files = [openSync(stdout, 'a'), openSync(stderr, 'a')]
  const child = spawn(process.execPath, [PREFLIGHT, 'serve', '--config', 'preflight.yaml'], {
    cwd: folder,
    stdio: ['ignore', ...files] satisfies StdioOptions,
    env: environmentIn(folder),
  })
  for (const file of files) closeSync(file)
  t.after(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const ready = (): string => readFileSync(stdout, 'utf8').split('\n')[0] ?? ''
  await until(() => ready().endsWith('}') || child.exitCode !== null, 'it is ready', 60_000)
  assert.equal(child.exitCode, null)
  const { api, admin }: Record<'api' | 'admin', string> = JSON.parse(ready())
  return { child, api, admin }
}

interface ServeOptions {
  readonly stdout: string
  readonly stderr: string
  readonly config?: object
}

function environmentIn(folder: string): Readonly<Record<string, string>> {
  return {
    PATH: '/usr/bin:/bin',
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY,
    PREFLIGHT_DATA_DIR: join(folder, 'state'),
    PREFLIGHT_PROXY_LISTEN: '127.0.0.1:0',
    PREFLIGHT_API_LISTEN: '127.0.0.1:0',
    PREFLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
  }
}

function outputFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-output-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function metricsOf({ admin }: Serving): Promise<string> {
  return (await fetch(`${admin}/metrics`)).text()
}

async function lostLines(serving: Serving): Promise<number> {
  return Number(/^preflight_log_lines_lost_total (\d+)$/m.exec(await metricsOf(serving))?.[1])
}

async function authorize({ api }: Serving, target: string): Promise<number> {
  const answer = await fetch(`${api}/api/v1/preflight`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      preflight_mode: 'authorize',
      artifacts: [pets(PETS_REORDERED)],
      context: { operation: 'merge', target_id: target },
    }),
  })
  return answer.status
}

async function stop({ child }: Serving): Promise<void> {
  child.kill('SIGTERM')
  await once(child, 'exit')
  assert.equal(child.exitCode, 0)
}

test('a log that was never writable loses its lines, and not the gateway', async (t) => {
  const serving = await serve(t, { stdout: join(outputFolder(t), 'out'), stderr: '/dev/full' })
  assert.ok((await lostLines(serving)) > 0)
  assert.equal((await fetch(`${serving.admin}/readyz`)).status, 200)
  await stop(serving)
})

test('a log that is writable again tells how many lines were lost', async (t) => {
  if (!hasProgram(t, 'prlimit')) return
  const folder = outputFolder(t)
  const log = join(folder, 'log')
  const serving = await serve(t, { stdout: join(folder, 'out'), stderr: log })
  await until(() => readFileSync(log, 'utf8').includes('ledger.checkpoint'), 'the first line')
  const limit = (bytes: string) => execFileSync('prlimit', ['--pid', String(serving.child.pid), `--fsize=${bytes}:`])
  limit('1')
  for (const before of [0, 1]) {
    serving.child.kill('SIGUSR2')
    await until(async () => (await lostLines(serving)) > before, 'a line is lost')
  }
  limit('unlimited')
  serving.child.kill('SIGUSR2')
  await until(() => readFileSync(log, 'utf8').includes('log.lines_lost'), 'the loss is reported')
  const reported = readFileSync(log, 'utf8')
    .split('\n')
    .find((line) => line.includes('log.lines_lost'))
  const { level, lines }: Record<'level' | 'lines', unknown> = JSON.parse(reported ?? '')
  assert.deepEqual([level, lines], ['warn', await lostLines(serving)])
  await stop(serving)
})

test('a full stdout unwires what writes there, and ends no call', async (t) => {
  const volume = smallVolume(t, 1)
  if (volume === null) return
  const config = { decision_log: { sinks: [{ type: 'stdout' }] } }
  const stdout = join(volume.folder, 'out')
  const serving = await serve(t, { stdout, stderr: join(outputFolder(t), 'log'), config })
  volume.fill()
  // The last page of the file has room for a few entries.
  for (let isWired = true, count = 0; isWired; count += 1) {
    assert.equal(await authorize(serving, `merge-${count}`), 200)
    isWired = !/^preflight_sink_wired\{sink="decisions-stdout"\} 0$/m.test(await metricsOf(serving))
    assert.ok(count < 100, 'the sink is not down')
  }
  assert.equal(await authorize(serving, 'after'), 200)
  assert.equal((await fetch(`${serving.admin}/livez`)).status, 200)
  await stop(serving)
})

/** Runs the program in a terminal and shows what it writes there; a line closes the terminal. Writes its pid and exit code. */
const IN_TERMINAL = `
import os, pty, select, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
print(pid, flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    if select.select([terminal], [], [], 0.05)[0]:
        os.write(1, os.read(terminal, 65536))
os.close(terminal)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
`

test('closing the terminal that it runs in stops it, and SIGHUP from elsewhere reloads', async (t) => {
  if (!hasProgram(t, 'python3')) return
  const folder = outputFolder(t)
  mkdirSync(join(folder, 'state'))
  const log = join(folder, 'log')
  // Stdout is the terminal. Stderr is a file, so that the test can read it.
  const shell = ['/bin/sh', '-c', 'exec "$0" "$@" 2>"$LOG"', process.execPath, PREFLIGHT, 'serve']
  const terminal = spawn('python3', ['-c', IN_TERMINAL, ...shell], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...environmentIn(folder), LOG: log },
  })
  let shown = ''
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text))
  const pid = (): number => Number(shown.split('\n')[0])
  t.after(() => {
    terminal.kill('SIGKILL')
    if (pid() > 0 && terminal.exitCode === null) process.kill(pid(), 'SIGKILL')
  })
  const logged = (event: string): boolean => readFileSync(log, 'utf8').includes(event)
  await until(() => shown.includes('Ctrl-C stops it.'), 'it serves', 60_000)
  process.kill(pid(), 'SIGHUP')
  await until(() => logged('keys.reloaded'), 'it reloads')
  assert.ok(!logged('gateway.stopping'))
  terminal.stdin.write('\n')
  await once(terminal, 'exit')
  assert.match(shown, /\n0\n$/)
  assert.ok(logged('"signal":"SIGHUP"'))
})
