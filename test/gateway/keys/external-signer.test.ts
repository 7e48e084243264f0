/** Receipts signed by a key that never enters the gateway: they verify like any other, and without a good signature there is no decision. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type ServerResponse, createServer, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { loadConfig } from '../../../gateway/config/load.ts'
import { keyFile } from '../../../gateway/keys/key-file.ts'
import { openKeyRing } from '../../../gateway/keys/key-ring.ts'
import { run } from '../../fakes/command-io.ts'
import { pets, PETS_WITH_POST } from '../../fakes/contracts.ts'
import { FREE_PORTS, startTestGateway, TEST_KEY, type TestGateway } from '../../fakes/gateway.ts'
import { at, listAt, textAt } from '../../json.ts'

interface Answered {
  readonly status: number
  readonly body: unknown
}

async function ask(url: string, body?: object): Promise<Answered> {
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}

async function scene(
  t: TestContext,
  signer: SignerServer,
  rest: object = {},
): Promise<{ readonly gateway: TestGateway; readonly authorize: () => Promise<Answered> }> {
  const gateway = await startTestGateway(t, { signer: { url: signer.url, public_key: signer.x, ...rest } })
  t.after(() => signer.close())
  const request = { preflight_mode: 'authorize', artifacts: [pets(PETS_WITH_POST)], context: { operation: 'merge' } }
  return { gateway, authorize: () => ask(`${gateway.addresses.api}/api/v1/preflight`, request) }
}

for (const kind of ['loopback', 'a unix socket'] as const) {
  test(`a receipt signed over ${kind} verifies, and no private key is on the disk`, async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'preflight-signer-'))
    t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 9 }))
    const signer = await startSigner(kind === 'loopback' ? undefined : join(directory, 's'))
    const { gateway, authorize } = await scene(t, signer, { header: 'X-Signer-Token: abc' })
    const { status, body } = await authorize()
    assert.equal(status, 200)
    const question = { token: textAt(body, 'chain_receipt'), context: { operation: 'merge' } }
    const verified = await ask(`${gateway.addresses.api}/api/v1/verify-receipt`, question)
    assert.equal(at(verified.body, 'currently_authorized'), true)
    const { body: keys } = await ask(`${gateway.addresses.api}/.well-known/jwks.json`)
    assert.deepEqual(
      listAt(keys, 'keys').map((key) => at(key, 'x')),
      [signer.x],
    )
    assert.equal(at(signer.asked.at(-1), 'key_id'), textAt(keys, 'keys', 0, 'kid'))
    assert.equal(signer.headers.at(-1)?.['x-signer-token'], 'abc')
    const stored: unknown = JSON.parse(readFileSync(keyFile(gateway.dataDir), 'utf8'))
    assert.ok(listAt(stored, 'keys').every((key) => at(key, 'd') === null))
    assert.equal((await fetch(`${gateway.addresses.admin}/readyz`)).status, 200)
  })
}

const MISBEHAVIOURS: readonly (readonly [string, (response: ServerResponse) => void])[] = [
  ['answers an error', (response) => response.writeHead(500).end('{}')],
  ['answers a redirect', (response) => response.writeHead(302, { location: '/sign' }).end()],
  ['answers no JSON', (response) => response.end('signed!')],
  ['answers no signature', (response) => response.end('{"signature":""}')],
  ['answers another key’s signature', (response) => response.end(JSON.stringify({ signature: strangersSignature() }))],
  ['answers without end', (response) => response.end('x'.repeat(100_000))],
  ['breaks off', (response) => response.destroy()],
  ['does not answer', () => undefined],
]

for (const [what, misbehaviour] of MISBEHAVIOURS) {
  test(`a signer that ${what} leaves no decision behind`, async (t) => {
    const signer = await startSigner()
    const { gateway, authorize } = await scene(t, signer, { timeout: 0.2 })
    signer.misbehaviour = misbehaviour
    const { status, body } = await authorize()
    assert.deepEqual([status, at(body, 'error')], [503, 'SIGNER_UNAVAILABLE'])
    assert.doesNotMatch(JSON.stringify(body), /CONTINUE|chain_receipt/)
    const ledger = await ask(`${gateway.addresses.api}/api/v1/ledger`)
    assert.deepEqual(listAt(ledger.body, 'entries'), [])
    assert.equal((await fetch(`${gateway.addresses.admin}/readyz`)).status, 503)
    signer.misbehaviour = null
    assert.equal((await authorize()).status, 200)
  })
}

test('receipts of the key before verify on, and it signs no more when the gateway goes back to a key file', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-signer-'))
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 9 }))
  const own = await openKeyRing(directory, () => 1_000)
  const { keyId } = own.signer()
  const standby = own.published().keys[1]?.kid
  const external = {
    keyId: 'external',
    x: own.published().keys[0]?.x ?? '',
    sign: () => Promise.resolve('signature'),
    close: () => Promise.resolve(),
  }
  const ring = await openKeyRing(directory, () => 2_000, external)
  assert.equal(ring.signer().keyId, 'external')
  assert.deepEqual(
    ring.published().keys.map(({ kid, status }) => [kid, status]),
    [
      [keyId, 'retired'],
      [standby, 'retired'],
      ['external', 'active'],
    ],
  )
  const before = readFileSync(keyFile(directory), 'utf8')
  const again = await openKeyRing(directory, () => 3_000, external)
  assert.equal(readFileSync(keyFile(directory), 'utf8'), before)
  assert.equal(again.revoke('external'), true)
  assert.throws(() => again.signer(), { code: 'SIGNER_UNAVAILABLE' })
  const back = await openKeyRing(directory, () => 4_000)
  assert.throws(() => back.signer(), { code: 'SIGNER_UNAVAILABLE' })
})

test('a signer without its public key is a mistake of the configuration, and so is the reverse', () => {
  for (const signer of [{ url: 'unix:/run/signer.sock' }, { public_key: 'A'.repeat(43) }]) {
    const loaded = loadConfig({ environment: {}, value: { listen: FREE_PORTS, signer } })
    assert.equal(loaded.ok, false)
    if (!loaded.ok) assert.match(loaded.problem[0]?.path ?? '', /^signer\./)
  }
})

test('a rotation is refused where the key is elsewhere', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-signer-'))
  await openKeyRing(directory)
  const environment = { PREFLIGHT_SIGNER_URL: 'unix:/run/signer.sock', PREFLIGHT_SIGNER_PUBLIC_KEY: 'A'.repeat(43) }
  const { code, stderr } = await run(['keys', 'rotate', '--data-dir', directory], { environment })
  rmSync(directory, { recursive: true, force: true })
  assert.equal(code, 2)
  assert.match(stderr, /external signer/)
})

test('a gateway that starts later knows the key of the receipts that another one of the same signer issued', async (t) => {
  const signer = await startSigner()
  const config = { signer: { url: signer.url, public_key: signer.x } }
  const earlier = await startTestGateway(t, config, { now: () => Date.now() - 600_000 })
  t.after(() => signer.close())
  const request = { preflight_mode: 'authorize', artifacts: [pets(PETS_WITH_POST)], context: { operation: 'merge' } }
  const issued = await ask(`${earlier.addresses.api}/api/v1/preflight`, request)
  const token = textAt(issued.body, 'chain_receipt')
  const later = await startTestGateway(t, config)
  const { body } = await ask(`${later.addresses.api}/api/v1/verify-receipt`, { token })
  assert.equal(at(body, 'status'), 'UNDECIDABLE', 'the key is known; the decision is in the store of the other one')
})

interface SignerServer {
  /** For `signer.url`. */
  readonly url: string
  /** For `signer.public_key`. */
  readonly x: string
  /** Bodies it was asked with. */
  readonly asked: unknown[]
  readonly headers: IncomingMessage['headers'][]
  /** Answers instead of signing; null: signs. */
  misbehaviour: ((response: ServerResponse) => void) | null
  close(): Promise<void>
}

