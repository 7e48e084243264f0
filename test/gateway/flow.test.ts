/** The flow: big input in workers, bounded in time and number; each comparison made once; whatever breaks on the way is never an ALLOW. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { EMPTY_CONTEXT, type Artifact, type CompiledPolicy } from '../../engine/internal.ts'
import { loadConfig } from '../../gateway/config/load.ts'
import { loadPolicy } from '../../gateway/config/policy.ts'
import { GatewayError } from '../../gateway/errors/errors.ts'
import { createAnalyst } from '../../gateway/flow/analyst.ts'
import { createRecorder } from '../../gateway/flow/recorder.ts'
import { createFlow } from '../../gateway/flow/authorize.ts'
import type { AuthorizeRequest, Flow } from '../../gateway/flow/flow.ts'
import { createMemoryBudget } from '../../gateway/runtime/memory-budget.ts'
import { createPool } from '../../gateway/flow/pool.ts'
import type { DecisionRow } from '../../gateway/store/decisions.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'
import { createMetrics } from '../../gateway/telemetry/metrics.ts'
import { manifest, PETS, PETS_WITH_POST, PETS_WITHOUT_DELETE } from '../fakes/contracts.ts'
import { fakeKey, sha256 } from '../fakes/keys.ts'

const logger = createLogger('silent')

function settingsOf(config: Readonly<Record<string, unknown>> = {}, pack = 'default') {
  const loaded = loadConfig({ environment: {}, value: config })
  const policy = loadPolicy(pack, '.')
  assert.ok(loaded.ok && policy.ok)
  const settings = { config: loaded.value.config, policy: policy.value.policy, generation: 1 }
  return () => settings
}

const artifact = (before: string, after: string): Artifact => ({ id: 'a', type: 'openapi', before, after })

/** A document that takes a while to compare. */
function large(schemas: number): string {
  const rows = Array.from(
    { length: schemas },
    (_, index) => `"S${index}":{"type":"object","properties":{"p":{"type":"string"}}}`,
  )
  return PETS.replace('"paths"', `"components":{"schemas":{${rows.join(',')}}},"paths"`)
}

const many = <Value>(count: number, valueOf: (index: number) => Value): readonly Value[] =>
  Array.from({ length: count }, (_, index) => valueOf(index))
const named = (count: number, valueOf: (index: number) => unknown) =>
  Object.fromEntries(many(count, (index) => [`a${index}`, valueOf(index)]))

/** Schemas of some kilobytes whose comparison takes much longer than their texts are long. @param by how they differ */
const COMPOSED: Readonly<Record<string, (by: number) => object>> = {
  'properties that require others': (by) => ({ dependentRequired: named(300, (index) => [`a${index + 1 + by}`]) }),
  'schemas that depend on properties': (by) => ({
    dependentSchemas: named(150, (index) => ({ required: [`a${index + 1 + by}`] })),
  }),
  'alternatives of patterns': (by) => ({
    anyOf: many(30, (index) => ({ type: 'string', pattern: `^[a-z]{${index},${index + 50 + by}}(x|y|z)*$` })),
  }),
  'patterns that all hold': (by) => ({
    allOf: many(50, (index) => ({ pattern: `^(a|b|${index}){1,${20 + by}}c?$` })),
  }),
  'alternatives in parts': (by) => ({
    allOf: many(6, (part) => ({
      oneOf: many(6, (index) => ({ properties: { [`p${part}`]: { const: index + by } } })),
    })),
  }),
  conditions: (by) =>
    many(40, (index) => index).reduce<object>(
      (inner, index) => ({ if: { properties: { [`a${index}`]: { const: by } } }, then: inner }),
      { type: 'object' },
    ),
  multiples: (by) => ({ not: { enum: ['x'] }, allOf: many(200, (index) => ({ multipleOf: 7919 + index + by })) }),
}

/** Of the computing for a run, the part that this thread does. */
async function shareOfThread(run: () => Promise<unknown>): Promise<number> {
  const [whole, own] = [process.cpuUsage(), process.threadCpuUsage()]
  await run()
  const [all, here] = [process.cpuUsage(whole), process.threadCpuUsage(own)]
  return (here.user + here.system) / (all.user + all.system)
}

