/** Security of AsyncAPI servers: schemes that a side does not define, and scopes that a scheme no longer offers. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Json = Readonly<Record<string, unknown>>

/** A server that requires a scheme, and the defined ones. */
type Secured = (name: string, schemes?: Json) => Json

const VERSIONS: Readonly<Record<string, Secured>> = {
  '2.6.0': (name, securitySchemes = {}) => ({
    servers: { s: { url: 'a.example', protocol: 'kafka', security: [{ [name]: ['r'] }] } },
    channels: {},
    components: { securitySchemes },
  }),
  '3.0.0': (name, securitySchemes = {}) => ({
    servers: {
      s: { host: 'a.example', protocol: 'kafka', security: [{ $ref: `#/components/securitySchemes/${name}` }] },
    },
    components: { securitySchemes },
  }),
}

const KEY = { type: 'X509' }
const oauth = (version: string, ...scopes: readonly string[]): Json => {
  const offered = Object.fromEntries(scopes.map((scope) => [scope, '']))
  const member = version === '2.6.0' ? 'scopes' : 'availableScopes'
  return {
    type: 'oauth2',
    flows: { clientCredentials: { tokenUrl: 'https://t', [member]: offered } },
    ...(version === '3.0.0' && { scopes: ['r'] }),
  }
}

for (const [version, secured] of Object.entries(VERSIONS)) {
  const found = (before: Json, after: Json): readonly string[] => {
    const [base, head] = [before, after].map((rest) =>
      JSON.stringify({ asyncapi: version, info: { title: 't', version: '1' }, ...rest }),
    )
    const compared = compare({ id: 'a', type: 'asyncapi', before: base ?? '', after: head ?? '' }, {}, sha256Hex)
    assert.ok(compared.ok)
    return compared.value.groups.map(({ level, rule, message }) => `${level} ${rule}: ${message}`)
  }
  const rules = (before: Json, after: Json): readonly string[] =>
    found(before, after)
      .map((one) => one.replace(/:.*/, ''))
      .filter((one) => !one.includes('unresolved'))

  suite(`security of AsyncAPI ${version}`, () => {
    const refused = ['breaking asyncapi-security-alternative-removed', 'dangerous asyncapi-security-alternative-added']

    test('a scheme that is not defined is not another scheme', () => {
      assert.deepEqual(rules(secured('one'), secured('other', { other: KEY })), refused)
      assert.deepEqual(rules(secured('one'), secured('other')), refused)
    })

    test('a scheme that is not defined cannot be distinguished from its first definition', () => {
      assert.deepEqual(rules(secured('one'), secured('one', { one: KEY })), [])
      assert.deepEqual(rules(secured('one', { one: KEY }), secured('one')), refused)
    })

    test('a scope that is required and no longer offered is named', () => {
      const [before, after] = [{ o: oauth(version, 'r', 'w') }, { o: oauth(version, 'w') }]
      assert.deepEqual(found(secured('o', before), secured('o', after)), [
        'breaking asyncapi-security-scope-withdrawn: the scope `r` is no longer offered',
      ])
    })
  })
}
