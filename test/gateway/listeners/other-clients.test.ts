/** Third-party clients, configured only by their proxy settings and the certificate of the gateway. */
import assert from 'node:assert/strict'
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createServer } from 'node:tls'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { EnvHttpProxyAgent, fetch as fetchWith, getGlobalDispatcher, ProxyAgent, setGlobalDispatcher } from 'undici'
import { startAgent } from '../../fakes/agent.ts'
import { testAuthority } from '../../fakes/certificates.ts'
import { petContract } from '../../fakes/http-upstream.ts'
import { startMcpUpstream } from '../../fakes/mcp-upstream.ts'
import { startProxy, type ProxyUnderTest } from '../../fakes/proxy-under-test.ts'
import { startHttps, type HttpsUpstream } from '../../fakes/through-proxy.ts'

const PAGE = '<title>pets</title>good'

interface Scene {
  readonly proxy: ProxyUnderTest
  readonly upstream: HttpsUpstream
  /** A path of the contract, on the host of the route. */
  readonly url: string
  /** File of the certificate that clients are to trust. */
  readonly bundle: string
  readonly directory: string
}

/** @param read what is served besides the pets; throws for what is not there */
async function scene(t: TestContext, read: (path: string) => Buffer = missing): Promise<Scene> {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-strangers-'))
  const trusted = await testAuthority()
  const upstream = await startHttps(trusted, 'localhost', (request, response) => {
    const [path = ''] = (request.url ?? '').split('?')
    if (path === '/v1/pets') {
      response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE)
      return
    }
    try {
      response.end(read(path))
    } catch {
      response.writeHead(404).end()
    }
  })
  const route = {
    name: 'pets',
    match: { host: 'localhost', path: '/v1' },
    protocol: 'http',
    contract: { current: { file: petContract() } },
    tls: { upstream_ca: trusted.file },
  }
  const egress = { allow: [`localhost:${upstream.port}`, '127.0.0.0/8', '::1'] }
  const proxy = await startProxy({ routes: [route], config: { egress } })
  const bundle = join(directory, 'ca.pem')
  writeFileSync(bundle, await proxy.authorities.bundle())
  t.after(async () => {
    await proxy.close()
    await upstream.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return { proxy, upstream, bundle, directory, url: `https://localhost:${upstream.port}/v1/pets` }
}

function missing(path: string): never {
  throw new Error(`${path} is not there`)
}

/** False: the test is skipped. Under CI the program has to be there. */
function has(t: TestContext, program: string): boolean {
  if (spawnSync(program, ['--version']).error === undefined) return true
  assert.notEqual(process.env['CI'], 'true', `${program} is missing; .ci/run installs it`)
  t.skip(`${program} is not installed`)
  return false
}

async function run(program: string, argv: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { PATH = '' } = process.env
  const ran = await promisify(execFile)(program, [...argv], { env: { PATH, ...env }, timeout: 60_000 })
  return ran.stdout
}

function assertJudged({ proxy, upstream }: Scene): void {
  assert.equal(proxy.interceptions.filter(({ route }) => route === 'pets').length, 1)
  assert.equal(upstream.requests.at(-1)?.headers['preflight-receipt'], 'header.dec_1.signature')
}

test('curl with -x and --cacert', async (t) => {
  if (!has(t, 'curl')) return
  const place = await scene(t)
  const { proxy, bundle, url } = place
  const answer = await run('curl', ['-sS', '-i', '-x', proxy.url, '--cacert', bundle, url], {})
  assert.match(answer, /HTTP\/[\d.]+ 200[^]*preflight-action: CONTINUE[^]*good$/i)
  assertJudged(place)
})

test('curl that does not trust the authority gets a TLS error, and nothing is forwarded', async (t) => {
  if (!has(t, 'curl')) return
  const { proxy, upstream, url } = await scene(t)
  await assert.rejects(run('curl', ['-sS', '-x', proxy.url, url], {}), /certificate/)
  assert.equal(upstream.requests.length, 0)
})

test('fetch of Node.js with HTTPS_PROXY and NODE_EXTRA_CA_CERTS', async (t) => {
  const place = await scene(t)
  const script = `const a = await fetch(${JSON.stringify(place.url)}); console.log(a.status, a.headers.get('preflight-action'), await a.text())`
  const environment = { NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: place.proxy.url, NODE_EXTRA_CA_CERTS: place.bundle }
  const answer = await run(process.execPath, ['--input-type=module', '-e', script], environment)
  assert.match(answer, /^200 CONTINUE .*good/)
  assertJudged(place)
})

test('undici by its environment agent', async (t) => {
  const place = await scene(t)
  const requestTls = { ca: readFileSync(place.bundle, 'utf8') }
  const agent = new EnvHttpProxyAgent({ httpsProxy: place.proxy.url, noProxy: '', requestTls })
  t.after(() => agent.close())
  const answer = await fetchWith(place.url, { dispatcher: agent })
  assert.equal(answer.headers.get('preflight-action'), 'CONTINUE')
  assertJudged(place)
})

const PYTHON: Readonly<Record<string, string>> = {
  'urllib.request':
    'import sys, urllib.request as u; r = u.urlopen(sys.argv[1]); print(r.status, r.headers["preflight-action"])',
  'http.client': [
    'import sys, os, ssl, http.client, urllib.parse as p',
    'proxy, url = p.urlparse(os.environ["HTTPS_PROXY"]), p.urlparse(sys.argv[1])',
    'c = http.client.HTTPSConnection(proxy.hostname, proxy.port, context=ssl.create_default_context())',
    'c.set_tunnel(url.hostname, url.port); c.request("GET", url.path); r = c.getresponse()',
    'print(r.status, r.headers["preflight-action"])',
  ].join('\n'),
}

for (const [library, script] of Object.entries(PYTHON)) {
  test(`${library} of Python with HTTPS_PROXY and SSL_CERT_FILE`, async (t) => {
    if (!has(t, 'python3')) return
    const place = await scene(t)
    const environment = { HTTPS_PROXY: place.proxy.url, SSL_CERT_FILE: place.bundle }
    assert.equal((await run('python3', ['-c', script, place.url], environment)).trim(), '200 CONTINUE')
    assertJudged(place)
  })
}

test('git clones over https through it, unjudged where no route names the path', async (t) => {
  if (!has(t, 'git')) return
  const source = mkdtempSync(join(tmpdir(), 'preflight-git-'))
  t.after(() => rmSync(source, { recursive: true, force: true }))
  const git = (...argv: string[]): void =>
    void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...argv], {
      cwd: source,
      stdio: 'ignore',
    })
  git('init', '--initial-branch=main')
  writeFileSync(join(source, 'file'), 'content')
  git('add', 'file')
  git('commit', '-m', 'first')
  git('update-server-info')
  // What git calls the dumb protocol: the files of the repository, as they are.
  const place = await scene(t, (path) => readFileSync(join(source, '.git', path.replace('/repo.git', ''))))
  const target = join(place.directory, 'clone')
  await run('git', ['clone', '--quiet', `https://localhost:${place.upstream.port}/repo.git`, target], {
    HOME: place.directory,
    HTTPS_PROXY: place.proxy.url,
    GIT_SSL_CAINFO: place.bundle,
  })
  assert.equal(readFileSync(join(target, 'file'), 'utf8'), 'content')
  assert.match(await place.proxy.metrics.text(), /preflight_calls_total\{route="egress",outcome="passed"\} \d/)
})

