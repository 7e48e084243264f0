/** The SDKs of model providers at their own addresses, configured for the gateway by proxy settings and a certificate only. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { testAuthority } from '../fakes/certificates.ts'
import { bedrockClient, type FunctionTool } from '../fakes/model-clients.ts'
import { answerModelCall, TEXTS, startModelProvider } from '../fakes/model-provider.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'
import { openConnect, startTls } from '../fakes/through-proxy.ts'

const AGENT = fileURLToPath(new URL('../fakes/model-agent.ts', import.meta.url))

/** By the names of MODEL_CLIENTS. */
const HOSTS: Readonly<Record<string, string>> = {
  'openai (chat completions)': 'api.openai.com',
  'openai (responses)': 'api.openai.com',
  '@anthropic-ai/sdk': 'api.anthropic.com',
  '@google/genai': 'generativelanguage.googleapis.com',
  ollama: 'ollama.com',
}

test('HTTPS_PROXY and NODE_EXTRA_CA_CERTS are enough: every call is judged at the host that it names', async (t) => {
  const provider = await startModelProvider()
  provider.release()
  const hosts = [...new Set(Object.values(HOSTS))]
  const routes = hosts.map((host) => {
    const name = host.replaceAll('.', '-')
    return { name, match: { host }, upstream: provider.origin, protocol: 'llm' }
  })
  const proxy = await startProxy({ routes })
  const directory = mkdtempSync(join(tmpdir(), 'preflight-models-'))
  t.after(async () => {
    await proxy.close()
    await provider.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const bundle = join(directory, 'ca.pem')
  writeFileSync(bundle, await proxy.authorities.bundle())
  const { PATH = '' } = process.env
  const environment = { PATH, NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: bundle }
  const asked = Object.entries(HOSTS).map(([name, host]) => `${name}=https://${host}`)
  const argv = ['--disable-warning=ExperimentalWarning', AGENT, ...asked]
  const { stdout } = await promisify(execFile)(process.execPath, argv, { env: environment, timeout: 60_000 })
  const text: unknown = JSON.parse(stdout)
  assert.deepEqual(text, Object.fromEntries(Object.keys(HOSTS).map((name) => [name, [TEXTS.join(''), ...TEXTS]])))
  assert.deepEqual(
    [...new Set(proxy.interceptions.map(({ route }) => route))],
    routes.map(({ name }) => name),
  )
  assert.equal(proxy.interceptions.length, 2 * asked.length)
})

const TOOLS: readonly FunctionTool[] = [{ name: 'list', description: 'Lists.', parameters: ['path'] }]

test('a Bedrock client that signs :authority is carried on by HTTP/2, where its signature can be verified', async (t) => {
  const trusted = await testAuthority()
  const seen: { readonly version: string; readonly signed: string; readonly authority: string }[] = []
  const server = createSecureServer(await trusted.leaf('localhost'), (request, response) => {
    seen.push({
      version: request.httpVersion,
      signed: /SignedHeaders=([^;,]+)/.exec(request.headers.authorization ?? '')?.[1] ?? '',
      authority: request.authority,
    })
    const answer = {
      head: (status: number, fields: Readonly<Record<string, string>>) => void response.writeHead(status, fields),
      write: (piece: string | Buffer) => void response.write(piece),
      end: (piece: string | Buffer) => void response.end(piece),
    }
    void text(request).then((body) => answerModelCall(request.url, body, answer, Promise.resolve()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const proxy = await startProxy({
    routes: [{ name: 'bedrock', match: { host: 'localhost' }, protocol: 'llm', tls: { upstream_ca: trusted.file } }],
    config: { egress: { allow: ['127.0.0.0/8', '::1'] } },
  })
  const ca = await proxy.authorities.bundle()
  const connection = async () => {
    const { socket } = await openConnect(proxy.url, `localhost:${port}`)
    return startTls(socket, { ca, servername: 'localhost', ALPNProtocols: ['h2'] })
  }
  const sockets = [await connection(), await connection()]
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    await proxy.close()
    server.close()
  })
  const opened = [...sockets]
  const client = bedrockClient({
    endpoint: `https://localhost:${port}`,
    requestHandler: { nodeHttp2ConnectOptions: { createConnection: () => opened.shift() } },
  })
  assert.equal(await client.ask(TOOLS), TEXTS.join(''))
  const pieces: string[] = []
  for await (const piece of client.stream(TOOLS)) if (piece !== '') pieces.push(piece)
  assert.deepEqual(pieces, TEXTS)
  const expected = { version: '2.0', signed: ':authority', authority: `localhost:${port}` }
  assert.deepEqual(seen, [expected, expected])
  assert.deepEqual(
    proxy.interceptions.map(({ route, effect }) => [route, effect]),
    [
      ['bedrock', 'forwarded'],
      ['bedrock', 'forwarded'],
    ],
  )
})
