/** Every folder of examples/, started as its configuration says, with free ports in the place of those that it names. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { startGateway, type Gateway } from '../../gateway/main.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'
import { run } from '../fakes/command-io.ts'
import { devNull, TEST_KEY } from '../fakes/gateway.ts'
import { startGithub } from '../fakes/github-server.ts'
import { openapi } from '../fakes/scm-client.ts'
import { FakeRepository } from '../fakes/scm-repository.ts'
import { SCM_TOKEN } from '../fakes/scm-server.ts'
import { until } from '../fakes/until.ts'
import { at, textAt } from '../json.ts'
import { freePort } from '../fakes/listening.ts'

const EXAMPLES = join(import.meta.dirname, '../../examples')

/** Starts the server of an example. Resolves with its address. */
async function startServer(t: TestContext, program: string, argv: readonly string[] = [], port = 0): Promise<URL> {
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, [join(EXAMPLES, program), ...argv], {
    env: { PATH, PORT: String(port === 0 ? await freePort() : port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const closed = once(child, 'exit')
      child.kill()
      await closed
    }
  })
  const [line]: readonly unknown[] = await once(child.stdout, 'data')
  const [address = ''] = /http:\/\/\S+?(?=,|\s|$)/.exec(String(line)) ?? []
  servers.set(address, () => child.kill())
  return new URL(address)
}

const servers = new Map<string, () => void>()

/** @param replaced addresses of the configuration, and what stands for them */
async function started(
  t: TestContext,
  name: string,
  replaced: Readonly<Record<string, string>>,
): Promise<Gateway & { readonly dataDir: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-example-'))
  cpSync(EXAMPLES, folder, { recursive: true })
  const file = join(folder, name, 'preflight.yaml')
  let text = readFileSync(file, 'utf8')
  for (const [from, to] of Object.entries(replaced)) {
    assert.ok(text.includes(from), `${name} names ${from}`)
    text = text.replaceAll(from, to)
  }
  writeFileSync(file, text)
  const dataDir = join(folder, 'data')
  const listen = Object.fromEntries(['PROXY', 'API', 'ADMIN'].map((one) => [`PREFLIGHT_${one}_LISTEN`, '127.0.0.1:0']))
  const environment = { ...listen, PREFLIGHT_DATA_DIR: dataDir, PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY }
  const logger = createLogger('error', { write: () => {} })
  const gateway = await startGateway({ file, environment }, { output: devNull(), logger })
  t.after(async () => {
    await gateway.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { ...gateway, dataDir }
}

async function callTool(url: string, name: string): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { id: '1' } } }),
  })
  return response.text()
}

test('every example is started here', () => {
  const folders = readdirSync(EXAMPLES, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  assert.deepEqual(folders.map(({ name }) => name).toSorted(), ['approvals', 'egress', 'merges', 'shop', 'tools'])
})

test('tools: a call is refused after its tool changed, and answers after the command of the refusal', async (t) => {
  const server = await startServer(t, 'tools/server.js')
  const gateway = await started(t, 'tools', { 'http://127.0.0.1:3001': server.origin })
  const url = `${gateway.addresses.proxy}/tools`
  assert.match(await callTool(url, 'get_order'), /one lamp/)
  servers.get(server.href)?.()
  await until(
    async () =>
      fetch(server).then(
        () => false,
        () => true,
      ),
    'the server has ended',
  )
  await startServer(t, 'tools/server.js', ['--changed'], Number(server.port))
  const refusal = await callTool(url, 'get_order')
  assert.match(refusal, /"isError":true.*Preflight stopped/)
  assert.match(await callTool(url, 'list_orders'), /orders: 1, 2/)
  // Pasted as it is, where the gateway was started: the gateway says which configuration it has.
  const [, digest = ''] = /`preflight baselines promote tools (sha256:\w+) --comment/.exec(refusal) ?? []
  const environment = { PREFLIGHT_DATA_DIR: gateway.dataDir }
  const accepted = await run(['baselines', 'promote', 'tools', digest, '--comment', 'WHY'], { environment })
  assert.deepEqual([accepted.code, accepted.stdout], [0, `the baseline of tools is ${digest}\n`], accepted.stderr)
  await until(async () => /one lamp/.test(await callTool(url, 'get_order')), 'the call is answered')
})

test('shop: a call of the operation that breaks is refused', async (t) => {
  const server = await startServer(t, 'shop/server.js')
  const gateway = await started(t, 'shop', { 'http://127.0.0.1:3002': server.origin })
  const answer = await fetch(`${gateway.addresses.proxy}/shop/orders`)
  assert.equal(answer.status, 403)
  assert.equal(at(await answer.json(), 'error'), 'PREFLIGHT_STOP')
})

test('egress: a named host is judged, an allowed one is reached, any other is refused', async (t) => {
  const [tools, shop] = [await startServer(t, 'tools/server.js'), await startServer(t, 'shop/server.js')]
  const gateway = await started(t, 'egress', { 'http://127.0.0.1:3001': tools.origin })
  const { hostname, port } = new URL(gateway.addresses.proxy)
  const through = (path: string, body: string | null): Promise<string> =>
    new Promise((resolve, reject) => {
      const headers = { host: new URL(path).host, ...(body !== null && { 'content-type': 'application/json' }) }
      const sent = request({ hostname, port, path, method: body === null ? 'GET' : 'POST', headers }, (answer) => {
        let text = String(answer.statusCode)
        answer.on('data', (chunk: Buffer) => (text += chunk.toString('utf8'))).on('end', () => resolve(text))
      })
      sent.on('error', reject).end(body ?? undefined)
    })
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_orders' } })
  assert.match(await through('http://orders.example/', call), /^200.*orders: 1, 2/)
  assert.match(await through(`${shop.origin}/orders`, null), /^200/)
  assert.match(await through('http://other.example/', null), /EGRESS_DENIED/)
})

test('approvals: a call waits until a person grants it', async (t) => {
  const server = await startServer(t, 'shop/server.js')
  const gateway = await started(t, 'approvals', { 'http://127.0.0.1:3002': server.origin })
  const waiting = fetch(`${gateway.addresses.proxy}/shop/orders`)
  const headers = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' }
  const api = `${gateway.addresses.api}/api/v1/approvals`
  let id = ''
  await until(
    async () => {
      const body: unknown = await (await fetch(api, { headers })).json()
      const first: unknown = at(body, 'items', 0)
      if (first !== undefined) id = textAt(first, 'id')
      return first !== undefined
    },
    'a request for an approval',
    30_000,
  )
  const granted = await fetch(`${api}/${id}/grant`, {
    method: 'POST',
    headers,
    body: '{"comment":"the pattern is fine"}',
  })
  assert.equal(granted.status, 200, await granted.text())
  assert.equal((await waiting).status, 200)
})

test('merges: a pull request that breaks a contract is not merged', async (t) => {
  const repository = new FakeRepository('acme/pets', { 'api/openapi.yaml': openapi('/pets', '/toys') })
  repository.commit('feature', { 'api/openapi.yaml': openapi('/pets') }, 'main')
  repository.open(7, 'feature')
  const github = await startGithub(repository)
  t.after(() => github.close())
  const gateway = await started(t, 'merges', { 'https://api.github.com': github.origin })
  const answer = await fetch(`${gateway.addresses.proxy}/github/repos/acme/pets/pulls/7/merge`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${SCM_TOKEN}`, 'content-type': 'application/json' },
    body: '{}',
  })
  assert.equal(answer.status, 403)
  assert.deepEqual(github.effects, [])
})
