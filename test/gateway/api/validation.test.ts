/** Calls and responses of an API checked against the pinned contract: violations with places, and the result in the proxy. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { conformanceOf } from '../../../gateway/validation/conformance.ts'
import { openContract } from '../../../gateway/validation/contract.ts'
import type { HttpMessage } from '../../../gateway/validation/message.ts'
import { createValidator } from '../../../gateway/validation/validator.ts'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'
import type { StoreFaults } from '../../fakes/store-faults.ts'
import { startProxy, type ProxyUnderTest } from '../../fakes/proxy-under-test.ts'
import { SHOP } from '../../fakes/shop-contract.ts'
import { until } from '../../fakes/until.ts'
import { at, textAt } from '../../json.ts'

const shop = openContract(JSON.stringify(SHOP))
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

function request(
  method: string,
  target: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): HttpMessage {
  const bytes = body === undefined ? null : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const type = body === undefined ? {} : JSON_TYPE
  return { side: 'request', method, target, headers: { ...type, ...headers }, hasBody: bytes !== null, body: bytes }
}

function answer(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = JSON_TYPE,
  method = 'GET',
): HttpMessage {
  return {
    side: 'answer',
    method,
    target: '/v1/pets?limit=1',
    status,
    headers,
    body: Buffer.from(JSON.stringify(body)),
  }
}

/** Where it violates the contract; empty where it conforms, the result where it is neither. */
function judged(message: HttpMessage): readonly string[] {
  const conformance = conformanceOf(message, shop)
  if (conformance.result === 'violates') return conformance.violations.map(({ where }) => where)
  return conformance.result === 'conforms' ? [] : [conformance.result]
}

const CASES: readonly (readonly [what: string, message: HttpMessage, where: readonly string[]])[] = [
  ['a list', request('GET', '/v1/pets?limit=10'), []],
  ['HEAD of a list', request('HEAD', '/v1/pets?limit=10'), []],
  ['a parameter that is missing', request('GET', '/v1/pets'), ['query.limit']],
  ['a parameter of another type', request('GET', '/v1/pets?limit=ten'), ['query.limit']],
  ['a parameter past its bound', request('GET', '/v1/pets?limit=101'), ['query.limit']],
  ['a parameter twice', request('GET', '/v1/pets?limit=1&limit=2'), ['query.limit']],
  ['a list in one value', request('GET', '/v1/pets?limit=1&kinds=cat,dog'), []],
  ['a list with a foreign item', request('GET', '/v1/pets?limit=1&kinds=cat,cow'), ['query.kinds#/1']],
  ['an object in brackets', request('GET', '/v1/pets?limit=1&where[age]=3'), []],
  ['an object in brackets with another type', request('GET', '/v1/pets?limit=1&where[age]=old'), ['query.where#/age']],
  ['a header of the path', request('GET', '/v1/pets?limit=1', undefined, { 'x-shop': 'Nine' }), ['header.X-Shop']],
  ['a cookie', request('GET', '/v1/pets?limit=1', undefined, { cookie: 'a=b; session=x' }), ['cookie.session']],
  ['a path value', request('GET', '/v1/pets/7.json'), []],
  ['a path value of another type', request('GET', '/v1/pets/x.json'), ['path.petId']],
  ['a path value below its bound', request('GET', '/v1/pets/0.json'), ['path.petId']],
  ['an operation that is not described', request('DELETE', '/v1/pets'), ['path']],
  ['a question for what is allowed', request('OPTIONS', '/v1/pets'), ['unchecked']],
  ['a body without what only answers hold', request('POST', '/v1/pets', { name: 'Tom', kind: 'cat' }), []],
  ['a body with null where that may be', request('POST', '/v1/pets', { name: null }), []],
  [
    'a body deep within',
    request('POST', '/v1/pets', { name: 'Tom', parent: { name: 'Kit', kind: 'cow' } }),
    ['body#/parent/kind'],
  ],
  ['a body without what is required', request('POST', '/v1/pets', { kind: 'cat' }), ['body']],
  ['a bound that is exclusive', request('POST', '/v1/pets', { name: 'Tom', weight: 0 }), ['body#/weight']],
  ['a member more', request('POST', '/v1/pets', { name: 'Tom', tail: true }), ['body']],
  ['no body', request('POST', '/v1/pets'), ['body']],
  [
    'a body of another media type',
    request('POST', '/v1/pets', 'x', { 'content-type': 'text/plain' }),
    ['content-type'],
  ],
  ['a body with a member twice', request('POST', '/v1/pets', '{"name":"a","name":"b"}'), ['body']],
  ['an answer', answer(200, [{ id: 1, name: 'Tom' }]), []],
  ['an answer without what is required', answer(200, [{ name: 'Tom' }]), ['body#/0']],
  ['an answer of another shape', answer(200, { items: [] }), ['body']],
  ['an answer of a described class', answer(404, 'gone'), []],
  ['an answer of a status that is not described', answer(500, {}), ['status']],
  ['an answer of another media type', answer(200, [], { 'content-type': 'text/html' }), ['content-type']],
  ['an answer within a range of media types', answer(201, { id: 1, name: 'Tom' }, JSON_TYPE, 'POST'), []],
  ['an answer behind references', answer(201, { id: 'x', name: 'Tom' }, JSON_TYPE, 'POST'), ['body#/id']],
]