/** Each keyword with its first letter as an escape. */
const inEscapes = (text: string): string =>
  text.replaceAll(
    /"([a-z])([A-Za-z]+)":/g,
    (_, first: string, rest: string) => `"\\u00${first.charCodeAt(0).toString(16)}${rest}":`,
  )

const alternatives = (by: number): string =>
  JSON.stringify({
    anyOf: many(250, (index) => ({ type: 'string', pattern: `^[a-z]{${index},${index + 50 + by}}(x|y|z)*$` })),
  })

const referenceTo = (index: number) => ({ $ref: `#/components/schemas/a${index % 60}` })
const contentOf = (index: number) => ({ content: { 'application/json': { schema: referenceTo(index) } } })

function referring(by: number): string {
  const operation = { requestBody: contentOf(0), responses: { 200: { description: '', ...contentOf(1) } } }
  const schemas = named(60, (index) => ({
    type: 'object',
    properties: {
      a: referenceTo(index * 7 + 1),
      b: referenceTo(index * 11 + 3),
      c: { type: 'string', maxLength: 3 + by + index },
    },
  }))
  const paths = Object.fromEntries(many(60, (index) => [`/p${index}`, { post: operation }]))
  return JSON.stringify({ openapi: '3.1.0', info: { title: 'a', version: '1' }, paths, components: { schemas } })
}

describe('schemas that are composed of others', () => {
  for (const [what, schemaOf] of Object.entries(COMPOSED))
    for (const isEscaped of [false, true])
      it(`are not compared on the main thread: ${what}${isEscaped ? ', in escapes' : ''}`, async () => {
        const analyst = createAnalyst({ settings: settingsOf(), metrics: createMetrics(), logger })
        const [before = '', after = ''] = [0, 1]
          .map((by) => JSON.stringify(schemaOf(by)))
          .map((text) => (isEscaped ? inEscapes(text) : text))
        assert.ok(before.length + after.length < 64 * 1024)
        const pair: Artifact = { id: 'a', type: 'json_schema', before, after }
        // The first task starts the workers, which is work of this thread.
        await analyst.compare({ ...pair, after: `${after} ` }, {})
        const share = await shareOfThread(() => analyst.compare(pair, {}))
        await analyst.close()
        assert.ok(share < 0.5, `${share} of the work`)
      })

  it('are not compared on the main thread: operations that refer to one graph of schemas', async () => {
    const analyst = createAnalyst({ settings: settingsOf(), metrics: createMetrics(), logger })
    const pair = artifact(referring(0), referring(1))
    assert.ok(pair.before.length + pair.after.length < 64 * 1024)
    await analyst.compare({ ...pair, after: `${pair.after} ` }, {})
    const share = await shareOfThread(() => analyst.compare(pair, {}))
    await analyst.close()
    assert.ok(share < 0.5, `${share} of the work`)
  })

  it('end with the time for an analysis', async () => {
    const settings = settingsOf({ limits: { analysis: 1 } })
    const analyst = createAnalyst({ settings, metrics: createMetrics(), logger })
    const pair: Artifact = { id: 'a', type: 'json_schema', before: alternatives(0), after: alternatives(1) }
    const result = await analyst.compare(pair, {})
    await analyst.close()
    assert.equal(result.ok ? '' : result.problem.code, 'ANALYSIS_TIMEOUT')
  })
})

