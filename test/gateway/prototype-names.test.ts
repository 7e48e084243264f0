/**
 * Names of Object.prototype in every string position, keys and values, of every API request, of packs and of the configuration.
 * The response is valid or reports a mistake, never an internal error. Requests are generated from the schemas, which covers new members.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { compilePolicy, PolicyDocument } from '../../engine/internal.ts'
import type { ApiRoute } from '../../gateway/api/route.ts'
import { ROUTES } from '../../gateway/api/serving/routes.ts'
import { plainSchema, type JsonSchema } from '../../gateway/settings/input-schema.ts'
import { configInputSchema } from '../../gateway/config/input-schema.ts'
import { http2Fields } from '../../gateway/upstream/http2-fields.ts'
import { loadConfig } from '../../gateway/config/load.ts'
import { readSourceText } from '../../gateway/settings/source-text.ts'
import { sha256Hex } from '../../gateway/runtime/hash.ts'
import { startApi, type ApiFake } from '../fakes/api.ts'
import { PETS, pets, PETS_WITHOUT_DELETE } from '../fakes/contracts.ts'
import { PROTOTYPE_NAMES, replaced } from '../fakes/name-positions.ts'
import { at, textAt } from '../json.ts'

/** Values of a schema in which every member is there; one for each alternative of a union. */
function samplesOf(schema: JsonSchema, depth = 0): readonly unknown[] {
  const { anyOf, enum: values, const: only, type, items, properties, additionalProperties: more } = schema
  if (only !== undefined) return [only]
  if (values !== undefined) return values.slice(0, 1)
  if (depth > 6) return ['x']
  if (properties !== undefined) {
    const members = Object.entries(properties).map(([name, member]) => [name, samplesOf(member, depth + 1)] as const)
    const rounds = Math.min(4, Math.max(1, ...members.map(([, samples]) => samples.length)))
    return Array.from({ length: rounds }, (_, round) =>
      Object.fromEntries(members.map(([name, samples]) => [name, samples[round % samples.length]])),
    )
  }
  if (anyOf !== undefined) return anyOf.flatMap((one) => samplesOf(one, depth + 1))
  const named = typeof more === 'object' ? more : Object.values(schema.patternProperties ?? {})[0]
  if (named !== undefined) return samplesOf(named, depth + 1).map((sample) => ({ some: sample }))
  if (type === 'array') return items === undefined ? [[]] : samplesOf(items, depth + 1).map((item) => [item])
  if (type === 'integer' || type === 'number') return [typeof schema['minimum'] === 'number' ? schema['minimum'] : 1]
  if (type === 'boolean') return [true]
  if (type === 'object') return [{ some: 'x' }]
  return type === 'null' ? [null] : ['x']
}

function* variantsOf(values: readonly unknown[], names: readonly string[] = PROTOTYPE_NAMES): Generator {
  for (const name of names) {
    yield name
    yield [name]
    yield Object.fromEntries([[name, name]])
    for (const value of values) {
      if (typeof value === 'object' && value !== null && !Array.isArray(value))
        yield Object.fromEntries([...Object.entries(value), [name, { [name]: name }]])
      yield* replaced(value, name, new Set())
    }
  }
}

const CONTEXT = { operation: 'merge', environment: 'prod', repository: 'acme/pets', branch: 'main', pull_request: '1' }
const FILES = { 'a.yaml': { before: 'x: 1', after: 'x: 2' } }
const PACK = {
  apiVersion: 'preflight.dev/v1',
  kind: 'Policy',
  metadata: { name: 'own' },
  rules: [{ id: 'breaking', when: "finding.level == 'breaking'", then: 'BLOCK', operations: ['merge'] }],
  levels: { 'api-removed-without-deprecation': 'breaking' },
  ttl: { default: 60, operations: { merge: 60 } },
}

/** Bodies that reach what is behind the schema, by operationId. */
const GOOD: Readonly<Record<string, readonly object[]>> = {
  preflight: [
    {
      preflight_mode: 'authorize',
      artifacts: [{ ...pets(PETS_WITHOUT_DELETE), path: 'api/pets.json', files: FILES }],
      context: CONTEXT,
      idempotency_key: 'one',
    },
    { preflight_mode: 'analyze', artifacts: [pets(PETS_WITHOUT_DELETE)], context: { operation: 'merge' } },
  ],
  diff: [
    {
      base: PETS,
      head: PETS_WITHOUT_DELETE,
      type: 'openapi',
      files: FILES,
      options: {
        levels: { 'api-removed-without-deprecation': 'info' },
        match_path: '/pets',
        attributes: ['x-team'],
        strip_prefix_base: '/v1',
      },
    },
  ],
  verifyReceipt: [
    { token: 'a.b.c', context: CONTEXT, decision_result: { decision: 'ALLOW', receipt: { token: 'a.b.c' } } },
  ],
  simulatePolicy: [{ policy: PACK, artifacts: [pets(PETS_WITHOUT_DELETE)], context: CONTEXT }],
  signup: [{ email: 'a@example.org', name: 'a' }],
}