test('Chromium through the proxy, with the authority in its own store', async (t) => {
  if (!has(t, '/usr/bin/chromium') || !has(t, 'certutil')) return
  const place = await scene(t)
  const store = join(place.directory, '.pki', 'nssdb')
  mkdirSync(store, { recursive: true })
  execFileSync('certutil', ['-d', `sql:${store}`, '-N', '--empty-password'])
  execFileSync('certutil', ['-d', `sql:${store}`, '-A', '-t', 'C,,', '-n', 'preflight', '-i', place.bundle])
  const { PATH = '' } = process.env
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
    env: { PATH, HOME: place.directory },
    proxy: { server: place.proxy.url, bypass: '<-loopback>' },
  })
  t.after(() => browser.close())
  const page = await browser.newPage()
  const answer = await page.goto(place.url)
  assert.equal(answer?.headers()['preflight-action'], 'CONTINUE')
  assert.equal(await page.title(), 'pets')
  assert.ok(place.proxy.interceptions.some(({ route }) => route === 'pets'))
})

test('an MCP client of the official SDK calls an https server through CONNECT, and is judged per tool', async (t) => {
  const mcp = await startMcpUpstream()
  const trusted = await testAuthority()
  const { port: mcpPort } = new URL(mcp.url)
  const front = createServer(await trusted.leaf('localhost'), (socket) => {
    const back = connect(Number(mcpPort), '127.0.0.1')
    socket.on('error', () => back.destroy()).on('close', () => back.destroy())
    back.on('error', () => socket.destroy()).on('close', () => socket.destroy())
    socket.pipe(back).pipe(socket)
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  const address = front.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const gateway = await startProxy({
    routes: [
      {
        name: 'tools',
        match: { host: 'localhost', path: '/mcp' },
        protocol: 'mcp',
        tls: { upstream_ca: trusted.file },
      },
    ],
    decide: ({ scope }) => (scope !== null && 'tool' in scope && scope.tool === 'add' ? 'BLOCK' : 'ALLOW'),
    config: { egress: { allow: ['127.0.0.0/8', '::1'] } },
  })
  const proxy = new ProxyAgent({ uri: gateway.url, requestTls: { ca: await gateway.authorities.bundle() } })
  const direct = getGlobalDispatcher()
  setGlobalDispatcher(proxy)
  t.after(() => setGlobalDispatcher(direct))
  const agent = await startAgent(`https://localhost:${port}/mcp`)
  t.after(async () => {
    await agent.close()
    await proxy.close()
    await gateway.close()
    front.close()
    await mcp.close()
  })
  const allowed = await agent.client.callTool({ name: 'echo', arguments: { text: 'hi' } })
  assert.notEqual(allowed.isError, true)
  const stopped = await agent.client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })
  assert.equal(stopped.isError, true)
  assert.deepEqual(
    mcp.calls.map(({ tool }) => tool),
    ['echo'],
  )
  assert.ok(mcp.calls[0]?.headers['preflight-receipt'])
})