describe('the worker pool', () => {
  it('ends a task that takes too long, and runs the next one', async () => {
    const pool = createPool({ workers: 1, queue: 4, memory: createMemoryBudget(), logger })
    const slow = large(60_000)
    const late = await pool.run('compare', { kind: 'compare', artifact: artifact(slow, slow), options: {} }, 1000, 1)
    assert.equal(late.ok, false)
    assert.equal(late.ok ? '' : late.problem.code, 'ANALYSIS_TIMEOUT')
    const next = await pool.run(
      'compare',
      { kind: 'compare', artifact: artifact(PETS, PETS), options: {} },
      1000,
      30_000,
    )
    assert.equal(next.ok, true)
    await pool.close()
  })

  it('refuses with OVERLOADED when too much waits, and works off what it has taken', async () => {
    const pool = createPool({ workers: 1, queue: 1, memory: createMemoryBudget(), logger })
    const ask = () =>
      pool.run('compare', { kind: 'compare', artifact: artifact(PETS, PETS_WITH_POST), options: {} }, 1000, 30_000)
    const answers = await Promise.allSettled(Array.from({ length: 6 }, ask))
    const refused = answers.filter(({ status }) => status === 'rejected')
    const done = answers.filter((answer) => answer.status === 'fulfilled' && answer.value.ok)
    assert.ok(refused.length > 0)
    assert.equal(refused.length + done.length, 6)
    for (const answer of refused) {
      assert.ok(answer.status === 'rejected' && answer.reason instanceof GatewayError)
      assert.equal(answer.reason.code, 'OVERLOADED')
      assert.equal(answer.reason.headers['Retry-After'], '1')
    }
    await pool.close()
  })

  it('answers from a worker what this thread would answer', async () => {
    const metrics = createMetrics()
    const here = createAnalyst({ settings: settingsOf({ analysis: { inline_below: 1_000_000 } }), metrics, logger })
    const there = createAnalyst({ settings: settingsOf({ analysis: { inline_below: 0 } }), metrics, logger })
    const pair = artifact(PETS, PETS_WITHOUT_DELETE)
    assert.deepEqual(await there.compare(pair, {}), await here.compare(pair, {}))
    assert.deepEqual(await there.digests([pair]), await here.digests([pair]))
    assert.deepEqual(await there.sniff(PETS, ''), await here.sniff(PETS, ''))
    for (const text of ['{"a": [1, "é"]}', '{"a": 1,}', '{"a":1,"a":2}']) {
      assert.deepEqual(await there.readJson(Buffer.from(text)), await here.readJson(Buffer.from(text)))
    }
    await Promise.all([here.close(), there.close()])
  })
})

describe('a comparison', () => {
  it('is made once for the same pair, whatever it is called, and also when asked for at the same time', async () => {
    const metrics = createMetrics()
    const analyst = createAnalyst({ settings: settingsOf(), metrics, logger })
    const pair = artifact(PETS, PETS_WITHOUT_DELETE)
    await Promise.all([analyst.compare(pair, {}), analyst.compare(pair, {}), analyst.compare({ ...pair, id: 'b' }, {})])
    await analyst.compare(pair, {})
    assert.match(await metrics.text(), /preflight_analysis_seconds_count\{type="openapi"\} 1\n/)
    await analyst.compare(pair, { levels: { 'api-removed-without-deprecation': 'info' } })
    assert.match(await metrics.text(), /preflight_analysis_seconds_count\{type="openapi"\} 2\n/)
    await analyst.close()
  })

  it('that failed is not remembered as one that worked', async () => {
    const analyst = createAnalyst({ settings: settingsOf(), metrics: createMetrics(), logger })
    const broken = artifact(PETS, '{')
    assert.equal((await analyst.compare(broken, {})).ok, false)
    assert.equal((await analyst.compare(broken, {})).ok, false)
    await analyst.close()
  })
})

const now = (): number => Date.parse('2026-11-21T10:00:00.700Z')

interface FlowParts {
  readonly record?: (row: DecisionRow) => Promise<void>
  readonly sign?: () => never
  readonly settings?: ReturnType<typeof settingsOf>
}

function flowWith(t: TestContext, parts: FlowParts): Flow {
  const key = fakeKey('k1')
  const store = {
    decisions: { record: parts.record ?? (() => Promise.resolve()), history: noAnswer },
    approvals: { open: noAnswer },
    statusLists: { open: () => Promise.resolve() },
    uses: { of: noAnswer },
  }
  const flow = createFlow({
    settings: parts.settings ?? settingsOf(),
    store,
    recorder: createRecorder({ settings: settingsOf(), store, signer: parts.sign ?? (() => key.signer), now }),
    inputs: null,
    metrics: createMetrics(),
    logger,
    now,
  })
  t.after(() => flow.close())
  return flow
}

function noAnswer(): never {
  throw new TypeError('no answer')
}

