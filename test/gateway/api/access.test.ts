/** Who may ask what, how often, and from where; and what is said of a path, a method or a form that is not served. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startApi, type ApiFake } from '../../fakes/api.ts'
import { pets, PETS, PETS_WITH_POST } from '../../fakes/contracts.ts'
import { exchangeBytes, requestText, statusOf } from '../../fakes/raw-http.ts'
import { at, listAt, textAt } from '../../json.ts'

const PREFLIGHT = '/api/v1/preflight'
const analysis = { preflight_mode: 'analyze', artifacts: [pets(PETS_WITH_POST)] }

describe('an API key', () => {
  let api: ApiFake
  before(async () => {
    api = await startApi()
  })
  after(() => api.close())

  it('is taken from either header, and never repeated anywhere', async () => {
    const bearer = await api.post(PREFLIGHT, analysis)
    const header = await api.post(PREFLIGHT, analysis, { authorization: '', 'x-api-key': api.key })
    assert.equal(bearer.status, 200)
    assert.equal(header.status, 200)
    assert.ok(![bearer.text, header.text, ...api.log].some((text) => text.includes(api.key)))
  })

  it('is asked for with 401 when it is missing, unknown, malformed or revoked', async () => {
    const revoked = await api.newKey('agent')
    const row = (await api.store.apiKeys.list()).at(-1)
    assert.ok(row)
    await api.store.apiKeys.revoke(row.hash, Date.now())
    for (const authorization of ['', 'Bearer', 'Bearer pf_live_unknown', `Basic ${api.key}`, `Bearer ${revoked}`]) {
      const { status, body, headers } = await api.post(PREFLIGHT, analysis, { authorization })
      assert.equal(status, 401, authorization)
      assert.equal(at(body, 'error'), 'UNAUTHENTICATED')
      assert.match(headers.get('www-authenticate') ?? '', /Bearer/)
    }
  })

  it('is the same wherever it is sent: two different keys are refused', async () => {
    const other = await api.newKey('approver')
    const rows: readonly (readonly [authorization: string, apiKey: readonly string[], status: number])[] = [
      [`Bearer ${api.key}`, [api.key], 200],
      [`Bearer ${api.key}`, [''], 200],
      ['', [api.key, api.key], 200],
      [`Basic ${other}`, [api.key], 200],
      [`Bearer ${api.key}`, [other], 400],
      [`Bearer ${other}`, [api.key], 400],
      [`Bearer ${api.key}`, ['pf_live_unknown'], 400],
      ['Bearer pf_live_unknown', [api.key], 400],
      [`Bearer ${api.key}`, ['x'.repeat(600)], 400],
      ['', [api.key, other], 400],
      ['Bearer pf_live_unknown', ['pf_live_unknown'], 401],
    ]
    const ask = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const requests = { [PREFLIGHT]: analysis, '/mcp': ask, '/api/v1/verify-receipt': { token: 'x' } }
    for (const [path, body] of Object.entries(requests))
      for (const [authorization, keys, status] of rows) {
        const text = JSON.stringify(body)
        const fields = keys.map((key) => `X-API-Key: ${key}\n`).join('')
        const accept = 'Accept: application/json, text/event-stream'
        const head = `POST ${path} HTTP/1.1\nHost: localhost\nAuthorization: ${authorization}\n${fields}Content-Type: application/json\n${accept}\nContent-Length: ${Buffer.byteLength(text)}`
        const answer = await exchangeBytes(api.url, requestText(head, text))
        const needsKey = path === PREFLIGHT
        assert.equal(
          statusOf(answer),
          status === 401 && !needsKey ? 200 : status,
          `${path} ${authorization} ${keys.join()}`,
        )
        if (status === 400) assert.match(answer, /"INVALID_INPUT".*Send one key/)
      }
  })

  it('is needed before anything of the body is read', async () => {
    const { status } = await api.post(PREFLIGHT, 'no JSON at all', { authorization: '' })
    assert.equal(status, 401)
  })
})

const question = (size: number) => ({ token: 'x', decision_result: { summary: 'y'.repeat(size) } })

describe('a stranger', () => {
  it('may send a receipt with its envelope, and no more than that', async () => {
    const api = await startApi()
    const fits = await api.post('/api/v1/verify-receipt', question(1_000_000), { authorization: '' })
    assert.equal(fits.status, 200)
    const { status, body } = await api.post('/api/v1/verify-receipt', question(5_000_000), { authorization: '' })
    assert.equal(status, 413)
    assert.equal(at(body, 'error'), 'PAYLOAD_TOO_LARGE')
    await api.close()
  })
})

describe('limits of a key', () => {
  it('end with 429 when the minute is full, and begin anew with the next', async () => {
    let time = Date.parse('2026-11-21T10:00:30Z')
    const api = await startApi({ config: { rate: { per_minute: 3 } }, now: () => time })
    for (const remaining of ['2', '1', '0']) {
      const { status, headers } = await api.post(PREFLIGHT, analysis)
      assert.equal(status, 200)
      assert.equal(headers.get('x-ratelimit-limit-minute'), '3')
      assert.equal(headers.get('x-ratelimit-remaining-minute'), remaining)
    }
    const { status, body, headers } = await api.post('/api/diff', { base: PETS, head: PETS })
    assert.equal(status, 429)
    assert.equal(at(body, 'error'), 'RATE_LIMITED')
    assert.equal(headers.get('retry-after'), '30')
    assert.equal((await api.get('/api/v1/ledger')).status, 200)
    time += 30_000
    assert.equal((await api.post(PREFLIGHT, analysis)).status, 200)
    await api.close()
  })

  it('are in every answer of a counted request: good, replayed, in conflict, malformed', async () => {
    const config = { plans: { free: { monthly: 5 }, enterprise: { monthly: null } } }
    const api = await startApi({ config, now: () => Date.parse('2026-11-21T10:00:00Z') })
    const authorization = `Bearer ${await api.newKey('agent', { tenant: 'small', plan: 'free' })}`
    const request = { ...analysis, preflight_mode: 'authorize', context: { operation: 'merge' }, idempotency_key: 'k' }
    const answers = [
      [request, 200, '4'],
      [request, 200, '4'],
      [{ ...request, context: { operation: 'deploy' } }, 409, '4'],
      [{}, 400, '4'],
      [analysis, 200, '3'],
    ] as const
    let minute = Infinity
    for (const [body, status, remaining] of answers) {
      const answer = await api.post(PREFLIGHT, body, { authorization })
      const rate = (name: string) => answer.headers.get(`x-ratelimit-${name}`)
      assert.equal(answer.status, status)
      assert.deepEqual([rate('limit-monthly'), rate('remaining-monthly')], ['5', remaining])
      assert.ok(rate('limit-minute') !== null && Number(rate('remaining-minute')) < minute)
      minute = Number(rate('remaining-minute'))
    }
    await api.close()
  })

  it('end with 429 when the month of the plan is used up; what is refused costs nothing', async () => {
    let time = Date.parse('2026-11-21T10:00:00Z')
    const api = await startApi({
      config: { plans: { free: { monthly: 2 }, enterprise: { monthly: null } } },
      now: () => time,
    })
    const authorization = `Bearer ${await api.newKey('agent', { tenant: 'small', plan: 'free' })}`
    assert.equal((await api.post(PREFLIGHT, {}, { authorization })).status, 400)
    const first = await api.post(PREFLIGHT, analysis, { authorization })
    assert.equal(first.headers.get('x-ratelimit-limit-monthly'), '2')
    assert.equal(first.headers.get('x-ratelimit-remaining-monthly'), '1')
    assert.equal((await api.post('/api/diff', { base: PETS, head: PETS }, { authorization })).status, 200)
    const { status, body, headers } = await api.post(PREFLIGHT, analysis, { authorization })
    assert.equal(status, 429)
    assert.equal(at(body, 'error'), 'QUOTA_EXCEEDED')
    assert.equal(headers.get('retry-after'), String((Date.parse('2026-12-01T00:00:00Z') - time) / 1000))
    assert.equal((await api.get('/api/v1/ledger', { authorization })).status, 200)
    time = Date.parse('2026-12-01T00:00:00Z')
    assert.equal((await api.post(PREFLIGHT, analysis, { authorization })).status, 200)
    await api.close()
  })
})

describe('a request for what is not there', () => {
  let api: ApiFake
  before(async () => {
    api = await startApi()
  })
  after(() => api.close())

  it('is 404 for an unknown path, however it is written', async () => {
    for (const path of [
      '/',
      '/api/v2/preflight',
      '/api/v1/preflight/',
      '/API/DIFF',
      '/schemas/..%2fconfig.json',
      '/schemas/none.json',
      '/%ff',
    ]) {
      const { status, body } = await api.get(path)
      assert.equal(status, 404, path)
      assert.equal(at(body, 'error'), 'NOT_FOUND')
    }
  })

  it('is 405 with the methods that there are', async () => {
    const { status, headers, body } = await api.get(PREFLIGHT)
    assert.equal(status, 405)
    assert.equal(headers.get('allow'), 'POST')
    assert.equal(at(body, 'error'), 'METHOD_NOT_ALLOWED')
    assert.equal((await api.post('/openapi.json', {})).headers.get('allow'), 'GET, HEAD')
    assert.equal((await api.post('/api/signup', { email: 'a@example.org' })).status, 201)
  })

  it('is 406 when no accepted media type is available', async () => {
    const { status, body } = await api.get('/openapi.json', { accept: 'image/png' })
    assert.equal(status, 406)
    assert.equal(at(body, 'error'), 'NOT_ACCEPTABLE')
    for (const accept of ['*/*', 'application/*', 'application/json;q=0.1, image/png']) {
      assert.equal((await api.get('/openapi.json', { accept })).status, 200, accept)
    }
  })

  it('answers HEAD like GET without the body', async () => {
    const response = await fetch(`${api.url}/openapi.json`, { method: 'HEAD' })
    assert.equal(response.status, 200)
    assert.ok(Number(response.headers.get('content-length')) > 1000)
    assert.equal(await response.text(), '')
  })
})

describe('closing', () => {
  it('lets a request under way finish, takes no new one, and leaves no connection', async () => {
    const asked = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const api = await startApi({
      storeFaults: (store) => ({
        decisions: {
          record: async (row) => {
            asked.resolve()
            await gate.promise
            return store.decisions.record(row)
          },
        },
      }),
    })
    const request = { preflight_mode: 'authorize', artifacts: analysis.artifacts, context: { operation: 'merge' } }
    const answer = api.post(PREFLIGHT, request)
    await asked.promise
    const closed = api.stop(60_000)
    await assert.rejects(fetch(`${api.url}/openapi.json`))
    gate.resolve()
    const { status, headers } = await answer
    assert.equal(status, 200)
    assert.equal(headers.get('connection'), 'close')
    await closed
    assert.equal(api.openRequests(), 0)
    await api.close()
  })
})

describe('a web page', () => {
  let api: ApiFake
  before(async () => {
    api = await startApi()
  })
  after(() => api.close())

  const signup = (head: string) => {
    const body = '{"email":"a@example.org"}'
    const fixed = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close`
    return exchangeBytes(api.url, `POST /api/signup HTTP/1.1\r\n${head}\r\n${fixed}\r\n\r\n${body}`)
  }

  it('of a stranger that has rebound its name to loopback gets no key', async () => {
    const answer = await signup('Host: rebound.example:80')
    assert.equal(statusOf(answer), 403)
    assert.doesNotMatch(answer, /pf_live_/)
  })

  it('of another origin gets nothing', async () => {
    const { host } = new URL(api.url)
    assert.equal(statusOf(await signup(`Host: ${host}\r\nOrigin: https://evil.example`)), 403)
    assert.equal(statusOf(await signup(`Host: ${host}\r\nOrigin: null`)), 403)
    assert.equal(statusOf(await signup(`Host: ${host}\r\nOrigin: http://${host}`)), 201)
  })
})

describe('sign-up', () => {
  it('gives a key that works, once, on a loopback listener', async () => {
    const api = await startApi()
    assert.equal(at((await api.get('/api/signup', { authorization: '' })).body, 'enabled'), true)
    const { status, body } = await api.post('/api/signup', { email: 'dev@example.org' }, { authorization: '' })
    assert.equal(status, 201)
    const key = textAt(body, 'api_key')
    assert.match(key, /^pf_live_/)
    assert.equal(at(body, 'plan'), 'free')
    assert.equal((await api.post(PREFLIGHT, analysis, { authorization: `Bearer ${key}` })).status, 200)
    assert.ok(!JSON.stringify(await api.store.apiKeys.list()).includes(key))
    await api.close()
  })

  it('gives one key a mail address, in whatever letters it is written, also for many concurrent requests', async () => {
    const api = await startApi()
    const ask = (email: string) => api.post('/api/signup', { email }, { authorization: '' })
    const answers = await Promise.all(['dev@example.org', 'Dev@Example.org', 'DEV@EXAMPLE.ORG'].map(ask))
    assert.deepEqual(
      answers.map(({ status }) => status).sort((a, b) => a - b),
      [201, 409, 409],
    )
    const refused = answers.find(({ status }) => status === 409)
    assert.equal(at(refused?.body, 'error'), 'ALREADY_SIGNED_UP')
    assert.equal((await ask('other@example.org')).status, 201)
    assert.equal((await api.store.apiKeys.list()).filter(({ plan }) => plan === 'free').length, 2)
    await api.close()
  })

  it('is off where the operator says so, and where others can reach the listener', async () => {
    for (const config of [{ signup: { enabled: false } }, { listen: { api: '0.0.0.0:15081' } }]) {
      const api = await startApi({ config })
      assert.equal(at((await api.get('/api/signup')).body, 'enabled'), false)
      const { status, text } = await api.post('/api/signup', { email: 'dev@example.org' })
      assert.equal(status, 403)
      assert.doesNotMatch(text, /pf_live_/)
      await api.close()
    }
  })

  it('needs an address', async () => {
    const api = await startApi()
    const { status, body } = await api.post('/api/signup', { email: 'nobody' })
    assert.equal(status, 400)
    assert.equal(at(listAt(body, 'details')[0], 'pointer'), '/email')
    await api.close()
  })
})
