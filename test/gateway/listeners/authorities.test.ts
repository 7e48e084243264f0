/** The authority that signs what agents are shown: made once, kept, rotated with overlap, or given; and the leaves it signs. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { connect, TLSSocket, type SecureContext } from 'node:tls'
import { createServer as createTcp } from 'node:net'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { createMetrics } from '../../../gateway/telemetry/metrics.ts'
import { createAuthorities, LEAF_LIFE_MS, type Authorities } from '../../../gateway/tls/authorities.ts'
import { authorityFile } from '../../../gateway/tls/authority-file.ts'
import { createLeaves } from '../../../gateway/tls/leaf-certificates.ts'
import { startApi } from '../../fakes/api.ts'
import { testAuthority } from '../../fakes/certificates.ts'
import { run } from '../../fakes/command-io.ts'

const HOUR = 3_600_000
const log: string[] = []
const logger = createLogger('info', { write: (line: string) => void log.push(line) })

interface Scene {
  readonly dataDir: string
  readonly authorities: Authorities
  readonly clock: { now: number }
}

function scene(t: TestContext): Scene {
  const dataDir = mkdtempSync(join(tmpdir(), 'preflight-ca-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true, maxRetries: 9 }))
  const clock = { now: Date.now() }
  return { dataDir, clock, authorities: createAuthorities({ dataDir, ca: undefined, now: () => clock.now }) }
}

/** What a client that trusts `ca` is shown. */
async function shown(context: SecureContext, ca: string): Promise<X509Certificate | undefined> {
  const server = createTcp((socket) => {
    const secure = new TLSSocket(socket, { isServer: true, secureContext: context })
    secure.on('error', () => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return new Promise<X509Certificate | undefined>((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', ca, checkServerIdentity: () => undefined })
    socket.on('error', reject).on('secureConnect', () => {
      resolve(socket.getPeerX509Certificate())
      socket.destroy()
      server.close()
    })
  })
}

test('one is made when first needed, once, readable by this user only, and is the same after a restart', async (t) => {
  const { dataDir, authorities } = scene(t)
  const [first, second] = await Promise.all([authorities.bundle(), authorities.bundle()])
  assert.equal(first, second)
  assert.equal(statSync(authorityFile(dataDir)).mode & 0o777, 0o600)
  assert.equal(await createAuthorities({ dataDir, ca: undefined, now: Date.now }).bundle(), first)
  const certificate = new X509Certificate(first)
  assert.equal(certificate.ca, true)
  assert.equal(certificate.verify(certificate.publicKey), true)
  assert.doesNotMatch(first, /PRIVATE/)
})

test('a new one is published before it signs, and the old one until its leaves have ended', async (t) => {
  const { dataDir, authorities, clock } = scene(t)
  const old = await authorities.signing()
  await authorities.rotate(3600)
  assert.equal((await authorities.signing()).id, old.id)
  assert.deepEqual(
    (await authorities.published()).map(({ status }) => status),
    ['signing', 'next'],
  )
  clock.now += HOUR + 1000
  assert.notEqual((await authorities.signing()).id, old.id)
  assert.deepEqual(
    (await authorities.published()).map(({ status }) => status),
    ['retired', 'signing'],
  )
  clock.now += LEAF_LIFE_MS
  assert.deepEqual(
    (await authorities.published()).map(({ status }) => status),
    ['signing'],
  )
  await authorities.rotate(0)
  assert.equal(readFileSync(authorityFile(dataDir), 'utf8').split('PRIVATE KEY').length, 5, 'the ended one is gone')
})

test('one that has ended signs nothing, and says what to do', async (t) => {
  const { authorities, clock } = scene(t)
  await authorities.bundle()
  clock.now += 3 * 365 * 24 * HOUR
  await assert.rejects(authorities.signing(), /expired on .* preflight ca rotate/)
})

test('the expiry of the authority is reported a month before, and is a metric', async (t) => {
  const { authorities, clock } = scene(t)
  const metrics = createMetrics()
  const leaves = createLeaves({ authorities, metrics, logger, now: () => clock.now })
  await leaves.contextFor('api.example')
  assert.doesNotMatch(log.join(''), /ends soon/)
  const { notAfter } = await authorities.signing()
  assert.ok((await metrics.text()).includes(`preflight_interception_ca_end_seconds ${Math.floor(notAfter / 1000)}\n`))
  clock.now = notAfter - 20 * 24 * HOUR
  await leaves.contextFor('api.example')
  assert.match(log.join(''), /expires soon: create the next one with preflight ca rotate/)
})

test('a file that is not readable as authorities is never replaced', async (t) => {
  const { dataDir, authorities } = scene(t)
  for (const text of ['{', '{}', '{"version":1,"authorities":[{}]}']) {
    writeFileSync(authorityFile(dataDir), text)
    await assert.rejects(authorities.signing(), /interception-ca\.json cannot be read/)
    assert.equal(readFileSync(authorityFile(dataDir), 'utf8'), text)
  }
})

test('a leaf is for its host alone, short-lived, and accepted by a client that trusts the bundle', async (t) => {
  const { authorities, clock } = scene(t)
  const leaves = createLeaves({ authorities, metrics: createMetrics(), logger, now: () => clock.now })
  const ca = await authorities.bundle()
  for (const [host, name] of [
    ['api.example', 'DNS:api.example'],
    ['127.0.0.1', 'IP Address:127.0.0.1'],
    [`${'a'.repeat(60)}.example`, `DNS:${'a'.repeat(60)}.example`],
  ] as const) {
    const certificate = await shown(await leaves.contextFor(host), ca)
    assert.equal(certificate?.subjectAltName, name)
    assert.equal(certificate?.ca, false)
    const life = (certificate?.validToDate.getTime() ?? 0) - (certificate?.validFromDate.getTime() ?? 0)
    assert.ok(life <= LEAF_LIFE_MS + HOUR)
    assert.deepEqual(certificate?.keyUsage, ['1.3.6.1.5.5.7.3.1'])
  }
})

test('a leaf is kept, made anew before it ends, and when another authority signs', async (t) => {
  const { authorities, clock } = scene(t)
  const metrics = createMetrics()
  const leaves = createLeaves({ authorities, metrics, logger, now: () => clock.now })
  const first = await leaves.contextFor('api.example')
  assert.equal(await leaves.contextFor('api.example'), first)
  clock.now += LEAF_LIFE_MS - HOUR
  const second = await leaves.contextFor('api.example')
  assert.notEqual(second, first)
  await authorities.rotate(0)
  clock.now += 1000
  assert.notEqual(await leaves.contextFor('api.example'), second)
  assert.match(await metrics.text(), /preflight_cache_requests_total\{cache="certificate",result="miss"\} 3/)
})

test('an authority of the operator is used as it is, and not rotated here', async () => {
  const given = await testAuthority()
  const ca = { certificate: given.file, key: given.keyFile }
  const authorities = createAuthorities({ dataDir: '/nowhere', ca, now: Date.now })
  const leaves = createLeaves({ authorities, metrics: createMetrics(), logger, now: Date.now })
  const certificate = await shown(await leaves.contextFor('api.example'), given.certificate)
  assert.equal(certificate?.verify(new X509Certificate(given.certificate).publicKey), true)
  assert.equal((await authorities.bundle()).trim(), given.certificate.trim())
  await assert.rejects(authorities.rotate(0), /tls\.ca/)
})

test('what is not an authority, or not its key, is refused with the reason', async () => {
  const [given, other] = [await testAuthority(), await testAuthority()]
  const leaf = await given.leaf('api.example')
  const leafFile = `${given.file}.leaf`
  writeFileSync(leafFile, leaf.cert)
  for (const [certificate, key, reason] of [
    [given.file, other.keyFile, /does not belong to the key/],
    [leafFile, given.keyFile, /may not sign/],
    [given.keyFile, given.keyFile, /cannot be used/],
  ] as const) {
    const authorities = createAuthorities({ dataDir: '/nowhere', ca: { certificate, key }, now: Date.now })
    await assert.rejects(authorities.signing(), reason)
  }
})

test('the certificates are served, without a key, and shown by the command line', async (t) => {
  const api = await startApi()
  t.after(() => api.close())
  const answer = await api.get('/.well-known/preflight-ca.pem', { authorization: '' })
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('content-type') ?? '', /^application\/x-pem-file/)
  const shownBy = await run(['ca', 'show', '--data-dir', api.directory])
  assert.deepEqual([shownBy.code, shownBy.stdout], [0, answer.text])
  const rotation = await run(['ca', 'rotate', '--overlap', '60', '--data-dir', api.directory])
  assert.equal(rotation.code, 0)
  assert.match(rotation.stdout, /signing[^]*next/)
  const rotated = await api.get('/.well-known/preflight-ca.pem')
  assert.equal(rotated.text.split('BEGIN CERTIFICATE').length, 3, 'the running gateway serves both')
  assert.ok(rotated.text.startsWith(answer.text.trim()))
})

test('a mistyped data directory does not become another authority', async () => {
  const { code, stderr } = await run(['ca', 'show', '--data-dir', '/nowhere/at/all'])
  assert.equal(code, 2)
  assert.match(stderr, /there is no directory \/nowhere\/at\/all/)
})
