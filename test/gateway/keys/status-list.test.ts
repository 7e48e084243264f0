/** Status lists over the wire: what a verifier fetches shows revocation, supersession and use, and costs the gateway little. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose'
import { GatewayError } from '../../../gateway/errors/errors.ts'
import { createStatusAllocator, LIST_SIZE } from '../../../gateway/status-lists/allocator.ts'
import { createStatusPublisher } from '../../../gateway/status-lists/publisher.ts'
import type { StatusListRow } from '../../../gateway/store/receipts.ts'
import { inflateZlib } from '../../../gateway/runtime/inflate.ts'
import { startApi, type ApiFake } from '../../fakes/api.ts'
import { run } from '../../fakes/command-io.ts'
import { pets, PETS_WITH_POST } from '../../fakes/contracts.ts'
import { at, textAt } from '../../json.ts'

const PLACE = { operation: 'deploy', environment: 'prod', repository: 'acme/pets' }
const CONTEXT = ['--operation', 'deploy', '--environment', 'prod', '--repository', 'acme/pets']

interface Reference {
  readonly idx: number
  readonly uri: string
}

function referenceIn(token: string): Reference {
  const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  const idx = at(claims, 'status', 'status_list', 'idx')
  assert.ok(typeof idx === 'number')
  return { idx, uri: textAt(claims, 'status', 'status_list', 'uri') }
}

const pathOf = (uri: string) => `/.well-known/status/${uri.slice('urn:uuid:'.length)}`
const noSigner = (): never => assert.fail('nothing is signed for a list that does not exist')

/** The entries in a list token. */
function entriesIn(token: string | undefined): unknown {
  return at(JSON.parse(Buffer.from((token ?? '').split('.')[1] ?? '', 'base64url').toString()), 'status_list')
}

describe('the status list of a receipt', () => {
  let api: ApiFake
  let approver: string
  let folder: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'preflight-status-'))
    api = await startApi()
    approver = await api.newKey('approver')
    const keys = await fetch(`${api.url}/.well-known/jwks.json`)
    writeFileSync(join(folder, 'jwks.json'), await keys.text())
  })
  after(async () => {
    await api.close()
    rmSync(folder, { recursive: true })
  })

  let count = 0
  const issue = async (id = `pets-${(count += 1)}`) => {
    const artifacts = [pets(PETS_WITH_POST, id)]
    const { body } = await api.post('/api/v1/preflight', { preflight_mode: 'authorize', artifacts, context: PLACE })
    const token = textAt(body, 'chain_receipt')
    return { token, id: textAt(body, 'decision_result', 'decision_id'), ...referenceIn(token) }
  }
  const revoke = (id: string) =>
    api.post('/api/v1/receipts/revoke', { decision_id: id, reason: 'wrong' }, { authorization: `Bearer ${approver}` })
  const fetchList = (uri: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(api.url + pathOf(uri), { headers })
  const verified = async (token: string, status: string) =>
    run(['verify', token, '--keys', join(folder, 'jwks.json'), '--status', status, ...CONTEXT])

  it('is signed by a published key, in the form of the draft', async () => {
    const { uri } = await issue()
    const answer = await fetchList(uri)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'application/statuslist+jwt')
    const keys: JSONWebKeySet = JSON.parse(await (await fetch(`${api.url}/.well-known/jwks.json`)).text())
    const { payload } = await jwtVerify(await answer.text(), createLocalJWKSet(keys), {
      algorithms: ['EdDSA'],
      typ: 'statuslist+jwt',
      subject: uri,
    })
    assert.equal(payload['ttl'], 60)
    assert.equal((payload.exp ?? 0) - (payload.iat ?? 0), 3600)
    const entries = inflateZlib(Buffer.from(textAt(payload, 'status_list', 'lst'), 'base64url'), 1_000_000)
    assert.equal(entries?.length, LIST_SIZE / 2, 'thousands of receipts in one list')
  })

  it('is cached by its entity tag until something changes', async () => {
    const { uri, id } = await issue()
    const first = await fetchList(uri)
    const tag = first.headers.get('etag') ?? ''
    assert.match(tag, /^"[0-9a-f]{32}"$/)
    assert.equal(first.headers.get('cache-control'), 'public, max-age=60')
    const second = await fetchList(uri, { 'if-none-match': `W/${tag}, "other"` })
    assert.deepEqual([second.status, await second.text(), second.headers.get('etag')], [304, '', tag])
    await revoke(id)
    const third = await fetchList(uri, { 'if-none-match': tag })
    assert.equal(third.status, 200)
    assert.notEqual(third.headers.get('etag'), tag)
  })

  it('shows a verifier that is not connected what happened to the receipt', async () => {
    const good = await issue()
    const revoked = await issue()
    await revoke(revoked.id)
    const superseded = await issue('twice')
    await issue('twice')
    const consumed = await issue()
    const question = { token: consumed.token, context: PLACE, consume: true }
    assert.equal(at((await api.post('/api/v1/verify-receipt', question)).body, 'currently_authorized'), true)
    const file = join(folder, 'list.jwt')
    writeFileSync(file, `${await (await fetchList(good.uri)).text()}\n`)
    const outcome = async ({ token }: { readonly token: string }) => {
      const { code, stdout } = await verified(token, file)
      return [code, /^NOT AUTHORIZED: \w+ \((\w+)\)/.exec(stdout)?.[1] ?? 'authorized']
    }
    assert.deepEqual(await outcome(good), [0, 'authorized'])
    assert.deepEqual(await outcome(revoked), [1, 'revoked'])
    assert.deepEqual(await outcome(superseded), [1, 'superseded'])
    assert.deepEqual(await outcome(consumed), [1, 'consumed'])
  })

  it('is fetched by the command, from its address or from the origin of the gateway', async () => {
    const { token, id, uri } = await issue()
    for (const address of [api.url, api.url + pathOf(uri)]) {
      const { code, stdout } = await verified(token, address)
      assert.equal(code, 0, stdout)
      assert.match(stdout, /status list/)
    }
    await revoke(id)
    const { code, stdout } = await verified(token, api.url)
    assert.equal(code, 1)
    assert.match(stdout, /VERIFIED_REVOKED \(revoked\)/)
  })

  it('authorizes nothing when it cannot be fetched, or is the list of another receipt', async () => {
    const { token } = await issue()
    const missing = await verified(token, `${api.url}/.well-known/status/${crypto.randomUUID()}`)
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /answered 404/)
    assert.match(missing.stdout, /UNDECIDABLE \(state_unknown\)/)
    const other = join(folder, 'other.jwt')
    writeFileSync(other, token)
    assert.equal((await verified(token, other)).code, 1)
    assert.equal((await verified(token, join(folder, 'none.jwt'))).code, 2, 'a file that is missing is a mistake')
  })

  it('does not exist under another name', async () => {
    for (const name of ['x', crypto.randomUUID(), 'a'.repeat(36)])
      assert.equal((await fetch(`${api.url}/.well-known/status/${name}`)).status, 404, name)
  })

  it('is the same from every gateway of the store, and after a restart', async () => {
    const { uri, id } = await issue()
    const [list = ''] = uri.split(':').slice(-1)
    const again = createStatusPublisher({
      store: api.store,
      signer: () => api.keys.signer(),
      config: () => api.settings().config,
      now: Date.now,
    })
    const here = await (await fetchList(uri)).text()
    assert.deepEqual(entriesIn((await again.list(list))?.token), entriesIn(here))
    await revoke(id)
    again.changed()
    assert.deepEqual(entriesIn((await again.list(list))?.token), entriesIn(await (await fetchList(uri)).text()))
  })
})

