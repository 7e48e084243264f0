/**
 * Settings that change while a call waits: what is sent afterwards is what the new ones allow, however the call waited and came in.
 * It is one file, since all of its tests share the gateway whose settings change.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { generateKeyPairSync, sign } from 'node:crypto'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { admissionReview, CONFIG_MAP, DEPLOYMENT, sendReview } from '../fakes/admission-review.ts'
import { testAuthority } from '../fakes/certificates.ts'
import { grpcAsker } from '../fakes/ext-authz-client.ts'
import { grpcClient } from '../fakes/grpc-client.ts'
import { configMap, deployment, OPENAPI } from '../fakes/kubernetes-scene.ts'
import { listening } from '../fakes/listening.ts'
import { FREE_PORTS, startTestGateway, TEST_KEY, type TestGateway } from '../fakes/gateway.ts'
import { startMcpUpstream, tool } from '../fakes/mcp-upstream.ts'
import { startAgent } from '../fakes/agent.ts'
import { petContract, startHttpUpstream, type HttpUpstream } from '../fakes/http-upstream.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'
import { until } from '../fakes/until.ts'
import { at, listAt, textAt } from '../json.ts'

const ASKS = [{ id: 'breaking-asks', when: "finding.level == 'breaking'", then: 'REQUIRE_APPROVAL' }]
const BLOCKS = [{ id: 'breaking-stops', when: "finding.level == 'breaking'", then: 'BLOCK' }]

const LISTEN = { ...FREE_PORTS, ext_authz: '127.0.0.1:0' }

interface Scene {
  readonly gateway: TestGateway
  readonly upstream: HttpUpstream
  readonly other: HttpUpstream
  /** Lets the contract be fetched, which a route waits for. */
  readonly release: () => void
  readonly fetches: () => number
  readonly change: (routes: readonly object[], rules?: readonly object[]) => void
  /** With the other members of the first route. */
  readonly routeWith: (members: object) => object
  readonly api: (method: string, path: string, body?: unknown) => Promise<unknown>
}

type RouteMaker = (scene: { readonly upstream: string; readonly contracts: string }) => object

