/** Contracts of several files at a URL: a route fetches what its contract names, and what it cannot have is not taken for unchanged. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'
import { startPetRoute } from '../../fakes/pet-route.ts'
import { at, textAt } from '../../json.ts'

const ITEM = { get: { operationId: 'listPets', responses: { 200: { $ref: '../common.json#/ok' } } } }
const ROOT = {
  openapi: '3.0.3',
  info: { title: 'pets', version: '1' },
  paths: { '/pets': { $ref: 'paths/pets.json' }, '/dogs': { $ref: 'paths/dogs.json' } },
}

/** A server of files whose contents a test can change. */
async function startFiles(t: TestContext, files: Record<string, object | undefined>) {
  const asked: string[] = []
  const upstream = await startHttpUpstream((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    const file = files[path]
    if (file === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(file))
  })
  t.after(() => upstream.close())
  return { origin: upstream.origin, asked }
}

function contractFiles(): Record<string, object | undefined> {
  return {
    '/api/openapi.json': ROOT,
    '/api/paths/pets.json': ITEM,
    '/api/paths/dogs.json': ITEM,
    '/api/common.json': { ok: { description: 'ok' } },
  }
}

test('files that a contract at a URL names are fetched from its origin, and a change of one is a candidate', async (t) => {
  const files = contractFiles()
  const { origin, asked } = await startFiles(t, files)
  const contract = { current: { url: `${origin}/api/openapi.json` }, refresh: 0 }
  const { call, api } = await startPetRoute(t, { contract })
  assert.equal((await call()).status, 200)
  assert.deepEqual([...new Set(asked)].sort(), Object.keys(files).sort())
  const required = { name: 'shop', in: 'query', required: true, schema: { type: 'string' } }
  files['/api/paths/pets.json'] = { get: { ...ITEM.get, parameters: [required] } }
  const refused = await call()
  assert.equal(refused.status, 403)
  const digest = textAt(await refused.json(), 'candidate', 'digest')
  assert.equal(at((await api('GET', '/api/v1/baselines/pets')).body, 'candidate', 'digest'), digest)
})

test('a file that is gone stops the calls, and the refusal names it', async (t) => {
  const files = contractFiles()
  const { origin } = await startFiles(t, files)
  const { call } = await startPetRoute(t, { contract: { current: { url: `${origin}/api/openapi.json` }, refresh: 0 } })
  assert.equal((await call()).status, 200)
  files['/api/paths/dogs.json'] = undefined
  const refused = await call()
  assert.equal(refused.status, 403)
  const body: unknown = await refused.json()
  assert.equal(at(body, 'decision_result', 'analysis_complete'), false)
  assert.match(JSON.stringify(at(body, 'decision_result', 'degraded_reasons')), /paths\/dogs\.json/)
})

test('a file of another origin is not fetched', async (t) => {
  const other = await startFiles(t, { '/x.json': ITEM })
  const files = contractFiles()
  files['/api/openapi.json'] = { ...ROOT, paths: { '/pets': { $ref: `${other.origin}/x.json` } } }
  const { origin } = await startFiles(t, files)
  const { call } = await startPetRoute(t, { contract: { current: { url: `${origin}/api/openapi.json` }, refresh: 0 } })
  assert.equal((await call()).status, 403)
  assert.deepEqual(other.asked, [])
})

for (const [spelling, refer] of Object.entries({
  'a whole address': (origin: string, path: string) => `${origin}${path}`,
  'a path from the root': (_origin: string, path: string) => path,
  'an address without a scheme': (origin: string, path: string) => `${origin.replace('http:', '')}${path}`,
}))
  test(`${spelling} of the same origin names a file of the contract`, async (t) => {
    const files: Record<string, object | undefined> = {}
    const { origin } = await startFiles(t, files)
    const item = (rest: object = {}): object => ({
      get: { operationId: 'listPets', responses: { 200: { $ref: refer(origin, '/shared/a%20b.json#/ok') } }, ...rest },
    })
    const paths = { '/pets': { $ref: refer(origin, '/parts/pets.json') } }
    files['/api/openapi.json'] = { ...ROOT, paths }
    files['/parts/pets.json'] = item()
    files['/shared/a%20b.json'] = { ok: { $ref: refer(origin, '/api/openapi.json#/components/responses/ok') } }
    Object.assign(files['/api/openapi.json'], { components: { responses: { ok: { description: 'ok' } } } })
    const contract = { current: { url: `${origin}/api/openapi.json` }, refresh: 0 }
    const { call, api } = await startPetRoute(t, { contract })
    assert.equal((await call()).status, 200)
    const required = { name: 'shop', in: 'query', required: true, schema: { type: 'string' } }
    files['/parts/pets.json'] = item({ parameters: [required] })
    const refused = await call()
    assert.equal(refused.status, 403)
    const body: unknown = await refused.json()
    assert.equal(at(body, 'decision_result', 'analysis_complete'), true)
    const digest = textAt(body, 'candidate', 'digest')
    assert.equal(at((await api('GET', '/api/v1/baselines/pets')).body, 'candidate', 'digest'), digest)
  })
