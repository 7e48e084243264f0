/** Mistakes of a configuration that no schema sees: certificates, programs that are missing, sections of another protocol. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { execFileSync } from 'node:child_process'
import { configInputSchema } from '../../../gateway/config/input-schema.ts'
import { loadConfig } from '../../../gateway/config/load.ts'
import { formatMistake, ConfigError } from '../../../gateway/errors/mistake.ts'
import { testAuthority } from '../../fakes/certificates.ts'
import { openSettings } from '../../../gateway/config/live-settings.ts'
import { checkUrls, URL_SETTINGS } from '../../../gateway/config/url-checks.ts'
import type { JsonSchema } from '../../../gateway/settings/input-schema.ts'
import { SECTION_PROTOCOLS } from '../../../gateway/config/protocol-checks.ts'
import { RouteSchema } from '../../../gateway/protocols/route.ts'
import { PROTOCOLS } from '../../../gateway/protocols/settings.ts'
import type { CONTRACT_MEMBERS } from '../../../gateway/protocols/common/protocol-settings.ts'
import type { Protocol } from '../../../gateway/routing/route.ts'

const directory = mkdtempSync(join(tmpdir(), 'preflight-pem-'))
after(() => rmSync(directory, { recursive: true, force: true }))

function written(name: string, text: string): string {
  const file = join(directory, name)
  writeFileSync(file, text)
  return file
}

function mistakesOf(value: object): string {
  const loaded = loadConfig({ value, environment: {} })
  return loaded.ok ? '' : loaded.problem.map(formatMistake).join('\n')
}

test('the mistake of an entry without its type names that member and its values, not the members of all kinds', () => {
  const lists = [
    ['monitoring', 'sinks', ['log', 'http', 'otlp']],
    ['decision_log', 'sinks', ['file', 'stdout', 'http', 'otlp', 'syslog']],
    ['notifications', 'channels', ['slack', 'email']],
  ] as const
  for (const [section, list, kinds] of lists) {
    const unnamed = mistakesOf({ [section]: { [list]: [{ url: 'http://127.0.0.1:9' }] } })
    assert.match(unnamed, new RegExp(`${section}\\.${list}\\[0\\].*`))
    assert.match(unnamed, /the member "type" is missing/)
    for (const kind of kinds) assert.ok(unnamed.includes(`"${kind}"`), unnamed)
    assert.match(mistakesOf({ [section]: { [list]: [{ tipe: 'http' }] } }), /did you mean "type" by "tipe"\?/)
    assert.match(mistakesOf({ [section]: { [list]: ['http'] } }), /must be a map with the member "type", not a string/)
  }
})

const upstream = (file: string) => ({
  routes: [
    { name: 'a', match: { path: '/' }, upstream: 'https://a.example', protocol: 'mcp', tls: { upstream_ca: file } },
  ],
})
const garbage = written('garbage.pem', 'garbage\n')
const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'

test('an authority that may not sign, or does not fit its key, is a mistake that says why', async () => {
  const [given, other] = [await testAuthority(), await testAuthority()]
  const leaf = await given.leaf('a.example')
  const cases: readonly (readonly [string, string, RegExp])[] = [
    [written('leaf.pem', leaf.cert), written('leaf.key', leaf.key), /is not a CA.*tls\.ca\.certificate/],
    [given.file, other.keyFile, /does not belong to the key.*tls\.ca\.certificate/],
    [given.keyFile, given.file, /holds no certificate in PEM.*tls\.ca\.certificate/],
    [given.file, garbage, /holds no private key in PEM.*tls\.ca\.key/],
    [given.file, written('ed25519.key', privateKeyPem('ed25519')), /does not belong to the key/],
  ]
  for (const [certificate, key, expected] of cases)
    assert.match(mistakesOf({ tls: { ca: { certificate, key } } }), expected)
  assert.equal(mistakesOf({ tls: { ca: { certificate: given.file, key: given.keyFile } } }), '')
})

test('an expired authority is reported, and the rest of the gateway starts', async () => {
  const ended = await testAuthority(Date.UTC(1990, 0))
  const value = { tls: { ca: { certificate: ended.file, key: ended.keyFile } } }
  const loaded = loadConfig({ value, environment: {} })
  assert.ok(loaded.ok)
  assert.match(loaded.value.warnings.map(formatMistake).join('\n'), /expired on \d{4}-.*no host can be intercepted/)
})

test('the authorities of an upstream are certificates, each of them', async () => {
  const { certificate, file } = await testAuthority()
  assert.match(mistakesOf(upstream(garbage)), /garbage\.pem holds no certificate in PEM.*routes\[0\]\.tls\.upstream_ca/)
  const second = written('second.pem', `${certificate}\n${broken}`)
  assert.match(mistakesOf(upstream(second)), /certificate 2 of .*second\.pem cannot be read/)
  assert.equal(mistakesOf(upstream(file)), '')
  assert.equal(mistakesOf(upstream(written('both.pem', `# two of them\n${certificate}\n${certificate}`))), '')
})

function privateKeyPem(type: 'rsa' | 'ed25519'): string {
  const pair = type === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync(type)
  return pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

const app = (file: string) => ({ scm: { github: { app: { id: '1', key_file: file } } } })

test('the key of a GitHub App is an RSA key', () => {
  assert.match(mistakesOf(app(garbage)), /holds no RSA private key in PEM.*scm\.github\.app\.key_file/)
  assert.match(mistakesOf(app(written('ed.pem', privateKeyPem('ed25519')))), /its type is ed25519/)
  assert.equal(mistakesOf(app(written('rsa.pem', privateKeyPem('rsa')))), '')
})

test('a repository is a mistake where git cannot be run, at the start and at a reload', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-programs-'))
  const path = process.env['PATH']
  t.after(() => {
    process.env['PATH'] = path
    rmSync(directory, { recursive: true, force: true })
  })
  execFileSync('git', ['init', '--quiet', directory])
  const file = join(directory, 'config.json')
  const route = {
    name: 'shop',
    match: { path: '/' },
    upstream: 'http://127.0.0.1:9',
    protocol: 'http',
    contract: { baseline: { git: 'HEAD:openapi.json' }, current: { url: 'http://127.0.0.1:9/openapi.json' } },
  }
  const config = JSON.stringify({ diff: { repository: directory }, routes: [route] })
  const plain = JSON.stringify({ policy: 'strict' })
  writeFileSync(file, config)
  const { current } = openSettings({ file, environment: {} })
  assert.equal(current().config.routes.length, 1)

  process.env['PATH'] = directory
  assert.throws(
    () => openSettings({ file, environment: {} }),
    (error: unknown) => {
      assert.ok(error instanceof ConfigError)
      assert.deepEqual(
        error.mistakes.map((mistake) => mistake.path),
        ['diff.repository'],
      )
      assert.match(error.message, /the program git cannot be run \(ENOENT\)/)
      return true
    },
  )
  writeFileSync(file, plain)
  const live = openSettings({ file, environment: {} })
  writeFileSync(file, config)
  assert.equal(live.reload().result, 'refused')
  assert.equal(live.current().config.routes.length, 0)
  assert.equal(live.pendingMistakes().length, 1)
})

type Section = { readonly [Name in Protocol]: keyof (typeof PROTOCOLS)[Name]['sections'] }[Protocol] | 'contract'

/** A value of each section, and the protocols that have it. */
const SECTIONS: Readonly<Record<Section, readonly [value: unknown, protocols: readonly string[]]>> = {
  kubernetes: [{ receipts: [] }, ['kubernetes']],
  edits: [{}, ['mcp']],
  argocd: [{}, ['argocd']],
  npm: [{}, ['npm']],
  grpc: [{}, ['grpc']],
  graphql: [{ introspect: true }, ['graphql']],
  llm: [{}, ['llm']],
  map: [[{ action: 'pass' }], ['mapped']],
  otherwise: ['pass', ['mapped']],
  scm: [{ push: 'pass' }, ['github', 'gitlab', 'bitbucket']],
  contract: [{ auto_promote: 'none' }, ['mcp', 'http', 'grpc', 'graphql', 'mapped', 'llm']],
}

