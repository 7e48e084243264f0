/** With no telemetry sink wired nothing that asks for monitoring goes on: in every protocol, through other proxies, and by the API (docs/reference/telemetry.md#monitoring-windows). */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { compilePolicy } from '../../../engine/internal.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import type { JudgedAction, Recogniser, ResourceCheck } from '../../../gateway/protocols/common/action.ts'
import type { Call } from '../../../gateway/calls/call.ts'
import { startAgent } from '../../fakes/agent.ts'
import { startApi } from '../../fakes/api.ts'
import { pets, PETS, PETS_WITHOUT_DELETE } from '../../fakes/contracts.ts'
import { FREE_PORTS, startTestGateway } from '../../fakes/gateway.ts'
import { grpcAsker } from '../../fakes/ext-authz-client.ts'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'
import { startProxy } from '../../fakes/proxy-under-test.ts'
import { PROFILES, PROTOCOLS, type ProtocolName, type ProtocolProfile } from '../../protocols/profiles.ts'
import { at, textAt } from '../../json.ts'

const UNWIRED = { monitoring: { sinks: [] } }

/** Where the first judged request of the profile is refused by a rule, or makes the gateway ask the upstream. */
const OTHER_SAMPLES: Partial<Record<ProtocolName, Pick<ProtocolProfile, 'judged' | 'route'>>> = {
  mapped: {
    judged: [{ method: 'POST', path: '/deploy', body: '{}' }],
    route: { map: [{ action: 'judge', target: "'shop'", artifact: { type: 'openapi', before: "''", after: "''" } }] },
  },
  npm: { judged: [{ method: 'DELETE', path: '/pets/-rev/1-0', body: '' }], route: {} },
}

/** The recogniser of the protocol, whose own action tells the refusal; what it is judged on is made up. */
function judging(real: Recogniser, kinds: string[]): Recogniser {
  return {
    needsBody: (head) => real.needsBody(head),
    async recognise(call: Call) {
      const action = await real.recognise(call)
      kinds.push(action.kind)
      if (action.kind !== 'judge') return action
      const resource = { name: 'shop', target: 'shop', scope: null }
      const artifacts = [{ id: 'shop', type: 'openapi' as const, before: PETS, after: PETS_WITHOUT_DELETE }]
      const gather = (): readonly ResourceCheck[] => [
        { resource, basis: { kind: 'change_set', artifacts, unreadable: [] } },
      ]
      const refuse = action.refuse.bind(action)
      const replaced: Pick<Required<JudgedAction>, 'gather' | 'refuse' | 'confirm'> = {
        gather,
        // The made-up resource is none of the messages of a batch: the refusal is about all of them.
        refuse: (refusal) => refuse({ ...refusal, resource: null }),
        confirm: () => true,
      }
      return Object.defineProperties(action, Object.getOwnPropertyDescriptors(replaced))
    },
  }
}

const FORBIDDEN = /CONTINUE|chain_receipt|decision_result":\{|eyJ[\w-]+\.|\.signature/

for (const protocol of PROTOCOLS)
  test(`${protocol}: a call that needs monitoring is refused in the form of the protocol, and goes on once a sink is wired`, async (t) => {
    const upstream = await startHttpUpstream((_request, response) => response.end('{}'))
    t.after(() => upstream.close())
    const { judged, route: settings } = OTHER_SAMPLES[protocol] ?? PROFILES[protocol]
    const [sample] = judged
    assert.ok(sample !== undefined)
    const kinds: string[] = []
    const send = async (config: object) => {
      const route = { name: 'shop', match: { path: '/' }, upstream: upstream.origin, protocol, ...settings }
      const proxy = await startProxy({ routes: [route], decide: () => 'WARN', config: { ...config } })
      t.after(() => proxy.close())
      const { recognisers } = proxy.listener.pipeline
      const named = Object.entries(recognisers).find(([name]) => name === protocol)
      assert.ok(named !== undefined)
      Object.assign(recognisers, { [protocol]: judging(named[1], kinds) })
      const answer = await fetch(proxy.url + sample.path, {
        method: sample.method,
        headers: { 'content-type': sample.type ?? 'application/json', accept: 'application/json, text/event-stream' },
        ...(sample.body !== '' && { body: sample.body }),
      })
      return { answer, text: await answer.text(), proxy }
    }
    const refused = await send(UNWIRED)
    assert.deepEqual(kinds, ['judge'])
    assert.equal(refused.answer.headers.get('preflight-action'), 'STOP')
    assert.match(refused.text, /MONITORING_UNWIRED/)
    assert.doesNotMatch(refused.text + JSON.stringify([...refused.answer.headers]), FORBIDDEN)
    // In MCP the answer of a tool call is a result; everywhere else the status tells.
    if (protocol === 'mcp') assert.equal(at(JSON.parse(refused.text), 'result', 'isError'), true, refused.text)
    else assert.equal(refused.answer.status, 503, refused.text)
    assert.equal(upstream.requests.length, 0)
    assert.match(await refused.proxy.metrics.text(), /preflight_monitoring_refusals_total 1/)

    const wired = await send({})
    assert.equal(wired.answer.headers.get('preflight-action'), 'CONTINUE_WITH_MONITORING')
    assert.equal(upstream.requests.length, 1)
  })

