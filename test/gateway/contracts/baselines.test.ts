/** Baselines: pinned once, promoted by an explicit act, never replaced by a candidate that the policy blocks. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { ok, type Decision, type FindingGroup, type Level } from '../../../engine/internal.ts'
import {
  contractDigest,
  RouteBaselines,
  type BaselineService,
  type OfferedContract,
} from '../../../gateway/baselines/baselines.ts'
import { loadConfig } from '../../../gateway/config/load.ts'
import type { RouteConfig } from '../../../gateway/protocols/route.ts'
import { GatewayError } from '../../../gateway/errors/errors.ts'
import { openStore } from '../../../gateway/store/opening/open.ts'
import type { Store } from '../../../gateway/store/store.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { createMetrics } from '../../../gateway/telemetry/metrics.ts'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'
import { scriptedFlow, type ScriptedFlow } from '../../fakes/scripted-flow.ts'

interface Bench {
  readonly baselines: BaselineService
  readonly route: RouteConfig
  readonly flow: ScriptedFlow
  readonly store: Store
  /** As after a restart: the same store, nothing remembered. */
  readonly again: () => BaselineService
}

interface BenchOptions {
  readonly contract?: Readonly<Record<string, unknown>>
  readonly decide?: () => Decision
  readonly changes?: readonly Level[]
  readonly config?: Readonly<Record<string, unknown>>
  readonly now?: () => number
}

async function start(t: TestContext, options: BenchOptions = {}): Promise<Bench> {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-baselines-'))
  const value = {
    ...options.config,
    data_dir: directory,
    routes: [
      {
        name: 'tools',
        match: { path: '/' },
        upstream: 'http://127.0.0.1:9',
        protocol: 'mcp',
        contract: options.contract ?? {},
      },
    ],
  }
  const loaded = loadConfig({ environment: {}, value })
  assert.ok(loaded.ok)
  const { config } = loaded.value
  const store = await openStore(config)
  t.after(() => store.close())
  const flow = scriptedFlow({
    decide: options.decide ?? (() => 'ALLOW'),
    compare: () => Promise.resolve(ok({ ...EMPTY, groups: (options.changes ?? []).map(groupOf) })),
  })
  const make = (): BaselineService =>
    new RouteBaselines({
      settings: () => ({ config, generation: 1 }),
      flow,
      store,
      metrics: createMetrics(),
      logger: createLogger('silent'),
      now: options.now ?? Date.now,
    })
  const [route] = config.routes
  assert.ok(route)
  return { baselines: make(), route, flow, store, again: make }
}

const EMPTY = {
  stats: { operations: { base: 1, head: 1 }, schemas_compared: 0, touched: { endpoints: 0, fields: 0, params: 0 } },
  spec_versions: { base: null, head: null },
  patterns: [],
  pattern_sources: [],
  unresolved: [],
  reads_day: false,
  detected_patterns: [],
}

function groupOf(level: Level): FindingGroup {
  return {
    id: `g-${level}`,
    rule: 'mcp-tool-added',
    code: 'MCP_TOOL_ADDED',
    level,
    direction: 'none',
    location: '',
    side: 'head',
    line: null,
    column: null,
    message: '',
    explanation: '',
    fix: '',
    before: null,
    after: null,
    occurrences: [{ operation: null, tool: 'x', message: '', fingerprint: 'f' }],
  }
}

function contract(content: string): OfferedContract {
  return { type: 'mcp_manifest', content, digest: contractDigest(content) }
}

const acceptor = (by: string) => ({ tenant: 'local', by, groups: [], comment: 'reviewed' })

const V1 = contract('{"tools":[]}')
const V2 = contract('{"tools":[{"name":"new"}]}')

test('the first contract is pinned, and a later one is compared with it, after a restart too', async (t) => {
  const { baselines, route, again } = await start(t)
  assert.equal((await baselines.baselineFor(route, V1)).source, 'first_use')
  assert.equal((await baselines.baselineFor(route, V2)).digest, V1.digest)
  assert.equal((await again().baselineFor(route, V2)).digest, V1.digest)
})

test('of two contracts seen concurrently one is pinned, and both calls get that one', async (t) => {
  const { baselines, route } = await start(t)
  const [first, second] = await Promise.all([baselines.baselineFor(route, V1), baselines.baselineFor(route, V2)])
  assert.equal(first.digest, second.digest)
})

