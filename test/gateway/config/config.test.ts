/** Configuration file and environment: defaults, overrides, and mistakes with their places. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { CONFIG_LEAVES } from '../../../gateway/config/leaves.ts'
import { openSettings, type Reload } from '../../../gateway/config/live-settings.ts'
import { loadConfig } from '../../../gateway/config/load.ts'
import { ConfigError, formatMistake, type Mistake } from '../../../gateway/errors/mistake.ts'
import { loadPolicy, SHIPPED_PACKS } from '../../../gateway/config/policy.ts'

const directory = mkdtempSync(join(tmpdir(), 'preflight-config-'))
after(() => rmSync(directory, { recursive: true, force: true }))

let files = 0
function file(text: string, name = `c${++files}.yaml`): string {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

function refused(text: string, environment: Readonly<Record<string, string>> = {}): readonly Mistake[] {
  const path = file(text)
  const loaded = loadConfig({ file: path, environment })
  assert.ok(!loaded.ok, 'the configuration should have been refused')
  return loaded.problem.map((mistake) => ({ ...mistake, place: mistake.place.replace(path, 'FILE') }))
}

function mistakes(text: string, environment: Readonly<Record<string, string>> = {}): readonly string[] {
  return refused(text, environment).map(formatMistake)
}

function config(value: unknown, environment: Readonly<Record<string, string>> = {}) {
  const loaded = loadConfig({ value, environment })
  assert.ok(loaded.ok, loaded.ok ? '' : loaded.problem.map(formatMistake).join('\n'))
  return loaded.value
}

test('an empty configuration is complete by its defaults, and frozen to the bottom', () => {
  const { config: complete } = config({})
  assert.equal(complete.listen.proxy, '127.0.0.1:15080')
  assert.deepEqual(complete.monitoring.sinks, [{ type: 'log' }])
  assert.throws(() => Object.assign(complete.listen, { proxy: 'x' }), TypeError)
})

test('defaults reach into the items of lists and the variants of unions', () => {
  const { config: complete } = config({
    routes: [{ name: 'a', match: {}, upstream: 'http://up', protocol: 'mcp', contract: {} }],
    monitoring: { sinks: [{ type: 'http', url: 'http://sink' }] },
  })
  const [route] = complete.routes
  assert.equal(route?.match.path, '/')
  assert.equal(route.timeout.connect, 10)
  assert.equal(route.contract?.refresh, 60)
  assert.deepEqual(complete.monitoring.sinks[0], {
    type: 'http',
    url: 'http://sink',
    batch: 100,
    interval: 1,
    timeout: 10,
    retries: 5,
  })
})

test('a mistake in the form of one section does not hide what is wrong with the others, or with the policy', () => {
  const path = file(
    [
      'listen: { proxy: nope }',
      'policy: defualt',
      'routes:',
      '  - { name: a, match: { path: /a }, upstream: http://up, protocol: http }',
    ].join('\n'),
  )
  assert.throws(
    () => openSettings({ file: path, environment: {} }),
    (error) => {
      assert.ok(error instanceof ConfigError)
      assert.deepEqual(
        error.mistakes.map(({ path: at }) => at),
        ['listen.proxy', 'routes[0]', 'policy'],
      )
      return true
    },
  )
})

test('all mistakes are reported together, in reading order, each with line, column, path and fix', () => {
  const found = refused(
    [
      'listen:',
      '  prox: 127.0.0.1:1',
      'tier: sidecars',
      'limits:',
      '  depth: 0',
      '  queue: many',
      'routes:',
      '  - name: Shop',
      '    match: { path: / }',
      '    protocol: mpc',
      '    contract: { baseline: { flie: x }, current: { file: a, url: http://x } }',
      'monitoring:',
      '  sinks:',
      '    - type: htp',
      '    - type: http',
    ].join('\n'),
  )
  assert.deepEqual(
    found.map(({ place, path }) => `${place} ${path}`),
    [
      'FILE:2:3 listen.prox',
      'FILE:3:7 tier',
      'FILE:5:10 limits.depth',
      'FILE:6:10 limits.queue',
      'FILE:8:11 routes[0].name',
      'FILE:10:15 routes[0].protocol',
      'FILE:11:27 routes[0].contract.baseline',
      'FILE:11:49 routes[0].contract.current',
      'FILE:14:13 monitoring.sinks[0].type',
      'FILE:15:7 monitoring.sinks[1]',
    ],
  )
  const lines = found.map(formatMistake)
  assert.match(lines[0] ?? '', /"prox" is not known.*did you mean "proxy"\?/)
  assert.match(lines[1] ?? '', /did you mean "sidecar"\? Allowed: "sidecar", "gateway", "verifier"/)
  assert.match(lines[6] ?? '', /\{ file, root \} or \{ url \}.*did you mean "file"/)
  assert.match(lines[8] ?? '', /"log", "http", "otlp"/)
})

test('text that is not YAML is reported with its place', () => {
  assert.match(mistakes('a: [1\nb: }')[0] ?? '', /^FILE:2:1?\d: this is not valid YAML/)
  assert.match(mistakes('tier: sidecar\ntier: gateway')[0] ?? '', /^FILE:2:1: .*occurs twice/)
  assert.match(mistakes('just text')[0] ?? '', /must be a map, not a string/)
})

test('an alias bomb is refused', () => {
  const levels = Array.from({ length: 12 }, (_, n) => `l${n + 1}: &l${n + 1} [${`*l${n},`.repeat(9)}]`)
  assert.equal(mistakes(`l0: &l0 [x]\n${levels.join('\n')}`).length, 1)
})

test('a member named __proto__ is unknown and changes nothing', () => {
  assert.match(mistakes('__proto__: { tier: gateway }')[0] ?? '', /"__proto__" is not known/)
  assert.equal(config({}).config.tier, 'sidecar')
})

function route(name: string, rest: object): object {
  return { name, upstream: 'http://up', protocol: 'mcp', match: {}, ...rest }
}

test('members that contradict each other are mistakes', () => {
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ listen: { api: '127.0.0.1:15080' } }, /listen\.api.*|taken by listen\.proxy/],
    [{ listen: { proxy: '0.0.0.0:70000' } }, /port 70000 does not exist/],
    [{ store: { url: 'mysql://db' } }, /no store that this version can open/],
    [{ store: { url: 'postgres://u:secret@db/d?sslmod=x' } }, /^(?!.*secret).*unknown parameter sslmod/s],
    [{ store: { listen_url: 'postgres://db/d' } }, /belongs to a PostgreSQL store/],
    [{ public_url: 'http://[' }, /not a URL/],
    [
      { routes: [route('a', { match: { path: '/a' } }), route('a', { match: { path: '/b' } })] },
      /used by routes\[0\] too/,
    ],
    [{ routes: [route('a', { match: { path: '/x' } }), route('b', { match: { path: '/x/' } })] }, /gets no call/],
    [{ routes: [route('a', { upstream: undefined })] }, /neither an upstream nor a host/],
    [{ routes: [route('a', { protocol: 'http' })] }, /no contract\.current/],
    [{ routes: [route('egress', {})] }, /recorded as "egress"/],
    [
      { routes: [route('a', { match: { host: 'a.example:443' } })] },
      /is not a host name: it holds a colon.*without port/,
    ],
    [
      { routes: [route('a', { tls: { upstream_ca: 'nowhere.pem' } })] },
      /nowhere\.pem does not exist; make it, or name another file \(ENOENT\)/,
    ],
    [
      { tls: { ca: { certificate: 'nowhere.pem', key: 'nowhere.key' } } },
      /nowhere\.pem does not exist; make it, or name another file \(ENOENT\)/,
    ],
    [{ egress: { allow: ['a.example', '*'] } }, /"\*": \* stands only before a dot.*egress\.allow\[1\]/],
    [{ egress: { deny: ['10.0.0.0/33'] } }, /no prefix of 33 bits.*egress\.deny\[0\]/],
    [{ listen: { transparent: '127.0.0.1:15081' } }, /taken by listen\.transparent/],
    [
      { routes: [route('a', { contract: { baseline: { file: 'nowhere.json' } } })] },
      /nowhere\.json does not exist; make it, or name another file \(ENOENT\)/,
    ],
    [{ routes: [route('a', { upstream: 'http://127.0.0.1:15080/mcp' })] }, /own proxy listener/],
    [{ monitoring: { sinks: [{ type: 'log' }, { type: 'log' }] } }, /takes the same events/],
    [{ monitoring: { sinks: [{ type: 'http', url: 'http://s', header: 'no header' }] } }, /Name: value/],
    [{ diff: { repository: directory } }, /not a git repository/],
  ]
  for (const [value, expected] of cases) {
    const loaded = loadConfig({ value, environment: {} })
    assert.ok(!loaded.ok, `${JSON.stringify(value)} should have been refused`)
    assert.match(loaded.problem.map(formatMistake).join('\n'), expected)
  }
})

test('what is allowed and probably not meant is a warning', () => {
  const { warnings } = config({
    monitoring: { sinks: [] },
    routes: [{ name: 'a', match: {}, upstream: 'http://up', protocol: 'mcp', failure: 'open' }],
  })
  assert.deepEqual(
    warnings.map(({ path }) => path),
    ['monitoring.sinks', 'routes[0].failure'],
  )
})

test('paths of contracts start at the configuration file', () => {
  mkdirSync(join(directory, 'sub'), { recursive: true })
  file('{}', 'sub/contract.json')
  const path = file(
    'routes: [{ name: a, match: {}, upstream: "http://up", protocol: mcp, contract: { baseline: { file: contract.json } } }]',
    'sub/preflight.yaml',
  )
  const loaded = loadConfig({ file: path, environment: {} })
  assert.ok(loaded.ok)
  assert.deepEqual(loaded.value.config.routes[0]?.contract?.baseline, { file: join(directory, 'sub/contract.json') })
})

test('each leaf is overridden by its variable, and the promised names work beside the generated ones', () => {
  const { config: complete } = config(
    { tier: 'sidecar', listen: { api: '127.0.0.1:1' } },
    {
      PREFLIGHT_TIER: 'gateway',
      PREFLIGHT_API_LISTEN: '127.0.0.1:2',
      PREFLIGHT_LISTEN_ADMIN: '127.0.0.1:3',
      PREFLIGHT_LIMITS_DEPTH: '64',
      PREFLIGHT_SIGNUP_ENABLED: 'false',
      PREFLIGHT_DIFF_ALLOW_URLS: '[a.example, b.example]',
      PREFLIGHT_PLANS: '{ tiny: { monthly: 1 } }',
      PREFLIGHT_STORE_URL: 'file:other.db',
      PREFLIGHT_LOG_LEVEL: '',
    },
  )
  assert.equal(complete.tier, 'gateway')
  assert.equal(complete.listen.api, '127.0.0.1:2')
  assert.equal(complete.listen.admin, '127.0.0.1:3')
  assert.equal(complete.limits.depth, 64)
  assert.equal(complete.signup.enabled, false)
  assert.deepEqual(complete.diff.allow_urls, ['a.example', 'b.example'])
  assert.deepEqual(complete.plans, { tiny: { monthly: 1 } })
  assert.equal(complete.store.url, 'file:other.db')
  assert.equal(complete.log.level, 'info')
})

test('a bad value of a variable names the variable', () => {
  assert.match(
    mistakes('{}', { PREFLIGHT_LIMITS_DEPTH: 'deep' })[0] ?? '',
    /^PREFLIGHT_LIMITS_DEPTH: must be an integer/,
  )
  assert.match(mistakes('{}', { PREFLIGHT_PLANS: '{' })[0] ?? '', /^PREFLIGHT_PLANS: this is not valid YAML/)
  assert.match(
    mistakes('{}', { PREFLIGHT_API_LISTEN: 'a:1', PREFLIGHT_LISTEN_API: 'a:2' })[0] ?? '',
    /set the same thing to different values/,
  )
  assert.match(mistakes('{}', { PREFLIGHT_POLICY: 'x', PREFLIGHT_TIER: 'y' })[0] ?? '', /^PREFLIGHT_TIER/)
})

test('a variable that looks like ours and is not is a warning with a suggestion; those of Kubernetes Services are not', () => {
  const { warnings } = config(
    {},
    {
      PREFLIGHT_LOG_LEVL: 'debug',
      PREFLIGHT_GATEWAY_SERVICE_HOST: '10.0.0.1',
      PREFLIGHT_GATEWAY_PORT_15080_TCP_ADDR: '10.0.0.1',
    },
  )
  assert.deepEqual(
    warnings.map(({ place, fix }) => [place, fix]),
    [['PREFLIGHT_LOG_LEVL', 'did you mean PREFLIGHT_LOG_LEVEL?']],
  )
})

test('every shipped policy pack loads by its name', () => {
  for (const name of SHIPPED_PACKS) {
    const loaded = loadPolicy(name, directory)
    assert.ok(loaded.ok, loaded.ok ? '' : loaded.problem.map(formatMistake).join('\n'))
    assert.equal(loaded.value.policy.name, name)
  }
})

test('mistakes of a policy have line and column, and an unknown pack a suggestion', () => {
  const path = file(
    'apiVersion: preflight.dev/v1\nkind: Policy\nmetadata: { name: mine }\nrules:\n  - id: a\n    when: "finding.level =="\n    then: BLOK\n',
  )
  const broken = loadPolicy(path, directory)
  assert.ok(!broken.ok)
  assert.match(broken.problem.map(formatMistake).join('\n'), /:7:11: .*BLOCK/)
  const unknown = loadPolicy('defalt', directory)
  assert.match(unknown.ok ? '' : unknown.problem.map(formatMistake).join(), /did you mean "default"/)
})

test('a start with mistakes throws them all', () => {
  assert.throws(
    () => openSettings({ value: { tier: 'x', policy: 1 }, environment: {} }),
    (error) => error instanceof ConfigError && error.mistakes.length === 2 && /2 mistakes/.test(error.message),
  )
})

test('a reload replaces configuration and policy together, and a broken file changes nothing', () => {
  const path = file('log: { level: info }')
  const live = openSettings({ file: path, environment: {} })
  assert.deepEqual(live.reload(), { result: 'unchanged' })
  writeFileSync(path, 'log: { level: debug }\npolicy: strict')
  assert.equal(live.reload().result, 'applied')
  const applied = live.current()
  assert.deepEqual([applied.generation, applied.policy.name, applied.config.log.level], [2, 'strict', 'debug'])
  writeFileSync(path, 'policy: strikt')
  const refused = live.reload()
  assert.equal(refused.result, 'refused')
  assert.equal(live.current(), applied)
  assert.equal(live.pendingMistakes().length, 1)
  writeFileSync(path, 'log: { level: debug }\npolicy: strict')
  live.reload()
  assert.equal(live.pendingMistakes().length, 0)
})

test('what takes a restart keeps its value at a reload, and is named', () => {
  const path = file('tier: sidecar')
  const live = openSettings({ file: path, environment: {} })
  writeFileSync(
    path,
    'tier: gateway\nlisten: { api: "127.0.0.1:9" }\ndata_dir: elsewhere\nlimits: { queue: 3, depth: 9 }',
  )
  const reload = live.reload()
  assert.deepEqual(reload.result === 'applied' && reload.restart, ['data_dir', 'listen', 'limits.queue'])
  assert.equal(live.current().config.limits.queue, 64)
  assert.equal(live.current().config.limits.depth, 9)
  assert.equal(live.current().config.tier, 'gateway')
  assert.equal(live.current().config.listen.api, '127.0.0.1:15081')
})

test('a policy that is not the pinned one is a warning', () => {
  const { hash } = openSettings({ value: {}, environment: {} }).current().policy
  assert.deepEqual(openSettings({ value: { policy_pin: hash }, environment: {} }).warnings, [])
  const drifted = openSettings({ value: { policy_pin: hash, policy: 'strict' }, environment: {} })
  assert.match(drifted.warnings.map(formatMistake).join(), /policy_pin: .*strict.*not the pinned one/)
})

test('a changed file is noticed by itself', async () => {
  const path = file('tier: sidecar')
  const live = openSettings({ file: path, environment: {} })
  const reloaded = new Promise<Reload>((resolve) => live.watch(resolve, 10))
  // Written again and again: the first look at the file may come after the first write. The watch itself holds no process open.
  let writes = 0
  const writing = setInterval(() => writeFileSync(path, `tier: verifier # ${++writes}`), 50)
  const reload = await reloaded
  clearInterval(writing)
  live.close()
  assert.equal(reload.result, 'applied')
  assert.equal(live.current().config.tier, 'verifier')
})

test('every leaf is described', () => {
  assert.deepEqual(
    CONFIG_LEAVES.filter(({ description }) => description === '').map(({ path }) => path),
    [],
  )
})

function validating(protocol: string, validate: string): string {
  return `routes: [{ name: a, match: {}, upstream: 'http://up', protocol: ${protocol}, validate: ${validate} }]`
}

function listing(protocol: string): string {
  return `routes: [{ name: a, match: {}, upstream: 'http://up', protocol: ${protocol}, contract: { listing_headers: [X-Tenant] } }]`
}

test('fields of a listing are refused where no upstream is asked for one', () => {
  const asked = { name: 'a', match: {}, upstream: 'http://up', contract: { listing_headers: ['X-Tenant'] } }
  config({ routes: [{ ...asked, protocol: 'mcp' }] })
  config({ routes: [{ ...asked, protocol: 'graphql', graphql: { introspect: true } }] })
  for (const protocol of ['llm', 'npm', 'mapped', 'kubernetes'])
    assert.match(mistakes(listing(protocol)).join(), /routes\[0\]\.contract\.listing_headers.*remove it/)
})

test('validate is refused where nothing could be refused by it', () => {
  assert.match(mistakes(validating('mcp', 'enforce')).join(), /is forwarded before.*routes\[0\]\.validate.*use observe/)
  assert.match(mistakes(validating('llm', 'observe')).join(), /not described by schemas.*remove it/)
  assert.deepEqual(
    config({ routes: [{ name: 'a', match: {}, upstream: 'http://up', protocol: 'mcp', validate: 'observe' }] }).config
      .routes[0]?.validate,
    'observe',
  )
})
