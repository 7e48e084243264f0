/** HTTP/2 by the clients of nghttp2 and by curl: plaintext and inside CONNECT, with padding, trailers and many concurrent streams. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { testAuthority } from '../fakes/certificates.ts'
import { petContract, startHttpUpstream } from '../fakes/http-upstream.ts'
import { hasProgram, runProgram } from '../fakes/programs.ts'
import { startProxy, type ProxyUnderTest } from '../fakes/proxy-under-test.ts'
import { startHttps } from '../fakes/through-proxy.ts'

interface Scene {
  readonly proxy: ProxyUnderTest
  readonly directory: string
  readonly bodies: () => readonly string[]
}

async function scene(t: TestContext): Promise<Scene> {
  const upstream = await startHttpUpstream((_request, response) => response.end('good'))
  const contract = { current: { file: petContract() } }
  const proxy = await startProxy({
    routes: [{ name: 'pets', match: { path: '/' }, upstream: upstream.origin, protocol: 'http', contract }],
  })
  const directory = mkdtempSync(join(tmpdir(), 'preflight-http2-'))
  t.after(async () => {
    await proxy.close()
    await upstream.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return { proxy, directory, bodies: () => upstream.requests.map(({ body }) => body) }
}

test('nghttp in plaintext: padded frames, and a body of stated length with trailers', async (t) => {
  if (!hasProgram(t, 'nghttp')) return
  const { proxy, directory, bodies } = await scene(t)
  const file = join(directory, 'body')
  writeFileSync(file, 'x'.repeat(200_000))
  const listed = await runProgram('nghttp', ['-v', '-b', '100', `${proxy.url}/pets`])
  assert.match(listed.stdout, /:status: 200[^]*preflight-action: CONTINUE/, listed.stderr)
  const sent = await runProgram('nghttp', ['-v', '-d', file, '--trailer', 'x-sum: 1', `${proxy.url}/pets`])
  assert.match(sent.stdout, /:status: 200/, sent.stderr)
  assert.deepEqual(
    bodies().map((body) => body.length),
    [0, 200_000],
  )
  assert.deepEqual(
    proxy.interceptions.map(({ action }) => action),
    ['GET /pets', 'POST /pets'],
  )
})

test('h2load: hundreds of streams over a few connections, each answered', async (t) => {
  if (!hasProgram(t, 'h2load')) return
  const { proxy } = await scene(t)
  const { stdout, stderr } = await runProgram('h2load', ['-n', '400', '-c', '4', '-m', '50', `${proxy.url}/pets`])
  assert.match(stdout, /status codes: 400 2xx, 0 3xx, 0 4xx, 0 5xx/, stderr)
  assert.match(stdout, /400 succeeded, 0 failed, 0 errored, 0 timeout/)
})

test('curl by prior knowledge and inside CONNECT speaks HTTP/2, and shows a refusal', async (t) => {
  if (!hasProgram(t, 'curl')) return
  const reported = ['-sS', '-w', '\n%{http_version} %{response_code} %header{preflight-action}']
  const { proxy } = await scene(t)
  const open = await runProgram('curl', [...reported, '--http2-prior-knowledge', `${proxy.url}/pets`])
  assert.equal(open.stdout, 'good\n2 200 CONTINUE', open.stderr)

  const trusted = await testAuthority()
  const upstream = await startHttps(trusted, 'localhost', (_request, response) => void response.end('good'))
  const stopping = await startProxy({
    routes: [
      {
        name: 'pets',
        match: { host: 'localhost', path: '/v1' },
        protocol: 'http',
        contract: { current: { file: petContract() } },
        tls: { upstream_ca: trusted.file },
      },
    ],
    config: { egress: { allow: ['127.0.0.0/8', '::1'] } },
    decide: ({ context }) => (context.target_id === 'pets/POST /pets' ? 'BLOCK' : 'ALLOW'),
  })
  const directory = mkdtempSync(join(tmpdir(), 'preflight-curl-'))
  t.after(async () => {
    await stopping.close()
    await upstream.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const bundle = join(directory, 'ca.pem')
  writeFileSync(bundle, await stopping.authorities.bundle())
  const through = [...reported, '--http2', '-x', stopping.url, '--cacert', bundle]
  const url = `https://localhost:${upstream.port}/v1/pets`
  const listed = await runProgram('curl', [...through, url])
  assert.equal(listed.stdout, 'good\n2 200 CONTINUE', listed.stderr)
  const refused = await runProgram('curl', [...through, '-d', '{}', url])
  assert.match(refused.stdout, /"message":"Preflight stopped POST \/pets[^]*\n2 403 STOP$/, refused.stderr)
  assert.equal(upstream.requests.length, 1)
})
