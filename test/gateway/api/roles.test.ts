/** What each role may do with each route of the API, and what of one tenant another one reaches: the whole matrix. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ROUTES } from '../../../gateway/api/serving/routes.ts'
import { hasRight } from '../../../gateway/callers/rights.ts'
import { ROLES } from '../../../gateway/store/api-keys.ts'
import { startApi, type ApiFake } from '../../fakes/api.ts'
import { pets, PETS_WITHOUT_DELETE } from '../../fakes/contracts.ts'
import { at, listAt, textAt } from '../../json.ts'

const as = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' })

describe('roles', () => {
  let api: ApiFake
  before(async () => {
    api = await startApi({ config: { rate: { per_minute: 100_000 } } })
  })
  after(() => api.close())

  const ask = async (method: string, path: string, key: string, body?: unknown) => {
    const answer = await fetch(api.url + path, {
      method,
      headers: as(key),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const parsed: unknown = await answer.json().catch(() => null)
    return { status: answer.status, body: parsed }
  }

  for (const role of ROLES)
    it(`${role} gets exactly the routes of its rights`, async () => {
      const key = await api.newKey(role)
      for (const { method, paths, access, operationId } of ROUTES) {
        if (access === 'public') continue
        const path = paths[0].replaceAll(/\{[^}]+\}/g, 'none')
        const { status, body } = await ask(method, path, key, method === 'POST' ? {} : undefined)
        const isAllowed = access === 'key' || hasRight({ role }, access)
        const isRefused = status === 403 && textAt(body, 'message').startsWith('This needs the role ')
        assert.equal(isRefused, !isAllowed, `${role} ${operationId}: ${status} ${JSON.stringify(body)}`)
      }
    })

  it('a tenant reaches nothing of another one, whatever the role', async () => {
    const agent = await api.newKey('agent', { tenant: 'acme' })
    const asked = await ask('POST', '/api/v1/preflight', agent, {
      preflight_mode: 'authorize',
      artifacts: [pets(PETS_WITHOUT_DELETE)],
      context: { operation: 'deploy', environment: 'production', repository: 'acme/pets' },
    })
    const decision = textAt(asked.body, 'decision_result', 'decision_id')
    const acmeAdmin = await api.newKey('admin', { tenant: 'acme' })
    const approvals = listAt((await ask('GET', '/api/v1/approvals', acmeAdmin)).body, 'approvals')
    for (const role of ROLES) {
      const other = await api.newKey(role, { tenant: 'globex' })
      assert.equal((await ask('GET', `/api/v1/decisions/${decision}`, other)).status, 404, role)
      const mine = await ask('GET', '/api/v1/ledger', other)
      assert.deepEqual(at(mine.body, 'entries'), [], role)
      assert.deepEqual(at((await ask('GET', '/api/v1/approvals', other)).body, 'approvals'), [], role)
      for (const row of approvals) {
        const path = `/api/v1/approvals/${textAt(row, 'id')}`
        assert.equal((await ask('GET', path, other)).status, 404, role)
        assert.ok([403, 404].includes((await ask('POST', `${path}/grant`, other)).status), role)
      }
      assert.equal((await ask('GET', '/api/v1/break-glass', other)).status, 403, role)
    }
    const globex = await api.newKey('admin', { tenant: 'globex' })
    const listed = listAt((await ask('GET', '/api/v1/keys', globex)).body, 'keys')
    assert.ok(listed.every((row) => at(row, 'tenant') === 'globex'))
    const foreign = await ask('POST', '/api/v1/keys', globex, { name: 'x', role: 'admin', tenant: 'acme' })
    assert.equal(foreign.status, 403)
    const acmeId = textAt(listAt((await ask('GET', '/api/v1/keys', acmeAdmin)).body, 'keys')[0], 'id')
    assert.equal((await ask('DELETE', `/api/v1/keys/${acmeId}`, globex)).status, 404)
    const operator = await api.newKey('admin')
    const all = listAt((await ask('GET', '/api/v1/keys', operator)).body, 'keys')
    assert.ok(all.some((row) => at(row, 'tenant') === 'acme'))
  })
})

describe('keys over the API', () => {
  let api: ApiFake
  let now = Date.parse('2126-11-21T10:00:00Z')
  let admin: string
  before(async () => {
    api = await startApi({ now: () => now })
    admin = await api.newKey('admin')
  })
  after(() => api.close())
  const works = async (text: string) => (await api.get('/api/v1/approvals', as(text))).status === 200
  const post = async (path: string, body: object, key = admin) => api.post(path, body, as(key))

  it('an administrator makes a key, changes its groups, and sees when it was used', async () => {
    const made = await post('/api/v1/keys', {
      name: 'Ana',
      role: 'approver',
      groups: ['payments'],
      owner: 'oidc:corp:ana',
    })
    assert.equal(made.status, 201)
    const key = textAt(made.body, 'api_key')
    const id = textAt(made.body, 'key', 'id')
    assert.equal((await api.get('/api/v1/ledger', as(key))).status, 200)
    const changed = await post(`/api/v1/keys/${id}`, { groups: ['security', 'payments'] })
    assert.deepEqual(at(changed.body, 'key', 'groups'), ['payments', 'security'])
    assert.equal(at(changed.body, 'key', 'owner'), 'oidc:corp:ana')
    let row: unknown
    do row = listAt((await api.get('/api/v1/keys', as(admin))).body, 'keys').find((entry) => at(entry, 'id') === id)
    while (at(row, 'used_at') === null)
    assert.equal(at(row, 'used_at'), new Date(now).toISOString())
    assert.equal((await post('/api/v1/keys', { name: 'x', role: 'approver', groups: ['No Group'] })).status, 400)
  })

  it('a key ends with its lifetime, and a rotated one after the overlap', async () => {
    const made = await post('/api/v1/keys', { name: 'bot', role: 'agent', lifetime: 3600 })
    const key = textAt(made.body, 'api_key')
    const id = textAt(made.body, 'key', 'id')
    assert.ok(await works(key))
    const rotated = await post(`/api/v1/keys/${id}/rotate`, { overlap: 600 })
    const fresh = textAt(rotated.body, 'api_key')
    assert.deepEqual([at(rotated.body, 'key', 'name'), at(rotated.body, 'key', 'role')], ['bot', 'agent'])
    now += 599_000
    assert.deepEqual([await works(key), await works(fresh)], [true, true])
    now += 2000
    assert.deepEqual([await works(key), await works(fresh)], [false, true])
    now += 3_600_000
    assert.equal(await works(fresh), false)
    assert.equal((await post('/api/v1/keys/v:000000000000/rotate', {})).status, 404)
  })

  it('a revoked key ends immediately, and no key revokes itself', async () => {
    const made = await post('/api/v1/keys', { name: 'gone', role: 'viewer' })
    const id = textAt(made.body, 'key', 'id')
    const revoke = (target: string, key: string) =>
      fetch(`${api.url}/api/v1/keys/${target}`, { method: 'DELETE', headers: { authorization: `Bearer ${key}` } })
    assert.equal((await revoke(id, admin)).status, 200)
    assert.equal((await api.get('/api/v1/ledger', as(textAt(made.body, 'api_key')))).status, 401)
    const own = listAt((await api.get('/api/v1/keys', as(admin))).body, 'keys').find(
      (row) => at(row, 'role') === 'admin',
    )
    assert.equal((await revoke(textAt(own, 'id'), admin)).status, 403)
    assert.equal(await api.store.ledger.verifyChain(), null)
  })
})