test('a candidate is listed beside the baseline until it is promoted by its digest', async (t) => {
  const { baselines, route, flow } = await start(t)
  await baselines.baselineFor(route, V1)
  await baselines.baselineFor(route, V2)
  const [view] = await baselines.list()
  assert.equal(view?.baseline.digest, V1.digest)
  assert.equal(view?.candidate?.digest, V2.digest)

  const promoted = await baselines.promote('tools', V2.digest, acceptor('alice'))
  assert.equal(promoted.setBy, 'alice')
  assert.equal(flow.asked[0]?.context.operation, 'register')
  assert.equal((await baselines.baselineFor(route, V2)).digest, V2.digest)
  assert.equal((await baselines.list())[0]?.candidate, null)
})

for (const [what, decision, digest, code] of [
  ['that the policy blocks', 'BLOCK', V2.digest, 'FORBIDDEN'],
  ['by the digest of another one', 'ALLOW', V1.digest, 'APPROVAL_CONFLICT'],
] as const) {
  test(`a candidate ${what} is not promoted`, async (t) => {
    const { baselines, route } = await start(t, { decide: () => decision })
    await baselines.baselineFor(route, V1)
    await baselines.baselineFor(route, V2)
    await assert.rejects(
      baselines.promote('tools', digest, acceptor('alice')),
      (error) => error instanceof GatewayError && error.code === code,
    )
    assert.equal((await baselines.baselineFor(route, V2)).digest, V1.digest)
  })
}

test('promoting on an unknown route, or without a candidate, is not found', async (t) => {
  const { baselines, route } = await start(t)
  await baselines.baselineFor(route, V1)
  for (const name of ['nowhere', 'tools']) {
    await assert.rejects(
      baselines.promote(name, V1.digest, acceptor('alice')),
      (error) => error instanceof GatewayError && error.code === 'NOT_FOUND',
    )
  }
})

for (const [changes, auto_promote, expected] of [
  [['info'], 'info', V2.digest],
  [['info'], 'none', V1.digest],
  [['info', 'dangerous'], 'info', V1.digest],
  [['breaking'], 'info', V1.digest],
] as const) {
  test(`a change of ${changes.join(' and ')} with auto_promote ${auto_promote} ${expected === V2.digest ? 'becomes' : 'does not become'} the baseline by itself`, async (t) => {
    const { baselines, route } = await start(t, { contract: { auto_promote }, changes })
    await baselines.baselineFor(route, V1)
    assert.equal((await baselines.baselineFor(route, V2)).digest, expected)
  })
}

test('a baseline file replaces what was pinned, unless a promotion is newer than the file', async (t) => {
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-baseline-')), 'manifest.json')
  writeFileSync(file, V1.content)
  const { baselines, route, again } = await start(t, { contract: { baseline: { file } } })
  assert.equal((await baselines.baselineFor(route, V2)).digest, V1.digest)
  utimesSync(file, new Date(0), new Date(0))
  await baselines.promote('tools', V2.digest, acceptor('alice'))
  assert.equal((await again().baselineFor(route, V2)).digest, V2.digest)
  const later = new Date(Date.now() + 60_000)
  utimesSync(file, later, later)
  assert.equal((await again().baselineFor(route, V2)).digest, V1.digest)
})

test('a candidate survives a restart, and goes when the upstream offers the baseline again', async (t) => {
  const { baselines, route, again } = await start(t)
  await baselines.baselineFor(route, V1)
  await baselines.baselineFor(route, V2)
  const later = again()
  assert.equal((await later.view('tools'))?.candidate?.content, V2.content)
  await later.baselineFor(route, V2)
  await later.baselineFor(route, V1)
  assert.equal((await later.view('tools'))?.candidate, null)
})

test('what another process promotes is seen by the calls of this one', async (t) => {
  let clock = Date.now()
  const { baselines, route, again } = await start(t, { now: () => clock })
  await baselines.baselineFor(route, V1)
  await baselines.baselineFor(route, V2)
  await again().promote('tools', V2.digest, acceptor('bob'))
  clock += 1001
  assert.equal((await baselines.baselineFor(route, V2)).digest, V2.digest)
})

