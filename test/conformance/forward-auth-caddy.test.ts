/** Caddy with forward_auth, as its documentation has it: always a GET of one address, whatever the request is that is meant. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { breakListing, startPetRoute } from '../fakes/pet-route.ts'
import { hasProgram } from '../fakes/programs.ts'
import { exchangeBytes, statusByHttp2, statusOf } from '../fakes/raw-http.ts'
import { until } from '../fakes/until.ts'
import { freePort } from '../fakes/listening.ts'
import { blockBelow } from '../docs/page.ts'

async function startCaddy(t: TestContext, api: string, upstream: string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-caddy-'))
  const port = await freePort()
  const file = join(directory, 'Caddyfile')
  const shown = blockBelow('ext-authz.md', 'Caddy')
    .replace('example.com', `http://127.0.0.1:${port}`)
    .replace('preflight:15081', new URL(api).host)
    .replace('shop.internal', new URL(upstream).host)
  writeFileSync(
    file,
    `{
       admin off
       auto_https off
       servers {
         protocols h1 h2c
       }
     }
     ${shown}`,
  )
  const { PATH = '' } = process.env
  const child = spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
    stdio: 'ignore',
    env: { PATH, HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory },
  })
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()))
  t.after(async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(directory, { recursive: true, force: true })
  })
  const front = `http://127.0.0.1:${port}`
  await until(async () => (await fetch(front).catch(() => null)) !== null, 'Caddy answers')
  return front
}

test('Caddy lets through what the gateway allows, with its receipt, and shows its refusals as they are', async (t) => {
  if (!hasProgram(t, 'caddy', 'version')) return
  const scene = await startPetRoute(t)
  const { gateway, upstream } = scene
  const front = await startCaddy(t, gateway.addresses.api, upstream.origin)
  upstream.requests.length = 0

  const good = await fetch(`${front}/pets?limit=1`, { headers: { 'preflight-receipt': 'forged' } })
  assert.equal(good.status, 200)
  const [arrived] = upstream.requests
  assert.equal(arrived?.url, '/pets?limit=1')
  assert.match(String(arrived?.headers['preflight-receipt']), /^[\w-]+\.[\w-]+\.[\w-]+$/)

  // What a client writes in the name of the gateway, or to choose another path, does not arrive.
  const disguised = { 'preflight-decision': 'forged', 'x-original-url': '/admin', 'x-rewrite-url': '/admin' }
  assert.equal((await fetch(`${front}/pets?limit=2`, { headers: disguised })).status, 200)
  for (const name of Object.keys(disguised)) assert.equal(upstream.requests[1]?.headers[name], undefined, name)
  for (const framed of ['Content-Length: 2\r\n\r\nhi', 'Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n'])
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      const bytes = `${method} /pets?limit=3 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n${framed}`
      assert.equal(statusOf(await exchangeBytes(front, bytes)), 400, `${method} ${framed}`)
      assert.equal(await statusByHttp2(front, method, 'hi'), 400, method)
    }
  assert.equal(await statusByHttp2(front, 'GET', ''), 200)
  assert.equal(await statusByHttp2(front, 'POST', 'a long body'), 200)
  assert.equal(upstream.requests.at(-1)?.body, 'a long body')
  upstream.requests.splice(2)
  const other = await fetch(`${front}/pets?limit=4`, { headers: { 'preflight-action': 'CONTINUE' } })
  assert.equal(other.status, 400, 'a field that Caddy does not take off is refused')
  upstream.requests.splice(1)

  scene.change(breakListing)
  // What a client writes itself is replaced: the listing is what is asked for, and judged.
  const forged = { 'x-forwarded-method': 'POST', 'x-forwarded-uri': '/pets/1', 'x-forwarded-host': 'other.example' }
  for (const headers of [{}, forged]) {
    const stopped = await fetch(`${front}/pets`, { headers })
    assert.equal(stopped.status, 403)
    assert.match(await stopped.text(), /Preflight stopped GET \/pets/)
  }
  // Another operation under the same path is judged as what it is.
  assert.equal((await fetch(`${front}/pets`, { method: 'POST' })).status, 200)
  assert.equal((await fetch(`${front}/pets/%2e%2e/x`)).ok, false)
  assert.deepEqual(
    upstream.requests.map(({ method }) => method),
    ['GET', 'POST'],
  )
})

test('where the gateway adds no receipt, neither the text of a placeholder nor what a client wrote arrives in its place', async (t) => {
  if (!hasProgram(t, 'caddy', 'version')) return
  const { gateway, upstream } = await startPetRoute(t, { receipts: { attach: false } })
  const front = await startCaddy(t, gateway.addresses.api, upstream.origin)
  for (const headers of [{}, { 'preflight-issued': 'a.b.c' }, { 'preflight-receipt': 'a.b.c' }]) {
    upstream.requests.length = 0
    assert.equal((await fetch(`${front}/pets`, { headers })).status, 200)
    const [arrived] = upstream.requests
    assert.deepEqual(
      Object.entries(arrived?.headers ?? {}).filter(([name]) => name.startsWith('preflight-')),
      [],
    )
    assert.match(String(arrived?.headers['x-correlation-id']), /^[\w.:-]+$/)
  }
})

for (const [what, path, headers, status] of [
  ['fields of the other form under /authz/', '/authz/pets', { 'x-forwarded-method': 'GET' }, 400],
  ['no method', '/forward-auth', { 'x-forwarded-uri': '/pets', 'x-forwarded-host': 'a' }, 400],
  ['a target that is not a path', '/forward-auth', { 'x-forwarded-method': 'GET', 'x-forwarded-uri': '*' }, 400],
  ['neither target nor host', '/forward-auth?a=b', { 'x-forwarded-method': 'GET' }, 400],
] as const) {
  test(`a question that does not say which request is meant is not a yes: ${what}`, async (t) => {
    const { gateway } = await startPetRoute(t)
    const answer = await fetch(gateway.addresses.api + path, { headers })
    assert.equal(answer.status, status)
  })
}