const NAMES = Object.keys(PROTOCOLS)

test('every section of the registry is in the schema of a route, and has a case here', () => {
  assert.ok(NAMES.length >= 13)
  assert.deepEqual(
    SECTION_PROTOCOLS,
    new Map(Object.entries(SECTIONS).map(([section, [, protocols]]) => [section, protocols])),
  )
  for (const section of SECTION_PROTOCOLS.keys()) assert.ok(Object.hasOwn(RouteSchema.properties, section), section)
})

test('a section of another protocol is a mistake with its place, for every section and protocol', (t) => {
  for (const protocol of NAMES)
    for (const [section, [value, own]] of Object.entries(SECTIONS)) {
      const base = { name: 'r', match: {}, protocol, upstream: 'http://127.0.0.1:9' }
      // A mistake in the form of such a section is no second mistake: the section has to go.
      for (const written of [value, null, 7, { unknown_member: { a: [true] } }]) {
        const loaded = loadConfig({ value: { routes: [{ ...base, [section]: written }] }, environment: {} })
        const inSection = (loaded.ok ? [] : loaded.problem).filter(({ path }) =>
          path.startsWith(`routes[0].${section}`),
        )
        const reported = inSection.filter(({ message }) => message.includes(`has no section ${section}:`))
        const label = `${protocol}, ${section}: ${JSON.stringify(written)}`
        assert.equal(reported.length, own.includes(protocol) ? 0 : 1, label)
        if (!own.includes(protocol)) assert.deepEqual(inSection, reported, label)
      }
    }
  const folder = mkdtempSync(join(tmpdir(), 'preflight-config-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'preflight.yaml')
  const route = ['name: r', 'match: {}', 'protocol: npm', 'upstream: http://127.0.0.1:9', 'argocd: {}']
  writeFileSync(file, `routes:\n  - ${route.join('\n    ')}\n`)
  const loaded = loadConfig({ file, environment: {} })
  const [mistake] = loaded.ok ? [] : loaded.problem
  assert.equal(mistake?.place, `${file}:6:5`)
  assert.match(mistake.message, /^a route of the protocol npm has no section argocd: it belongs to argocd/)
})

test('a member of a contract that its protocol does not use is a mistake, for every member and protocol', () => {
  const source = { url: 'http://127.0.0.1:9/a.json' }
  const values: Readonly<Record<(typeof CONTRACT_MEMBERS)[number], unknown>> = {
    baseline: source,
    current: source,
    origins: ['https://a.example'],
    refresh: 60,
    listing_headers: ['X-A'],
    max_age: 60,
    watch: 60,
    auto_promote: 'info',
  }
  const unused: Readonly<Record<string, readonly string[]>> = {
    mapped: ['baseline', 'current', 'refresh', 'listing_headers', 'max_age', 'watch', 'auto_promote'],
    llm: ['current', 'refresh', 'listing_headers', 'watch'],
  }
  for (const protocol of SECTION_PROTOCOLS.get('contract') ?? [])
    for (const [member, value] of Object.entries(values)) {
      const route = { name: 'r', match: {}, protocol, upstream: 'http://127.0.0.1:9', contract: { [member]: value } }
      const isReported = mistakesOf({ routes: [route] }).includes(
        `contract.${member} has no effect on a route of the protocol ${protocol}, which uses `,
      )
      assert.equal(isReported, unused[protocol]?.includes(member) === true, `${protocol}, ${member}`)
    }
})

test('the sections of a route whose protocol is unknown are checked for their form only', () => {
  const route = { name: 'r', match: {}, protocol: 'k8s', upstream: 'http://127.0.0.1:9', kubernetes: { receipts: [] } }
  const mistakes = mistakesOf({ routes: [route] })
  assert.match(mistakes, /"k8s" is not allowed/)
  assert.doesNotMatch(mistakes, /has no section/)
})

test('the mistake of a misplaced member names the place where it belongs', () => {
  const base = { name: 'r', match: {}, protocol: 'mcp', upstream: 'http://127.0.0.1:9' }
  const rows: readonly (readonly [value: object, expected: RegExp])[] = [
    [
      { routes: [{ ...base, baseline: 'x' }] },
      /\(routes\[0\]\.baseline\): a member of this name is routes\[\]\.contract\.baseline; known here: name, /,
    ],
    [{ routes: [{ ...base, path: '/x' }] }, /a member of this name is routes\[\]\.match\.path; known here/],
    [{ kubernetes: {} }, /\(kubernetes\): a member of this name is routes\[\]\.kubernetes; known here: data_dir, /],
    [{ routes: [{ ...base, egress: {} }] }, /a member of this name is egress; known here/],
    [{ nonsense: {} }, /\(nonsense\): known here: data_dir, /],
  ]
  for (const [value, expected] of rows) assert.match(mistakesOf(value), expected)
})

test('a map or a list where a text was written: its members are named, and the text is not repeated', () => {
  const secret = 'postgres://gateway:hunter2@db.example/preflight'
  const sections = Object.entries(configInputSchema.properties ?? {}).filter(([, { type }]) => type !== 'string')
  assert.ok(sections.length > 30)
  for (const [section, { type, properties }] of sections) {
    const mistakes = mistakesOf({ [section]: secret })
    assert.doesNotMatch(mistakes, /hunter2/, section)
    if (type === 'array') assert.match(mistakes, /must be a list, not a string \(\w+\): write \[ITEM, …\]/, section)
    if (properties !== undefined)
      assert.ok(
        mistakes.includes(
          `must be a map, not a string (${section}): it has the members ${Object.keys(properties).join(', ')}`,
        ),
        mistakes,
      )
  }
})

test('no mistake repeats the password of a URL, wherever it stands', () => {
  const secret = 'https://user:hunter2@a.example/x'
  const route = { name: 'r', match: {}, protocol: 'mcp', upstream: 'http://127.0.0.1:9' }
  const rows: readonly object[] = [
    { public_url: `ftp${secret}` },
    { listen: { proxy: secret } },
    { store: { url: secret } },
    { egress: { allow: [secret] } },
    { tier: secret },
    { routes: [{ ...route, upstream: secret }] },
    { public_url: secret },
    { routes: [{ ...route, match: { host: secret } }] },
    { routes: [{ ...route, contract: { origins: [secret] } }] },
    { routes: [{ ...route, contract: { current: secret } }] },
    { notifications: { channels: [secret] } },
  ]
  for (const row of rows) {
    const mistakes = mistakesOf(row)
    assert.notEqual(mistakes, '', JSON.stringify(row))
    assert.doesNotMatch(mistakes, /hunter2/)
  }
})

/** Settings of the schema whose value is an address, by their path with `*`. */
function urlSettings(schema: JsonSchema, path: string): readonly string[] {
  const own = typeof schema.pattern === 'string' && /^\^\(?(?:https?|smtps)/.test(schema.pattern) ? [path] : []
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, one]) => urlSettings(one, `${path}/${name}`))
  const items = schema.items === undefined ? [] : urlSettings(schema.items, `${path}/*`)
  return [...own, ...below, ...items, ...(schema.anyOf ?? []).flatMap((kind) => urlSettings(kind, path))]
}

