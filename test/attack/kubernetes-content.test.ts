/** Receipts for the content of writes to the Kubernetes API: nothing takes effect before one, and each write has one. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { startTestGateway, type TestGateway } from '../fakes/gateway.ts'
import { issuedReceipt } from '../fakes/issued-receipt.ts'
import { listening } from '../fakes/listening.ts'
import { textIn } from '../../gateway/json/unchecked-json.ts'
import { at } from '../json.ts'

const JSON_TYPE = 'application/json'
const MERGE = 'application/merge-patch+json'
const SHOP = '/api/v1/namespaces/shop'
const CSR = '/apis/certificates.k8s.io/v1/certificatesigningrequests/agent'
const TERMINAL = '/apis/console.example.com/v1/namespaces/shop/terminals/t1'
const named = (name: string, members: object = {}) => ({ metadata: { name }, ...members })
const approvedAt = (time: string) =>
  named('agent', { status: { conditions: [{ type: 'Approved', status: 'True', lastUpdateTime: time }] } })

interface ContentWrite {
  readonly what: string
  readonly method: string
  readonly path: string
  readonly type: string
  readonly body: object | null
  /** As the client sends the same write again. */
  readonly again?: object
  /** The same act on the same object, with another effect. */
  readonly other: object | null
  readonly operation: string
}

const WRITES: readonly ContentWrite[] = [
  {
    what: 'create token',
    method: 'POST',
    path: `${SHOP}/serviceaccounts/admin/token`,
    type: JSON_TYPE,
    body: { kind: 'TokenRequest', metadata: { creationTimestamp: null }, spec: { audiences: null } },
    other: { kind: 'TokenRequest', metadata: { creationTimestamp: null }, spec: { audiences: ['https://other'] } },
    operation: 'token',
  },
  {
    what: 'an eviction',
    method: 'POST',
    path: `${SHOP}/pods/web/eviction`,
    type: JSON_TYPE,
    body: named('web', { kind: 'Eviction' }),
    other: null,
    operation: 'delete',
  },
  {
    what: 'a binding',
    method: 'POST',
    path: `${SHOP}/pods/web/binding`,
    type: JSON_TYPE,
    body: named('web', { target: { kind: 'Node', name: 'n1' } }),
    other: named('web', { target: { kind: 'Node', name: 'n2' } }),
    operation: 'deploy',
  },
  {
    what: 'the end of a namespace',
    method: 'PUT',
    path: '/api/v1/namespaces/shop/finalize',
    type: JSON_TYPE,
    body: named('shop', { spec: { finalizers: [] } }),
    other: named('shop', { spec: { finalizers: ['kubernetes'] } }),
    operation: 'deploy',
  },
  {
    what: 'the approval of a certificate',
    method: 'PUT',
    path: `${CSR}/approval`,
    type: JSON_TYPE,
    body: approvedAt('2026-01-01T00:00:00Z'),
    again: approvedAt('2026-01-01T00:00:09Z'),
    other: named('agent', { status: { conditions: [{ type: 'Denied', status: 'True' }] } }),
    operation: 'approve',
  },
  {
    what: 'a status',
    method: 'PATCH',
    path: `${SHOP}/services/web/status`,
    type: MERGE,
    body: { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } },
    other: { status: { loadBalancer: { ingress: [{ ip: '192.0.2.2' }] } } },
    operation: 'deploy',
  },
  {
    what: 'kubectl debug',
    method: 'PATCH',
    path: `${SHOP}/pods/web/ephemeralcontainers`,
    type: 'application/strategic-merge-patch+json',
    body: { spec: { ephemeralContainers: [{ name: 'd', image: 'busybox' }] } },
    other: { spec: { ephemeralContainers: [{ name: 'd', image: 'other' }] } },
    operation: 'deploy',
  },
  {
    what: 'kubectl scale',
    method: 'PATCH',
    path: '/apis/apps/v1/namespaces/shop/deployments/web/scale',
    type: MERGE,
    body: { spec: { replicas: 3 } },
    other: { spec: { replicas: 300 } },
    operation: 'deploy',
  },
  {
    what: 'kubectl apply --server-side',
    method: 'PATCH',
    path: '/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=kubectl&fieldValidation=Strict&force=true',
    type: 'application/apply-patch+yaml',
    body: named('web', { kind: 'Deployment', spec: { replicas: 3 } }),
    other: named('web', { kind: 'Deployment', spec: { replicas: 4 } }),
    operation: 'deploy',
  },
  {
    what: 'an action of an aggregated API',
    method: 'PUT',
    path: `${TERMINAL}/stop`,
    type: JSON_TYPE,
    body: named('t1', { gracePeriod: 0 }),
    other: named('t1', { gracePeriod: 9 }),
    operation: 'deploy',
  },
]

