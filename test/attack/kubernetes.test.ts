/** Writes to the Kubernetes API that are judged for one object and meant for another. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { listening } from '../fakes/listening.ts'
import { CONFIG_MAPS, CRDS, DEPLOYMENTS, deployment, scene, widgetCrd } from '../fakes/kubernetes-scene.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'
import { exchangeBytes, requestText, statusOf } from '../fakes/raw-http.ts'
import { at } from '../json.ts'

const YAML = { 'content-type': 'application/yaml' }
const written = (requests: readonly { readonly method: string }[]) => requests.filter(({ method }) => method !== 'GET')

for (const [what, breaks] of [
  ['a next line', '\u0085'],
  ['a line separator', '\u2028'],
  ['a paragraph separator', '\u2029'],
] as const) {
  test(`an object that ${what} gives another name to readers of YAML 1.1 is refused`, async (t) => {
    const { send, cluster } = await scene(t)
    const body = `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  # ${breaks}  name: other\n`
    assert.equal((await send('POST', DEPLOYMENTS, body, YAML)).status, 400)
    const options = `kind: DeleteOptions\n# ${breaks}dryRun: []\ndryRun: [All]\n`
    assert.equal((await send('DELETE', `${DEPLOYMENTS}/web`, options, YAML)).status, 400)
    assert.deepEqual(written(cluster.requests), [])
  })
}

for (const [what, method, path, body, headers] of [
  ['a tag that decodes the name', 'POST', DEPLOYMENTS, 'kind: Deployment\nmetadata: {name: !!binary emdh}\n', YAML],
  [
    'two documents',
    'POST',
    DEPLOYMENTS,
    'kind: Deployment\nmetadata: {name: web}\n---\nkind: Deployment\nmetadata: {name: other}\n',
    YAML,
  ],
  ['a name twice', 'POST', DEPLOYMENTS, '{"kind":"Deployment","metadata":{"name":"web","n\\u0061me":"other"}}', {}],
  ['the name of another object', 'PUT', `${DEPLOYMENTS}/web`, { ...deployment(), metadata: { name: 'other' } }, {}],
  [
    'another namespace',
    'POST',
    DEPLOYMENTS,
    { ...deployment(), metadata: { name: 'web', namespace: 'kube-system' } },
    {},
  ],
  ['another kind', 'POST', CONFIG_MAPS, { ...deployment(), kind: 'Secret' }, {}],
  ['a list of objects', 'POST', DEPLOYMENTS, [deployment()], {}],
  ['no name', 'POST', DEPLOYMENTS, { kind: 'Deployment', metadata: {} }, {}],
  ['an encoded body', 'POST', DEPLOYMENTS, deployment(), { 'content-encoding': 'gzip' }],
  ['a body of no known form', 'POST', DEPLOYMENTS, 'x', { 'content-type': 'application/cbor' }],
  ['a segment too many', 'PUT', `${DEPLOYMENTS}/web/status/more`, deployment(), {}],
  ['an empty segment', 'PUT', '/apis/apps/v1/namespaces//deployments/web', deployment(), {}],
  ['the old form of a proxy', 'POST', '/api/v1/proxy/namespaces/shop/pods/web-1/run', {}, {}],
  ['a write outside of any resource', 'POST', '/logs', {}, {}],
] as const) {
  test(`a write with ${what} is refused`, async (t) => {
    const { send, cluster } = await scene(t)
    const answer = await send(method, path, body, headers)
    assert.ok(answer.status >= 400 && answer.status < 500, String(answer.status))
    assert.deepEqual(written(cluster.requests), [])
  })
}

for (const query of [
  'dryRun=All&dryRun=',
  'dryrun=All',
  '%64ryRun=All',
  'dryRun=all',
  'dryRun=All%00',
  'dryRun[]=All',
  'fieldManager=x;dryRun=All',
  'dryRun=None&dryRun=All',
  'dryRun=%41ll',
]) {
  test(`${query} is not a rehearsal that passes by itself`, async (t) => {
    const { send, cluster } = await scene(t)
    assert.equal((await send('PUT', `${DEPLOYMENTS}/web?${query}`, deployment())).status, 403)
    assert.deepEqual(written(cluster.requests), [])
  })
}

for (const [what, method, path] of [
  ['exec by GET', 'GET', '/api/v1/namespaces/shop/pods/web-1/exec?command=sh'],
  ['exec by POST', 'POST', '/api/v1/namespaces/shop/pods/web-1/exec?command=sh'],
  ['exec in other escapes', 'GET', '/api/v1/namespaces/shop/pods/web-1/%65xec?command=sh'],
  ['exec with a slash at the end', 'GET', '/api/v1/namespaces/shop/pods/web-1/exec/'],
  ['the proxy of a node', 'GET', '/api/v1/nodes/n1/proxy/run/shop/web-1/app?cmd=id'],
  ['the proxy of a service', 'GET', '/api/v1/namespaces/shop/services/https:web:443/proxy/'],
  ['a port of a pod', 'GET', '/api/v1/namespaces/shop/pods/web-1/portforward'],
] as const) {
  test(`${what} is a connection that needs a receipt`, async (t) => {
    const { send, cluster } = await scene(t)
    assert.equal((await send(method, path)).status, 403)
    assert.ok(cluster.requests.every(({ url: asked }) => !/exec|proxy|portforward/.test(asked)))
  })
}

for (const [what, path, status] of [
  ['an aggregated resource', '/apis/console.example.com/v1/namespaces/shop/terminals/t1', 403],
  ['a list of them', '/apis/console.example.com/v1/namespaces/shop/terminals', 403],
  ['a subresource', '/apis/console.example.com/v1/namespaces/shop/terminals/t1/shell?watch=true', 403],
  ['one that states itself a watch', '/apis/console.example.com/v1/namespaces/shop/terminals/t1?watch=true', 403],
  ['one below the path of watches', '/apis/console.example.com/v1/watch/namespaces/shop/terminals/t1', 403],
  ['one that states itself a log', '/apis/console.example.com/v1/namespaces/shop/terminals/t1/log?follow=true', 403],
  ['a watch', '/api/v1/namespaces/shop/pods?watch=true', 101],
  ['a watch in the old form', '/api/v1/watch/namespaces/shop/pods', 101],
  ['a log', '/api/v1/namespaces/shop/pods/web-1/log?follow=true', 101],
] as const)
  test(`a switch to another protocol at ${what} is ${status === 101 ? 'no' : 'a'} connection that needs a receipt`, async (t) => {
    const { proxy, upgrades } = await terminals(t)
    const head = `GET ${path} HTTP/1.1\nHost: a\nConnection: Upgrade\nUpgrade: websocket`
    assert.equal(statusOf(await exchangeBytes(proxy.url, requestText(head))), status)
    assert.deepEqual(upgrades, status === 101 ? [path] : [])
  })

/** A cluster with an aggregated API whose resources are connections, and whose actions take effect in any dry run. */
async function terminals(t: TestContext, kubernetes: object = {}) {
  const upgrades: string[] = []
  const writes: string[] = []
  const server = createServer((request, response) => {
    const { method = '', url = '' } = request
    if (method !== 'GET') writes.push(`${method} ${url}`)
    const resources = [{ name: 'terminals', kind: 'Terminal' }]
    const value = url.endsWith('/v1') ? { resources } : { kind: 'Terminal', metadata: { name: 't1' } }
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end(JSON.stringify(value)))
  })
  server.on('upgrade', (request, socket) => {
    upgrades.push(request.url ?? '')
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  })
  const upstream = await listening(t, server)
  const proxy = await startProxy({
    routes: [{ name: 'cluster', match: { path: '/' }, upstream, protocol: 'kubernetes', kubernetes }],
  })
  t.after(() => proxy.close())
  return { proxy, upgrades, writes }
}

