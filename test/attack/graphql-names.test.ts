/** Names by which GraphQL servers run another document, or other operations of it, than the request states. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { buildSchema, graphqlSync, parse } from 'graphql'
import { DOCUMENT_NAMES } from '../../gateway/protocols/graphql/bodies.ts'
import { at } from '../json.ts'
import { listening } from '../fakes/listening.ts'
import { startProxy } from '../fakes/proxy-under-test.ts'

const SDL = 'type Query { a: Int } type Mutation { wipe: Int }'
const WIPE = 'mutation Wipe { wipe }'

function file(name: string, content: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'preflight-graphql-')), name)
  writeFileSync(path, content)
  return path
}

/**
 * A server that takes each parameter from the address before the body, as frameworks with one map of parameters do. It
 * runs what `batchOperations` lists (Hot Chocolate), and a stored document before the stated one.
 */
async function scene(t: TestContext, route: object = {}) {
  const ran: string[] = []
  const schema = buildSchema(SDL)
  const upstream = await listening(
    t,
    createServer((request, response) => {
      void text(request).then((body) => {
        const { searchParams } = new URL(request.url ?? '/', 'http://server.test')
        const stated: unknown = body === '' ? {} : JSON.parse(body)
        const parameter = (name: string): string => {
          const value = searchParams.get(name) ?? at(stated, name) ?? ''
          return typeof value === 'string' ? value : JSON.stringify(value)
        }
        const isStored = request.method !== 'DELETE' && DOCUMENT_NAMES.some((name) => parameter(name) !== '')
        const source = isStored ? WIPE : parameter('query')
        const listed = parameter('batchOperations') || parameter('operationName')
        for (const one of source === '' ? [] : parse(source).definitions)
          if (one.kind === 'OperationDefinition' && (listed === '' || listed.includes(one.name?.value ?? '')))
            ran.push(one.operation)
        const result = source.includes('__schema') ? graphqlSync({ schema, source }) : { data: {} }
        return response.setHeader('content-type', 'application/json').end(JSON.stringify(result))
      })
    }),
  )
  const proxy = await startProxy({
    routes: [
      {
        name: 'shop',
        match: { path: '/graphql' },
        upstream: `${upstream}/graphql`,
        protocol: 'graphql',
        contract: { current: { file: file('schema.graphql', SDL) } },
        ...route,
      },
    ],
    decide: ({ context }) => (String(context.target_id).includes('MUTATION') ? 'BLOCK' : 'ALLOW'),
  })
  t.after(() => proxy.close())
  const send = async (method: string, query: string, body: unknown = null, headers: Record<string, string> = {}) => {
    const init = body === null ? {} : { body: JSON.stringify(body) }
    const type = body === null ? {} : { 'content-type': 'application/json' }
    const answer = await fetch(`${proxy.url}/graphql${query}`, { method, headers: { ...type, ...headers }, ...init })
    await answer.arrayBuffer()
    return answer.status
  }
  return { ran, send }
}

const TWO = { query: `query A { a } ${WIPE}`, operationName: 'A' }

test('no list of operations in an address or a body runs others than the judged one', async (t) => {
  const { ran, send } = await scene(t)
  assert.equal(await send('POST', '', TWO), 200)
  for (const name of ['batchOperations', 'BatchOperations', 'batchOperations[]', 'x=1;batchOperations']) {
    const query = `${name}=[A,Wipe]`
    assert.equal(await send('POST', `?${query}`, TWO), 400)
    assert.equal(await send('GET', `?query=${encodeURIComponent(TWO.query)}&operationName=A&${query}`), 400)
  }
  assert.equal(await send('POST', '', { ...TWO, batchOperations: ['A', 'Wipe'] }), 400)
  assert.deepEqual(ran, ['query'])
})

for (const name of DOCUMENT_NAMES)
  test(`${name} names a stored document that is judged, or not sent`, async (t) => {
    const { ran, send } = await scene(t)
    assert.equal(await send('POST', `?${name}=wipe`), 503)
    assert.equal(await send('GET', `?${name}=wipe`), 503)
    assert.equal(await send('DELETE', `?${name}=wipe`, null, { 'x-http-method-override': 'POST' }), 503)
    assert.equal(await send('POST', `?${name}=wipe`, { query: '{ a }' }), 400)
    assert.equal(await send('POST', '', { query: '{ a }', [name]: 'wipe' }), 400)
    assert.deepEqual(ran, [])
  })

for (const name of DOCUMENT_NAMES)
  test(`${name} in the address of a call does not run while the schema is read to judge it`, async (t) => {
    const documents = file('manifest.json', JSON.stringify({ wipe: WIPE }))
    const { ran, send } = await scene(t, { contract: {}, graphql: { introspect: true, documents } })
    assert.equal(await send('GET', `?${name}=wipe&tenant=1`), 403)
    assert.deepEqual(new Set(ran), new Set(['query']))
  })