const WARNS = [{ id: 'watch', when: 'true', then: 'WARN' }]
const PACK = { apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'watch' }, rules: WARNS }

function policy() {
  const compiled = compilePolicy(PACK, sha256Hex)
  assert.ok(compiled.ok)
  return compiled.value
}

const REQUEST = { preflight_mode: 'authorize', artifacts: [pets(PETS_WITHOUT_DELETE)], context: { operation: 'merge' } }

for (const more of [{}, { idempotency_key: 'one' }])
  test(`a preflight that asks for monitoring hands out no decision and no receipt ${JSON.stringify(more)}`, async (t) => {
    const api = await startApi({ policy: policy(), config: UNWIRED })
    t.after(() => api.close())
    for (let round = 0; round < 2; round += 1) {
      const { status, headers, body, text } = await api.post('/api/v1/preflight', { ...REQUEST, ...more })
      assert.equal(status, 503)
      assert.equal(headers.get('preflight-action'), 'STOP')
      assert.equal(textAt(body, 'error'), 'MONITORING_UNWIRED')
      assert.doesNotMatch(text, FORBIDDEN)
    }
    assert.deepEqual(await api.store.decisions.list({ tenant: 'local', limit: 10 }), [])
    const analysis = await api.post('/api/v1/preflight', { ...REQUEST, preflight_mode: 'analyze' })
    assert.equal(analysis.status, 200)
  })

test('the tool preflight_change_set answers the same as an error', async (t) => {
  const api = await startApi({ policy: policy(), config: UNWIRED })
  t.after(() => api.close())
  const agent = await startAgent(`${api.url}/mcp`, 'auto', { authorization: `Bearer ${api.key}` })
  const result = await agent.client.callTool({ name: 'preflight_change_set', arguments: REQUEST })
  await agent.close()
  assert.equal(result.isError, true)
  assert.equal(at(result.structuredContent, 'error'), 'MONITORING_UNWIRED')
  assert.doesNotMatch(JSON.stringify(result), FORBIDDEN)
})

test('a sink that fails just then takes the decision back', async (t) => {
  const api = await startApi({
    policy: policy(),
    storeFaults: (store) => ({ windows: { open: (row) => store.windows.open(row) } }),
  })
  t.after(() => api.close())
  api.monitoring.open = () => Promise.resolve(null)
  const { status, text } = await api.post('/api/v1/preflight', REQUEST)
  assert.equal(status, 503)
  assert.doesNotMatch(text, FORBIDDEN)
  const [row] = await api.store.decisions.list({ tenant: 'local', limit: 10 })
  assert.ok(row !== undefined)
  assert.equal(row.receiptState, 'revoked')
})

test('telemetry that no sink takes is refused under the same code', async (t) => {
  const api = await startApi({ policy: policy() })
  t.after(() => api.close())
  const { body } = await api.post('/api/v1/preflight', REQUEST)
  const event = {
    specversion: '1.0',
    id: '1',
    source: '/test',
    type: 'preflight.execution.started',
    data: { correlation_id: textAt(body, 'decision_result', 'correlation_id') },
  }
  assert.equal((await api.post('/api/v1/telemetry', event)).status, 202)
  api.monitoring.report = () => Promise.resolve('unwired')
  const refused = await api.post('/api/v1/telemetry', event)
  assert.equal(refused.status, 503)
  assert.equal(textAt(refused.body, 'error'), 'MONITORING_UNWIRED')
})

async function authz(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-unwired-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const pack = join(directory, 'pack.yaml')
  writeFileSync(pack, JSON.stringify(PACK))
  const [before, after] = ['before.json', 'after.json'].map((name) => join(directory, name))
  assert.ok(before !== undefined && after !== undefined)
  writeFileSync(before, PETS)
  writeFileSync(after, PETS.replace('"name":{"type":"string"}', '"name":{"type":"integer"}'))
  const contract = { baseline: { file: before }, current: { file: after } }
  const route = { name: 'pets', match: { path: '/' }, upstream: 'http://127.0.0.1:9', protocol: 'http', contract }
  return startTestGateway(t, {
    policy: pack,
    routes: [route],
    listen: { ...FREE_PORTS, ext_authz: '127.0.0.1:0' },
    ...UNWIRED,
  })
}

test('a check by another proxy is refused, over HTTP and gRPC', async (t) => {
  const { addresses } = await authz(t)
  const http = await fetch(`${addresses.api}/authz/pets`)
  const text = await http.text()
  assert.equal(http.status, 503, text)
  assert.equal(http.headers.get('preflight-action'), 'STOP')
  assert.match(text, /MONITORING_UNWIRED/)
  assert.doesNotMatch(text + JSON.stringify([...http.headers]), FORBIDDEN)
  assert.ok(addresses.ext_authz !== undefined)
  const grpc = grpcAsker(addresses.ext_authz.replace('http://', ''))
  t.after(() => grpc.close())
  const answer = await grpc.check({
    method: 'GET',
    path: '/pets',
    host: 'pets.example',
    scheme: 'http',
    size: 0,
    headers: {},
  })
  assert.equal(at(answer, 'status', 'code'), 7)
  assert.match(textAt(answer, 'denied_response', 'body'), /MONITORING_UNWIRED/)
  assert.doesNotMatch(JSON.stringify(answer), FORBIDDEN)
})