async function scene(t: TestContext, routeOf: RouteMaker, more: object = {}): Promise<Scene> {
  const upstream = await startHttpUpstream((_request, response) => response.end('first'))
  const other = await startHttpUpstream((_request, response) => response.end('other'))
  const waiting: (() => void)[] = []
  const contracts = await startHttpUpstream((_request, response) => {
    waiting.push(() => response.setHeader('content-type', 'application/json').end(readFileSync(petContract(), 'utf8')))
  })
  t.after(() => Promise.all([upstream.close(), other.close(), contracts.close()]))
  const policy = join(petContract(), '..', 'pack.yaml')
  const writeRules = (rules: readonly object[]): void =>
    writeFileSync(
      policy,
      JSON.stringify({ apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'p' }, rules }),
    )
  writeRules(ASKS)
  const first = routeOf({ upstream: upstream.origin, contracts: contracts.origin })
  // The gateway reads this object again when it reloads.
  const routes = [first]
  const gateway = await startTestGateway(t, {
    approvals: { four_eyes: false },
    listen: LISTEN,
    policy,
    routes,
    ...more,
  })
  const api: Scene['api'] = async (method, path, body) => {
    const answer = await fetch(gateway.addresses.api + path, {
      method,
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return answer.json()
  }
  return {
    gateway,
    upstream,
    other,
    api,
    fetches: () => waiting.length,
    release: () => {
      for (const answer of waiting.splice(0)) answer()
    },
    change(next, rules) {
      routes.splice(0, routes.length, ...next)
      if (rules !== undefined) writeRules(rules)
      const { generation } = gateway.settings()
      gateway.reload()
      assert.equal(gateway.settings().generation, generation + 1, 'the change is in force')
    },
    routeWith: (members) => ({ ...first, ...members }),
  }
}

const PETS = { name: 'pets', match: { path: '/' }, environment: 'prod' }

/** How a call waits: begun, then released after the change. */
interface Waiting {
  readonly what: string
  readonly route: RouteMaker
  /** Resolves when the call waits. */
  readonly begin: (
    scene: Scene,
    t: TestContext,
  ) => Promise<{ readonly release: () => Promise<unknown>; readonly answer: Promise<number> }>
}

async function grantAll({ api }: Scene): Promise<void> {
  const pending = listAt(await api('GET', '/api/v1/approvals?state=pending'), 'approvals')
  for (const row of pending) await api('POST', `/api/v1/approvals/${textAt(row, 'id')}/grant`, { comment: 'seen' })
}

const isHeld = async ({ gateway }: Scene): Promise<boolean> =>
  /preflight_calls_held 1\b/.test(await gateway.metrics.text())

function brokenContract(): object {
  const required = { name: 'shop', in: 'query', required: true, schema: { type: 'string' } }
  const operation = { parameters: [required], responses: { 200: { description: 'good' } } }
  const current = petContract((paths) => {
    paths['/pets'] = { get: operation, post: operation }
  })
  return { baseline: { file: petContract() }, current: { file: current }, refresh: 0 }
}

const holdingRoute: RouteMaker = ({ upstream }) => ({
  ...PETS,
  upstream: `${upstream}/v1`,
  protocol: 'http',
  hold: 60,
  contract: brokenContract(),
})

async function statusOfFetch(address: string, init: RequestInit = {}): Promise<number> {
  const answer = await fetch(address, init)
  await answer.arrayBuffer()
  return answer.status
}

/** The contract of the new route has no change, and is at hand. */
const HTTP = {
  protocol: 'http',
  map: undefined,
  otherwise: undefined,
  contract: { baseline: { file: petContract() }, current: { file: petContract() } },
}

const fetchedContract: RouteMaker = ({ upstream, contracts }) => ({
  ...PETS,
  upstream: `${upstream}/v1`,
  protocol: 'http',
  contract: { current: { url: `${contracts}/openapi.json` } },
})

/** Statuses of the answers to another proxy, by how it asks. */
const ASKED: Readonly<Record<string, (gateway: TestGateway, t: TestContext) => Promise<number>>> = {
  HTTP: ({ addresses }) => statusOfFetch(`${addresses.api}/authz/pets`),
  async gRPC({ addresses }, t) {
    const asker = grpcAsker((addresses.ext_authz ?? '').replace('http://', ''))
    t.after(() => asker.close())
    const answer = await asker.check({ method: 'GET', path: '/pets', host: 'x', scheme: 'http', size: 0, headers: {} })
    const denied = at(answer, 'denied_response')
    return denied == null ? 200 : httpStatus(at(denied, 'status', 'code'))
  },
  async ext_proc({ addresses }, t) {
    const address = (addresses.ext_authz ?? '').replace('http://', '')
    const client = grpcClient('ext-proc.proto', 'envoy.service.ext_proc.v3.ExternalProcessor', address)
    const stream = Object(client.stream('Process'))
    t.after(() => client.close())
    stream.on('error', () => {})
    const fields = { ':method': 'GET', ':path': '/pets', ':authority': 'x', ':scheme': 'http' }
    const headers = Object.entries(fields).map(([key, value]) => ({ key, raw_value: Buffer.from(value) }))
    const answer = once(stream, 'data')
    stream.write({ request_headers: { headers: { headers }, end_of_stream: true } })
    const [message] = await answer
    stream.end()
    const refused: unknown = at(message, 'immediate_response')
    return refused == null ? 200 : httpStatus(at(refused, 'status', 'code'))
  },
}

/** Enumerations of the wire may come as names. */
const HTTP_STATUSES: Readonly<Record<string, number>> = { OK: 200, Forbidden: 403, NotFound: 404 }
const httpStatus = (code: unknown): number => HTTP_STATUSES[String(code)] ?? Number(code)

const ASKED_WAITS: readonly Waiting[] = Object.entries(ASKED).map(([how, ask]) => ({
  what: `its contract, asked for by another proxy over ${how}`,
  route: fetchedContract,
  async begin({ gateway, fetches, release }, t) {
    const answer = ask(gateway, t)
    await until(() => Promise.resolve(fetches() > 0), 'the contract is asked for')
    return { answer, release: () => Promise.resolve(release()) }
  },
}))

const WAITS: readonly Waiting[] = [
  ...ASKED_WAITS,
  {
    what: 'an approval',
    route: holdingRoute,
    async begin(scene) {
      const answer = statusOfFetch(`${scene.gateway.addresses.proxy}/pets`)
      await until(() => isHeld(scene), 'the call is held')
      return { answer, release: () => grantAll(scene) }
    },
  },
  {
    what: 'an approval, asked for by another proxy',
    route: holdingRoute,
    async begin(scene) {
      const answer = statusOfFetch(`${scene.gateway.addresses.api}/authz/pets`)
      await until(() => isHeld(scene), 'the call is held')
      return { answer, release: () => grantAll(scene) }
    },
  },
  {
    what: 'its body',
    route: ({ upstream }) => ({
      ...PETS,
      upstream: `${upstream}/v1`,
      protocol: 'mapped',
      map: [{ when: 'has(request.body.forbidden)', action: 'deny' }],
      otherwise: 'pass',
    }),
    async begin({ gateway }) {
      const headers = { 'content-type': 'application/json', 'content-length': 8 }
      const client = request(`${gateway.addresses.proxy}/pets`, { method: 'POST', headers })
      client.write('{"a"')
      const answer = once(client, 'response').then(([response]) => Number(response.resume().statusCode))
      await until(async () => /preflight_calls_open 1\b/.test(await gateway.metrics.text()), 'the call has begun')
      return { answer, release: () => Promise.resolve(client.end(': 1}')) }
    },
  },
  {
    what: 'a short body that it is not judged by',
    route: ({ upstream }) => ({ ...PETS, ...HTTP, upstream: `${upstream}/v1` }),
    async begin({ gateway }) {
      const headers = { 'content-type': 'text/plain', 'content-length': 4 }
      const client = request(`${gateway.addresses.proxy}/pets`, { method: 'POST', headers })
      client.write('pe')
      const answer = once(client, 'response').then(([response]) => Number(response.resume().statusCode))
      await until(async () => /preflight_calls_open 1\b/.test(await gateway.metrics.text()), 'the call has begun')
      // Time for all that does not wait for the body.
      await setTimeout(200)
      return { answer, release: () => Promise.resolve(client.end('ts')) }
    },
  },
  {
    what: 'its contract',
    route: fetchedContract,
    async begin({ gateway, fetches, release }) {
      const answer = statusOfFetch(`${gateway.addresses.proxy}/pets`)
      await until(() => Promise.resolve(fetches() > 0), 'the contract is asked for')
      return { answer, release: () => Promise.resolve(release()) }
    },
  },
]

/** What the operator changes, and how the call is answered then; `other` has to get it where it is 200. */
const CHANGES: readonly {
  readonly what: string
  readonly apply: (scene: Scene) => void
  readonly status: number
}[] = [
  { what: 'the route is gone', apply: (scene) => scene.change([]), status: 404 },
  {
    what: 'the route needs a receipt',
    apply: (scene) => scene.change([scene.routeWith({ ...HTTP, receipts: { require: true } })]),
    status: 403,
  },
  {
    what: 'the policy blocks its change',
    apply: (scene) => scene.change([scene.routeWith({ ...HTTP, contract: brokenContract() })], BLOCKS),
    status: 403,
  },
  {
    what: 'the route leads elsewhere',
    apply: (scene) => scene.change([scene.routeWith({ ...HTTP, upstream: `${scene.other.origin}/v1` })]),
    status: 200,
  },
]

for (const { what: waitsFor, route, begin } of WAITS)
  for (const { what: change, apply, status } of CHANGES)
    test(`a call that waits for ${waitsFor} while ${change}: ${status}`, async (t) => {
      const started = await scene(t, route)
      const { release, answer } = await begin(started, t)
      apply(started)
      await release()
      assert.equal(await answer, status)
      assert.equal(started.upstream.requests.length, 0, 'nothing is sent by the settings of before')
      const isSent = status === 200 && !waitsFor.includes('another proxy')
      assert.equal(started.other.requests.length, isSent ? 1 : 0)
    })

test('a call whose route goes while its body arrives is sent whole where egress lets it pass, and not where it does not', async (t) => {
  for (const [egress, status] of [
    [{ default: 'allow', allow: ['127.0.0.1'] }, 200],
    [{ default: 'deny' }, 403],
  ] as const) {
    const route = { name: 'pets', match: { host: '127.0.0.1' }, protocol: 'mapped', otherwise: 'pass' }
    const map = [{ when: 'has(request.body.forbidden)', action: 'deny' }]
    const started = await scene(t, () => ({ ...route, map }), { egress })
    const { hostname, port } = new URL(started.gateway.addresses.proxy)
    const headers = { host: new URL(started.upstream.origin).host, 'content-type': 'application/json' }
    const client = request({ host: hostname, port, path: started.upstream.origin, method: 'POST', headers })
    client.write('{"a"')
    const answer = once(client, 'response').then(([response]) => Number(response.resume().statusCode))
    await until(async () => /preflight_calls_open 1\b/.test(await started.gateway.metrics.text()), 'the call has begun')
    started.change([])
    client.end(': 1}')
    assert.equal(await answer, status)
    assert.deepEqual(
      started.upstream.requests.map(({ body }) => body),
      status === 200 ? ['{"a": 1}'] : [],
    )
  }
})

test('an MCP client whose call waits while its route goes gets the refusal in the stream that has begun', async (t) => {
  const mcp = await startMcpUpstream({ generation: 'stateless' })
  const started = await scene(t, () => ({
    ...PETS,
    upstream: mcp.url,
    protocol: 'mcp',
    hold: 60,
    contract: { refresh: 0 },
  }))
  const agent = await startAgent(started.gateway.addresses.proxy)
  t.after(async () => {
    await agent.close()
    await mcp.close()
  })
  const call = () => agent.client.callTool({ name: 'echo', arguments: { text: 'hi' } })
  await call()
  mcp.tools = [tool('echo', { text: { type: 'number' } }, { text: { type: 'string' } })]
  const before = mcp.calls.length
  const refused = assert.rejects(call(), /answered 404/)
  await until(() => isHeld(started), 'the call is held')
  started.change([])
  await grantAll(started)
  await refused
  assert.equal(mcp.calls.length, before)
})

test('a call whose key is revoked while it waits for an approval is not sent when it is granted', async (t) => {
  const started = await scene(
    t,
    () => ({
      name: 'pets',
      match: { host: '127.0.0.1' },
      protocol: 'http',
      hold: 60,
      contract: brokenContract(),
    }),
    { proxy_auth: 'required' },
  )
  const { gateway, upstream, api } = started
  const made = await api('POST', '/api/v1/keys', { name: 'pod', role: 'agent' })
  const { hostname, port } = new URL(gateway.addresses.proxy)
  const client = request({
    host: hostname,
    port,
    path: `${upstream.origin}/v1/pets`,
    headers: { host: new URL(upstream.origin).host, 'proxy-authorization': `Bearer ${textAt(made, 'api_key')}` },
  }).end()
  const answer = once(client, 'response').then(([response]) => Number(response.resume().statusCode))
  await until(() => isHeld(started), 'the call is held')
  await api('DELETE', `/api/v1/keys/${encodeURIComponent(textAt(made, 'key', 'id'))}`)
  await grantAll(started)
  assert.equal(await answer, 407)
  assert.equal(upstream.requests.length, 0)
})

async function webhookFiles() {
  const authority = await testAuthority()
  const { cert, key } = await authority.leaf('127.0.0.1')
  const directory = join(petContract(), '..')
  const files = { certificate: join(directory, 'tls.crt'), key: join(directory, 'tls.key') }
  writeFileSync(files.certificate, cert)
  writeFileSync(files.key, key)
  return { authority, files }
}

test('a review of the API server whose body arrives after its route is closed is not admitted', async (t) => {
  const { authority, files } = await webhookFiles()
  const cluster = { name: 'cluster', match: { path: '/' }, upstream: 'https://kubernetes.default.svc' }
  const routeWith = (members: object) => ({ ...cluster, protocol: 'kubernetes', ...members })
  const started = await scene(t, () => routeWith({ mode: 'observe' }), {
    listen: { ...FREE_PORTS, webhooks: '127.0.0.1:0' },
    tls: { listeners: { webhooks: files } },
  })
  const review = JSON.stringify(
    admissionReview({ of: DEPLOYMENT, name: 'web', namespace: 'shop', object: deployment() }),
  )
  for (const [what, routes, isAllowed] of [
    ['observes', [routeWith({ mode: 'observe', environment: 'prod' })], true],
    ['enforces', [routeWith({})], false],
    ['gone', [routeWith({ mode: 'observe', name: 'another' })], false],
  ] as const) {
    started.change([routeWith({ mode: 'observe', environment: what })])
    const address = `${started.gateway.addresses.webhooks ?? ''}/admission/cluster`
    const client = httpsRequest(address, { method: 'POST', ca: authority.certificate, agent: false })
    client.write(review.slice(0, 100))
    const answer = once(client, 'response')
    await once(client, 'socket').then(([socket]) => once(socket, 'secureConnect'))
    await setTimeout(50)
    started.change(routes)
    client.end(review.slice(100))
    const [response] = await answer
    assert.equal(at(await json(response), 'response', 'allowed'), isAllowed, what)
  }
})

/** A signer of receipts that a decision waits for. */
async function heldSigner(t: TestContext) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const waiting: (() => void)[] = []
  const signer = { isHolding: false }
  const url = await listening(
    t,
    createServer((incoming, response) => {
      void json(incoming).then((asked) => {
        const signature = sign(null, Buffer.from(textAt(asked, 'signing_input')), privateKey).toString('base64url')
        const send = (): void => void response.end(JSON.stringify({ signature }))
        return signer.isHolding ? waiting.push(send) : send()
      })
    }),
  )
  const release = (): void => {
    signer.isHolding = false
    for (const send of waiting.splice(0)) send()
  }
  return { signer, waiting, release, settings: { url, public_key: textAt(publicKey.export({ format: 'jwk' }), 'x') } }
}

