/** Mistakes of a configuration, read as its author reads them: what is wrong and what to write, in words, and no line that misleads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configInputSchema } from '../../../gateway/config/input-schema.ts'
import { checkHeaders, HEADER_SETTINGS } from '../../../gateway/config/header-checks.ts'
import { loadConfig } from '../../../gateway/config/load.ts'
import { formatMistake } from '../../../gateway/errors/mistake.ts'
import { mistakesOf } from '../../../gateway/settings/schema-mistakes.ts'

/** Without the place in the text: a value has none. */
function mistakesIn(value: object): readonly string[] {
  const loaded = loadConfig({ value, environment: {} })
  return (loaded.ok ? [] : loaded.problem).map(formatMistake)
}

function warningsIn(value: object): readonly string[] {
  const loaded = loadConfig({ value, environment: {} })
  assert.ok(loaded.ok, loaded.ok ? '' : loaded.problem.map(formatMistake).join('\n'))
  return loaded.value.warnings.map(formatMistake).filter((warning) => !warning.includes('monitoring.sinks'))
}

/** Keywords that restrict nothing. */
const SILENT = new Set([
  '$schema',
  '$id',
  'description',
  'title',
  'default',
  'items',
  'properties',
  'patternProperties',
  'anyOf',
])

function keywordsIn(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(keywordsIn)
  if (typeof schema !== 'object' || schema === null) return []
  const { items, anyOf, properties = {}, patternProperties = {} }: Record<string, unknown> = { ...schema }
  const below = [items, anyOf, ...Object.values(Object(properties)), ...Object.values(Object(patternProperties))]
  return [...Object.keys(schema).filter((keyword) => !SILENT.has(keyword)), ...below.flatMap(keywordsIn)]
}

test('no mistake repeats the words of the validator, whatever keyword of the schema it violates', () => {
  const keywords = [...new Set(keywordsIn(configInputSchema))]
  assert.ok(keywords.length > 12, keywords.join(' '))
  for (const keyword of keywords) {
    const error = {
      keyword,
      instancePath: '/x',
      schemaPath: '',
      params: { limit: 2, j: 0 },
      message: 'RAW',
      data: ['a'],
    }
    const [mistake] = mistakesOf([error])
    assert.doesNotMatch(mistake?.message ?? 'RAW', /RAW|is not valid/, keyword)
  }
})

const ROUTE = { name: 'a', match: { path: '/' }, upstream: 'http://127.0.0.1:9', protocol: 'mcp' }
const EMAIL = { type: 'email', name: 'a', smtp: 'smtp://mail.example', from: 'me@a.example', to: ['you@a.example'] }
const SLACK = { type: 'slack', name: 'a', url: 'https://hooks.slack.example/x' }

const channels = (...list: readonly object[]) => ({ notifications: { channels: list } })
const baseline = (source: object) => ({ routes: [{ ...ROUTE, contract: { baseline: source } }] })