/** A cluster whose actions take effect in any dry run, and that reads a body of DeleteOptions in place of the query. */
async function clustered(t: TestContext) {
  const effects: string[] = []
  const server = createServer((request, response) => {
    void text(request).then((sent) => {
      const { status, value } = answerTo(request, sent)
      if (request.method !== 'GET' && !isDryRun(request, sent)) effects.push(`${request.method} ${request.url}`)
      return response.writeHead(status, { 'content-type': JSON_TYPE }).end(JSON.stringify(value))
    })
  })
  const upstream = await listening(t, server)
  const gateway = await startTestGateway(t, {
    routes: [
      {
        name: 'cluster',
        match: { path: '/' },
        upstream,
        protocol: 'kubernetes',
        kubernetes: { receipt_binds: 'content' },
      },
    ],
  })
  return { gateway, effects }
}

const DRY = /\/(?:status|scale|eviction|binding|finalize|approval|ephemeralcontainers|web)\?(?:.*&)?dryRun=All(?:&|$)/

function isDryRun({ method, url = '' }: IncomingMessage, body: string): boolean {
  return DRY.test(url) && !(method === 'DELETE' && body !== '')
}

function answerTo({ method, url = '' }: IncomingMessage, body: string) {
  if (url.endsWith('/v1')) return { status: 200, value: { resources: [{ name: 'terminals', kind: 'Terminal' }] } }
  if (method === 'GET' && /\/(?:eviction|binding|finalize|token|stop)(?:\?|$)/.test(url))
    return { status: 405, value: { kind: 'Status', metadata: {}, code: 405 } }
  if (/\/(?:eviction|binding)(?:\?|$)/.test(url))
    return { status: 201, value: { kind: 'Status', metadata: {}, status: 'Success' } }
  const stored = { metadata: { name: 'any', resourceVersion: '7' } }
  return { status: 200, value: method === 'GET' || body === '' ? stored : { ...JSON.parse(body), ...stored } }
}

async function send(gateway: TestGateway, { method, path, type }: ContentWrite, body: object | null, receipt?: string) {
  const answer = await fetch(`${gateway.addresses.proxy}${path}`, {
    method,
    headers: { 'content-type': type, ...(receipt !== undefined && { 'preflight-receipt': receipt }) },
    body: JSON.stringify(body),
  })
  return { status: answer.status, message: textIn(at(await answer.json(), 'message')) ?? '' }
}

/** What the refusal says the receipt has to name. */
function contextIn(message: string): Readonly<Record<string, string>> {
  const [, context = '{}'] = /with the context (\{.*?\})/.exec(message) ?? []
  return JSON.parse(context)
}

for (const write of WRITES)
  test(`a receipt for the content of ${write.what} authorizes it, and nothing else`, async (t) => {
    const { gateway, effects } = await clustered(t)
    const first = await send(gateway, write, write.body)
    assert.equal(first.status, 403, first.message)
    assert.deepEqual(effects, [], 'nothing takes effect without a receipt')
    const context = contextIn(first.message)
    assert.equal(context['operation'], write.operation)
    assert.match(context['head'] ?? '', /^sha256:/)
    const receipt = await issuedReceipt(gateway, context)
    if (write.other !== null) assert.equal((await send(gateway, write, write.other, receipt)).status, 403)
    assert.deepEqual(effects, [], 'nothing takes effect by a receipt for another content')
    const { status, message } = await send(gateway, write, write.again ?? write.body, receipt)
    assert.ok(status < 300, message)
    assert.deepEqual(effects, [`${write.method} ${write.path}`])
  })

for (const [what, method, path, type, body] of [
  ['a collection is not removed', 'DELETE', `${SHOP}/pods`, JSON_TYPE, '{"kind":"DeleteOptions","apiVersion":"v1"}'],
  ['a collection without a body is not removed', 'DELETE', `${SHOP}/pods?labelSelector=a`, '', ''],
  ['an object is not removed', 'DELETE', `${SHOP}/pods/web`, JSON_TYPE, '{"kind":"DeleteOptions","apiVersion":"v1"}'],
  ['an action is not patched', 'PATCH', `${TERMINAL}/stop`, MERGE, '{}'],
  ['an action with a query is not run', 'PUT', `${TERMINAL}/stop?grace=0`, JSON_TYPE, '{"metadata":{"name":"t1"}}'],
] as const)
  test(`${what} while the content of a receipt is looked for`, async (t) => {
    const { gateway, effects } = await clustered(t)
    const answer = await fetch(`${gateway.addresses.proxy}${path}`, {
      method,
      ...(body !== '' && { body, headers: { 'content-type': type } }),
    })
    assert.ok(answer.status >= 400, String(answer.status))
    assert.deepEqual(effects, [])
  })
