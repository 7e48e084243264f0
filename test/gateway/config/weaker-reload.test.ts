/** Weaker settings, leaf by leaf: every setting that a reload changes has a row, every row is found in its direction, and a softened pack is found. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { compilePolicy, PolicyDocument, type CompiledPolicy } from '../../../engine/internal.ts'
import { CONFIG_LEAVES } from '../../../gateway/config/leaves.ts'
import { openSettings } from '../../../gateway/config/live-settings.ts'
import { loadConfig } from '../../../gateway/config/load.ts'
import { ConfigError } from '../../../gateway/errors/mistake.ts'
import { weakerSettings } from '../../../gateway/config/weaker-values.ts'
import type { Enforced } from '../../../gateway/config/enforced.ts'
import { WEAKENING, type Weakening } from '../../../gateway/config/weaker-settings.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { at, listAt, textAt } from '../../json.ts'
import { startGateway } from '../../../gateway/main.ts'
import { createLogger } from '../../../gateway/telemetry/log.ts'
import { devNull, TEST_KEY } from '../../fakes/gateway.ts'
import { isJsonObject } from '../../../gateway/json/strict-json.ts'

const HEAD = { apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'own' } }
const RULE = { id: 'breaking', when: "finding.level == 'breaking'", then: 'BLOCK' }

function policyOf(pack: object): CompiledPolicy {
  const compiled = compilePolicy({ ...HEAD, rules: [RULE], ...pack }, sha256Hex)
  assert.ok(compiled.ok, compiled.ok ? '' : JSON.stringify(compiled.problem))
  return compiled.value
}

const POLICY = policyOf({})
const FILE = new URL('../../../package.json', import.meta.url).pathname

function enforced(value: object, policy: CompiledPolicy = POLICY): Enforced {
  const loaded = loadConfig({ environment: {}, value })
  assert.ok(loaded.ok, loaded.ok ? '' : JSON.stringify(loaded.problem))
  return { config: loaded.value.config, policy }
}

const BASE = enforced({
  routes: [
    {
      name: 'shop',
      match: { path: '/' },
      upstream: 'http://127.0.0.1:9',
      protocol: 'http',
      contract: { current: { file: FILE } },
    },
  ],
})

/** The same settings with another value at one leaf; undefined: absent. */
function withLeaf(path: string, value: unknown): Enforced {
  const place = path.startsWith('routes[].')
    ? ['routes', '0', ...path.slice('routes[].'.length).split('.')]
    : path.split('.')
  const config: unknown = structuredClone(BASE.config)
  let holder: unknown = config
  for (const name of place.slice(0, -1)) {
    assert.ok(typeof holder === 'object' && holder !== null)
    if (Reflect.get(holder, name) === undefined) Reflect.set(holder, name, {})
    holder = Reflect.get(holder, name)
  }
  assert.ok(isJsonObject(holder))
  const last = place.at(-1) ?? ''
  if (value === undefined) Reflect.deleteProperty(holder, last)
  else Reflect.set(holder, last, value)
  assert.ok(isConfig(config))
  return { ...BASE, config }
}

function isConfig(value: unknown): value is Enforced['config'] {
  return isJsonObject(value) && Array.isArray(value['routes'])
}

const valueOf = (text: string): unknown =>
  text === 'absent' ? undefined : text === 'true' || text === 'false' ? text === 'true' : text

/** The stricter value, the weaker one. */
function samplesOf(row: Weakening): readonly (readonly [stricter: unknown, weaker: unknown])[] {
  if (row.kind === 'within' || row.kind === 'never') return []
  if (row.kind === 'changed') return ['two', undefined].map((other) => ['one', other])
  if (row.kind === 'address') return [['https://a.example', 'http://b.example']]
  if (row.kind === 'number') return [row.weakerWhen === 'higher' ? [1, 2] : [2, 1], [1, undefined]]
  if (row.kind === 'list') {
    const [few, more] = [['a'], ['a', 'b']]
    const plain: readonly [unknown, unknown] = row.weakerBy === 'more' ? [few, more] : [more, few]
    if (row.all === undefined) return [plain]
    const { entry, outside } = row.all
    return [plain, [[entry], few], ...[...outside].map((name) => [[entry, name], [entry]] as const)]
  }
  const values = row.strictestFirst.map((entry) => (typeof entry === 'string' ? entry : (entry[0] ?? '')))
  const pairs = values.slice(1).map((value, index) => [valueOf(values[index] ?? ''), valueOf(value)] as const)
  return [...pairs, [valueOf(values[0] ?? ''), 'a value that nobody ranked']]
}