/** With an admin's key, so that nothing ends before the handler. */
async function send(api: ApiFake, key: string, route: ApiRoute, path: string, body: unknown) {
  const answer = await fetch(api.url + path, {
    method: route.method,
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, text }
}

function assertNoFault({ status, text }: { readonly status: number; readonly text: string }, asked: string): void {
  assert.ok(status < 500, `${status} ${text.slice(0, 400)}\n${asked.slice(0, 2000)}`)
  assert.doesNotMatch(text, /TypeError|\[object |\[native code\]|function Object/, asked.slice(0, 2000))
}

for (const route of ROUTES)
  test(`${route.method} ${route.paths[0]}: no name of Object.prototype ends it in a fault`, async (t) => {
    const api = await startApi({ config: { rate: { per_minute: 1_000_000 }, signup: { enabled: true } } })
    t.after(() => api.close())
    const key = await api.newKey('admin')
    const path = (name: string): string => route.paths[0].replaceAll(/\{[a-z_]+\}/g, name)
    const schema = route.body === undefined ? null : plainSchema(route.body)
    const bodies =
      schema === null ? [undefined] : [...variantsOf([...samplesOf(schema), ...(GOOD[route.operationId] ?? [])])]
    let asked = 0
    for (const body of bodies) {
      const name = PROTOTYPE_NAMES[asked % PROTOTYPE_NAMES.length] ?? ''
      asked += 1
      assertNoFault(await send(api, key, route, path(name), body), `${path(name)} ${JSON.stringify(body)}`)
    }
    const queries = Object.keys(route.query === undefined ? {} : (plainSchema(route.query).properties ?? {}))
    for (const name of PROTOTYPE_NAMES)
      for (const query of [`?${name}=${name}`, ...queries.map((one) => `?${one}=${name}`)])
        assertNoFault(
          await send(api, key, route, path(name) + query, schema === null ? undefined : {}),
          path(name) + query,
        )
    assert.doesNotMatch(api.log.join('\n'), /TypeError|RangeError|is not a function|Cannot read/)
  })

test('headers may hold such names', async (t) => {
  const api = await startApi()
  t.after(() => api.close())
  for (const name of PROTOTYPE_NAMES)
    for (const headers of [
      { authorization: name },
      { authorization: `Bearer ${name}` },
      { 'x-api-key': name, authorization: '' },
      { 'x-correlation-id': name },
      { 'x-scm-token': name },
      { accept: name },
      { 'content-type': name },
      { [name]: name },
    ]) {
      const { status, text } = await api.post(
        '/api/v1/preflight',
        { preflight_mode: 'analyze', artifacts: [pets(PETS)] },
        headers,
      )
      assertNoFault({ status, text }, JSON.stringify(headers))
    }
})

test('tools of /mcp take such names for arguments', async (t) => {
  const api = await startApi({ config: { rate: { per_minute: 1_000_000 } } })
  t.after(() => api.close())
  const tools = ['preflight_change_set', 'verify_receipt', 'get_decision_details', ...PROTOTYPE_NAMES]
  for (const name of tools)
    for (const args of variantsOf([GOOD['preflight']?.[1]])) {
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
      const { status, text } = await api.post('/mcp', body, { accept: 'application/json, text/event-stream' })
      assertNoFault({ status, text }, JSON.stringify(body))
      assert.doesNotMatch(text, /"INTERNAL"/, JSON.stringify(body))
    }
})

const SHIPPED = ['default', 'strict', 'observe', 'ci', 'agent-tools']

test('packs with such names compile or have mistakes, and decide without a fault', async (t) => {
  const packs: unknown[] = SHIPPED.map((name) => {
    const file = new URL(`../../policies/${name}/pack.yaml`, import.meta.url)
    const read = readSourceText(name, readFileSync(file, 'utf8'))
    assert.ok(read.ok)
    return read.value.value
  })
  const compiled = [...variantsOf([...packs, PACK, ...samplesOf(plainSchema(PolicyDocument))])].flatMap((pack) => {
    const result = compilePolicy(pack, sha256Hex)
    if (!result.ok)
      for (const { message } of result.problem) assert.doesNotMatch(message, /TypeError|is not a function/)
    return result.ok ? [result.value] : []
  })
  assert.ok(compiled.length > 50, `${compiled.length} packs compile`)
  const byHash = new Map(compiled.map((policy) => [policy.hash, policy]))
  const api = await startApi()
  t.after(() => api.close())
  const artifacts = [{ id: 'constructor', type: 'openapi' as const, before: PETS, after: PETS_WITHOUT_DELETE }]
  for (const policy of byHash.values())
    for (const name of ['merge', ...PROTOTYPE_NAMES]) {
      const context = {
        operation: name,
        environment: name,
        repository: name,
        branch: null,
        pull_request: null,
        base: null,
        head: null,
        target_id: name,
        target_uri: null,
      }
      const { verdict } = await api.flow.analyze({ artifacts, context, scope: null, policy })
      assert.ok(policy.ttlSeconds(name) > 0)
      assert.match(verdict.decision, /^(?:ALLOW|WARN|REQUIRE_APPROVAL|BLOCK)$/)
    }
})

const CONFIG = {
  policy: 'default',
  egress: { allow: ['a.example'], deny: ['b.example:443'] },
  plans: { free: { monthly: 50 }, enterprise: { monthly: null } },
  consumers: [{ name: 'billing', uses: [{ artifact: 'pets', operation: 'GET /pets' }] }],
  monitoring: { sinks: [{ type: 'otlp', endpoint: 'https://otlp.example', headers: { a: 'b' } }] },
  routes: [
    {
      name: 'shop',
      match: { host: 'a.example', path: '/' },
      upstream: 'https://a.example',
      protocol: 'mcp',
      edits: { write: ['a'] },
    },
    {
      name: 'k8s',
      match: { path: '/k' },
      upstream: 'https://k.example',
      protocol: 'kubernetes',
      kubernetes: { receipts: ['Deployment'] },
    },
    {
      name: 'map',
      match: { path: '/m' },
      upstream: 'https://m.example',
      protocol: 'mapped',
      map: [{ when: "request.method == 'GET'", action: 'pass' }],
    },
  ],
}

test('the configuration takes such names, or says what is wrong with them', () => {
  assert.ok(loadConfig({ environment: {}, value: CONFIG }).ok)
  let loaded = 0
  const [sample] = samplesOf(configInputSchema)
  // Asks the machine for git each time: it is looked at by itself.
  const { diff: _diff, ...rest } = Object(sample)
  const values = [...variantsOf([CONFIG, rest], ['constructor', '__proto__', 'toString'])]
  for (const name of PROTOTYPE_NAMES) values.push({ diff: { repository: name, allow_urls: [name] } })
  for (const value of values) {
    if (typeof value !== 'object' || value === null) continue
    const result = loadConfig({ environment: {}, value })
    if (result.ok) loaded += 1
    else
      for (const { message, path } of result.problem) {
        assert.doesNotMatch(message, /TypeError|is not a function|native code|\[object /, path)
      }
  }
  assert.ok(loaded > 20, `${loaded} load`)
  for (const name of PROTOTYPE_NAMES) {
    const environment = {
      [`PREFLIGHT_${name.toUpperCase()}`]: name,
      PREFLIGHT_POLICY: name,
      PREFLIGHT_PLANS: JSON.stringify(Object.fromEntries([[name, { monthly: 1 }]])),
    }
    loadConfig({ environment, value: CONFIG })
  }
})

test('a key whose plan has such a name has no plan', async (t) => {
  const api = await startApi()
  t.after(() => api.close())
  for (const plan of PROTOTYPE_NAMES) {
    const key = await api.newKey('agent', { plan })
    const { status, body } = await api.post('/api/diff', { base: PETS, head: PETS }, { authorization: `Bearer ${key}` })
    assert.equal(status, 403, JSON.stringify(body))
    assert.match(textAt(body, 'message'), /is not in the configuration/)
    assert.equal(at(body, 'error'), 'FORBIDDEN')
  }
})

test('fields of HTTP/2 may be called like members of every object', () => {
  const raw = PROTOTYPE_NAMES.flatMap((name) => [name, 'one', name, 'other'])
  const sent = Object.entries(http2Fields(raw))
  assert.deepEqual(
    sent,
    PROTOTYPE_NAMES.map((name) => [name.toLowerCase(), ['one', 'other']]),
  )
})
