/** What the API says of itself: openapi.json holds every route that is served and no other; schemas, keys and contract are what they say. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose'
import { ROUTES } from '../../../gateway/api/serving/routes.ts'
import { startApi, type ApiFake } from '../../fakes/api.ts'
import { pets, PETS, PETS_WITH_POST, PETS_WITHOUT_DELETE } from '../../fakes/contracts.ts'
import { at, listAt, textAt } from '../../json.ts'

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

describe('the documents about the API', () => {
  let api: ApiFake
  let openapi: unknown
  before(async () => {
    api = await startApi()
    openapi = (await api.get('/openapi.json', { authorization: '' })).body
  })
  after(() => api.close())

  const paths = () => Object.entries<unknown>(Object(at(openapi, 'paths')))
  const described = () =>
    paths().flatMap(([path, item]) =>
      METHODS.filter((method) => at(item, method) !== undefined).map((method) => `${method.toUpperCase()} ${path}`),
    )

  it('openapi.json describes every route of the table and nothing else', () => {
    const served = ROUTES.flatMap(({ method, paths: templates }) => templates.map((path) => `${method} ${path}`))
    assert.deepEqual(described().toSorted(), served.toSorted())
  })

  it('every described operation is served, and every other method of its path is refused with what is allowed', async () => {
    for (const [template, item] of paths()) {
      const path = template.replaceAll(/\{[a-z_]+\}/g, 'x')
      // A path of its own (…/lookup) is also one of a template (…/{decision_id}), and takes that one's methods too.
      const items = [item, ...paths().flatMap(([other, its]) => (fits(path, other) ? [its] : []))]
      for (const method of METHODS) {
        const response = await fetch(api.url + path, { method: method.toUpperCase() })
        await response.text()
        if (items.every((one) => at(one, method) === undefined)) assert.equal(response.status, 405, `${method} ${path}`)
        else assert.notEqual(response.status, 405, `${method} ${path}`)
      }
    }
  })

  it('openapi.json has unique operation ids, and every reference in it leads somewhere', () => {
    const ids = paths().flatMap(([, item]) => METHODS.map((method) => at(item, method, 'operationId')).filter(Boolean))
    assert.equal(new Set(ids).size, ids.length)
    const references = [...JSON.stringify(openapi).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)]
    assert.ok(references.length > 20)
    for (const [, name] of references)
      assert.notEqual(at(openapi, 'components', 'schemas', name ?? ''), undefined, name)
  })

  it('openapi.json names parameters for every part of a path', () => {
    for (const [template, item] of paths()) {
      const expected = [...template.matchAll(/\{([a-z_]+)\}/g)].map(([, name]) => name)
      for (const method of METHODS.filter((one) => at(item, one) !== undefined)) {
        const inPath = listAt(item, method, 'parameters').filter((row) => at(row, 'in') === 'path')
        assert.deepEqual(
          inPath.map((row) => at(row, 'name')),
          expected,
          template,
        )
      }
    }
  })

  it('the answers are as openapi.json says', async () => {
    const ajv = new Ajv2020({ strict: false })
    addFormats.default(ajv)
    ajv.addSchema({ ...Object(openapi), $id: 'api.json' })
    const assertAsDescribed = (path: string, method: string, status: number, body: unknown) => {
      const pointer = `paths/${path.replaceAll('/', '~1')}/${method}/responses/${status}/content/application~1json/schema`
      const check = ajv.getSchema(`api.json#/${encodeURI(pointer)}`)
      assert.ok(check, `${method} ${path} ${status} is described`)
      assert.ok(check(body), `${path}: ${ajv.errorsText(check.errors)}`)
    }
    const artifacts = [pets(PETS_WITHOUT_DELETE)]
    const context = { operation: 'merge' }
    const decided = await api.post('/api/v1/preflight', { preflight_mode: 'authorize', artifacts, context })
    const id = textAt(decided.body, 'decision_result', 'decision_id')
    const token = textAt(decided.body, 'chain_receipt')
    const calls: readonly (readonly [string, string, unknown])[] = [
      ['post', '/api/v1/preflight', { preflight_mode: 'authorize', artifacts, context }],
      ['post', '/api/v1/preflight', { preflight_mode: 'analyze', artifacts }],
      ['post', '/api/v1/preflight', {}],
      ['post', '/api/diff', { base: PETS, head: PETS_WITHOUT_DELETE }],
      ['post', '/api/v1/verify-receipt', { token, context }],
      ['post', '/api/v1/verify-receipt', { token: 'x' }],
      ['post', '/api/v1/decisions/lookup', { decision_id: id }],
      ['post', '/api/v1/agent-abort-demo', {}],
      ['post', '/api/v1/policy/simulate', { policy: {}, artifacts }],
      ['get', '/api/v1/ledger', undefined],
      ['get', '/api/v1/baselines', undefined],
      ['get', '/api/v1/integration-snippets', undefined],
      ['get', '/api/signup', undefined],
      ['get', '/.well-known/preflight.json', undefined],
      ['get', '/.well-known/jwks.json', undefined],
      ['get', '/.well-known/mcp.json', undefined],
    ]
    for (const [method, path, request] of calls) {
      const { status, body } = method === 'get' ? await api.get(path) : await api.post(path, request)
      assertAsDescribed(path, method, status, body)
    }
  })

  it('the published schemas compile, and hold for the answers', async () => {
    const artifacts = [pets(PETS_WITH_POST)]
    const { body } = await api.post('/api/v1/preflight', {
      preflight_mode: 'authorize',
      artifacts,
      context: { operation: 'merge' },
    })
    const schemas = Object.values(Object(at((await api.get('/.well-known/preflight.json')).body, 'schemas')))
    assert.equal(schemas.length, 7)
    const values: Readonly<Record<string, unknown>> = {
      '/schemas/decision-result.v1.producer.json': at(body, 'decision_result'),
      '/schemas/decision-result.v1.consumer.json': { ...Object(at(body, 'decision_result')), of_later_versions: 1 },
      '/schemas/preflight-response.json': body,
      '/schemas/preflight-request.json': { preflight_mode: 'analyze', artifacts },
    }
    for (const path of schemas) {
      assert.ok(typeof path === 'string')
      const schema = (await api.get(path, { authorization: '' })).body
      const ajv = new Ajv2020({ strict: false })
      addFormats.default(ajv)
      const check = ajv.compile(Object(schema))
      if (values[path] !== undefined) assert.ok(check(values[path]), `${path}: ${ajv.errorsText(check.errors)}`)
    }
  })

  it('an independent library verifies a receipt with the published key set', async () => {
    const artifacts = [pets(PETS_WITH_POST)]
    const { body } = await api.post('/api/v1/preflight', {
      preflight_mode: 'authorize',
      artifacts,
      context: { operation: 'merge' },
    })
    const published: JSONWebKeySet = JSON.parse((await api.get('/.well-known/jwks.json', { authorization: '' })).text)
    const { payload } = await jwtVerify(textAt(body, 'chain_receipt'), createLocalJWKSet(published), {
      algorithms: ['EdDSA'],
      typ: 'preflight-receipt+jwt',
    })
    assert.equal(payload.jti, at(body, 'decision_result', 'decision_id'))
  })

  it('the snippets are those that were promised', async () => {
    const ids = listAt((await api.get('/api/v1/integration-snippets')).body, 'snippets').map((row) => at(row, 'id'))
    for (const id of [
      'basic_safety',
      'strict_enforcement',
      'mcp_tool_guard',
      'workflow_recovery',
      'agent_guard_runtime',
    ]) {
      assert.ok(ids.includes(id), id)
    }
    assert.ok(ids.some((id) => typeof id === 'string' && id.endsWith('_node')))
  })
})

function fits(path: string, template: string): boolean {
  const parts = template.split('/')
  const given = path.split('/')
  return (
    parts.length === given.length && parts.every((part, index) => part === given[index] || /^\{[a-z_]+\}$/.test(part))
  )
}
