/** A gateway with routes loads what judges calls before the first call, and is not ready until it has; one without routes stays small. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import { createWarmUp } from '../../gateway/enforce/warm-up.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'
import { FREE_PORTS, startTestGateway } from '../fakes/gateway.ts'
import { until } from '../fakes/until.ts'

const COMMAND = join(import.meta.dirname, '../../gateway/preflight.js')
const ROUTE = { name: 'tools', match: { path: '/tools' }, upstream: 'http://127.0.0.1:9/mcp', protocol: 'mcp' }

/** Writes the address of every module that is loaded, one a line. */
const WITNESS = `
import { registerHooks } from 'node:module'
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
if (isMainThread) registerHooks({ load: (url, context, next) => (appendFileSync(process.env.LOADED_MODULES, url + '\\n'), next(url, context)) })`

async function start(t: TestContext, routes: readonly object[]) {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-warm-'))
  const config = join(folder, 'config.json')
  const list = join(folder, 'modules')
  writeFileSync(config, JSON.stringify({ listen: FREE_PORTS, data_dir: join(folder, 'state'), routes }))
  const witness = `data:text/javascript,${encodeURIComponent(WITNESS)}`
  const child = spawn(process.execPath, ['--import', witness, COMMAND, 'serve', '--config', config], {
    env: { ...process.env, LOADED_MODULES: list },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(async () => {
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
    rmSync(folder, { recursive: true, force: true })
  })
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')).map(String)
  const { admin = '' }: Readonly<Record<string, string>> = JSON.parse(line ?? '')
  const isLoaded = (module: string) => readFileSync(list, 'utf8').includes(module)
  const isReady = async () => (await fetch(`${admin}/readyz`)).status === 200
  return { isLoaded, isReady }
}

test('with routes, what judges is loaded once the gateway is ready, without any call', async (t) => {
  const { isLoaded, isReady } = await start(t, [ROUTE])
  await until(isReady, 'the gateway is ready')
  for (const module of ['/engine/internal.ts', '/gateway/protocols/registry.ts', '/@bufbuild/cel/'])
    assert.ok(isLoaded(module), module)
})

test('without routes, nothing is loaded ahead', async (t) => {
  const { isLoaded, isReady } = await start(t, [])
  await until(isReady, 'the gateway is ready')
  assert.equal(isLoaded('/engine/internal.ts'), false)
})

test('what cannot be loaded ahead leaves the gateway ready, and says so', async (t) => {
  const { settings } = await startTestGateway(t, { routes: [ROUTE] })
  const lines: string[] = []
  const warmUp = createWarmUp({
    settings,
    pipeline: {
      get recognisers(): unknown {
        throw new Error('EMFILE')
      },
    },
    logger: createLogger('info', { write: (line) => void lines.push(line) }),
  })
  const run = warmUp.run()
  assert.equal(warmUp.isRunning(), true)
  await run
  assert.equal(warmUp.isRunning(), false)
  assert.match(lines.join(''), /EMFILE/)
})