test('a baseline past its maximum age serves no call until somebody confirms it by its digest', async (t) => {
  let clock = Date.now()
  const { baselines, route, again } = await start(t, { contract: { max_age: 3600 }, now: () => clock })
  await baselines.baselineFor(route, V1)
  clock += 3_600_001
  for (const one of [baselines, again()]) {
    await assert.rejects(
      async () => one.baselineFor(route, V1),
      (error) => error instanceof GatewayError && error.code === 'PREFLIGHT_UNDECIDED' && /max_age/.test(error.message),
    )
  }
  const confirmed = await baselines.promote('tools', V1.digest, acceptor('alice'))
  assert.deepEqual([confirmed.digest, confirmed.setBy, confirmed.source], [V1.digest, 'alice', 'first_use'])
  assert.equal((await baselines.baselineFor(route, V1)).digest, V1.digest)
})

test('a baseline of a named source is read again when it is past its age, and serves no call when it cannot be', async (t) => {
  let clock = Date.now()
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-baseline-')), 'manifest.json')
  writeFileSync(file, V1.content)
  const { baselines, route } = await start(t, { contract: { baseline: { file }, max_age: 3600 }, now: () => clock })
  const first = await baselines.baselineFor(route, V1)
  clock += 3_600_001
  const second = await baselines.baselineFor(route, V1)
  assert.deepEqual([second.digest, second.setAt], [first.digest, clock])
  rmSync(file)
  clock += 3_600_001
  await assert.rejects(async () => baselines.baselineFor(route, V1), GatewayError)
})

const REGISTERED = {
  tenant: 'local',
  isApprover: true,
  by: 'v:approver',
  groups: [],
  context: { operation: 'register', target_id: 'tools' },
  artifacts: [{ id: 'tools', type: 'mcp_manifest', before: V1.content, after: V2.content }],
  decision: 'ALLOW',
  decisionId: 'dec_9',
} as const

test('an ALLOW to register exactly what is offered makes it the baseline', async (t) => {
  const { baselines, route } = await start(t)
  await baselines.baselineFor(route, V1)
  await baselines.baselineFor(route, V2)
  const [artifact] = REGISTERED.artifacts
  for (const other of [
    { decision: 'WARN' },
    { decision: 'BLOCK' },
    { tenant: 'elsewhere' },
    { isApprover: false },
    { context: { operation: 'merge', target_id: 'tools' } },
    { context: { operation: 'register', target_id: 'others' } },
    { artifacts: [artifact, artifact] },
    { artifacts: [{ ...artifact, id: 'others' }] },
    { artifacts: [{ ...artifact, before: '{}' }] },
    { artifacts: [{ ...artifact, after: '{"tools":[{"name":"newer"}]}' }] },
    { artifacts: [{ ...artifact, type: 'openapi' }] },
  ] as const) {
    assert.equal(await baselines.registered({ ...REGISTERED, ...other }), null, JSON.stringify(other))
  }
  assert.equal((await baselines.baselineFor(route, V2)).digest, V1.digest)
  assert.equal((await baselines.registered(REGISTERED))?.setBy, 'decision:dec_9')
  assert.equal((await baselines.baselineFor(route, V2)).digest, V2.digest)
})

test('a baseline at a ref of the repository is pinned, kept against a promotion, and read again when the file changes there', async (t) => {
  const repository = mkdtempSync(join(tmpdir(), 'preflight-repository-'))
  const git = (at: number, ...args: readonly string[]) =>
    execFileSync('git', [...args], {
      cwd: repository,
      env: {
        ...process.env,
        GIT_AUTHOR_DATE: `@${at} +0000`,
        GIT_COMMITTER_DATE: `@${at} +0000`,
        GIT_AUTHOR_NAME: 'a',
        GIT_AUTHOR_EMAIL: 'a@b',
        GIT_COMMITTER_NAME: 'a',
        GIT_COMMITTER_EMAIL: 'a@b',
      },
    })
  const commit = (content: string, at: number) => {
    writeFileSync(join(repository, 'tools.json'), content)
    git(at, 'add', '.')
    git(at, 'commit', '-q', '-m', 'change')
  }
  git(1000, 'init', '-q', '-b', 'main')
  commit(V1.content, 1000)
  const { baselines, route, again } = await start(t, {
    contract: { baseline: { git: 'main:tools.json' } },
    config: { diff: { repository } },
  })
  const pinned = await baselines.baselineFor(route, V2)
  assert.deepEqual([pinned.digest, pinned.source], [V1.digest, 'git'])
  await baselines.promote('tools', V2.digest, acceptor('alice'))
  assert.equal((await again().baselineFor(route, V2)).digest, V2.digest)
  const V3 = contract('{"tools":[{"name":"newest"}]}')
  commit(V3.content, Math.floor(Date.now() / 1000) + 60)
  assert.equal((await again().baselineFor(route, V2)).digest, V3.digest)
})

