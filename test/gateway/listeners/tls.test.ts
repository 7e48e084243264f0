/** TLS of our own listeners: versions, certificates of clients, files that change while the gateway runs. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { X509Certificate } from 'node:crypto'
import { openSettings } from '../../../gateway/config/live-settings.ts'
import { ConfigError } from '../../../gateway/errors/mistake.ts'
import { createAuthorities } from '../../../gateway/tls/authorities.ts'
import { testAuthority, type TestAuthority } from '../../fakes/certificates.ts'
import { startTestGateway, TEST_KEY } from '../../fakes/gateway.ts'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'
import { until } from '../../fakes/until.ts'

interface Files {
  readonly certificate: string
  readonly key: string
}

function scratch(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-listener-tls-'))
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 9 }))
  return directory
}

async function writeLeaf(authority: TestAuthority, files: Files): Promise<void> {
  const { cert, key } = await authority.leaf('127.0.0.1')
  writeFileSync(files.key, key)
  writeFileSync(files.certificate, cert)
}

async function leafFiles(t: TestContext, authority: TestAuthority): Promise<Files> {
  const directory = scratch(t)
  const files = { certificate: join(directory, 'tls.crt'), key: join(directory, 'tls.key') }
  await writeLeaf(authority, files)
  return files
}

function get(url: string, options: RequestOptions): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(url, { ...options, agent: false }, (answer) => {
      let body = ''
      answer.setEncoding('utf8').on('data', (text) => (body += text))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }))
      answer.on('error', reject)
    })
    sent.on('error', reject).end()
  })
}

/** Serial number of the certificate that a listener presents; the session must be accepted. */
function presented(url: string, options: ConnectionOptions): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: hostname, port: Number(port), ...options }, () => {
      resolve(socket.getPeerX509Certificate()?.serialNumber ?? '')
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

function mistakesOf(config: object): readonly string[] {
  try {
    openSettings({ value: config, environment: {} })
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes.map(({ path, message }) => `${path}: ${message}`)
    throw error
  }
}

test('each listener speaks TLS, and a caller of the API is answered as in plaintext', async (t) => {
  const authority = await testAuthority()
  const files = await leafFiles(t, authority)
  const upstream = await startHttpUpstream((_request, response) => void response.end('{}'))
  t.after(() => upstream.close())
  const route = { name: 'cluster', match: { path: '/' }, upstream: upstream.origin, protocol: 'kubernetes' }
  const { addresses } = await startTestGateway(t, {
    tls: { listeners: { proxy: files, api: files, admin: files } },
    routes: [route],
  })
  assert.deepEqual(
    [addresses.proxy, addresses.api, addresses.admin].map((url) => new URL(url).protocol),
    ['https:', 'https:', 'https:'],
  )
  const ca = authority.certificate
  assert.equal((await get(`${addresses.admin}/livez`, { ca })).status, 200)
  const headers = { authorization: `Bearer ${TEST_KEY}` }
  assert.equal((await get(`${addresses.api}/api/v1/ledger`, { ca, headers })).status, 200)
  assert.equal((await get(`${addresses.proxy}/api/v1/pods`, { ca })).status, 200)
  assert.equal(upstream.requests.length, 1)
  await assert.rejects(fetch(addresses.api.replace('https:', 'http:')))
})

test('the proxy speaks HTTP/2 inside TLS', async (t) => {
  const authority = await testAuthority()
  const files = await leafFiles(t, authority)
  const upstream = await startHttpUpstream((_request, response) => void response.end('{}'))
  t.after(() => upstream.close())
  const route = { name: 'cluster', match: { path: '/' }, upstream: upstream.origin, protocol: 'kubernetes' }
  const { addresses } = await startTestGateway(t, { tls: { listeners: { proxy: files } }, routes: [route] })
  const session = connectHttp2(addresses.proxy, { ca: authority.certificate })
  t.after(() => session.destroy())
  const status = await new Promise((resolve, reject) => {
    const stream = session.request({ ':path': '/api/v1/pods' })
    stream.on('response', (head) => resolve(head[':status'])).on('error', reject)
    stream.resume()
  })
  assert.equal(status, 200)
  assert.equal(session.alpnProtocol, 'h2')
})

test('clients need a certificate of the named authority', async (t) => {
  const authority = await testAuthority()
  const clients = await testAuthority()
  const files = await leafFiles(t, authority)
  const { addresses } = await startTestGateway(t, {
    tls: { listeners: { api: { ...files, client_ca: clients.file } } },
  })
  const ca = authority.certificate
  const url = `${addresses.api}/.well-known/jwks.json`
  await assert.rejects(get(url, { ca }), /certificate required|socket hang up|ECONNRESET|EPIPE/i)
  await assert.rejects(get(url, { ca, ...(await authority.clientLeaf('agent')) }))
  assert.equal((await get(url, { ca, ...(await clients.clientLeaf('agent')) })).status, 200)
})

test('versions before TLS 1.2 are refused, and TLS 1.2 where 1.3 is asked for', async (t) => {
  const authority = await testAuthority()
  const files = await leafFiles(t, authority)
  const { addresses } = await startTestGateway(t, {
    tls: { listeners: { api: files, admin: { ...files, min_version: 'TLSv1.3' } } },
  })
  const ca = authority.certificate
  const old: ConnectionOptions = { ca, minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }
  await assert.rejects(presented(addresses.api, old))
  await presented(addresses.api, { ca, maxVersion: 'TLSv1.2' })
  await assert.rejects(presented(addresses.admin, { ca, maxVersion: 'TLSv1.2' }))
  await presented(addresses.admin, { ca })
})

test('a changed certificate is presented without a restart, and an unusable one is not', async (t) => {
  const authority = await testAuthority()
  const files = await leafFiles(t, authority)
  const gateway = await startTestGateway(t, { tls: { listeners: { api: files } } })
  const { api } = gateway.addresses
  const ca = authority.certificate
  const first = await presented(api, { ca })
  writeFileSync(files.certificate, 'not a certificate')
  await until(() => gateway.log.some(({ event }) => event === 'listener.certificate_unusable'), 'refused')
  assert.equal(await presented(api, { ca }), first)
  await writeLeaf(authority, files)
  await until(() => gateway.log.some(({ event }) => event === 'listener.certificate_reloaded'), 'reloaded')
  assert.notEqual(await presented(api, { ca }), first)
  assert.equal((await get(`${api}/.well-known/jwks.json`, { ca })).status, 200)
  const metrics = await (await fetch(`${gateway.addresses.admin}/metrics`)).text()
  assert.match(metrics, /^preflight_listener_certificate_end_seconds\{listener="api"\} [1-9]/m)
  assert.match(metrics, /^preflight_listener_tls_handshakes_total\{listener="api",result="done"\} [1-9]/m)
})

test('a client that never finishes its head is disconnected inside TLS too', async (t) => {
  const authority = await testAuthority()
  const files = await leafFiles(t, authority)
  const { addresses } = await startTestGateway(t, {
    tls: { listeners: { api: files } },
    limits: { head_timeout: 0.2 },
  })
  const { hostname, port } = new URL(addresses.api)
  const socket = connectTls({ host: hostname, port: Number(port), ca: authority.certificate })
  t.after(() => socket.destroy())
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n')
  await new Promise((resolve) =>
    socket
      .on('close', resolve)
      .on('error', () => {})
      .resume(),
  )
})

test('combinations that cannot work are mistakes with their place', async (t) => {
  const authority = await testAuthority()
  const files = await leafFiles(t, authority)
  const listeners = (members: object) => mistakesOf({ tls: { listeners: members } })
  assert.match(listeners({ transparent: files }).join(), /tls\.listeners/)
  assert.match(listeners({ ext_authz: files }).join(), /ext_authz: there is no ext_authz listener/)
  assert.match(listeners({ api: { certificate: files.certificate } }).join(), /key/)
  assert.match(listeners({ api: { ...files, key: authority.keyFile } }).join(), /does not belong to the key/)
  assert.match(listeners({ api: { ...files, client_ca: files.certificate } }).join(), /is not a CA/)
  assert.match(
    mistakesOf({ public_url: 'http://gateway.example', tls: { listeners: { api: files } } }).join(),
    /public_url: the API listener speaks TLS only/,
  )
})

test('the authority of tls.ca is replaced by its files, without a restart', async () => {
  const [before, after] = [await testAuthority(), await testAuthority()]
  const unusable: string[] = []
  const authorities = createAuthorities({
    dataDir: '/nonexistent',
    ca: { certificate: before.file, key: before.keyFile },
    now: Date.now,
    onUnusable: (file, reason) => void unusable.push(`${file}: ${reason}`),
  })
  const first = (await authorities.signing()).id
  writeFileSync(before.file, after.certificate)
  assert.equal((await authorities.signing()).id, first, 'the pair does not fit yet')
  assert.match(unusable.join(), /does not belong to the key/)
  writeFileSync(before.keyFile, after.key.export({ type: 'pkcs8', format: 'pem' }))
  assert.equal((await authorities.signing()).id, new X509Certificate(after.certificate).fingerprint256)
  assert.equal(await authorities.bundle(), after.certificate.trim() + '\n')
})