for (const [what, message, where] of CASES) {
  test(`${what}: ${where.length === 0 ? 'conforms' : where.join(', ')}`, () => assert.deepEqual(judged(message), where))
}

test('Swagger 2.0 and OpenAPI 3.1 are read in their own ways', () => {
  const before = openContract(
    JSON.stringify({
      swagger: '2.0',
      basePath: '/v1',
      paths: {
        '/pets': {
          post: {
            parameters: [
              { name: 'ids', in: 'query', type: 'array', items: { type: 'integer' }, required: true },
              { name: 'pet', in: 'body', required: true, schema: { $ref: '#/definitions/Pet' } },
            ],
            responses: { 200: { description: 'good', schema: { type: 'integer' } } },
          },
        },
      },
      definitions: { Pet: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } },
    }),
  )
  assert.equal(conformanceOf(request('POST', '/v1/pets?ids=1,2', { name: 'Tom' }), before).result, 'conforms')
  assert.equal(conformanceOf(request('POST', '/v1/pets?ids=1,x', { name: 'Tom' }), before).result, 'violates')
  assert.equal(conformanceOf(request('POST', '/v1/pets?ids=1', {}), before).result, 'violates')
  const after = openContract(
    JSON.stringify({
      openapi: '3.1.0',
      paths: {
        '/pets': {
          post: {
            requestBody: { content: { 'application/json': { schema: { type: ['string', 'null'], const: 'cat' } } } },
            responses: {},
          },
        },
      },
    }),
  )
  assert.equal(conformanceOf(request('POST', '/pets', '"cat"'), after).result, 'conforms')
  assert.equal(conformanceOf(request('POST', '/pets', 'null'), after).result, 'violates')
})

const withPattern = (pattern: string) => {
  const contract = structuredClone(SHOP)
  Object.assign(contract.components.schemas.Pet.properties.name, { pattern })
  return { digest: pattern, content: JSON.stringify(contract) }
}

test('a pattern that holds other engines for ever is answered, and one without a linear form is not guessed', async (t) => {
  const validator = createValidator(() => 30_000)
  t.after(() => validator.close())
  const attack = request('POST', '/v1/pets', { name: `${'a'.repeat(50_000)}!` })
  assert.equal((await validator.check(withPattern('^(a+)+$'), attack)).result, 'violates')
  await assert.rejects(validator.check(withPattern('^(?!a)b'), attack), /look-around/)
})

test('a check that takes too long ends with its thread, and the next check has another', async (t) => {
  const slow = structuredClone(SHOP)
  Object.assign(slow.components.schemas.Pet.properties, { name: { type: 'array', uniqueItems: true } })
  let timeout = 400
  const validator = createValidator(() => timeout)
  t.after(() => validator.close())
  const contract = { digest: 'sha256:slow', content: JSON.stringify(slow) }
  const attack = request('POST', '/v1/pets', {
    name: Array.from({ length: 40_000 }, (_, index) => ({ index })),
  })
  await assert.rejects(validator.check(contract, attack), /took longer than 400 ms/)
  timeout = 30_000
  assert.equal((await validator.check(contract, request('POST', '/v1/pets', { name: [1] }))).result, 'conforms')
  await assert.rejects(validator.check({ digest: 'sha256:broken', content: '{' }, attack))
})