const pathsOf = (from: Enforced, to: Enforced): readonly string[] => weakerSettings(from, to).map(({ path }) => path)

const LIVE = CONFIG_LEAVES.filter(({ restart }) => !restart).map(({ path }) => path)

test('every setting that a reload changes says when it weakens, or why it cannot', () => {
  const missing = LIVE.filter((path) => !Object.hasOwn(WEAKENING, path))
  assert.deepEqual(missing, [], 'settings that a reload changes have a row in gateway/config/weaker-settings.ts')
  const stale = Object.keys(WEAKENING).filter((path) => !LIVE.includes(path))
  assert.deepEqual(stale, [], 'rows of gateway/config/weaker-settings.ts are of settings that a reload changes')
  for (const [path, row] of Object.entries(WEAKENING)) {
    if (row.kind === 'never' || row.kind === 'changed')
      assert.ok(row.because.split(' ').length > 3, `${path}: the reason says why, in more than three words`)
    if (row.kind === 'within') assert.ok(Object.hasOwn(WEAKENING, row.path), path)
  }
})

suite('each row in its direction', () => {
  for (const [path, row] of Object.entries(WEAKENING))
    for (const [stricter, weaker] of samplesOf(row))
      test(`${path}: ${JSON.stringify(stricter)} → ${JSON.stringify(weaker)}`, () => {
        const shown = path.replace('routes[].', 'routes.shop.')
        const isFound = (before: Enforced, after: Enforced): boolean =>
          weakerSettings(before, after).some((found) => found.path === shown || found.path.startsWith(`${shown}: `))
        assert.equal(isFound(withLeaf(path, stricter), withLeaf(path, weaker)), true)
        if (row.kind !== 'changed')
          assert.equal(isFound(withLeaf(path, weaker), withLeaf(path, stricter)), false, 'the opposite')
        assert.equal(isFound(withLeaf(path, weaker), withLeaf(path, weaker)), false, 'the same')
      })
})

test('settings that cannot weaken are not called weaker', () => {
  for (const [path, row] of Object.entries(WEAKENING))
    if (row.kind === 'never') assert.deepEqual(weakerSettings(withLeaf(path, 'one'), withLeaf(path, 'two')), [], path)
})

const route = (name: string, match: object, more: object = {}) => ({
  name,
  match,
  upstream: 'http://127.0.0.1:9',
  protocol: 'http',
  contract: { current: { file: FILE } },
  ...more,
})

const ADDITIONS: readonly {
  readonly what: string
  readonly known: object
  readonly added: object
  readonly more?: object
  readonly isWeaker: boolean
}[] = [
  {
    what: 'another host',
    known: { host: 'a.example', path: '/' },
    added: { host: 'b.example', path: '/' },
    isWeaker: false,
  },
  { what: 'beside it', known: { path: '/a' }, added: { path: '/b' }, isWeaker: false },
  { what: 'a name that only begins the same', known: { path: '/a' }, added: { path: '/ab' }, isWeaker: false },
  { what: 'above it', known: { path: '/a' }, added: { path: '/' }, isWeaker: false },
  { what: 'below it', known: { path: '/' }, added: { path: '/admin' }, isWeaker: true },
  { what: 'its host by name', known: { path: '/a' }, added: { host: 'a.example', path: '/' }, isWeaker: true },
  {
    what: 'a host of its suffix',
    known: { host: '*.example', path: '/' },
    added: { host: 'a.example', path: '/x' },
    isWeaker: true,
  },
  {
    what: 'one that observes',
    known: { path: '/a' },
    added: { path: '/b' },
    more: { mode: 'observe' },
    isWeaker: true,
  },
  {
    what: 'one that fails open',
    known: { path: '/a' },
    added: { path: '/b' },
    more: { failure: 'open' },
    isWeaker: true,
  },
]

test('a further route that forwards calls without a decision enforces less, by whatever setting it does so', () => {
  const before = enforced({ routes: [route('shop', { path: '/a' })] })
  const after = enforced({ routes: [route('shop', { path: '/a' }), route('more', { path: '/b' })] })
  const further = after.config.routes[1]
  assert.ok(further !== undefined)
  const rows = Object.entries(WEAKENING).flatMap(([path, row]): (readonly [string, string])[] =>
    row.kind === 'ranked' && row.unjudged !== undefined ? [[path, row.unjudged]] : [],
  )
  assert.ok(rows.length > 8)
  for (const [path, value] of rows) {
    const place = path.replace('routes[].', '').split('.')
    const member = place.toReversed().reduce<unknown>((inner, name) => ({ [name]: inner }), value)
    assert.ok(isJsonObject(member))
    const routes = [...before.config.routes, { ...further, ...member }]
    const config: unknown = { ...before.config, routes }
    assert.ok(isConfig(config))
    assert.ok(
      weakerSettings(before, { ...before, config }).some((found) => found.path === 'routes.more'),
      path,
    )
  }
})

