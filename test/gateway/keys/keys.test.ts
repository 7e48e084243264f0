/** Receipt keys and API keys: creation, rotation, revocation, and the published key set. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { calculateJwkThumbprint, compactVerify, createLocalJWKSet, CompactSign, importJWK } from 'jose'
import { apiKeyRow, hashApiKey, mintApiKey, bootstrapKey } from '../../../gateway/callers/api-keys.ts'
import { parseKeySet } from '../../../gateway/keys/jwks.ts'
import { keyFile } from '../../../gateway/keys/key-file.ts'
import { newKey, openKeyRing } from '../../../gateway/keys/key-ring.ts'
import { signingProblem } from '../../../gateway/keys/self-test.ts'
import { STALE, timedChanges } from '../../../gateway/store/changes.ts'
import { publicRows, startKeyExchange } from '../../../gateway/store/key-exchange.ts'
import type { ReceiptKeyRow } from '../../../gateway/store/receipts.ts'
import { openSqliteStore } from '../../../gateway/store/sqlite/store.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { until } from '../../fakes/until.ts'

const root = mkdtempSync(join(tmpdir(), 'preflight-keys-'))
after(() => rmSync(root, { recursive: true, force: true }))

let directories = 0
const newDirectory = (): string => join(root, `d${++directories}`)

test('the first start makes a key that only its owner can read, and the next start uses the same', async () => {
  const directory = newDirectory()
  const first = await openKeyRing(directory, () => 1_000)
  assert.equal(statSync(keyFile(directory)).mode & 0o777, 0o600)
  const again = await openKeyRing(directory, () => 2_000)
  assert.equal(again.signer().keyId, first.signer().keyId)
})

test('no key id looks like an option of the command line that retires or revokes it', async () => {
  // Of ids by chance one in 64 would.
  for (let count = 0; count < 500; count++) assert.match((await newKey(0)).kid, /^[^-]/)
})

test('the key id is the RFC 7638 thumbprint, and nothing private is published', async () => {
  const ring = await openKeyRing(newDirectory(), () => 0)
  const [key] = ring.published().keys
  assert.ok(key)
  assert.equal(key.kid, await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x: key.x }))
  assert.deepEqual(
    { ...key, kid: '', x: '' },
    {
      kty: 'OKP',
      crv: 'Ed25519',
      x: '',
      kid: '',
      alg: 'EdDSA',
      use: 'sig',
      status: 'active',
      valid_from: '1970-01-01T00:00:00Z',
      retired_at: null,
      revoked_at: null,
    },
  )
})

test('a revoked key stays revoked under a clock that is before the revocation, its own or that of the other machine', async () => {
  const directory = newDirectory()
  const made = await openKeyRing(directory, () => 1_000)
  const { keyId } = made.signer()
  const ahead = await openKeyRing(directory, () => 9_000)
  ahead.revoke(keyId)
  made.reload()
  const joined = await openKeyRing(newDirectory(), () => 1_000)
  joined.join(publicRows(ahead.own()))
  for (const ring of [made, joined, await openKeyRing(directory, () => 2_000)]) {
    assert.equal(ring.keySet().get(keyId)?.status, 'revoked')
    assert.equal(ring.published().keys.find(({ kid }) => kid === keyId)?.status, 'revoked')
  }
})

test('an independent library verifies what the signer signs, with the published key set', async () => {
  const ring = await openKeyRing(newDirectory())
  const signer = ring.signer()
  const header = Buffer.from(JSON.stringify({ alg: 'EdDSA', kid: signer.keyId })).toString('base64url')
  const input = `${header}.${Buffer.from('{"a":1}').toString('base64url')}`
  const keys = createLocalJWKSet({ keys: ring.published().keys.map((key) => ({ ...key })) })
  const { payload } = await compactVerify(`${input}.${await signer.sign(input)}`, keys)
  assert.equal(Buffer.from(payload).toString(), '{"a":1}')
})

test('a token signed by an independent library verifies with the parsed key set, and a changed one does not', async () => {
  const directory = newDirectory()
  const ring = await openKeyRing(directory)
  const stored: { keys: { x: string; d: string }[] } = JSON.parse(readFileSync(keyFile(directory), 'utf8'))
  const { x, d } = stored.keys[0] ?? assert.fail('no key was stored')
  const signed = await new CompactSign(Buffer.from('{}'))
    .setProtectedHeader({ alg: 'EdDSA' })
    .sign(await importJWK({ kty: 'OKP', crv: 'Ed25519', x, d }, 'EdDSA'))
  const [header, payload, signature] = signed.split('.')
  const parsed = parseKeySet(structuredClone(ring.published()))
  assert.ok(parsed.ok)
  const key = parsed.value.get(ring.signer().keyId)
  assert.equal(key?.verify(`${header}.${payload}`, signature ?? ''), true)
  assert.equal(key?.verify(`${header}.${payload}x`, signature ?? ''), false)
  assert.equal(key?.verify(`${header}.${payload}`, 'AAAA'), false)
  assert.equal(key?.verify(`${header}.${payload}`, ''), false)
})

test('a rotated key is published immediately, signs after the overlap, and the old one retires at that moment', async () => {
  let now = 1_000
  const ring = await openKeyRing(newDirectory(), () => now)
  const old = ring.signer().keyId
  const next = await ring.rotate(300)
  assert.deepEqual(
    [old, next].map((id) => ring.published().keys.find(({ kid }) => kid === id)?.status),
    ['active', 'active'],
  )
  assert.equal(ring.signer().keyId, old)
  now = 1_299
  assert.equal(ring.signer().keyId, old)
  now = 1_300
  assert.equal(ring.signer().keyId, next)
  assert.equal(ring.keySet().get(old)?.status, 'retired')
  assert.equal(ring.keySet().get(old)?.retiredAt, 1_300)
})

test('a revoked or retired key signs no more and its private part leaves the file', async () => {
  for (const end of ['retire', 'revoke'] as const) {
    const directory = newDirectory()
    const ring = await openKeyRing(directory, () => 5)
    const { keyId } = ring.signer()
    const standby = ring.published().keys.find(({ kid }) => kid !== keyId)
    assert.equal(standby?.status, 'active', 'published before it is needed')
    assert.equal(ring[end](keyId), true)
    assert.equal(ring.signer().keyId, standby.kid, 'it signs at once')
    assert.equal(ring.published().keys[0]?.status, end === 'retire' ? 'retired' : 'revoked')
    await ring.replenish()
    assert.equal(ring.signer().keyId, standby.kid)
    assert.equal(ring.published().keys.filter(({ status }) => status === 'active').length, 2, 'the next one stands by')
    for (const { kid } of ring.published().keys) ring[end](kid)
    assert.throws(() => ring.signer(), { code: 'SIGNER_UNAVAILABLE' })
    assert.match(readFileSync(keyFile(directory), 'utf8'), /"d": null/)
    assert.equal(ring[end]('unknown'), false)
  }
})

test('a file with mismatched parts, and a clock before the start of the key, are reported', async () => {
  const directory = newDirectory()
  const ring = await openKeyRing(directory, () => 1_000)
  assert.equal(await signingProblem(ring, 1_000), null)
  assert.match(String(await signingProblem(ring, 900)), /clock/)
  const early = await openKeyRing(directory, () => 900)
  assert.throws(
    () => early.signer(),
    (error: Error) => /clock/.test(String(error.cause)),
  )
  const file: { keys: { x: string }[] } = JSON.parse(readFileSync(keyFile(directory), 'utf8'))
  const other = await newKey(0)
  for (const key of file.keys) key.x = other.x
  writeFileSync(keyFile(directory), JSON.stringify(file))
  await assert.rejects(openKeyRing(directory), /do not fit/)
  assert.throws(() => ring.reload(), /do not fit/)
  assert.equal(await signingProblem(ring, 1_000), null, 'the keys at hand stay')
  const misfit = {
    signer: () => ring.signer(),
    keySet: () => new Map([...ring.keySet()].map(([id, key]) => [id, { ...key, verify: () => false }])),
  }
  assert.match(String(await signingProblem(misfit, 1_000)), /do not fit/)
})

test('another process that rotates is seen after a reload', async () => {
  const directory = newDirectory()
  const serving = await openKeyRing(directory, () => 5)
  const commandLine = await openKeyRing(directory, () => 5)
  const next = await commandLine.rotate(0)
  serving.reload()
  assert.equal(serving.signer().keyId, next)
})

test('a broken key file stops the start with what to do, and a reload keeps the keys at hand', async () => {
  const directory = newDirectory()
  const ring = await openKeyRing(directory)
  const { keyId } = ring.signer()
  writeFileSync(keyFile(directory), '{"version":1,"keys":[{}]}')
  await assert.rejects(openKeyRing(directory), /not a file of receipt keys.*Restore/s)
  assert.throws(() => ring.reload(), /Restore/)
  assert.equal(ring.signer().keyId, keyId)
})

test('a data directory that cannot be made is named with the setting to change', async () => {
  const file = join(root, 'a-file')
  writeFileSync(file, '')
  await assert.rejects(openKeyRing(join(file, 'below')), /cannot be (written|read).*below/s)
})

test('a malformed key set is a problem with its place, and foreign keys are left out', () => {
  assert.equal(parseKeySet({}).ok, false)
  const bad = parseKeySet({ keys: [{ kty: 'RSA' }, { kty: 'OKP', crv: 'Ed25519', kid: 'k', x: '!' }] })
  assert.equal(bad.ok ? null : bad.problem.pointer, '/keys/1')
  const foreign = parseKeySet({ keys: [{ kty: 'RSA', kid: 'r' }] })
  assert.equal(foreign.ok && foreign.value.size, 0)
})

test('API keys carry their prefix and their row keeps the hash only', () => {
  const key = mintApiKey('test')
  assert.match(key, /^pf_test_[A-Za-z0-9_-]{43}$/)
  const row = apiKeyRow({ key, name: 'n', role: 'agent', at: 1 })
  assert.equal(row.audience, `v:${hashApiKey(key).slice(0, 12)}`)
  assert.ok(!JSON.stringify(row).includes(key.slice(8)))
})

test('an empty store gets one admin key, printed once, and a later start prints none', async (t) => {
  const store = await openTestStore(t)
  const { printed } = await bootstrapKey(store, null, 1)
  assert.ok(printed)
  const row = await store.apiKeys.byHash(hashApiKey(printed))
  assert.equal(row?.role, 'admin')
  assert.deepEqual(await bootstrapKey(store, null, 2), { printed: null, warning: null })
})

test('the bootstrap key of the operator is taken on an empty store only, and is never printed', async (t) => {
  const store = await openTestStore(t)
  const own = 'x'.repeat(24)
  assert.deepEqual(await bootstrapKey(store, own, 1), { printed: null, warning: null })
  assert.deepEqual(await bootstrapKey(store, own, 2), { printed: null, warning: null })
  const { warning } = await bootstrapKey(store, 'y'.repeat(24), 3)
  assert.match(warning ?? '', /ignored/)
  assert.equal((await store.apiKeys.list()).length, 1)
  await assert.rejects(bootstrapKey(store, 'short', 1), /at least 24/)
  await assert.rejects(bootstrapKey(store, `${'x'.repeat(30)} y`, 1), /no spaces/)
})

async function openTestStore(t: TestContext) {
  const store = await openSqliteStore({ file: join(newDirectory(), 'l.db'), calls: 'durable', flushMilliseconds: 5 })
  t.after(() => store.close())
  return store
}

for (const part of ['publish', 'list'] as const)
  test(`a key that is revoked while the store cannot ${part} keys is revoked there once it can`, async (t) => {
    const keys = await openKeyRing(newDirectory(), () => 1_000)
    const rows = new Map<string, ReceiptKeyRow>()
    const state = { isAway: false }
    const orAway = <Value>(name: string, value: Value): Promise<Value> =>
      state.isAway && name === part ? Promise.reject(new Error('away')) : Promise.resolve(value)
    const receiptKeys = {
      publish: async (published: readonly ReceiptKeyRow[]) => {
        await orAway('publish', null)
        for (const row of published) rows.set(row.kid, row)
      },
      list: () => orAway('list', [...rows.values()]),
    }
    // Announcements go on arriving: only one connection was lost.
    const changes = { ...timedChanges(0.02), isFresh: (mark: number) => mark !== STALE }
    const noted: string[] = []
    const exchange = startKeyExchange({
      store: { receiptKeys, changes },
      keys,
      keysChanged: () => void noted.push('changed'),
      logger: createLogger('silent', { write: () => {} }),
      now: () => 1_000_000,
    })
    t.after(() => exchange.close())
    await exchange.sync()
    const [key] = keys.own()
    assert.ok(key !== undefined)
    state.isAway = true
    keys.revoke(key.kid)
    await exchange.sync()
    state.isAway = false
    await until(() => rows.get(key.kid)?.revokedAt === 1_000, 'the others learn of it')
    await until(() => noted.length === 1, 'decisions that it signed are not used again')
  })