describe('the places of receipts', () => {
  const opened: StatusListRow[] = []
  const store = {
    statusLists: {
      open: (row: StatusListRow) => {
        opened.push(row)
        return Promise.resolve()
      },
    },
  }

  it('are used once each, in an order that nobody can guess, and a full list is followed by another', async () => {
    opened.length = 0
    const allocator = createStatusAllocator({ store, publicUrl: () => 'https://gateway.example/', now: () => 1 })
    const places = await Promise.all(Array.from({ length: LIST_SIZE + 10 }, async () => allocator.next()))
    assert.equal(new Set(places.map(({ list, idx }) => `${list} ${idx}`)).size, places.length)
    assert.ok(places.every(({ idx }) => idx >= 0 && idx < LIST_SIZE))
    assert.equal(opened.length, 2)
    assert.equal(places[0]?.uri, `https://gateway.example/.well-known/status/${opened[0]?.list}`)
    const firstList = places.filter(({ list }) => list === opened[0]?.list).map(({ idx }) => idx)
    const ascents = firstList.filter((idx, order) => order > 0 && idx > (firstList[order - 1] ?? 0)).length
    assert.ok(ascents > LIST_SIZE * 0.4 && ascents < LIST_SIZE * 0.6, `${ascents} of ${LIST_SIZE} steps go up`)
  })

  it('come from a new list after a day, so that old lists can be deleted', async () => {
    opened.length = 0
    let now = 1
    const allocator = createStatusAllocator({ store, publicUrl: () => undefined, now: () => now })
    const first = await allocator.next()
    assert.match(first.uri, /^urn:uuid:[0-9a-f-]{36}$/)
    now += 86_400_000
    assert.notEqual((await allocator.next()).list, first.list)
  })

  it('are not given while the list cannot be recorded', async () => {
    let isAway = true
    const away = {
      statusLists: {
        open: () => (isAway ? Promise.reject(new GatewayError('STORE_UNAVAILABLE')) : Promise.resolve()),
      },
    }
    const allocator = createStatusAllocator({ store: away, publicUrl: () => undefined, now: () => 1 })
    await assert.rejects(async () => allocator.next(), { code: 'STORE_UNAVAILABLE' })
    isAway = false
    assert.equal((await allocator.next()).idx >= 0, true)
  })
})

const SETTINGS = { status_list: { ttl: 60, lifetime: 3600 } }

describe('many requests for lists', () => {
  it('read each list once at a time, and one list after the other', async () => {
    let reading = 0
    let most = 0
    let reads = 0
    const store = {
      statusLists: {
        byId: async () => {
          reads += 1
          reading += 1
          most = Math.max(most, reading)
          await new Promise((resolve) => setImmediate(resolve))
          reading -= 1
          return null
        },
      },
    }
    const publisher = createStatusPublisher({ store, signer: noSigner, config: () => SETTINGS, now: () => 1 })
    const ids = Array.from({ length: 50 }, () => crypto.randomUUID())
    const found = await Promise.all([...ids, ...ids].map((id) => publisher.list(id)))
    assert.ok(found.every((list) => list === null))
    assert.deepEqual([reads, most], [50, 1])
  })
})
