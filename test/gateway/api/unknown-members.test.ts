/** Members that no schema knows (docs/reference/api.md#conventions): tolerated and listed in three requests, refused everywhere else; misspellings always. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROUTES } from '../../../gateway/api/serving/routes.ts'
import { TOOLS } from '../../../gateway/api/mcp/tools.ts'
import { startApi, type ApiAnswer, type ApiFake } from '../../fakes/api.ts'
import { isJsonObject } from '../../../gateway/json/strict-json.ts'

const SPEC = JSON.stringify({ openapi: '3.0.0', info: { title: 'a', version: '1' }, paths: {} })
const ARTIFACT = { id: 'a', type: 'openapi', before: SPEC, after: SPEC }
const CONTEXT = { operation: 'merge' }
const PREFLIGHT = { preflight_mode: 'authorize', artifacts: [ARTIFACT], context: CONTEXT }
const ANALYZE = { ...PREFLIGHT, preflight_mode: 'analyze' }
const DIFF = { base: SPEC, head: SPEC, options: {} }
const VERIFY = { token: 'x'.repeat(30), context: CONTEXT }

/** Requests that tolerate unknown members, with the objects in them. */
const TOLERANT = [
  { path: '/api/v1/preflight', body: PREFLIGHT, at: ['', '/artifacts/0', '/context'] },
  { path: '/api/v1/preflight', body: ANALYZE, at: ['', '/artifacts/0', '/context'] },
  { path: '/api/diff', body: DIFF, at: [''] },
  { path: '/api/v1/verify-receipt', body: VERIFY, at: ['', '/context'] },
] as const

const STRANGE = ['x-request-source', 'sdk_version', 'a/b~c', '__proto__', 'constructor', 'toString', 'hasOwnProperty']

/** Known member and spellings of it, where the object at the pointer has it. */
const MISSPELLED: readonly (readonly [path: string, at: string, known: string, spellings: readonly string[]])[] = [
  [
    '/api/v1/preflight',
    '/context',
    'environment',
    ['envirnoment', 'Environment', 'ENVIRONMENT', 'enviroment', 'environments'],
  ],
  ['/api/v1/preflight', '/context', 'pull_request', ['pullRequest', 'pull-request', 'PullRequest', 'pull request']],
  ['/api/v1/preflight', '/context', 'branch', ['brnach', 'brach']],
  ['/api/v1/preflight', '', 'idempotency_key', ['idempotencyKey', 'idempotency-key', 'idempotencykey']],
  ['/api/v1/preflight', '', 'previous_receipt', ['previousReceipt', 'previous_reciept']],
  ['/api/v1/preflight', '', 'derivation', ['derivaton', 'Derivation']],
  ['/api/v1/preflight', '/artifacts/0', 'path', ['paht', 'Path']],
  ['/api/diff', '', 'format', ['fromat', 'Format']],
  ['/api/diff', '', 'options', ['option', 'Options']],
  ['/api/v1/verify-receipt', '', 'consume', ['consumme', 'Consume']],
  ['/api/v1/verify-receipt', '/context', 'target_id', ['targetId', 'target-id', 'targetid']],
]

/** A copy of the body with one more member in the object at the pointer. */
function withMember(body: object, at: string, name: string): object {
  const copy: unknown = structuredClone(body)
  let part: unknown = copy
  for (const step of at.split('/').slice(1))
    part = isJsonObject(part) || Array.isArray(part) ? Reflect.get(part, step) : null
  assert.ok(typeof part === 'object' && part !== null)
  Object.defineProperty(part, name, { value: 'x', enumerable: true, configurable: true, writable: true })
  assert.ok(isJsonObject(copy))
  return copy
}

