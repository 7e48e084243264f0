/**
 * Settings that say nothing: empty lists, empty texts, and names in a form that nothing has. Each is refused, or it means the stricter
 * thing, or the gateway warns of it. A table over all settings of the schema.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configInputSchema } from '../../../gateway/config/input-schema.ts'
import { loadConfig } from '../../../gateway/config/load.ts'
import type { JsonSchema } from '../../../gateway/settings/input-schema.ts'
import { formatMistake } from '../../../gateway/errors/mistake.ts'

/** Lists and texts that the schema lets be empty. */
function mayBeEmpty(schema: JsonSchema, path: string): readonly string[] {
  const own =
    (schema.items !== undefined && (schema.minItems ?? 0) === 0) ||
    (schema.type === 'string' &&
      schema.const === undefined &&
      schema.enum === undefined &&
      schema.pattern === undefined &&
      (schema.minLength ?? 0) === 0)
      ? [path]
      : []
  const below = Object.entries(schema.properties ?? {}).map(([name, member]) =>
    mayBeEmpty(member, path === '' ? name : `${path}.${name}`),
  )
  return [
    ...own,
    ...below.flat(),
    ...(schema.anyOf ?? []).flatMap((kind) => mayBeEmpty(kind, path)),
    ...(schema.items === undefined ? [] : mayBeEmpty(schema.items, `${path}[]`)),
  ]
}

/** What an empty list or text means; none of it is judged less than by the default, unless it says `warned`. */
const MEANINGS: Readonly<Record<string, string>> = {
  'store.url': 'refused: no store',
  'store.listen_url': 'refused: no URL',
  'scm.contracts.globs': 'refused: nothing would be judged',
  'diff.allow_urls': 'the default: none',
  'monitoring.sinks': 'nothing is wired, so nothing proceeds under monitoring; warned',
  'decision_log.sinks': 'the default: none',
  'decision_log.mask': 'the default: none',
  'decision_log.drop': 'the default: none',
  'notifications.channels': 'the default: none',
  'notifications.channels[].tenants': 'nothing is sent',
  'hub.keys': 'the default: none',
  'hub.identities': 'the default: none',
  'console.providers': 'the default: none',
  'console.providers[].scopes': 'fewer claims, so fewer rights',
  'break_glass.roles': 'nobody may',
  consumers: 'the default: none',
  'egress.allow': 'the default: none',
  'egress.deny': 'the default: none beyond what is never allowed',
  'egress.tunnel': 'the default: none',
  'injector.ignored_namespaces': 'the default: none',
  routes: 'the default: none',
  'routes[].match.host': 'refused: no host',
  'routes[].contract.origins': 'as left out: only the own origin',
  'routes[].contract.listing_headers': 'as left out: none',
  'routes[].kubernetes.receipts': 'no object needs a receipt; warned',
  'routes[].kubernetes.contracts': 'only CustomResourceDefinitions are compared',
  'routes[].edits.read': 'the default: tools known by their names',
  'routes[].edits.write': 'the default: tools known by their names',
  'routes[].edits.ignore': 'the default: none',
  'routes[].grpc.pass': 'no service passes unjudged',
  'routes[].llm.agents': 'the default: none',
  'routes[].map[].message': 'a denial without a text of its own',
  'routes[].scm.protected_branches': 'none is protected; warned',
  'routes[].scm.protected_tags': 'none is protected; warned',
  'routes[].scm.workflows': 'the default: no dispatch is a deployment',
}

test('each list and text that may be empty has a meaning that is written down', () => {
  const found = [...new Set(mayBeEmpty(configInputSchema, ''))]
  assert.deepEqual(found.toSorted(), Object.keys(MEANINGS).toSorted())
})

function inWords(all: readonly Parameters<typeof formatMistake>[0][]): string {
  return all.map(formatMistake).join('\n')
}

function loaded(value: object): { readonly mistakes: string; readonly warnings: string } {
  const read = loadConfig({ value, environment: {} })
  return read.ok
    ? { mistakes: '', warnings: inWords(read.value.warnings) }
    : { mistakes: inWords(read.problem), warnings: '' }
}

const github = (scm: object) => ({
  routes: [{ name: 'g', match: { path: '/' }, upstream: 'https://api.github.com', protocol: 'github', scm }],
})
const kubernetes = (section: object) => ({
  routes: [
    { name: 'k', match: { path: '/' }, upstream: 'https://k.example', protocol: 'kubernetes', kubernetes: section },
  ],
})
const onHost = (host: string) => ({ routes: [{ name: 'h', match: { host }, protocol: 'mcp' }] })
const onPath = (path: string) => ({
  routes: [{ name: 'p', match: { path }, upstream: 'https://a.example', protocol: 'mcp' }],
})
const egress = (list: string, entry: string) => ({ egress: { [list]: [entry] } })

