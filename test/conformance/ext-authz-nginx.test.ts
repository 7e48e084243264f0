/** A real proxy that asks: nginx with auth_request, as its documentation has it. What it lets through carries the receipt; what it does not never arrives. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { breakListing, startPetRoute } from '../fakes/pet-route.ts'
import { exchangeBytes, statusByHttp2, statusOf } from '../fakes/raw-http.ts'
import { until } from '../fakes/until.ts'
import { freePort } from '../fakes/listening.ts'
import { blockBelow } from '../docs/page.ts'

const NGINX = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx'].find((path) => existsSync(path))
const isDemanded = process.env['CI'] === 'true'

test('nginx lets through what the gateway allows, with its receipt, and nothing else', async (t) => {
  if (NGINX === undefined) {
    assert.ok(!isDemanded, 'nginx is to be installed in CI: .ci/run does')
    return t.skip('nginx is not installed')
  }
  const scene = await startPetRoute(t)
  const upstream = scene.upstream.origin
  const { front, http2 } = await startNginx(t, NGINX, scene.gateway.addresses.api, upstream)

  scene.upstream.requests.length = 0
  const good = await fetch(`${front}/pets?limit=1`, { headers: { 'preflight-receipt': 'forged' } })
  assert.equal(good.status, 200)
  const [arrived] = scene.upstream.requests
  assert.equal(arrived?.url, '/pets?limit=1')
  assert.match(String(arrived?.headers['preflight-receipt']), /^[\w-]+\.[\w-]+\.[\w-]+$/)

  // What a client writes in the name of the gateway, or to choose another path, does not arrive.
  const disguised = await fetch(`${front}/pets?limit=2`, { headers: FORGED })
  assert.equal(disguised.status, 200)
  const [, plain] = scene.upstream.requests
  for (const name of Object.keys(FORGED)) assert.equal(plain?.headers[name], undefined, name)
  // A body that nginx leaves out of its question is known all the same, framed either way.
  for (const framed of ['Content-Length: 2\r\n\r\nhi', 'Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n'])
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      const bytes = `${method} /pets?limit=3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${framed}`
      assert.notEqual(statusOf(await exchangeBytes(front, bytes)), 200, `${method} ${framed}`)
    }
  scene.upstream.requests.splice(2)
  // In HTTP/2 nothing announces a body, so the server does not get it.
  for (const method of ['GET', 'HEAD', 'OPTIONS'])
    for (const body of ['hi', '']) assert.equal(await statusByHttp2(http2, method, body), 200, `${method} "${body}"`)
  const unannounced = scene.upstream.requests.splice(2)
  assert.deepEqual(
    unannounced.map(({ body }) => body),
    ['', '', '', '', '', ''],
  )
  const other = await fetch(`${front}/pets?limit=4`, { headers: { 'preflight-action': 'CONTINUE' } })
  assert.equal(other.ok, false, 'a field that nginx does not take off is refused')
  scene.upstream.requests.splice(1)

  scene.change(breakListing)
  assert.equal((await fetch(`${front}/pets`)).status, 403)
  // Whatever else is no 2xx is an error to nginx, and no yes.
  assert.equal((await fetch(`${front}/pets/%2e%2e/x`)).ok, false)
  const { gateway } = scene
  await gateway.close()
  assert.equal((await fetch(`${front}/pets`)).ok, false)
  assert.equal(scene.upstream.requests.length, 1)
})

const FORGED = { 'preflight-decision': 'forged', 'x-original-url': '/admin', 'x-rewrite-url': '/admin' }

interface Front {
  readonly front: string
  readonly http2: string
}

async function startNginx(t: TestContext, nginx: string, api: string, upstream: string): Promise<Front> {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-nginx-'))
  const [port, http2Port] = [await freePort(), await freePort()]
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(directory, name)};`,
  )
  const shown = blockBelow('ext-authz.md', 'nginx')
    .replaceAll('http://preflight:15081', api)
    .replaceAll('http://shop.internal', upstream)
  writeFileSync(
    join(directory, 'nginx.conf'),
    `daemon off; pid ${join(directory, 'pid')}; error_log ${join(directory, 'error.log')}; events {}
     http {
       access_log off; ${places.join(' ')}
       server {
         listen 127.0.0.1:${port};
         listen 127.0.0.1:${http2Port} http2;
         ${shown}
       }
     }`,
  )
  const child = spawn(nginx, ['-c', join(directory, 'nginx.conf'), '-p', directory, '-e', join(directory, 'early.log')])
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()))
  t.after(async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(directory, { recursive: true, force: true })
  })
  const front = `http://127.0.0.1:${port}`
  await until(
    () =>
      fetch(front).then(
        () => true,
        () => false,
      ),
    'nginx answers',
  )
  return { front, http2: `http://127.0.0.1:${http2Port}` }
}