function pointerOf(at: string, name: string): string {
  return `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function member(body: unknown, name: string): unknown {
  return isJsonObject(body) && Object.hasOwn(body, name) ? body[name] : undefined
}

function mistakesOf({ body }: Pick<ApiAnswer, 'body'>): readonly Readonly<Record<string, unknown>>[] {
  const details = member(body, 'details')
  return Array.isArray(details) ? details.filter(isJsonObject) : []
}

async function api(t: { after(close: () => Promise<void>): void }): Promise<ApiFake> {
  const started = await startApi({ config: { rate: { per_minute: 100_000 } } })
  t.after(() => started.close())
  return started
}

test('unknown members of preflight, diff and verify requests are tolerated and listed', async (t) => {
  const started = await api(t)
  for (const { path, body, at } of TOLERANT) {
    assert.deepEqual(member((await started.post(path, body)).body, 'ignored'), [], path)
    for (const place of at)
      for (const name of STRANGE) {
        const answer = await started.post(path, withMember(body, place, name))
        assert.equal(answer.status, 200, `${path} ${place} ${name}: ${answer.text}`)
        assert.deepEqual(member(answer.body, 'ignored'), [pointerOf(place, name)], `${path} ${place} ${name}`)
      }
  }
})

test('a member that is a misspelling of a known one is refused with the known name', async (t) => {
  const started = await api(t)
  for (const [path, at, known, spellings] of MISSPELLED)
    for (const spelling of spellings) {
      const body = TOLERANT.find((row) => row.path === path)?.body ?? {}
      const answer = await started.post(path, withMember(body, at, spelling))
      assert.equal(answer.status, 400, `${path} ${at} ${spelling}`)
      const [mistake] = mistakesOf(answer)
      assert.equal(mistake?.['pointer'], pointerOf(at, spelling))
      assert.match(String(mistake?.['message']), new RegExp(`"${known}"`), spelling)
    }
})

test('unknown options of a diff are refused', async (t) => {
  const started = await api(t)
  for (const name of ['match_paths', 'matchPath', 'unknown', 'today', 'files', '__proto__', 'constructor']) {
    const answer = await started.post('/api/diff', withMember(DIFF, '/options', name))
    assert.equal(answer.status, 400, name)
    assert.equal(mistakesOf(answer)[0]?.['pointer'], `/options/${name}`)
  }
})

test('a pattern that cannot be used is refused at its pointer, and one that is slow elsewhere is answered', async (t) => {
  const started = await api(t)
  for (const option of ['match_path', 'unmatch_path']) {
    for (const pattern of ['(', '(?=a)', 'x'.repeat(600), 'x{1000}'.repeat(60)]) {
      const answer = await started.post('/api/diff', { ...DIFF, options: { [option]: pattern } })
      assert.equal(answer.status, 400, pattern)
      assert.equal(mistakesOf(answer)[0]?.['pointer'], `/options/${option}`)
    }
    const paths = { [`/${'a'.repeat(20_000)}!`]: { get: { responses: { 200: { description: 'ok' } } } } }
    const spec = JSON.stringify({ openapi: '3.0.0', info: { title: 'a', version: '1' }, paths })
    const answer = await started.post('/api/diff', { base: spec, head: spec, options: { [option]: '(a+)+$' } })
    assert.equal(answer.status, 200)
  }
})

/** A body that holds for each route but the tolerant ones. */
const BODIES: Readonly<Record<string, object>> = {
  lookupDecision: { decision_id: 'd' },
  revokeReceipt: { decision_id: 'd', reason: 'r' },
  grantApproval: { comment: 'c' },
  denyApproval: { comment: 'c' },
  promoteBaseline: { digest: `sha256:${'0'.repeat(64)}` },
  openBreakGlass: { route: 'r', reason: 'because', seconds: 60 },
  closeBreakGlass: {},
  challengeBinding: { platform: 'scm_a', repository: 'a/b' },
  proveBinding: { challenge_id: 'c' },
  simulatePolicy: { policy: '', artifacts: [ARTIFACT] },
  runAbortDemo: {},
  signUp: { email: 'a@example.org' },
}

test('every other request takes no unknown member, and no request takes an unknown query parameter', async (t) => {
  const started = await api(t)
  const { url } = started
  const admin = await started.newKey('admin')
  for (const route of ROUTES) {
    const path = route.paths[0].replaceAll(/\{[a-z_]+\}/g, 'x')
    const ask = (query: string, body: object | null) =>
      fetch(url + path + query, {
        method: route.method,
        headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json', accept: '*/*' },
        ...(body !== null && { body: JSON.stringify(body) }),
      })
    for (const name of ['strange', '__proto__', 'constructor', 'limit_']) {
      const body = route.body === undefined ? null : (BODIES[route.operationId] ?? {})
      const answer = await ask(`?${name}=1`, body)
      assert.equal(answer.status, 400, `${route.operationId}?${name}`)
      const pointers = mistakesOf({ body: await answer.json() }).map(({ pointer }) => pointer)
      assert.ok(pointers.includes(name), `${route.operationId}?${name}: ${pointers.join()}`)
    }
    const takesAny = route.toleratesUnknown === true || route.operationId === 'mcp' || route.tag === 'monitoring'
    if (route.body === undefined || takesAny) continue
    for (const name of ['strange', '__proto__', 'constructor']) {
      const answer = await ask('', withMember(BODIES[route.operationId] ?? {}, '', name))
      const answered: unknown = await answer.json()
      assert.equal(answer.status, 400, `${route.operationId} ${name}: ${JSON.stringify(answered)}`)
      const pointers = mistakesOf({ body: answered }).map(({ pointer }) => pointer)
      assert.ok(pointers.includes(`/${name}`), `${route.operationId} ${name}: ${JSON.stringify(answered)}`)
    }
  }
})

test('the MCP tools hold the same rules', async (t) => {
  const { url, key } = await api(t)
  const call = async (name: string, args: object): Promise<unknown> => {
    const answer = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
    })
    const text = await answer.text()
    const message: unknown = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text)
    return member(member(message, 'result'), 'structuredContent')
  }
  const bodies: Readonly<Record<string, object>> = {
    preflight_change_set: PREFLIGHT,
    verify_receipt: VERIFY,
    get_decision_details: { decision_id: 'd' },
  }
  for (const { definition, route } of TOOLS) {
    const body = bodies[definition.name] ?? {}
    const strange = await call(definition.name, withMember(body, '', 'sdk_version'))
    if (route.toleratesUnknown === true) assert.deepEqual(member(strange, 'ignored'), ['/sdk_version'])
    else assert.deepEqual(mistakesOf({ body: strange })[0]?.['pointer'], '/sdk_version')
  }
  const misspelled = await call('preflight_change_set', withMember(PREFLIGHT, '/context', 'envirnoment'))
  assert.equal(member(misspelled, 'error'), 'INVALID_INPUT')
  assert.match(JSON.stringify(misspelled), /did you mean \\"environment\\"/)
})

/** Short names, whose misspellings are also other names: reported where the known one is missing. */
const SHORT: readonly (readonly [path: string, body: object, at: string, known: string, given: string])[] = [
  ...['bas', 'bae', 'bsae', 'Base'].map((given) => ['/api/diff', DIFF, '', 'base', given] as const),
  ...['hed', 'haed'].map((given) => ['/api/diff', DIFF, '', 'head', given] as const),
  ...['ID', 'i', 'idd'].map((given) => ['/api/v1/preflight', PREFLIGHT, '/artifacts/0', 'id', given] as const),
  ...['typ', 'tpye', 'kype'].map((given) => ['/api/v1/preflight', PREFLIGHT, '/artifacts/0', 'type', given] as const),
  ...['tokn', 'tken'].map((given) => ['/api/v1/verify-receipt', VERIFY, '', 'token', given] as const),
]

test('a short member that is missing is asked about where one of a similar name is given', async (t) => {
  const started = await api(t)
  for (const [path, body, at, known, given] of SHORT) {
    const renamed = withMember(body, at, given)
    let part: unknown = renamed
    for (const step of at.split('/').slice(1)) part = Reflect.get(Object(part), step)
    assert.ok(Reflect.deleteProperty(Object(part), known))
    const answer = await started.post(path, renamed)
    assert.equal(answer.status, 400, `${path} ${given}`)
    assert.match(
      JSON.stringify(answer.body),
      new RegExp(`did you mean (?:it by )?."(?:${given}|${known})`),
      `${path} ${given}`,
    )
  }
  const other = await started.post('/api/diff', { head: SPEC, zzz: SPEC })
  assert.doesNotMatch(JSON.stringify(other.body), /did you mean/)
})