for (const path of [
  '/apis/console.example.com/v1/namespaces/shop/terminals/t1/stop',
  '/api/v1/namespaces/shop/serviceaccounts/admin/token',
])
  for (const method of ['PUT', 'POST', 'PATCH'])
    test(`a ${method} to ${path} takes no effect while the content of a receipt is looked for`, async (t) => {
      const { proxy, writes } = await terminals(t, { receipt_binds: 'content' })
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
      const body = JSON.stringify({ metadata: { name: path.split('/').at(-2) } })
      const answer = await fetch(proxy.url + path, { method, headers: { 'content-type': type }, body })
      // A patch does not say all that happens, so no receipt can name it.
      const [status, message] = method === 'PATCH' ? [503, /receipt_binds/] : [403, /"head":"sha256:/]
      assert.equal(answer.status, status)
      assert.match(String(at(await answer.json(), 'message')), message)
      assert.deepEqual(writes, [])
    })

test('a definition that the API server takes for another one is not judged for the first', async (t) => {
  const arrived: string[] = []
  const origin = await listening(
    t,
    createServer((request, response) => {
      void text(request).then(() => {
        arrived.push(`${request.method} ${request.url}`)
        const other = { ...widgetCrd(), metadata: { name: 'gadgets.example.com', resourceVersion: '1' } }
        return response.setHeader('content-type', 'application/json').end(JSON.stringify(other))
      })
    }),
  )
  const proxy = await startProxy({
    routes: [{ name: 'cluster', match: { path: '/' }, upstream: origin, protocol: 'kubernetes' }],
  })
  t.after(() => proxy.close())
  const answer = await fetch(`${proxy.url}${CRDS}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(widgetCrd()),
  })
  assert.equal(answer.status, 503)
  assert.match(String(at(await answer.json(), 'message')), /gadgets\.example\.com/)
  assert.deepEqual(arrived, [`POST ${CRDS}?dryRun=All`])
})

for (const field of [
  'Impersonate-User',
  'impersonate-group',
  'Impersonate-Uid',
  'Impersonate-Extra-Scopes',
  'X-Remote-User',
  'X-Remote-Group',
  'X-Remote-Extra-Role',
])
  test(`a receipt is worth nothing for a request that acts as another by ${field}`, async (t) => {
    const { send, cluster } = await scene(t)
    const headers = { [field]: 'root', 'preflight-receipt': 'any' }
    for (const [method, path, body] of [
      ['POST', DEPLOYMENTS, deployment()],
      ['DELETE', `${DEPLOYMENTS}/web`, {}],
      ['POST', CRDS, widgetCrd()],
      ['POST', '/api/v1/namespaces/shop/pods/web-1/exec?command=id', {}],
    ] as const) {
      const answer = await send(method, path, body, headers)
      assert.equal(answer.status, 403, `${method} ${path}`)
      assert.match(String(at(answer.body, 'message')), /acts as another user/)
    }
    assert.deepEqual(cluster.requests, [])
  })

const PETS = { '/pets': { get: { responses: { 200: { description: 'ok' } } } } }
function contract(paths: object): string {
  return JSON.stringify({ openapi: '3.0.3', info: { title: 't', version: '1' }, paths })
}

for (const [kind, resource, member] of [
  ['ConfigMap', 'configmaps', 'binaryData'],
  ['Secret', 'secrets', 'data'],
] as const)
  test(`a contract in base64 in the ${member} of a ${kind} is compared as its text`, async (t) => {
    const of = (text: string) => ({
      apiVersion: 'v1',
      kind,
      metadata: { name: 'api', namespace: 'shop' },
      [member]: { spec: Buffer.from(text).toString('base64') },
    })
    const { send, cluster, proxy } = await scene(
      t,
      { receipts: [], contracts: [kind] },
      { decide: ({ artifacts }) => (artifacts.some(({ before, after }) => before !== after) ? 'BLOCK' : 'ALLOW') },
    )
    cluster.put(resource, of(contract(PETS)))
    const path = `/api/v1/namespaces/shop/${resource}/api`
    assert.equal((await send('PUT', path, of(contract({})))).status, 403)
    assert.deepEqual(cluster.writes(), [])
    const [request] = proxy.flow.asked
    assert.deepEqual(
      request?.artifacts.map(({ type, before, after }) => [type, before, after]),
      [['openapi', contract(PETS), contract({})]],
    )
    assert.equal((await send('PUT', path, of(contract(PETS)))).status, 200)
  })

test('an object whose YAML merges is refused', async (t) => {
  const { send, cluster } = await scene(t)
  const body = 'kind: DeleteOptions\ndryRun: [All]\n<<: {dryRun: []}\n'
  assert.equal((await send('DELETE', `${DEPLOYMENTS}/web`, body, YAML)).status, 400)
  const object = 'kind: Deployment\nmetadata: {name: web, <<: {name: other}}\n'
  assert.equal((await send('POST', DEPLOYMENTS, object, YAML)).status, 400)
  assert.deepEqual(written(cluster.requests), [])
})

const DRY_DELETE = 'kind: DeleteOptions\ndryRun: [All]\n'
const utf16 = (text: string, isBig: boolean): Uint8Array => {
  const bytes = Buffer.from(`\uFEFF${text}`, 'utf16le')
  return isBig ? bytes.swap16() : bytes
}
const JSON_BODY = { 'content-type': 'application/json' }
for (const [what, body, headers] of [
  ['a byte order mark before a line', `${DRY_DELETE}\uFEFFdryRun: []\n`, YAML],
  ['a byte order mark before a line of a mapping', `${DRY_DELETE}a:\n\uFEFF b: 1\n`, YAML],
  ['two byte order marks', `\uFEFF\uFEFF${DRY_DELETE}`, YAML],
  ['a byte order mark in a comment', `${DRY_DELETE}# \uFEFF\n`, YAML],
  ['UTF-16, little end first', utf16(DRY_DELETE, false), YAML],
  ['UTF-16, big end first', utf16(DRY_DELETE, true), YAML],
  ['bytes that are no UTF-8', Buffer.from(`${DRY_DELETE}a: \xff\n`, 'latin1'), YAML],
  ['an end and more behind it', `${DRY_DELETE}...\ndryRun: []\n`, YAML],
  ['two documents', `${DRY_DELETE}---\nkind: DeleteOptions\n`, YAML],
  ['an empty document first', `---\n---\n${DRY_DELETE}`, YAML],
  ['an alias of another document', `a: &x [All]\n---\nkind: DeleteOptions\ndryRun: *x\n`, YAML],
  ['a member twice', `${DRY_DELETE}dryRun: []\n`, YAML],
  ['a member twice, once in escapes', `${DRY_DELETE}"dry\\u0052un": []\n`, YAML],
  ['a member twice, once as a question', `${DRY_DELETE}? dryRun\n: []\n`, YAML],
  ['a member in other letters', `${DRY_DELETE}dryrun: []\n`, YAML],
  ['a member in other letters alone', 'kind: DeleteOptions\nDryRun: [All]\n', YAML],
  ['a member in letters that Go folds', `${DRY_DELETE}"kind": DeleteOptions\n\u212And: x\n`, YAML],
  ['a member in other letters of JSON', '{"kind":"DeleteOptions","dryRun":["All"],"DRYRUN":[]}', JSON_BODY],
  ['an octal in capitals', `${DRY_DELETE}gracePeriodSeconds: 0O7\n`, YAML],
  ['a byte order mark before JSON and a second object', '\uFEFF{"dryRun":["All"]}{"dryRun":[]}', JSON_BODY],
  ['YAML that calls itself JSON', DRY_DELETE, JSON_BODY],
  ['a tab as indentation', `${DRY_DELETE}preconditions:\n\tuid: x\n`, YAML],
] as const)
  test(`a rehearsed deletion with ${what} deletes nothing`, async (t) => {
    const { proxy, cluster } = await scene(t)
    const answer = await fetch(`${proxy.url}${DEPLOYMENTS}/web`, { method: 'DELETE', headers, body })
    assert.ok([400, 403].includes(answer.status), `${answer.status} ${await answer.text()}`)
    assert.deepEqual(written(cluster.requests), [])
  })

for (const [what, body] of [
  ['its name', { ...deployment(), metadata: { name: 'web', Name: 'other' } }],
  ['its namespace', { ...deployment(), metadata: { name: 'web', nameSpace: 'kube-system' } }],
  ['its metadata', { ...deployment(), metadata: { name: 'web' }, Metadata: { name: 'other' } }],
  ['its annotations', { ...deployment(), metadata: { name: 'web', Annotations: {} } }],
] as const)
  test(`an object that states ${what} in other letters is refused`, async (t) => {
    const { send, cluster } = await scene(t)
    assert.equal((await send('POST', DEPLOYMENTS, body)).status, 400)
    assert.deepEqual(written(cluster.requests), [])
  })

test('the text of three dashes, and names of data in letters of both cases, are nothing to stop for', async (t) => {
  const { send, cluster } = await scene(t)
  const body = 'kind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: |\n    ---\n    x\n  A: "---"\n'
  await send('POST', `${CONFIG_MAPS}?dryRun=All`, body, YAML)
  assert.deepEqual(
    cluster.requests.map(({ method }) => method),
    ['POST'],
  )
})
