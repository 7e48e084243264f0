/** Bindings of tenants to repositories, and change sets that the gateway lists itself, by the API against three platforms. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { jwtVerify } from 'jose'
import { startApi, type ApiAnswer, type ApiFake, type ApiOptions } from '../../fakes/api.ts'
import { startBitbucket } from '../../fakes/bitbucket-server.ts'
import { startGithub } from '../../fakes/github-server.ts'
import { startGitlab } from '../../fakes/gitlab-server.ts'
import { openapi } from '../../fakes/scm-client.ts'
import { FakeRepository } from '../../fakes/scm-repository.ts'
import { SCM_TOKEN, type ScmServer } from '../../fakes/scm-server.ts'
import { at } from '../../json.ts'

const PLATFORMS = [
  { platform: 'scm_a', name: 'github', prefix: '', start: (one: FakeRepository) => startGithub(one) },
  { platform: 'scm_b', name: 'gitlab', prefix: '/api/v4', start: (one: FakeRepository) => startGitlab(one) },
  { platform: 'scm_c', name: 'bitbucket', prefix: '/2.0', start: startBitbucket },
] as const

type Platform = (typeof PLATFORMS)[number]

const TOKEN = { 'x-scm-token': SCM_TOKEN }
const BEFORE = openapi('/pets', '/toys')
const AFTER = openapi('/pets')

interface Scene {
  readonly api: ApiFake
  readonly server: ScmServer
  readonly repository: FakeRepository
}

async function scene(
  t: TestContext,
  { platform: _platform, name, prefix, start }: Platform,
  options: ApiOptions = {},
): Promise<Scene> {
  const repository = new FakeRepository('acme/pets', { 'openapi.yaml': BEFORE, 'README.md': 'pets' })
  repository.commit('feature', { 'openapi.yaml': AFTER }, 'main')
  repository.commit('docs', { 'README.md': 'more' }, 'main')
  const server = await start(repository)
  const api = await startApi({
    ...options,
    config: { scm: { [name]: { api: server.origin + prefix } }, ...options.config },
  })
  t.after(async () => {
    await api.close()
    await server.close()
  })
  return { api, server, repository }
}

const GITHUB = PLATFORMS[0]

async function challenge({ api }: Scene, platform: string): Promise<{ readonly id: string; readonly content: string }> {
  const answer = await api.post('/api/v1/bindings/challenge', { platform, repository: 'acme/pets' })
  assert.equal(answer.status, 200)
  assert.equal(at(answer.body, 'marker_path'), '.preflight-bind')
  return { id: String(at(answer.body, 'challenge_id')), content: String(at(answer.body, 'marker_content')) }
}

function prove({ api }: Scene, id: string, headers: Readonly<Record<string, string>> = TOKEN): Promise<ApiAnswer> {
  return api.post('/api/v1/bindings/prove', { challenge_id: id }, headers)
}

async function bind(one: Scene, platform: string): Promise<void> {
  const { id, content } = await challenge(one, platform)
  one.repository.commit('main', { '.preflight-bind': content })
  assert.equal((await prove(one, id)).status, 200)
}

function derived(base: string, head: string, rest: object = {}) {
  return {
    preflight_mode: 'authorize',
    derivation: 'server',
    context: { operation: 'merge', repository: 'acme/pets', base, head },
    ...rest,
  }
}

const envelopeOf = (answer: ApiAnswer) => at(answer.body, 'decision_result')
const refusal = ({ status, body }: ApiAnswer) => [status, at(body, 'error')]

for (const platform of PLATFORMS) {
  test(`${platform.name}: a binding is proven by the marker on the default branch, and listed`, async (t) => {
    const one = await scene(t, platform)
    const { id, content } = await challenge(one, platform.platform)
    assert.deepEqual(refusal(await prove(one, id)), [403, 'BINDING_NOT_PROVEN'])
    one.repository.commit('main', { '.preflight-bind': 'something else' })
    assert.deepEqual(refusal(await prove(one, id)), [403, 'BINDING_NOT_PROVEN'])
    one.repository.commit('main', { '.preflight-bind': content.trimEnd() })
    const proven = await prove(one, id)
    assert.equal(proven.status, 200)
    const listed = await one.api.get('/api/v1/bindings')
    assert.deepEqual(at(listed.body, 'bindings'), [at(proven.body, 'binding')])
    assert.equal(at(proven.body, 'binding', 'repository'), 'acme/pets')
  })

  test(`${platform.name}: a derived change set is listed by the gateway, with commits, commitment and binding`, async (t) => {
    const one = await scene(t, platform)
    await bind(one, platform.platform)
    const answer = await one.api.post('/api/v1/preflight', derived('main', 'feature'), TOKEN)
    assert.equal(answer.status, 200)
    const envelope = envelopeOf(answer)
    assert.equal(at(envelope, 'completeness_mode'), 'SERVER_DERIVED')
    assert.deepEqual(at(envelope, 'derivation'), {
      source: `${platform.platform}_compare`,
      platform: platform.platform,
      base_sha: one.repository.tip('main'),
      head_sha: one.repository.tip('feature'),
    })
    assert.deepEqual(
      [at(envelope, 'base'), at(envelope, 'head'), at(envelope, 'completeness_count')],
      ['main', 'feature', 1],
    )
    assert.equal(at(envelope, 'authority', 'tenant_scope'), 'bound')
    assert.equal(at(envelope, 'binding', 'proven'), true)
    assert.equal(at(answer.body, 'decision'), 'BLOCK')
    assert.deepEqual(at(answer.body, 'artifacts', 0, 'id'), 'openapi.yaml')
  })

  test(`${platform.name}: a derived change set without a contract is allowed`, async (t) => {
    const one = await scene(t, platform)
    await bind(one, platform.platform)
    const answer = await one.api.post('/api/v1/preflight', derived('main', 'docs'), TOKEN)
    assert.equal(at(answer.body, 'decision'), 'ALLOW')
    assert.equal(at(envelopeOf(answer), 'completeness_mode'), 'SERVER_DERIVED')
    assert.equal(at(answer.body, 'control_envelope', 'receipt_view', 'currently_authorized'), true)
  })
}

test('without a token there is nothing to read with, and a wrong one is refused in the platform’s words', async (t) => {
  const one = await scene(t, GITHUB)
  const { id } = await challenge(one, 'scm_a')
  assert.deepEqual(refusal(await prove(one, id, {})), [403, 'REPOSITORY_INACCESSIBLE'])
  const wrong = await prove(one, id, { 'x-scm-token': 'not-the-token' })
  assert.deepEqual(refusal(wrong), [403, 'REPOSITORY_INACCESSIBLE'])
  assert.match(wrong.text, /Bad credentials/)
  assert.doesNotMatch(wrong.text + one.api.log.join(''), /not-the-token/)
})

test('a challenge of another tenant, an unknown one and an expired one prove nothing', async (t) => {
  let now = Date.now()
  const one = await scene(t, GITHUB, { now: () => now })
  const { id, content } = await challenge(one, 'scm_a')
  one.repository.commit('main', { '.preflight-bind': content })
  const other = await one.api.newKey('agent', { tenant: 'other' })
  assert.deepEqual(refusal(await prove(one, id, { ...TOKEN, authorization: `Bearer ${other}` })), [404, 'NOT_FOUND'])
  assert.deepEqual(refusal(await prove(one, 'chl_none')), [404, 'NOT_FOUND'])
  now += 3601 * 1000
  assert.deepEqual(refusal(await prove(one, id)), [403, 'BINDING_NOT_PROVEN'])
})

test('a binding is its tenant’s own', async (t) => {
  const one = await scene(t, GITHUB)
  await bind(one, 'scm_a')
  const other = { authorization: `Bearer ${await one.api.newKey('agent', { tenant: 'other' })}` }
  assert.deepEqual(at((await one.api.get('/api/v1/bindings', other)).body, 'bindings'), [])
  const answer = await one.api.post('/api/v1/preflight', derived('main', 'docs'), { ...TOKEN, ...other })
  assert.deepEqual(refusal(answer), [403, 'BINDING_NOT_PROVEN'])
})

test('what is not a name of a repository, or of a platform, is refused before anything is asked', async (t) => {
  const { api, server } = await scene(t, GITHUB)
  for (const repository of ['acme', 'acme/pets/../x', '../..', 'acme/pets?x=1', 'acme/..', 'a b/c'])
    assert.deepEqual(refusal(await api.post('/api/v1/bindings/challenge', { platform: 'scm_a', repository })), [
      400,
      'INVALID_INPUT',
    ])
  const platform = await api.post('/api/v1/bindings/challenge', { platform: 'svn', repository: 'a/b' })
  assert.deepEqual(refusal(platform), [400, 'INVALID_INPUT'])
  assert.equal(server.requests.length, 0)
})

test('artifacts for a proven repository are bound, for another one attested, without one neither', async (t) => {
  const one = await scene(t, GITHUB)
  const artifacts = [{ id: 'api', type: 'openapi', before: AFTER, after: BEFORE }]
  const modeFor = async (context: object) => {
    const answer = await one.api.post('/api/v1/preflight', {
      preflight_mode: 'authorize',
      artifacts,
      context: { operation: 'merge', ...context },
    })
    const envelope = envelopeOf(answer)
    return [
      at(envelope, 'completeness_mode'),
      at(envelope, 'authority', 'tenant_scope'),
      at(envelope, 'completeness_count'),
    ]
  }
  assert.deepEqual(await modeFor({}), ['UNBOUND', 'unbound', null])
  assert.deepEqual(await modeFor({ repository: 'acme/pets' }), ['ATTESTED_UNVERIFIED', 'unbound', 1])
  await bind(one, 'scm_a')
  assert.deepEqual(await modeFor({ repository: 'Acme/Pets' }), ['BOUND_ATTESTED', 'bound', 1])
  assert.deepEqual(await modeFor({ repository: 'acme/pets', platform: 'scm_b' }), ['ATTESTED_UNVERIFIED', 'unbound', 1])
})

test('a ref that is not there is the caller’s mistake, and names the member', async (t) => {
  const one = await scene(t, GITHUB)
  await bind(one, 'scm_a')
  const answer = await one.api.post('/api/v1/preflight', derived('main', 'nowhere'), TOKEN)
  assert.deepEqual(
    [...refusal(answer), at(answer.body, 'details', 0, 'pointer')],
    [400, 'INVALID_INPUT', '/context/head'],
  )
})

test('a platform that fails while the changes are listed is a decision, and not a permission', async (t) => {
  const one = await scene(t, GITHUB)
  await bind(one, 'scm_a')
  for (const status of [500, 429]) {
    one.server.fault = ({ path }) => (path.includes('/compare/') ? { status, body: { message: 'try later' } } : null)
    const answer = await one.api.post('/api/v1/preflight', derived('main', 'docs'), TOKEN)
    const envelope = envelopeOf(answer)
    assert.deepEqual([answer.status, at(answer.body, 'decision')], [200, 'BLOCK'])
    assert.equal(at(envelope, 'degraded_reasons', 0, 'code'), 'DERIVATION_UNAVAILABLE')
    assert.equal(at(envelope, 'completeness_mode'), 'UNESTABLISHABLE')
    assert.equal(at(envelope, 'derivation'), undefined)
  }
})

test('an analysis of a derived change set is not a permission', async (t) => {
  const one = await scene(t, GITHUB)
  await bind(one, 'scm_a')
  const answer = await one.api.post(
    '/api/v1/preflight',
    derived('main', 'feature', { preflight_mode: 'analyze' }),
    TOKEN,
  )
  assert.deepEqual([at(answer.body, 'analysis_outcome'), at(answer.body, 'may_execute')], ['BREAKS_DETECTED', false])
})

test('the same derivation under one key is answered as it was, wherever its refs are by now', async (t) => {
  const one = await scene(t, GITHUB)
  await bind(one, 'scm_a')
  const request = derived('main', 'docs', { idempotency_key: 'once' })
  const first = await one.api.post('/api/v1/preflight', request, TOKEN)
  one.repository.commit('docs', { 'openapi.yaml': null })
  const again = await one.api.post('/api/v1/preflight', request, TOKEN)
  assert.equal(again.headers.get('idempotency-replayed'), 'true')
  assert.equal(at(again.body, 'chain_receipt'), at(first.body, 'chain_receipt'))
  const other = await one.api.post('/api/v1/preflight', derived('main', 'feature', { idempotency_key: 'once' }), TOKEN)
  assert.deepEqual(refusal(other), [409, 'IDEMPOTENCY_CONFLICT'])
})

test('a GitHub App reads with a token of its own for the one repository, asked for once', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-app-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const file = join(directory, 'app.pem')
  writeFileSync(file, privateKey.export({ type: 'pkcs1', format: 'pem' }))
  const repository = new FakeRepository('acme/pets', { 'openapi.yaml': BEFORE })
  const server = await startGithub(repository, { tokens: ['Bearer installation-token'] })
  const jwts: string[] = []
  const asked: unknown[] = []
  server.fault = ({ method, path, headers, body }) => {
    if (path.endsWith('/installation')) {
      jwts.push(String(headers.authorization).replace('Bearer ', ''))
      return { body: { id: 42 } }
    }
    if (method !== 'POST' || path !== '/app/installations/42/access_tokens') return null
    asked.push(JSON.parse(body))
    return {
      status: 201,
      body: { token: 'installation-token', expires_at: new Date(Date.now() + 3_600_000).toISOString() },
    }
  }
  const api = await startApi({
    config: { scm: { github: { api: server.origin, app: { id: 'Iv1.app', key_file: file } } } },
  })
  t.after(async () => {
    await api.close()
    await server.close()
  })
  const one = { api, server, repository }
  await bind(one, 'scm_a')
  const answer = await api.post('/api/v1/preflight', derived('main', 'main'))
  assert.equal(at(answer.body, 'decision'), 'ALLOW')
  assert.deepEqual(asked, [{ repositories: ['pets'], permissions: { contents: 'read', pull_requests: 'read' } }])
  const { payload } = await jwtVerify(jwts[0] ?? '', publicKey, { algorithms: ['RS256'] })
  assert.equal(payload.iss, 'Iv1.app')
})