test('each address of the schema is checked for what it would lose', () => {
  const found = [...new Set(urlSettings(configInputSchema, ''))]
  // It is shown to people, and never asked.
  const asked = found.filter((path) => path !== '/console/trace_url')
  // A store may be a database, so the schema does not say that it is an address.
  assert.deepEqual([...asked, '/store/url'].toSorted(), URL_SETTINGS.map(({ path }) => path).toSorted())
})

/** A configuration with this value at the path, and no more. */
const configWith = ([name, ...rest]: readonly string[], value: string): unknown => {
  if (name === undefined) return value
  return name === '*' ? [configWith(rest, value)] : { [name]: configWith(rest, value) }
}

for (const { path, credentials, query } of URL_SETTINGS)
  test(`what the address ${path} would lose, or be read as, is a mistake`, () => {
    const scheme = path.endsWith('/smtp') ? 'smtps' : 'https'
    const rows: readonly (readonly [url: string, expected: RegExp | null])[] = [
      ['user@a.example', credentials === null ? null : /credentials in a URL are not sent/],
      [':word@a.example', credentials === null ? null : /credentials in a URL are not sent/],
      ['a.example/x#part', /the fragment of a URL is not sent/],
      ['a.example:0', /nothing can be reached at port 0/],
      ['010.0.0.1', /its host is an unusual form of an address.*write 8\.0\.0\.1/],
      ['0x7f.1:80', /write 127\.0\.0\.1/],
      ['127.1', /write 127\.0\.0\.1/],
      ['2130706433', /write 127\.0\.0\.1/],
      ['[', /it is not a URL.*write (?:https|smtps):\/\/HOST/],
      ['127.0.0.1:9?a=1', query === false ? /the query of this URL is not sent/ : null],
      ['[::1]:9', null],
      ['ä.example', null],
    ]
    for (const [rest, expected] of rows) {
      const config: unknown = configWith(path.split('/').slice(1), `${scheme}://${rest}`)
      assert.ok(typeof config === 'object' && config !== null)
      const found = checkUrls(config)
        .map(({ pointer, message, fix }) => `${pointer} ${message}: ${fix}`)
        .join('\n')
      if (expected === null) assert.equal(found, '', rest)
      else {
        assert.match(found, expected, rest)
        assert.ok(found.startsWith(path.replaceAll('*', '0')), found)
      }
    }
  })

