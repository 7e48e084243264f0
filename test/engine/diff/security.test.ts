/** Security as inclusion: every pair of small sets of alternatives, with every caller as a witness. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compareOpenApi } from '../../../engine/diff/openapi/compare.ts'
import { sha256 } from '../../conformance/openapi-run.ts'

type Requirement = Readonly<Record<string, readonly string[]>>
type Json = Readonly<Record<string, unknown>>

const SCHEMES: Json = {
  key: { type: 'apiKey', in: 'header', name: 'X-Key' },
  token: {
    type: 'oauth2',
    flows: {
      clientCredentials: { tokenUrl: 'https://id.example.com/token', scopes: { read: '', write: '' } },
      authorizationCode: {
        authorizationUrl: 'https://id.example.com/authorize',
        tokenUrl: 'https://id.example.com/token',
        refreshUrl: 'https://id.example.com/refresh',
        scopes: { read: '', write: '' },
      },
    },
  },
  basic: { type: 'http', scheme: 'basic' },
  oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example.com/.well-known/openid-configuration' },
}

const PARTS: readonly (readonly [string, readonly string[]])[] = [
  ['key', []],
  ['token', ['read']],
  ['token', ['read', 'write']],
  ['basic', []],
]

/** A caller holds some of the credentials: each of them, and each scope, or not. */
const CALLERS: readonly Requirement[] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((bits) => ({
  ...(bits % 2 === 1 ? { key: [] } : {}),
  ...[{}, { token: ['read'] }, { token: ['read', 'write'] }][Math.floor(bits / 2) % 3],
  ...(bits >= 6 ? { basic: [] } : {}),
}))

function isLetIn(caller: Requirement, alternatives: readonly Requirement[]): boolean {
  return (
    alternatives.length === 0 ||
    alternatives.some((alternative) =>
      Object.entries(alternative).every(
        ([name, scopes]) => scopes.every((scope) => caller[name]?.includes(scope)) && name in caller,
      ),
    )
  )
}

function requirements(): readonly Requirement[] {
  const one = PARTS.map(([name, scopes]): Requirement => ({ [name]: scopes }))
  const two = one.flatMap((first, index) =>
    one
      .slice(index + 1)
      .flatMap((second) => (Object.keys(first)[0] === Object.keys(second)[0] ? [] : [{ ...first, ...second }])),
  )
  return [{}, ...one, ...two]
}

function lists(): readonly (readonly Requirement[])[] {
  const all = requirements()
  return [
    [],
    ...all.map((one) => [one]),
    ...all.flatMap((one, index) => all.slice(index + 1).map((other) => [one, other])),
  ]
}

interface Contract {
  readonly global?: readonly Requirement[] | undefined
  readonly own?: readonly Requirement[] | undefined
  readonly schemes?: Json
}

function document({ global, own, schemes = SCHEMES }: Contract): string {
  const responses = { 200: { description: 'done' } }
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    ...(global === undefined ? {} : { security: global }),
    paths: { '/things': { get: { responses, ...(own === undefined ? {} : { security: own }) } } },
    components: { securitySchemes: schemes },
  })
}

const VERDICTS = new Set([
  'api-security-tightened',
  'api-security-scope-tightened',
  'api-security-scope-withdrawn',
  'api-security-loosened',
])

function verdict(before: Contract, after: Contract): readonly string[] {
  const compared = compareOpenApi(document(before), document(after), {}, sha256)
  assert.ok(compared.ok)
  return compared.value.groups.filter(({ rule }) => VERDICTS.has(rule)).map(({ rule, level }) => `${level} ${rule}`)
}

const flow = (change: Json, scopes: Json = { read: '', write: '' }): Json => ({
  type: 'oauth2',
  flows: { clientCredentials: { tokenUrl: 'https://id.example.com/token', scopes, ...change } },
})

const bothFlows = (scopes: Json): Json => {
  const tokenUrl = 'https://id.example.com/token'
  return {
    type: 'oauth2',
    flows: { clientCredentials: { tokenUrl, scopes }, password: { tokenUrl, scopes: { read: '', write: '' } } },
  }
}