const SPOKEN: readonly (readonly [why: string, value: object, expected: readonly RegExp[]])[] = [
  ['a text that is too short', channels({ ...EMAIL, from: 'me' }), [/must have at least 3 characters.*a mail address/]],
  ['an empty text', channels({ ...EMAIL, from: '' }), [/must have at least 3 characters/]],
  ['an empty list', channels({ ...EMAIL, to: [] }), [/must not be empty \(notifications\.channels\[0\]\.to\)/]],
  [
    'a long list',
    { routes: [{ ...ROUTE, contract: { origins: Array(101).fill('https://a.example') } }] },
    [/must have at most 100 items/],
  ],
  [
    'an item twice',
    { routes: [{ ...ROUTE, tenants: ['a', 'b', 'a'] }] },
    [/"a" occurs twice in the list \(routes\[0\]\.tenants\[2\]\): write it once/],
  ],
  [
    'a channel name twice',
    channels(SLACK, SLACK),
    [/the channel name "a" is used by channels\[0\] too.*: names are unique/],
  ],
  [
    'two sources',
    baseline({ file: 'a', url: 'https://a.example' }),
    [/the members "file", "url" do not belong together.*write \{ file, root \} or \{ url \} or \{ git \}/],
  ],
  ['parts of two sources', baseline({ root: 'a', git: 'a:b' }), [/the members "root", "git" do not belong together/]],
  ['no source', baseline({}), [/must be \{ file, root \} or \{ url \} or \{ git \}.*give exactly one of them/]],
  [
    'two texts of a side',
    mapped({ path: "'/a'", url: 'https://a.example' }),
    [/the members "path", "url" do not belong together.*write a string or \{ path \} or \{ url \}/],
  ],
  [
    'a mistyped member of a side',
    mapped({ pth: "'/a'" }),
    [/must be a string or \{ path \} or \{ url \}.*did you mean "path"\?/],
  ],
  [
    'a member of another kind',
    { monitoring: { sinks: [{ type: 'log', url: 'https://a.example' }] } },
    [/"url" is not known.*: known here: type$/],
  ],
  [
    'a client certificate without its key',
    { store: { url: 'https://hub.example', hub: { certificate: 'a.crt' } } },
    [/has no private key.*add store\.hub\.certificate_key/],
  ],
  [
    'a key without its certificate',
    { store: { url: 'https://hub.example', hub: { certificate_key: 'a.key' } } },
    [/there is no certificate for this key/],
  ],
]

function mapped(before: object): object {
  const artifact = { type: 'json_schema', before, after: "''" }
  return { routes: [{ ...ROUTE, protocol: 'mapped', map: [{ action: 'judge', target: "'t'", artifact }] }] }
}

for (const [why, value, expected] of SPOKEN)
  test(`a mistake says what to write: ${why}`, () => {
    const found = mistakesIn(value)
    assert.equal(found.length, expected.length, found.join('\n'))
    for (const [index, line] of expected.entries()) assert.match(found[index] ?? '', line)
  })

const OFF = '127.0.0.1:0'

/** A section with a mistake of its form, and another one that needs what is in it. */
const PRESENT: readonly (readonly [why: string, value: object])[] = [
  ['an injector', { listen: { webhooks: OFF }, tls: { listeners: { webhooks: 1 } }, injector: { image: '' } }],
  ['a route', { listen: { webhooks: OFF }, tls: { listeners: { webhooks: 1 } }, routes: [{ name: 'A' }] }],
  ['the TLS of a hub', { listen: { hub: '0.0.0.0:0' }, tls: { listeners: { hub: { certificate: 1, key: 2 } } } }],
  ['the TLS of webhooks', { listen: { webhooks: OFF }, tls: { listeners: { webhooks: 1 } }, injector: { image: 'a' } }],
  ['the listener of webhooks', { listen: { webhooks: 1 }, injector: { image: 'a' } }],
  ['the listener of a hub', { listen: { hub: 1 }, tls: { listeners: { hub: { certificate: '/a', key: '/a' } } } }],
  [
    'the listener of ext_authz',
    { listen: { ext_authz: 1 }, tls: { listeners: { ext_authz: { certificate: '/a', key: '/a' } } } },
  ],
  ['the repository', { diff: { repository: 1 }, ...baseline({ git: 'a:b' }) }],
  [
    'the public address',
    {
      public_url: 1,
      console: {
        providers: [{ name: 'a', issuer: 'https://a.example', client_id: 'a', roles: [{ group: 'a', role: 'admin' }] }],
      },
    },
  ],
]

for (const [why, value] of PRESENT)
  test(`what is there with a mistake is not reported as missing: ${why}`, () => {
    const found = mistakesIn(value)
    assert.ok(found.length > 0)
    assert.doesNotMatch(found.join('\n'), /there is no |there is nothing |in plaintext|over TLS only|which is absent/)
  })

