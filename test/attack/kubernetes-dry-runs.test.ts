/** Dry runs of APIs that Kubernetes does not bring: whose server does not state that it keeps them, may write. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test, type TestContext } from 'node:test'
import { listening } from '../fakes/listening.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'

const API = '/apis/console.example.com/v1'
const TERMINALS = `${API}/namespaces/shop/terminals`
const DRY_RUN = { name: 'dryRun', in: 'query', schema: { type: 'string' } }

/** @param except operation that states no parameters: `delete /{name}` */
function described(parameters: unknown, resource = 'terminals', except = ''): object {
  const collection = `${API}/namespaces/{namespace}/${resource}`
  const item = (path: string, methods: readonly string[]) => [
    collection + path,
    Object.fromEntries(
      methods.map((method) => [method, `${method} ${path}` === except ? {} : { parameters }] as const),
    ),
  ]
  return {
    openapi: '3.0.0',
    paths: Object.fromEntries([
      item('', ['get', 'post', 'delete']),
      item('/{name}', ['get', 'put', 'patch', 'delete']),
      item('/{name}/status', ['put', 'patch']),
      item('/{name}/session', ['post', 'delete']),
    ]),
  }
}

async function send(proxy: string, method: string, path: string): Promise<number> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const body = JSON.stringify(method === 'DELETE' ? { dryRun: ['All'] } : { metadata: { name: 't1' } })
  return (await fetch(proxy + path, { method, headers: { 'content-type': type }, body })).status
}

/** A cluster whose aggregated API is described so; null: by nothing. */
async function cluster(t: TestContext, description: object | null) {
  const writes: string[] = []
  const upstream = await listening(
    t,
    createServer((request, response) => {
      const { method = '', url = '' } = request
      if (method !== 'GET') writes.push(`${method} ${url}`)
      const isDescription = url === `/openapi/v3${API}`
      const value = isDescription
        ? description
        : url === API
          ? { resources: [{ name: 'terminals', kind: 'Terminal' }] }
          : { kind: 'Terminal', metadata: { name: 't1' } }
      request.resume().on('end', () => {
        response.writeHead(value === null ? 404 : 200, { 'content-type': 'application/json' })
        response.end(JSON.stringify(value ?? { kind: 'Status', metadata: {} }))
      })
    }),
  )
  const route = { name: 'cluster', match: { path: '/' }, upstream, protocol: 'kubernetes' }
  return { writes, route }
}

const REQUESTS = [
  ['POST', `${TERMINALS}?dryRun=All`],
  ['PUT', `${TERMINALS}/t1?dryRun=All`],
  ['PATCH', `${TERMINALS}/t1?fieldManager=me&dryRun=All`],
  ['PATCH', `${TERMINALS}/t1/status?dryRun=All`],
  ['DELETE', `${TERMINALS}/t1`],
] as const

for (const [what, description, isKept] of [
  ['states them', described([DRY_RUN]), true],
  ['states none', described([]), false],
  ['states them for another resource', described([DRY_RUN], 'windows'), false],
  ['states them in a header', described([{ ...DRY_RUN, in: 'header' }]), false],
  ['is not described', null, false],
] as const)
  test(`dry runs of an API that ${what} ${isKept ? 'pass' : 'need a receipt'}`, async (t) => {
    const { writes, route } = await cluster(t, description)
    const proxy = await startProxy({ routes: [route] })
    t.after(() => proxy.close())
    for (const [method, path] of REQUESTS) assert.equal(await send(proxy.url, method, path), isKept ? 200 : 403, path)
    assert.deepEqual(writes, isKept ? REQUESTS.map((request) => request.join(' ')) : [])
  })

const OPERATIONS = [
  ['post ', 'POST', `${TERMINALS}?dryRun=All`],
  ['put /{name}', 'PUT', `${TERMINALS}/t1?dryRun=All`],
  ['patch /{name}', 'PATCH', `${TERMINALS}/t1?dryRun=All`],
  ['patch /{name}/status', 'PATCH', `${TERMINALS}/t1/status?dryRun=All`],
  ['delete /{name}', 'DELETE', `${TERMINALS}/t1`],
  ['delete /{name}', 'DELETE', `${TERMINALS}/t1?dryRun=All`],
] as const

for (const [except, method, path] of OPERATIONS)
  test(`a dry run by ${method} ${path} needs a receipt where only the other operations state dry runs`, async (t) => {
    const { writes, route } = await cluster(t, described([DRY_RUN], 'terminals', except))
    const proxy = await startProxy({ routes: [route] })
    t.after(() => proxy.close())
    assert.equal(await send(proxy.url, method, path), 403)
    assert.deepEqual(writes, [])
    for (const [other, otherMethod, otherPath] of OPERATIONS)
      if (other !== except) assert.equal(await send(proxy.url, otherMethod, otherPath), 200, otherPath)
  })

test('no dry run by a subresource that may take effect passes, whatever states it', async (t) => {
  const { writes, route } = await cluster(t, described([DRY_RUN]))
  const proxy = await startProxy({ routes: [route] })
  t.after(() => proxy.close())
  for (const method of ['POST', 'DELETE'])
    for (const query of ['', '?dryRun=All'])
      assert.equal(await send(proxy.url, method, `${TERMINALS}/t1/session${query}`), 403, method + query)
  for (const subresource of ['exec', 'attach', 'portforward', 'proxy'])
    for (const method of ['GET', 'POST', 'DELETE'])
      assert.equal(
        (await fetch(`${proxy.url}/api/v1/namespaces/shop/pods/p/${subresource}?dryRun=All`, { method })).status,
        403,
      )
  assert.deepEqual(writes, [])
})

test('a dry run that one reader takes for a write needs a receipt', async (t) => {
  const { writes, route } = await cluster(t, described([DRY_RUN]))
  const proxy = await startProxy({ routes: [route] })
  t.after(() => proxy.close())
  for (const query of [
    'dryRun=All&dryRun=',
    'dryRun=&dryRun=All',
    'dryRun=None&dryRun=All',
    'dryRun=all',
    'dryRun=All,None',
    'dryRun=All%20',
    'dryrun=All',
    'dry%52un=All',
    'x=1;dryRun=All',
    'dryRun=true',
    'dryRun[]=All',
  ])
    assert.equal(await send(proxy.url, 'PATCH', `${TERMINALS}/t1?${query}`), 403, query)
  assert.deepEqual(writes, [])
})

test('dry runs of resources that the route does not judge pass, whatever their server states', async (t) => {
  const { writes, route } = await cluster(t, null)
  const proxy = await startProxy({ routes: [{ ...route, kubernetes: { receipts: ['workloads'] } }] })
  t.after(() => proxy.close())
  for (const [method, path] of REQUESTS) assert.equal(await send(proxy.url, method, path), 200, path)
  assert.equal(writes.length, REQUESTS.length)
})

for (const [what, description, isKept] of [
  ['states them', described([DRY_RUN]), true],
  ['states none', described([]), false],
] as const)
  for (const kubernetes of [{ receipt_binds: 'content' }, { contracts: ['terminals.console.example.com'] }])
    test(`the gateway ${isKept ? 'rehearses' : 'does not rehearse'} a write where the API ${what} (${JSON.stringify(kubernetes)})`, async (t) => {
      const { writes, route } = await cluster(t, description)
      const proxy = await startProxy({ routes: [{ ...route, kubernetes }] })
      t.after(() => proxy.close())
      const status = await send(proxy.url, 'POST', TERMINALS)
      assert.equal(status, isKept ? 403 : 503)
      assert.deepEqual(writes, isKept ? [`POST ${TERMINALS}?dryRun=All`] : [])
    })