describe('an authorization', () => {
  const request: AuthorizeRequest = {
    artifacts: [artifact(PETS, PETS_WITH_POST)],
    context: { ...EMPTY_CONTEXT, operation: 'merge' },
    scope: null,
    caller: { tenant: 'local', audience: null },
    correlationId: 'c-1',
    route: null,
    decisionSpecVersion: '2.0',
    previousReceipt: null,
    idempotency: null,
    response: null,
  }

  it('is durable before it is answered', async (t) => {
    const order: string[] = []
    const flow = flowWith(t, {
      record: async (row) => {
        await new Promise((resolve) => {
          setImmediate(resolve)
        })
        order.push(`recorded ${row.decisionId}`)
      },
    })
    const { envelope, token, expiresAt } = await flow.authorize(request)
    order.push('answered')
    assert.deepEqual(order, [`recorded ${envelope.decision_id}`, 'answered'])
    assert.equal(envelope.receipt.token, token)
    assert.equal(envelope.evaluated_at, '2026-11-21T10:00:00Z')
    assert.equal(expiresAt, Date.parse('2026-11-21T14:00:00Z'))
  })

  it('does not exist when the row, the signature or the answer could not be made', async (t) => {
    const rows: DecisionRow[] = []
    const record = (row: DecisionRow) => {
      rows.push(row)
      return Promise.resolve()
    }
    const refusing = flowWith(t, { record: () => Promise.reject(new GatewayError('STORE_UNAVAILABLE')) })
    await assert.rejects(refusing.authorize(request), { code: 'STORE_UNAVAILABLE' })
    const unsigned = flowWith(t, {
      record,
      sign: () => {
        throw new Error('the key is gone')
      },
    })
    await assert.rejects(unsigned.authorize(request), { code: 'SIGNER_UNAVAILABLE' })
    const unanswered = flowWith(t, { record })
    await assert.rejects(unanswered.authorize({ ...request, response: noAnswer }), TypeError)
    assert.deepEqual(rows, [])
  })

  it('is not made while the policy changes during every comparison', async (t) => {
    const current = settingsOf()()
    let asked = 0
    const changing = () => {
      const hash = `sha256:${(asked += 1)}`
      const get = (policy: CompiledPolicy, name: string): unknown => {
        const held: unknown = name === 'hash' ? hash : Reflect.get(policy, name, policy)
        return typeof held === 'function' ? held.bind(policy) : held
      }
      return { ...current, policy: new Proxy(current.policy, { get }) }
    }
    const flow = flowWith(t, { settings: changing })
    await assert.rejects(flow.authorize(request), { code: 'PREFLIGHT_UNDECIDED', message: /changed during each of 5/ })
    assert.equal((await flow.analyze(request)).analyses.length, request.artifacts.length)
  })

  it('is made by the policy in force when it is made, not by that of its question', async (t) => {
    let settings = settingsOf()
    const flow = flowWith(t, { settings: () => settings() })
    const asked = flow.authorize({ ...request, artifacts: [artifact(PETS, PETS_WITHOUT_DELETE)] })
    settings = settingsOf({}, 'strict')
    const { verdict } = await asked
    assert.equal(verdict.policy_hash, settings().policy.hash)
    assert.equal(verdict.decision, 'BLOCK')
  })

  it('of what could not be analysed is a stop with a reason', async (t) => {
    const flow = flowWith(t, {})
    const artifacts = [artifact(PETS, PETS_WITH_POST), { ...artifact(PETS, 'x: ['), id: 'broken' }]
    const { envelope } = await flow.authorize({ ...request, artifacts })
    assert.equal(envelope.execution_action, 'STOP')
    assert.equal(envelope.analysis_complete, false)
  })

  it('for a tool hears only of findings that reach it', async (t) => {
    const flow = flowWith(t, {})
    const artifacts: readonly Artifact[] = [
      { id: 'm', type: 'mcp_manifest', before: manifest(['keep', 'drop']), after: manifest(['keep']) },
    ]
    const kept = await flow.authorize({ ...request, artifacts, scope: { tool: 'keep' } })
    const dropped = await flow.authorize({ ...request, artifacts, scope: { tool: 'drop' } })
    assert.equal(kept.envelope.execution_action, 'CONTINUE')
    assert.equal(dropped.envelope.execution_action, 'STOP')
  })

  it('has the same verdict for the same input, and carries the hash of the receipt before', async (t) => {
    const flow = flowWith(t, {})
    const first = await flow.authorize(request)
    const second = await flow.authorize({ ...request, previousReceipt: first.token })
    assert.equal(second.envelope.fingerprint, first.envelope.fingerprint)
    const payload: unknown = JSON.parse(Buffer.from(second.token.split('.')[1] ?? '', 'base64url').toString())
    assert.equal(
      typeof payload === 'object' && payload !== null && 'prev' in payload && payload.prev,
      `sha256:${sha256(first.token)}`,
    )
  })
})