test('a platform that is not known is answered with the platforms that the names stand for', async (t) => {
  const started = await api(t)
  for (const platform of ['github', 'GitHub', 'gitlab', 'scm_d']) {
    const { status, body } = await started.post('/api/v1/bindings/challenge', { platform, repository: 'acme/pets' })
    assert.equal(status, 400)
    assert.match(JSON.stringify(body), /scm_a \(GitHub\), scm_b \(GitLab\), scm_c \(Bitbucket\)/)
  }
})

test('a text of the context that is blank is not a text: there is no receipt for no operation', async (t) => {
  const started = await api(t)
  for (const blank of [
    '',
    ' ',
    '   ',
    '\u00a0',
    '\u3000 ',
    '\u2028',
    '\u200b',
    '\ufeff',
    '\u2060\u00ad',
    '\u3164',
    '\u2800 ',
  ]) {
    const operation = await started.post('/api/v1/preflight', { ...PREFLIGHT, context: { operation: blank } })
    assert.equal(operation.status, 400, JSON.stringify(blank))
    assert.equal(member(operation.body, 'error'), 'OPERATION_REQUIRED', JSON.stringify(blank))
    for (const name of ['environment', 'repository', 'branch', 'target_id'])
      assert.equal(
        (await started.post('/api/v1/preflight', { ...PREFLIGHT, context: { ...CONTEXT, [name]: blank } })).status,
        400,
      )
  }
})

test('a number of a pull request that is another one when it has been read is refused', async (t) => {
  const started = await api(t)
  const context = { ...CONTEXT, pull_request: 9_007_199_254_740_992 }
  assert.equal((await started.post('/api/v1/preflight', { ...PREFLIGHT, context })).status, 400)
  const verification = { token: 'a.b.c', context: { operation: 'deploy', pull_request: 1e21 } }
  assert.equal((await started.post('/api/v1/verify-receipt', verification)).status, 400)
})