const SHOP = OPENAPI.replace('paths: {}', 'paths: { /orders: { get: { responses: { "200": { description: ok } } } } }')
const ADDED = { of: CONFIG_MAP, name: 'api', namespace: 'shop', operation: 'UPDATE' } as const

for (const [what, change, isAllowed] of [
  ['nothing changes', () => {}, true],
  ['the route has another name', ({ change, routeWith }) => change([routeWith({ name: 'another' })]), false],
  ['the route needs a receipt', ({ change, routeWith }) => change([routeWith({ receipts: { require: true } })]), false],
  [
    'the policy blocks it',
    ({ change, routeWith }) =>
      change([routeWith({ environment: 'live' })], [{ id: 'no', when: "finding.level == 'info'", then: 'BLOCK' }]),
    false,
  ],
  ['another environment is stated', ({ change, routeWith }) => change([routeWith({ environment: 'live' })]), true],
] as const satisfies readonly (readonly [string, (scene: Scene) => void, boolean])[])
  test(`a review of the API server that waits for its decision while ${what} is ${isAllowed ? '' : 'not '}admitted`, async (t) => {
    const { authority, files } = await webhookFiles()
    const { signer, waiting, release, settings } = await heldSigner(t)
    const route = { name: 'cluster', match: { path: '/' }, upstream: 'https://kubernetes.default.svc' }
    const started = await scene(t, () => ({ ...route, protocol: 'kubernetes', kubernetes: { receipts: [] } }), {
      listen: { ...FREE_PORTS, webhooks: '127.0.0.1:0' },
      tls: { listeners: { webhooks: files } },
      signer: settings,
    })
    const review = admissionReview({
      ...ADDED,
      oldObject: configMap({ 'openapi.yaml': OPENAPI }),
      object: configMap({ 'openapi.yaml': SHOP }),
    })
    signer.isHolding = true
    const address = `${started.gateway.addresses.webhooks ?? ''}/admission/cluster`
    const answer = sendReview(address, authority.certificate, review)
    await until(() => waiting.length > 0, 'the decision waits for its signature')
    change(started)
    release()
    const { body } = await answer
    assert.equal(at(body, 'response', 'allowed'), isAllowed, JSON.stringify(body))
  })

test('settings that change before every judgement end in a refusal, not in a call that never ends', async (t) => {
  const proxy = await startProxy({
    routes: [
      { ...PETS, upstream: 'http://127.0.0.1:9', protocol: 'http', contract: { current: { file: petContract() } } },
    ],
    decide: () => {
      proxy.nextGeneration()
      return 'ALLOW'
    },
  })
  t.after(() => proxy.close())
  assert.equal(await statusOfFetch(`${proxy.url}/pets`), 503)
  assert.deepEqual(proxy.interceptions, [])
})