suite('the security of an operation', () => {
  test('is tightened exactly where some caller is refused, and else loosened where some caller is let in', () => {
    const all = lists()
    for (const [index, before] of all.entries()) {
      // A third of all pairs, each list on both sides.
      for (const after of all.filter((_, other) => (index + other) % 3 === 0)) {
        const refused = CALLERS.some((caller) => isLetIn(caller, before) && !isLetIn(caller, after))
        const letIn = CALLERS.some((caller) => !isLetIn(caller, before) && isLetIn(caller, after))
        const found = verdict({ own: before }, { own: after }).map((text) => text.split(' ')[0])
        const what = `${JSON.stringify(before)} → ${JSON.stringify(after)}`
        assert.deepEqual(found, refused ? ['breaking'] : letIn ? ['dangerous'] : [], what)
      }
    }
  })

  const key = [{ key: [] }]
  const PLACES: readonly (readonly [string, Contract, Contract, readonly string[]])[] = [
    ['the interface gets a requirement', {}, { global: key }, ['breaking api-security-tightened']],
    ['the interface loses its requirement', { global: key }, {}, ['dangerous api-security-loosened']],
    [
      'the operation goes without what the interface requires',
      { global: key },
      { global: key, own: [] },
      ['dangerous api-security-loosened'],
    ],
    [
      'the operation no longer goes without',
      { global: key, own: [] },
      { global: key },
      ['breaking api-security-tightened'],
    ],
    ['a requirement moves to the operation', { global: key }, { own: key }, []],
    ['the requirement of the interface is replaced at the operation', { own: [] }, { global: key, own: [] }, []],
    ['the order of alternatives', { own: [{ key: [] }, { basic: [] }] }, { own: [{ basic: [] }, { key: [] }] }, []],
    ['no security is written out', {}, { own: [] }, []],
    ['no security is written out as an empty alternative', {}, { own: [{}] }, []],
  ]
  for (const [what, before, after, expected] of PLACES) {
    test(`is that of its place: ${what}`, () => assert.deepEqual(verdict(before, after), expected))
  }

  const { key: _key, token, basic, oidc } = SCHEMES
  const broken = ['breaking api-security-tightened']
  const withdrawn = ['breaking api-security-scope-withdrawn']
  const DEFINITIONS: readonly (readonly [string, unknown, unknown, readonly string[]])[] = [
    ['type', { type: 'apiKey', in: 'header', name: 'X-Key' }, basic, broken],
    ['scheme', basic, { type: 'http', scheme: 'bearer' }, broken],
    ['scheme in other letters', basic, { type: 'http', scheme: 'Basic' }, []],
    ['place', { type: 'apiKey', in: 'query', name: 'k' }, { type: 'apiKey', in: 'header', name: 'k' }, broken],
    ['name', { type: 'apiKey', in: 'query', name: 'k' }, { type: 'apiKey', in: 'query', name: 'K' }, broken],
    [
      'name of a header in other letters',
      { type: 'apiKey', in: 'header', name: 'k' },
      { type: 'apiKey', in: 'header', name: 'K' },
      [],
    ],
    ['token address', flow({}), flow({ tokenUrl: 'https://new.example.com/token' }), broken],
    ['token address in other letters', flow({}), flow({ tokenUrl: 'HTTPS://ID.example.com/token' }), []],
    ['refresh address that came', flow({}), flow({ refreshUrl: 'https://id.example.com/refresh' }), []],
    ['refresh address that went', flow({ refreshUrl: 'https://id.example.com/refresh' }), flow({}), broken],
    ['flow that went', token, flow({}), broken],
    ['flow that came', flow({}), token, ['dangerous api-security-loosened']],
    ['scope that is required and no longer offered', flow({}), flow({}, { write: '' }), withdrawn],
    ['scopes that are listed no more', flow({}), flow({}, {}), [...withdrawn, ...withdrawn]],
    ['scopes that are listed first', flow({}, {}), flow({}), []],
    ['scope that is no longer offered', flow({}), flow({}, { read: '' }), withdrawn],
    [
      'scope that one of its flows no longer offers',
      bothFlows({ read: '', write: '' }),
      bothFlows({ write: '' }),
      withdrawn,
    ],
    ['discovery address', oidc, { type: 'openIdConnect', openIdConnectUrl: 'https://other.example.com/' }, broken],
    ['description', basic, { type: 'http', scheme: 'basic', description: 'Ask us.' }, []],
    ['first definition', undefined, basic, []],
  ]
  for (const [what, before, after, expected] of DEFINITIONS) {
    test(`follows the definition of its scheme: ${what}`, () => {
      const own = [{ one: ['read'] }]
      const of = (scheme: unknown): Contract => ({ own, schemes: scheme === undefined ? {} : { one: scheme } })
      const found = verdict(of(before), of(after)).map((text) => text.replace('scope-tightened', 'tightened'))
      assert.deepEqual(found, expected)
    })
  }

  test('is the same when a scheme is renamed, and nothing else', () => {
    assert.deepEqual(verdict({ own: [{ key: [] }] }, { own: [{ apiKey: [] }], schemes: { apiKey: SCHEMES.key } }), [])
  })

  test('is another when a requirement goes over to another scheme of the same kind', () => {
    const schemes = { user: basic, admin: basic }
    assert.deepEqual(verdict({ own: [{ user: [] }], schemes }, { own: [{ admin: [] }], schemes }), broken)
  })

  test('of a scheme that no requirement names is nobody’s', () => {
    assert.deepEqual(verdict({ schemes: { one: basic } }, { schemes: { one: oidc } }), [])
  })

  test('is one finding with a place for each operation that it reaches', () => {
    const paths = Object.fromEntries(
      ['/a', '/b', '/c'].map((path) => [path, { get: { responses: { 200: { description: 'done' } } } }]),
    )
    const all = {
      openapi: '3.1.0',
      info: { title: 't', version: '1' },
      paths,
      components: { securitySchemes: SCHEMES },
    }
    const compared = compareOpenApi(JSON.stringify(all), JSON.stringify({ ...all, security: key }), {}, sha256)
    assert.ok(compared.ok)
    const groups = compared.value.groups.filter(({ rule }) => rule === 'api-security-tightened')
    assert.deepEqual(
      groups.map(({ occurrences }) => occurrences.map(({ operation }) => operation?.path)),
      [['/a', '/b', '/c']],
    )
  })
})