const REFUSED: readonly (readonly [value: object, why: RegExp])[] = [
  [{ data_dir: '' }, /data_dir/],
  [{ diff: { repository: '' } }, /diff\.repository/],
  [{ store: { url: '' } }, /store\.url/],
  [{ scm: { contracts: { types: [] } } }, /scm\.contracts\.types/],
  [{ scm: { contracts: { globs: [] } } }, /nothing would be judged/],
  [{ scm: { contracts: { globs: ['!vendor/**'] } } }, /nothing would be judged/],
  ...['/api/**', './api/**', '../api/**', 'api/', 'api//x.yaml', ' api/**', '!./vendor/**'].map(
    (glob) => [{ scm: { contracts: { globs: ['**/*.yaml', glob] } } }, /can name nothing/] as const,
  ),
  ...(['protected_branches', 'protected_tags'] as const).flatMap((list) =>
    ['refs/heads/main', 'refs/tags/v1', 'REFS/HEADS/main', '!main', '/main', './main', 'main/', 'a//b', 'main '].map(
      (glob) => [github({ [list]: [glob] }), /can name nothing/] as const,
    ),
  ),
  ...['.github/workflows/deploy.yml', 'Deploy to production', 'deploy', '!deploy.yml', './deploy.yml'].map(
    (glob) => [github({ workflows: [glob] }), /can name nothing/] as const,
  ),
  ...['', 'a.example.', 'a.example:443', '127.1', '010.0.0.1', '[0::1]', '0::1', '[::ffff:1.2.3.4]', '*.1.2.3.4'].map(
    (host) => [onHost(host), /match\.host/] as const,
  ),
  ...[
    '',
    '/api/*',
    '/api/**',
    '/api*',
    '/a/*/b',
    '/a/{id}',
    '/{id}/b',
    '/a?b',
    '/a#b',
    '/ä',
    '/a b',
    ' /a',
    '/a ',
    '/a\\b',
    '/a%',
  ].map((path) => [onPath(path), /match\.path/] as const),
  ...['/a/../b', '/a/.', '//a', '/a%00'].map((path) => [onPath(path), /match\.path/] as const),
  ...(['allow', 'deny', 'tunnel'] as const).flatMap((list) =>
    ['', '*', '*.', 'a.example.', '010.0.0.1', '127.1', '0x7f.0.0.1', '2130706433', '１.2.3.4', 'fe80::1%eth0'].map(
      (entry) => [egress(list, entry), /egress/] as const,
    ),
  ),
]

for (const [value, why] of REFUSED)
  test(`refused: ${JSON.stringify(value)}`, () => assert.match(loaded(value).mistakes, why))

const WARNED = [
  github({ protected_branches: [] }),
  github({ protected_tags: [] }),
  kubernetes({ receipts: [] }),
  { monitoring: { sinks: [] } },
]

for (const value of WARNED)
  test(`warned of: ${JSON.stringify(value)}`, () => assert.notEqual(loaded(value).warnings, ''))

const ACCEPTED = [
  ...[
    '/',
    '/a',
    '/a/',
    '/%61',
    '/a%2D',
    '/%7euser',
    '/v1/things:batch',
    '/caf%C3%A9',
    '/a%20b',
    '/a%2Fb',
    '/a;b',
    '/~user',
    '/a*b',
    '/a.b',
  ].map(onPath),
  github({ protected_branches: ['main', 'release/**', '*', '{a,b}', 'heads/x', '[m]ain'], protected_tags: ['v*'] }),
  github({ workflows: ['deploy.yml', 'Deploy.YAML', '12345', 'deploy*', '*', '{a,b}.yml'] }),
  { scm: { contracts: { globs: ['api/**/*.yaml', 'openapi.json', '.github/*.yml', '!vendor/**'] } } },
  ...['A.Example', '*.Example', '1.2.3.4', '::1', '[::1]', 'FD00::1', 'a_b.example', 'xn--bcher-kva.example'].map(
    onHost,
  ),
  ...['A.Example', 'bücher.example', '1.2.3.4:443', '::1', '[fd00::1]:443', '[::ffff:10.0.0.1]', '10.0.0.0/8'].map(
    (entry) => egress('allow', entry),
  ),
]

for (const value of ACCEPTED) test(`accepted: ${JSON.stringify(value)}`, () => assert.equal(loaded(value).mistakes, ''))
