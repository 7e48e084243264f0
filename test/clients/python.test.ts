/** The HTTP clients of Python programs, configured by proxy settings and a certificate bundle: judged, blocked, and switched to WebSocket. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { WebSocketServer } from 'ws'
import type { Decision } from '../../engine/internal.ts'
import { testAuthority } from '../fakes/certificates.ts'
import { petContract } from '../fakes/http-upstream.ts'
import { hasProgram, runProgram } from '../fakes/programs.ts'
import { startProxy, type ProxyUnderTest } from '../fakes/proxy-under-test.ts'

/** Debian's own, for which the libraries are packaged. */
const PYTHON = '/usr/bin/python3'

interface Scene {
  readonly proxy: ProxyUnderTest
  /** `https://localhost:PORT` */
  readonly origin: string
  /** Variables that name the proxy and the bundle. */
  readonly environment: Readonly<Record<string, string>>
  readonly seen: readonly string[]
}

async function scene(t: TestContext, decision: Decision = 'ALLOW'): Promise<Scene> {
  const trusted = await testAuthority()
  const seen: string[] = []
  const server = createServer(await trusted.leaf('localhost'), (request, response) => {
    seen.push(request.url ?? '')
    response.setHeader('content-type', 'application/json')
    request.on('end', () => response.end('{"pets":[]}')).resume()
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket) => socket.on('message', (bytes) => socket.send(bytes, { binary: false })))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const route = {
    name: 'pets',
    match: { host: 'localhost', path: '/v1' },
    protocol: 'http',
    contract: { current: { file: petContract() } },
    tls: { upstream_ca: trusted.file },
    upgrade: 'allow',
  }
  const egress = { allow: [`localhost:${port}`, '127.0.0.0/8', '::1'] }
  const proxy = await startProxy({ routes: [route], config: { egress }, decide: () => decision })
  const directory = mkdtempSync(join(tmpdir(), 'preflight-python-'))
  const bundle = join(directory, 'ca.pem')
  writeFileSync(bundle, await proxy.authorities.bundle())
  t.after(async () => {
    await proxy.close()
    for (const socket of sockets.clients) socket.terminate()
    server.closeAllConnections()
    server.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const environment = { HTTPS_PROXY: proxy.url, SSL_CERT_FILE: bundle, REQUESTS_CA_BUNDLE: bundle }
  return { proxy, origin: `https://localhost:${port}`, environment, seen }
}

/** Each prints the status, what was decided, and of a refusal its message. */
const CLIENTS: Readonly<Record<string, string>> = {
  requests: `
import sys, requests
r = requests.get(sys.argv[1])
print(r.status_code, r.headers["preflight-action"], r.json().get("message"))`,
  httpx: `
import sys, httpx
with httpx.Client() as client:
    r = client.get(sys.argv[1])
    print(r.status_code, r.headers["preflight-action"], r.json().get("message"))`,
  aiohttp: `
import sys, asyncio, aiohttp
async def main():
    async with aiohttp.ClientSession(trust_env=True) as session:
        async with session.get(sys.argv[1]) as r:
            print(r.status, r.headers["preflight-action"], (await r.json()).get("message"))
asyncio.run(main())`,
}

for (const [library, script] of Object.entries(CLIENTS)) {
  test(`${library} of Python is judged, and reads why it is stopped`, async (t) => {
    if (!hasProgram(t, PYTHON, '-c', `import ${library}`)) return
    for (const [decision, text] of [
      ['ALLOW', /^200 CONTINUE None$/],
      ['BLOCK', /^403 STOP Preflight stopped GET \/pets: /],
    ] as const) {
      const { proxy, origin, environment, seen } = await scene(t, decision)
      const { stdout, stderr } = await runProgram(PYTHON, ['-c', script, `${origin}/v1/pets`], environment)
      assert.match(stdout.trim(), text, stderr)
      assert.equal(proxy.interceptions.length, 1)
      assert.equal(seen.length, decision === 'ALLOW' ? 1 : 0)
    }
  })
}

/** The library has no word for proxies: it takes a connection that is there. */
const WEBSOCKETS = `
import sys, os, asyncio, ssl, http.client, urllib.parse as p, websockets
async def main():
    proxy, url = p.urlparse(os.environ["HTTPS_PROXY"]), p.urlparse(sys.argv[1])
    tunnel = http.client.HTTPConnection(proxy.hostname, proxy.port)
    tunnel.set_tunnel(url.hostname, url.port)
    tunnel.connect()
    context = ssl.create_default_context()
    async with websockets.connect(sys.argv[1], sock=tunnel.sock, ssl=context, server_hostname=url.hostname) as socket:
        await socket.send("hello")
        print(await socket.recv())
asyncio.run(main())`

test('websockets of Python through CONNECT: the switch is judged, then frames go both ways', async (t) => {
  if (!hasProgram(t, PYTHON, '-c', 'import websockets')) return
  const { proxy, origin, environment } = await scene(t)
  const url = `${origin.replace('https', 'wss')}/v1/pets`
  const { stdout, stderr } = await runProgram(PYTHON, ['-c', WEBSOCKETS, url], environment)
  assert.equal(stdout, 'hello\n', stderr)
  assert.equal(proxy.interceptions[0]?.action, 'GET /pets')
})
