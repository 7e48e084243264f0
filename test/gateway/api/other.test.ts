/** The smaller routes: policy simulation, the abort demonstration, execution telemetry, baselines. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { digestText, type CompiledPolicy } from '../../../engine/internal.ts'
import { loadPolicy } from '../../../gateway/config/policy.ts'
import { startApi, type ApiFake } from '../../fakes/api.ts'
import { manifest, pets, PETS_WITHOUT_DELETE } from '../../fakes/contracts.ts'
import { sha256 } from '../../fakes/keys.ts'
import { at, listAt, textAt } from '../../json.ts'

const policy = (rules: readonly object[]) => ({
  apiVersion: 'preflight.dev/v1',
  kind: 'Policy',
  metadata: { name: 'tried' },
  rules,
})
const warnOnBreaking = { id: 'only-warn', when: 'finding.level == "breaking"', then: 'WARN' }

describe('policy simulation', () => {
  let api: ApiFake
  before(async () => {
    api = await startApi()
  })
  after(() => api.close())
  const simulate = (tried: unknown) =>
    api.post('/api/v1/policy/simulate', {
      policy: tried,
      artifacts: [pets(PETS_WITHOUT_DELETE)],
      context: { operation: 'merge' },
    })

  it('says what another policy would decide, and which of its rules spoke', async () => {
    const { status, body } = await simulate(policy([warnOnBreaking]))
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(at(body, 'decision'), 'WARN')
    assert.equal(at(body, 'policy', 'name'), 'tried')
    const spoken = listAt(body, 'matched_rules').find((row) => at(row, 'rule') === 'only-warn')
    assert.equal(at(spoken, 'decision'), 'WARN')
    assert.ok(listAt(spoken, 'comparison_rules').length > 0)
  })

  it('is never permission and records nothing', async () => {
    const { body, text } = await simulate(policy([warnOnBreaking]))
    assert.equal(at(body, 'may_execute'), false)
    assert.equal(at(body, 'authorization_effect'), 'NONE')
    assert.doesNotMatch(text, /eyJ/)
    assert.deepEqual(at((await api.get('/api/v1/ledger')).body, 'entries'), [])
  })

  it('takes the YAML text of a pack too', async () => {
    const yaml = `apiVersion: preflight.dev/v1\nkind: Policy\nmetadata: {name: text}\nrules:\n  - {id: r, when: 'true', then: REQUIRE_APPROVAL}\n`
    assert.equal(at((await simulate(yaml)).body, 'decision'), 'REQUIRE_APPROVAL')
  })

  it('names every mistake of a policy with its place', async () => {
    const { status, body } = await simulate(policy([{ id: 'x', when: 'finding.level ==', then: 'MAYBE' }]))
    assert.equal(status, 400)
    for (const detail of listAt(body, 'details')) assert.match(textAt(detail, 'pointer'), /^\/policy\//)
  })
})

describe('the abort demonstration', () => {
  it('stops the agent by the decision of the engine, and tells the steps that did not happen', async () => {
    const api = await startApi()
    for (const scenario of ['tool_result_shape_drift', 'endpoint_removed']) {
      const { status, body } = await api.post('/api/v1/agent-abort-demo', { scenario })
      assert.equal(status, 200)
      assert.equal(at(body, 'decision'), 'BLOCK')
      assert.equal(at(body, 'enforcement', 'agent_aborted'), true)
      const aborted = listAt(body, 'execution_trace').filter((step) => at(step, 'status') === 'aborted')
      assert.equal(aborted.length, at(body, 'enforcement', 'steps_prevented'))
      assert.match(textAt(body, 'timestamp'), /\.\d{3}Z$/)
      assert.match(textAt(body, 'correlation_id'), /^[0-9a-f-]{36}$/)
    }
    const drift = await api.post('/api/v1/agent-abort-demo', '')
    assert.ok(
      listAt(drift.body, 'patterns').includes('TOOL_RESULT_SHAPE_DRIFT'),
      JSON.stringify(at(drift.body, 'patterns')),
    )
    assert.equal((await api.post('/api/v1/agent-abort-demo', { scenario: 'unheard' })).status, 400)
    await api.close()
  })

  it('lets the agent go where the policy in force does', async () => {
    const observe = loadPolicy('observe', '.')
    assert.ok(observe.ok)
    const api = await startApi({ policy: observe.value.policy })
    const { body } = await api.post('/api/v1/agent-abort-demo', {})
    assert.equal(at(body, 'enforcement', 'agent_aborted'), at(body, 'safe_for_agent') === false)
    assert.equal(at(body, 'safe_for_agent'), true)
    await api.close()
  })
})

const event = (correlation_id: string, rest: object = {}) => ({
  specversion: '1.0',
  id: 'e-1',
  source: '/agents/builder',
  type: 'preflight.execution.finished',
  data: { correlation_id, outcome: 'SUCCEEDED', status: 200, duration_ms: 12 },
  ...rest,
})

describe('execution telemetry', () => {
  let api: ApiFake
  before(async () => {
    api = await startApi({ policy: warning() })
  })
  after(() => api.close())

  const decide = async () => {
    const artifacts = [pets(PETS_WITHOUT_DELETE)]
    const { body } = await api.post('/api/v1/preflight', {
      preflight_mode: 'authorize',
      artifacts,
      context: { operation: 'merge' },
    })
    assert.equal(at(body, 'execution_action'), 'CONTINUE_WITH_MONITORING')
    return textAt(body, 'correlation_id')
  }
  const open = async () => (await api.store.windows.listOpen()).map(({ correlationId }) => correlationId)

  it('opens a window with the decision, and the report of the caller closes it', async () => {
    const id = await decide()
    assert.ok((await open()).includes(id))
    const { status, body } = await api.post('/api/v1/telemetry', event(id), {
      'content-type': 'application/cloudevents+json',
    })
    assert.equal(status, 202)
    assert.equal(at(body, 'accepted'), 1)
    assert.ok(!(await open()).includes(id))
    assert.equal((await api.post('/api/v1/telemetry', event(id))).status, 404)
  })

  it('takes a batch, and names what it does not know', async () => {
    const [first, second] = [await decide(), await decide()]
    const batch = [
      event(first, { type: 'preflight.execution.started', data: {}, subject: first }),
      event(second),
      event('unknown'),
    ]
    const { status, body } = await api.post('/api/v1/telemetry', batch)
    assert.equal(status, 202)
    assert.equal(at(body, 'accepted'), 2)
    assert.deepEqual(at(body, 'unknown'), ['unknown'])
    assert.deepEqual(await open(), [first])
  })

  it('is nobody else’s to report', async () => {
    const id = await decide()
    const other = await api.newKey('agent', { tenant: 'other' })
    const { status } = await api.post('/api/v1/telemetry', event(id), { authorization: `Bearer ${other}` })
    assert.equal(status, 404)
    assert.ok((await open()).includes(id))
  })

  it('is reported by the agent that the decision was issued to, and by approvers and admins of its tenant', async () => {
    for (const role of ['agent', 'approver', 'admin'] as const) {
      const id = await decide()
      const authorization = `Bearer ${await api.newKey(role)}`
      for (const type of ['preflight.execution.started', 'preflight.execution.finished']) {
        const { status } = await api.post('/api/v1/telemetry', event(id, { type }), { authorization })
        assert.equal(status, role === 'agent' ? 404 : 202, role)
      }
      assert.equal((await open()).includes(id), role === 'agent')
    }
  })

  it('needs a correlation id, an outcome and a known type', async () => {
    for (const wrong of [
      event('a', { data: { outcome: 'SUCCEEDED' } }),
      event('a', { data: { correlation_id: 'a' } }),
      event('a', { type: 'something.else' }),
      event('a', { specversion: '0.3' }),
      [],
    ]) {
      const { status, body } = await api.post('/api/v1/telemetry', wrong)
      assert.equal(status, 400, JSON.stringify(wrong))
      assert.ok(listAt(body, 'details').length > 0)
    }
  })
})

const offered = (content: string) => ({ type: 'mcp_manifest' as const, content, digest: digestText(content, sha256) })

async function pinned(api: ApiFake, contract: ReturnType<typeof offered>): Promise<string> {
  const config = api.settings().config.routes[0]
  assert.ok(config)
  return (await api.baselines.baselineFor(config, contract)).digest
}

describe('baselines', () => {
  const route = { name: 'shop', match: { path: '/' }, upstream: 'http://127.0.0.1:1', protocol: 'mcp' }

  it('are listed with what is offered instead, and replaced by an approver who names the reviewed digest', async () => {
    const api = await startApi({ config: { routes: [route] } })
    const approver = { authorization: `Bearer ${await api.newKey('approver')}` }
    const [first, second] = [offered(manifest(['a'])), offered(manifest(['a', 'b']))]
    assert.equal(await pinned(api, first), first.digest)
    await pinned(api, second)
    const listed = (await api.get('/api/v1/baselines')).body
    assert.equal(at(listed, 'baselines', 0, 'baseline', 'digest'), first.digest)
    assert.equal(at(listed, 'baselines', 0, 'candidate', 'digest'), second.digest)

    const promote = (digest: string, headers?: Readonly<Record<string, string>>) =>
      api.post('/api/v1/baselines/shop/promote', { digest }, headers)
    assert.equal((await promote(second.digest)).status, 403)
    assert.equal((await promote(first.digest, approver)).status, 409)
    assert.equal((await promote('sha256:short', approver)).status, 400)
    const done = await promote(second.digest, approver)
    assert.equal(done.status, 200, JSON.stringify(done.body))
    assert.equal(at(done.body, 'baseline', 'digest'), second.digest)
    assert.equal((await api.post('/api/v1/baselines/none/promote', { digest: second.digest }, approver)).status, 404)
    await api.close()
  })
})

/** Everything is forwarded and monitored. */
function warning(): CompiledPolicy {
  const loaded = loadPolicy('test/fakes/warn-pack.yaml', '.')
  assert.ok(loaded.ok, 'the pack loads')
  return loaded.value.policy
}