test('callers who are offered different contracts in turns do not write a candidate at every call', async (t) => {
  let clock = Date.now()
  const { baselines, route, store } = await start(t, { now: () => clock })
  await baselines.baselineFor(route, V1)
  const V3 = contract('{"tools":[{"name":"newest"}]}')
  const kept = async () => (await store.baselines.candidate('tools'))?.digest
  for (const offered of [V2, V3, V2, V3]) await baselines.baselineFor(route, offered)
  assert.equal(await kept(), V2.digest)
  clock += 1000
  await baselines.baselineFor(route, V3)
  assert.equal(await kept(), V3.digest)
})

test('another text at the URL of a baseline is a candidate after a restart, and no new baseline', async (t) => {
  let offered = V1.content
  const upstream = await startHttpUpstream((_request, response) => void response.end(offered))
  t.after(() => upstream.close())
  const { baselines, route, again } = await start(t, { contract: { baseline: { url: `${upstream.origin}/tools` } } })
  assert.equal((await baselines.baselineFor(route, V1)).source, 'url')
  offered = V2.content
  const restarted = again()
  assert.equal((await restarted.baselineFor(route, V2)).digest, V1.digest)
  assert.equal((await restarted.view('tools'))?.candidate?.digest, V2.digest)
})

const tool = (name: string, rest: object = {}): object => ({ name, inputSchema: { type: 'object' }, ...rest })
const manifestOf = (...tools: readonly object[]): OfferedContract => contract(JSON.stringify({ tools }))

for (const [part, tools] of [
  ['tool:changed', [tool('changed', { description: 'new' }), tool('gone'), tool('kept')]],
  ['tool:gone', [tool('changed'), tool('kept')]],
  ['tool:added', [tool('added'), tool('changed'), tool('gone'), tool('kept')]],
] as const) {
  test(`of a candidate ${part} alone is accepted: the rest of the baseline stays, kept whole`, async (t) => {
    const { baselines, route, flow } = await start(t)
    const before = manifestOf(tool('changed'), tool('gone'), tool('kept'))
    const offered = manifestOf(tool('added'), tool('changed', { description: 'new' }), tool('kept'))
    await baselines.baselineFor(route, before)
    await baselines.baselineFor(route, offered)
    const promoted = await baselines.promote('tools', offered.digest, acceptor('alice'), [part])
    assert.deepEqual(JSON.parse(promoted.content), { tools })
    assert.equal(promoted.digest, contractDigest(promoted.content))
    assert.deepEqual(
      flow.asked[0]?.artifacts.map(({ after }) => after),
      [promoted.content],
    )
    await baselines.baselineFor(route, offered)
    assert.equal((await baselines.view('tools'))?.candidate?.digest, offered.digest)
  })
}

test('parts that nobody has, or of no known kind, are refused by their place in the request', async (t) => {
  const { baselines, route } = await start(t)
  const [before, offered] = [manifestOf(tool('a')), manifestOf(tool('b'))]
  await baselines.baselineFor(route, before)
  await baselines.baselineFor(route, offered)
  for (const part of ['tool:c', 'tool:', 'thing:a', 'a', '__proto__:a']) {
    await assert.rejects(
      baselines.promote('tools', offered.digest, acceptor('alice'), ['tool:b', part]),
      (error) =>
        error instanceof GatewayError && error.code === 'INVALID_INPUT' && error.details[0]?.pointer === '/only/1',
      part,
    )
  }
  assert.equal((await baselines.view('tools'))?.baseline.digest, before.digest)
})