interface Options {
  readonly route?: object
  readonly status?: number
  readonly answer?: unknown
  readonly contract?: unknown
  readonly now?: () => number
  readonly config?: Readonly<Record<string, unknown>>
  readonly storeFaults?: StoreFaults
}

async function scene(
  t: TestContext,
  { route = {}, status = 200, answer: body = [], contract = SHOP, ...rest }: Options = {},
) {
  const upstream = await startHttpUpstream((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-shop-')), 'openapi.json')
  writeFileSync(file, JSON.stringify(contract))
  const proxy = await startProxy({
    routes: [
      {
        name: 'shop',
        match: { path: '/' },
        upstream: `${upstream.origin}/v1`,
        protocol: 'http',
        contract: { current: { file } },
        validate: 'enforce',
        ...route,
      },
    ],
    ...rest,
  })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  const post = (text: string | Buffer, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${proxy.url}/pets`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: text,
    })
  return { proxy, upstream, post, file }
}

test('a call that violates the contract is refused with where and why, and is not sent', async (t) => {
  const { proxy, upstream, post } = await scene(t)
  const refused = await post('{"name":"Tom","kind":"cow"}')
  assert.equal(refused.status, 422)
  assert.equal(refused.headers.get('preflight-action'), 'STOP')
  const body: unknown = await refused.json()
  assert.equal(at(body, 'error'), 'CONTRACT_VIOLATION')
  assert.deepEqual(at(body, 'details'), [
    { pointer: 'body#/kind', message: 'must be equal to one of the allowed values: "cat", "dog"' },
  ])
  assert.match(textAt(body, 'message'), /body#\/kind: must be equal/)
  assert.equal((await fetch(`${proxy.url}/pets?limit=x`)).status, 422)
  assert.equal((await post(gzipSync('{"name":"Tom","kind":"cow"}'), { 'content-encoding': 'gzip' })).status, 422)
  assert.equal((await post('{"name":"Tom"}', { 'content-encoding': 'odd' })).status, 422)
  assert.equal(upstream.requests.length, 0)
  assert.match(
    await proxy.metrics.text(),
    /preflight_contract_checks_total\{route="shop",side="request",result="violates"\}/,
  )
})

test('a call that conforms is judged and sent as it came', async (t) => {
  const { proxy, upstream, post } = await scene(t)
  assert.equal((await post(' {"name": "Tom"} ')).status, 200)
  assert.equal(upstream.requests[0]?.body, ' {"name": "Tom"} ')
  assert.equal(proxy.flow.asked.length, 1)
})

test('a response of another shape is forwarded whole, and is reported as drift', async (t) => {
  const { proxy } = await scene(t, { answer: [{ id: 'seven', name: 'Tom' }] })
  const answered = await fetch(`${proxy.url}/pets?limit=1`)
  assert.deepEqual(await answered.json(), [{ id: 'seven', name: 'Tom' }])
  await until(
    async () => (await proxy.metrics.text()).includes('side="answer",result="violates"} 1'),
    'the answer is counted as drift',
  )
  const line = proxy.log.find((text) => text.includes('TOOL_RESULT_SHAPE_DRIFT')) ?? ''
  assert.match(line, /body#\/0\/id/)
  assert.doesNotMatch(line, /seven/)
})

/** Of the events that the sink was given. */
const violated = (proxy: ProxyUnderTest) => proxy.events.filter(({ type }) => type === 'preflight.contract.violated')
const withEffect = (proxy: ProxyUnderTest, effect: string) => proxy.interceptions.filter((row) => row.effect === effect)

test('a refused call is recorded each time, and told to the sinks once in a while', async (t) => {
  const { proxy, post } = await scene(t)
  await post('{"name":"Tom","kind":"cow"}')
  await post('{"name":"Tom","kind":"cow"}')
  await fetch(`${proxy.url}/nowhere/1`)
  await fetch(`${proxy.url}/nowhere/2`)
  assert.deepEqual(
    withEffect(proxy, 'refused').map(({ action, executionAction, decisionId }) => [
      action,
      executionAction,
      decisionId,
    ]),
    [
      ['POST /pets', 'STOP', null],
      ['POST /pets', 'STOP', null],
      ['GET /v1/nowhere/1', 'STOP', null],
      ['GET /v1/nowhere/2', 'STOP', null],
    ],
  )
  assert.deepEqual(withEffect(proxy, 'refused')[0]?.violations, [
    { where: 'body#/kind', message: 'must be equal to one of the allowed values: "cat", "dog"' },
  ])
  assert.deepEqual(
    violated(proxy).map(({ data }) => [data['call'], data['effect'], data['pattern'], data['occurrences']]),
    [
      ['POST /pets', 'refused', null, 1],
      ['GET /v1/nowhere/1', 'refused', null, 1],
    ],
  )
})

test('a refusal stands although it cannot be recorded', async (t) => {
  const { post, proxy, upstream } = await scene(t, {
    storeFaults: { calls: { record: () => Promise.reject(new Error('disk full')) } },
  })
  assert.equal((await post('{"kind":"cow"}')).status, 422)
  assert.equal(upstream.requests.length, 0)
  assert.match(proxy.log.join(''), /call.record_failed/)
})

test('an operation whose answers drift is recorded and told once a window, with how often it was', async (t) => {
  let now = Date.parse('2026-01-31T12:00:00Z')
  const { proxy } = await scene(t, {
    answer: [{ id: 'seven', name: 'Tom' }],
    now: () => now,
    config: { monitoring: { window: 60 } },
  })
  const drifts = async (count: number) => {
    const counted = `side="answer",result="violates"} ${count}`
    await fetch(`${proxy.url}/pets?limit=1`)
    await until(async () => (await proxy.metrics.text()).includes(counted), 'the answer is looked at')
  }
  await drifts(1)
  await drifts(2)
  await drifts(3)
  assert.equal(withEffect(proxy, 'drifted').length, 1)
  now += 60_000
  await drifts(4)
  const [first, second] = withEffect(proxy, 'drifted')
  assert.equal(first?.action, 'GET /pets')
  assert.equal(first.decisionId, withEffect(proxy, 'forwarded')[0]?.decisionId)
  assert.equal(first.executionAction, 'CONTINUE')
  assert.equal(second?.at, now)
  await until(() => violated(proxy).length === 2, 'it is told again')
  assert.deepEqual(
    violated(proxy).map(({ subject, data }) => [subject, data['pattern'], data['occurrences']]),
    [
      [first.correlationId, 'TOOL_RESULT_SHAPE_DRIFT', 1],
      [second?.correlationId, 'TOOL_RESULT_SHAPE_DRIFT', 3],
    ],
  )
  assert.doesNotMatch(JSON.stringify(violated(proxy)), /seven/)
})

test('who only observes refuses nothing', async (t) => {
  for (const route of [{ validate: 'observe' }, { mode: 'observe' }]) {
    const { post, proxy } = await scene(t, { route })
    assert.equal((await post('{"kind":"cow"}')).status, 200)
    assert.equal(violated(proxy)[0]?.data['effect'], 'observed')
    assert.deepEqual(withEffect(proxy, 'refused'), [])
    assert.match(await proxy.metrics.text(), /side="request",result="violates"\} 1/)
  }
})

test('a contract that cannot be checked leaves enforced calls undecided, and others alone', async (t) => {
  const contract = structuredClone(SHOP)
  Object.assign(contract.components.schemas.Pet.properties, { tag: { $ref: './other.yaml' } })
  const closed = await scene(t, { contract })
  const answered = await closed.post('{"name":"Tom"}')
  assert.equal(answered.status, 503)
  assert.equal(at(await answered.json(), 'error'), 'PREFLIGHT_UNDECIDED')
  const observing = await scene(t, { contract, route: { validate: 'observe' } })
  assert.equal((await observing.post('{"name":"Tom"}')).status, 200)
  assert.match(await observing.proxy.metrics.text(), /side="request",result="failed"\} 1/)
})

test('calls are compared with what is pinned, and not against what is offered since', async (t) => {
  const { post, file, proxy } = await scene(t)
  assert.equal((await post('{"name":"Tom"}')).status, 200)
  const wider = structuredClone(SHOP)
  wider.components.schemas.Pet.properties.kind.enum.push('cow')
  writeFileSync(file, JSON.stringify(wider))
  proxy.nextGeneration()
  assert.equal((await post('{"name":"Tom","kind":"cow"}')).status, 422)
})