test('each hub of a list is checked, and the mistake says how to write it', () => {
  for (const url of ['https://a,', 'https://a, b', 'https://a,http:/']) {
    const found = checkUrls({ store: { url } }).map(({ message, fix }) => `${message}: ${fix}`)
    assert.deepEqual(found, ['it is not a URL: write https://HOST[:PORT]'], url)
  }
})

test('a URL in the settings is checked', () => {
  for (const value of [{ public_url: 'http://a@b' }, { routes: [{ ...ROUTE, upstream: 'http://a@b' }] }])
    assert.match(mistakesOf(value), /credentials in a URL are not sent/)
})

const ROUTE = { name: 'a', match: { path: '/' }, upstream: 'https://a.example', protocol: 'mcp' }
for (const blank of [' ', '\t', '\n \u00a0'])
  test(`a text of ${JSON.stringify(blank)} alone is a mistake, wherever it is`, () => {
    const rows: readonly (readonly [path: string, value: object])[] = [
      ['routes.0.operation', { routes: [{ ...ROUTE, operation: blank }] }],
      ['routes.0.environment', { routes: [{ ...ROUTE, environment: blank }] }],
      ['routes.0.tenants.0', { routes: [{ ...ROUTE, tenants: [blank] }] }],
      ['routes.0.edits.operation', { routes: [{ ...ROUTE, edits: { operation: blank } }] }],
      ['egress.deny.0', { egress: { deny: [blank] } }],
      ['scm.checks.environment', { scm: { checks: { environment: blank } } }],
    ]
    for (const [path, value] of rows) assert.match(mistakesOf(value), /must not be blank/, path)
  })
