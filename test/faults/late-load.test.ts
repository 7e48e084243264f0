/** What judges is loaded after the start, or with the first call. When both fail, as under too many open files, nothing is let through, and the next call finds it loaded. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import { FREE_PORTS, TEST_KEY } from '../fakes/gateway.ts'
import { startHttpUpstream } from '../fakes/http-upstream.ts'

const COMMAND = join(import.meta.dirname, '../../gateway/preflight.js')

/** The module cannot be read the first times that it is asked for. */
const faultIn = (module: string, times: number): string => `
import { registerHooks } from 'node:module'
let faults = ${times}
registerHooks({
  load(url, context, next) {
    if (faults === 0 || !url.endsWith('${module}')) return next(url, context)
    faults -= 1
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
  },
})`

const CONTRACT = {
  openapi: '3.0.3',
  info: { title: 'shop', version: '1' },
  paths: { '/orders': { post: { responses: { 200: { description: 'taken' } } } } },
}

/** @param module that fails so many times */
async function startFaultyGateway(context: TestContext, module: string, times: number, upstream: string) {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-late-'))
  const contract = join(directory, 'shop.json')
  writeFileSync(contract, JSON.stringify(CONTRACT))
  const route = {
    name: 'shop',
    match: { path: '/shop' },
    upstream,
    protocol: 'http',
    contract: { baseline: { file: contract }, current: { file: contract } },
  }
  const config = join(directory, 'config.json')
  writeFileSync(config, JSON.stringify({ listen: FREE_PORTS, data_dir: join(directory, 'state'), routes: [route] }))
  const fault = `data:text/javascript,${encodeURIComponent(faultIn(module, times))}`
  const child = spawn(process.execPath, ['--import', fault, COMMAND, 'serve', '--config', config], {
    cwd: directory,
    env: { PATH: '/usr/bin:/bin', PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  context.after(async () => {
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
    rmSync(directory, { recursive: true, force: true })
  })
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')).map(String)
  const { api = '', proxy = '' }: Readonly<Record<string, string>> = JSON.parse(line ?? '')
  return { api, proxy }
}

test('a call for which nothing can be loaded to judge it goes nowhere, and the one after it is judged', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
  t.after(() => upstream.close())
  const { proxy } = await startFaultyGateway(t, '/engine/decide/decide.ts', 2, upstream.origin)
  const order = () => fetch(`${proxy}/shop/orders`, { method: 'POST', body: '{}' })

  const refused = await order()
  assert.equal(refused.status, 500)
  assert.match(await refused.text(), /INTERNAL/)
  assert.equal(upstream.requests.length, 0)

  const judged = await order()
  assert.equal(judged.status, 200)
  assert.equal(await judged.text(), '{}')
  assert.equal(upstream.requests.length, 1)
  assert.ok(upstream.requests[0]?.headers['preflight-receipt'], 'it went under a decision')
})

test('a request to the API whose routes cannot be loaded breaks off, and the one after it is answered', async (t) => {
  const { api } = await startFaultyGateway(t, '/gateway/api/serving/routes.ts', 1, 'http://127.0.0.1:9')
  await assert.rejects(fetch(`${api}/openapi.json`))
  const answered = await fetch(`${api}/openapi.json`)
  assert.equal(answered.status, 200)
})