for (const { what, known, added, more, isWeaker } of ADDITIONS)
  test(`a further route: ${what}`, () => {
    const before = enforced({ routes: [route('shop', known)] })
    const after = enforced({ routes: [route('shop', known), route('more', added, more)] })
    assert.equal(
      weakerSettings(before, after).some(({ path }) => path === 'routes.more'),
      isWeaker,
    )
  })

const STRICT = { metadata: { name: 'strict' } }
const FREEZE = {
  id: 'f',
  from: '2026-01-01T00:00:00Z',
  until: '2026-02-01T00:00:00Z',
  operations: ['merge'],
  reason: 'r',
}
const WAIVER = { id: 'w', rule: 'api-removed-without-deprecation', reason: 'r', owner: 'o', expires: '2030-01-01' }
const rule = (more: object) => ({ rules: [{ ...RULE, ...more }] })

/** What of a pack is weaker, the stricter pack, the weaker one, and whether the opposite is a weakening too. */
const PACKS: readonly (readonly [path: string, stricter: object, weaker: object, isUnranked?: true])[] = [
  ['mode', {}, { mode: 'observe' }],
  ['on_incomplete', {}, { on_incomplete: 'WARN' }],
  ['rules.more', { rules: [RULE, { ...RULE, id: 'more' }] }, {}],
  ['rules.breaking.then', {}, rule({ then: 'REQUIRE_APPROVAL' })],
  ['rules.breaking.then', rule({ then: 'WARN' }), rule({ then: 'ALLOW' })],
  ['rules.breaking.mode', {}, rule({ mode: 'observe' })],
  ['rules.breaking.when', {}, rule({ when: "finding.level == 'dangerous'" }), true],
  ['rules.breaking.for', rule({ when: 'true' }), rule({ when: 'true', for: 'change_set' }), true],
  ['rules.breaking.environments', {}, rule({ environments: ['production'] })],
  ['rules.breaking.operations', rule({ operations: ['merge', 'deploy'] }), rule({ operations: ['merge'] })],
  ['rules.breaking.approvers', rule({ approvers: ['owners'] }), {}],
  ['levels.api-removed-without-deprecation', {}, { levels: { 'api-removed-without-deprecation': 'off' } }],
  [
    'levels.api-removed-without-deprecation',
    { levels: { 'api-removed-without-deprecation': 'breaking' } },
    { levels: { 'api-removed-without-deprecation': 'info' } },
    true,
  ],
  ['waivers.w', {}, { waivers: [WAIVER] }],
  ['waivers.w', { waivers: [WAIVER] }, { waivers: [{ ...WAIVER, expires: '2031-01-01' }] }, true],
  ['freezes.f', { freezes: [FREEZE] }, {}],
  ['freezes.f', { freezes: [FREEZE] }, { freezes: [{ ...FREEZE, until: '2026-01-02T00:00:00Z' }] }, true],
  ['minimum_bump', { minimum_bump: { then: 'BLOCK' } }, {}],
  ['protected_consumers', { protected_consumers: { names: ['a'], then: 'BLOCK' } }, {}],
  ['fingerprint_binding: merge', { fingerprint_binding: ['merge'] }, {}],
  ['history.window', { history: { window: 3600 } }, { history: { window: 60 } }, true],
  ['history.window', { history: { window: 3600 } }, {}, true],
  [
    'history.window',
    rule({ when: 'history.block > 2' }),
    { ...rule({ when: 'history.block > 2' }), history: { window: 60 } },
    true,
  ],
  ['deprecation.stable_days', { deprecation: { stable_days: 90 } }, { deprecation: { stable_days: 30 } }],
  ['ttl.default', { ttl: { default: 60 } }, { ttl: { default: 600 } }],
  ['ttl.operations.merge', { ttl: { operations: { merge: 60 } } }, { ttl: { operations: { merge: 600 } } }],
]