test('what is missing is reported beside a mistake in another section', () => {
  const found = mistakesIn({ limits: { depth: 0 }, injector: { image: 'a' }, ...baseline({ git: 'a:b' }) }).join('\n')
  assert.match(found, /there is no listener for the API server/)
  assert.match(found, /there is no repository to read it from/)
})

function headerSettings(schema: object, path: string): readonly string[] {
  return Object.entries(schema).flatMap(([name, value]): readonly string[] => {
    if (typeof value !== 'object' || value === null) return []
    if (name === 'items') return headerSettings(value, `${path}/*`)
    if (name === 'anyOf') return Object.values(value).flatMap((variant) => headerSettings(Object(variant), path))
    if (name !== 'properties') return []
    return Object.entries(value).flatMap(([member, below]) => {
      if (member === 'header') return [`${path}/header`]
      return member === 'headers' && Object(below).type === 'object'
        ? [`${path}/headers/*`]
        : headerSettings(Object(below), `${path}/${member}`)
    })
  })
}

test('each header of the schema is one that can be sent, or a mistake', () => {
  // The head of an answer has a time limit.
  const found = [...new Set(headerSettings(configInputSchema, ''))].filter((path) => !path.includes('timeout'))
  assert.deepEqual(found.toSorted(), HEADER_SETTINGS.toSorted())
  for (const path of HEADER_SETTINGS) {
    const isNamed = path.endsWith('/headers/*')
    const at = (name: string, value: string): object => headerAt(path.split('/').slice(1), isNamed ? name : null, value)
    assert.deepEqual(checkHeaders(at('X-A', isNamed ? 'b' : 'X-A: b')), [], path)
    for (const value of ['a\nb', 'ä', ...(isNamed ? [] : ['abc', ': a', 'a b: c'])])
      assert.equal(
        checkHeaders(at('X-A', isNamed ? value : value.replace(/^(?=a\n|ä)/, 'X-A: '))).length,
        1,
        `${path} ${value}`,
      )
    if (isNamed) assert.match(checkHeaders(at('X A', 'b'))[0]?.message ?? '', /"X A" is not a name of a header/)
  }
})

function headerAt([member, ...rest]: readonly string[], name: string | null, value: string): object {
  if (rest.length === 0) return { [name ?? member ?? '']: value }
  const below = headerAt(rest, name, value)
  return member === '*' ? [below] : { [member ?? '']: below }
}

const HUB = { listen: { hub: OFF } }

const WARNED: readonly (readonly [why: string, value: object, expected: RegExp | null])[] = [
  ['a hub without its listener', { hub: { people: true } }, /nobody can connect \(hub\): add listen\.hub/],
  ['a hub that knows no credential', HUB, /every caller is refused \(listen\.hub\): add hub\.tokens/],
  [
    'certificates of no authority',
    { ...HUB, hub: { certificates: true } },
    /every client certificate is refused.*client_ca/,
  ],
  ['a hub with a key', { ...HUB, hub: { keys: [{ name: 'a', tenant: 'b', sha256: 'a'.repeat(64) }] } }, null],
  [
    'a hub without a credential',
    { store: { url: 'https://hub.example' } },
    /the hub refuses this sidecar \(store\.url\)/,
  ],
  [
    'a credential without a hub',
    { store: { hub: { token_file: 'a' } } },
    /store\.url names no hub.*\(store\.hub\.token_file\)/,
  ],
  [
    'two credentials',
    { store: { url: 'https://hub.example', hub: { token_file: 'a', key_file: 'b' } } },
    /not used beside store\.hub\.token_file/,
  ],
  ['one credential', { store: { url: 'https://hub.example', hub: { key_file: 'b' } } }, null],
]

for (const [why, value, expected] of WARNED)
  test(`the settings of a hub are warned about where they let nobody in, or are not used: ${why}`, () => {
    const found = warningsIn(value)
    if (expected === null) assert.deepEqual(found, [])
    else assert.match(found.join('\n'), expected)
  })