/** @param socket path of a unix socket; loopback without it */
async function startSigner(socket?: string): Promise<SignerServer> {
  const pair = generateKeyPairSync('ed25519')
  const x = pair.publicKey.export({ format: 'jwk' }).x ?? ''
  const asked: unknown[] = []
  const headers: IncomingMessage['headers'][] = []
  let misbehaviour: SignerServer['misbehaviour'] = null
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request)
    asked.push(body)
    headers.push(request.headers)
    if (misbehaviour !== null) misbehaviour(response)
    else if (request.url !== '/sign') response.writeHead(404).end()
    else response.end(JSON.stringify({ signature: signed(body, pair.privateKey) }))
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  server.listen(socket === undefined ? { host: '127.0.0.1', port: 0 } : { path: socket })
  await once(server, 'listening')
  const address = server.address()
  const url =
    typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}/sign` : `unix:${socket}`
  return {
    url,
    x,
    asked,
    headers,
    get misbehaviour() {
      return misbehaviour
    },
    set misbehaviour(next) {
      misbehaviour = next
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A signature by a key that nobody knows. */
function strangersSignature(): string {
  const { privateKey } = generateKeyPairSync('ed25519')
  return sign(
    null,
    Buffer.from('something else'),
    createPrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' })),
  ).toString('base64url')
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}

function signed(body: unknown, key: KeyObject): string {
  const input = typeof body === 'object' && body !== null && 'signing_input' in body ? String(body.signing_input) : ''
  return sign(null, Buffer.from(input, 'latin1'), key).toString('base64url')
}