suite('a pack of one’s own', () => {
  for (const [path, stricter, weaker, isUnranked] of PACKS)
    test(`${path}: ${JSON.stringify(weaker).slice(0, 80)}`, () => {
      const [before, after] = [
        { ...BASE, policy: policyOf(stricter) },
        { ...BASE, policy: policyOf(weaker) },
      ]
      assert.ok(pathsOf(before, after).includes(`policy.${path}`), pathsOf(before, after).join())
      if (isUnranked === undefined) assert.deepEqual(pathsOf(after, before), [])
    })

  test('every member of a pack is in the table', () => {
    const covered = new Set([...PACKS.map(([path]) => path.split(/[.:]/)[0] ?? ''), 'apiVersion', 'kind', 'metadata'])
    assert.deepEqual([...covered].toSorted(), Object.keys(PolicyDocument.properties).toSorted())
  })

  test('the name of a shipped pack in a file does not make it one', () => {
    const [before, after] = [STRICT, { ...STRICT, ...rule({ then: 'WARN' }) }].map(policyOf)
    assert.ok(before !== undefined && after !== undefined)
    const own = { config: { ...BASE.config, policy: './pack.yaml' } }
    assert.deepEqual(
      weakerSettings({ ...own, policy: before }, { ...own, policy: after }).map(({ path }) => path),
      ['policy.rules.breaking.then'],
    )
  })
})

function folder(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-weakening-'))
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 9 }))
  return directory
}

test('a file that is cut off anywhere is refused at the start and at a reload, or says the same', (t) => {
  const directory = folder(t)
  const file = join(directory, 'config.yaml')
  writeFileSync(join(directory, 'openapi.json'), '{}')
  const whole = [
    'policy: strict',
    'proxy_auth: required',
    'reload: refuse_weaker',
    'egress:',
    '  default: deny',
    '  deny: [a.example, b.example]',
    'routes:',
    '  - name: shop',
    '    match: { path: / }',
    '    upstream: http://127.0.0.1:9',
    '    protocol: http',
    '    validate: enforce',
    '    contract: { current: { file: openapi.json } }',
    '',
  ].join('\n')
  writeFileSync(file, whole)
  const live = openSettings({ file, environment: {} })
  const before = live.current()
  for (let length = 0; length < whole.length - 1; length += 1) {
    writeFileSync(file, whole.slice(0, length))
    assert.equal(live.reload().result, 'refused', whole.slice(0, length))
    assert.equal(live.current(), before)
    assert.ok(live.pendingMistakes().length > 0)
  }
  for (const text of ['', ' ', '\n', '#', '---', '--- ~', 'null', '{}', '[]', '{', '\0', '\ufeff']) {
    writeFileSync(file, text)
    assert.equal(live.reload().result, 'refused', JSON.stringify(text))
    if (text !== '{}') assert.throws(() => openSettings({ file, environment: {} }), ConfigError, JSON.stringify(text))
  }
  writeFileSync(file, whole)
  assert.equal(live.reload().result, 'unchanged')
})

test('a pack that is cut off or empty does not load, at the start or at a reload', (t) => {
  const directory = folder(t)
  const [file, pack] = [join(directory, 'config.yaml'), join(directory, 'pack.yaml')]
  const whole = JSON.stringify({ ...HEAD, rules: [RULE] })
  writeFileSync(pack, whole)
  writeFileSync(file, 'policy: ./pack.yaml\n')
  const live = openSettings({ file, environment: {} })
  for (let length = 0; length < whole.length; length += 1) {
    writeFileSync(pack, whole.slice(0, length))
    assert.equal(live.reload().result, 'refused')
    assert.throws(() => openSettings({ file, environment: {} }), ConfigError)
  }
})

test('a weaker reload is logged under its event and counted, applied or refused', async (t) => {
  for (const [reload, result] of [
    ['apply', 'applied'],
    ['refuse_weaker', 'refused'],
  ] as const) {
    const file = join(folder(t), 'config.json')
    const listen = { proxy: '127.0.0.1:0', api: '127.0.0.1:0', admin: '127.0.0.1:0' }
    const settings = { listen, data_dir: folder(t), reload, egress: { deny: ['a.example'] } }
    writeFileSync(file, JSON.stringify(settings))
    const log: unknown[] = []
    const gateway = await startGateway(
      { file, environment: { PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY } },
      { output: devNull(), logger: createLogger('info', { write: (line) => void log.push(JSON.parse(line)) }) },
    )
    t.after(() => gateway.close())
    writeFileSync(file, JSON.stringify({ ...settings, egress: {} }))
    gateway.reload()
    const entry = log.find((line) => at(line, 'event') === 'settings.weaker')
    assert.equal(at(entry, 'level'), 'warn')
    assert.equal(textAt(entry, 'result'), result)
    assert.deepEqual(listAt(entry, 'weaker'), [
      { path: 'egress.deny: a.example', before: 'listed', after: 'not listed' },
    ])
    const metrics = await (await fetch(`${gateway.addresses.admin}/metrics`)).text()
    assert.match(metrics, new RegExp(`preflight_reloads_weaker_total\\{result="${result}"\\} 1`))
  }
})
