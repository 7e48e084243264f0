/**
 * References instead of a map, a list, or an object that is always written in place. Bundlers put the target there, so what
 * is behind such a reference is compared as if it were written there. One without a target is unresolved.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import type { ArtifactType } from '../../../engine/model/change-set.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Json = Readonly<Record<string, unknown>>

/** What a part is called, a contract that holds it, and the part on both sides. */
type Row = readonly [what: string, contract: (part: unknown) => Json, before: unknown, after: unknown]

const INFO = { title: 't', version: '1' }
const [TEXT, WHOLE] = [{ type: 'string' }, { type: 'integer' }]
const DONE = { description: 'done' }
const json = (schema: unknown): Json => ({ 'application/json': { schema } })

const openApi = (operation: Json, more: Json = {}): Json => ({
  openapi: '3.1.0',
  info: INFO,
  paths: { '/a': { post: { responses: { 200: DONE }, ...operation } } },
  ...more,
})
const body = (schema: Json): Json => openApi({ requestBody: { content: json(schema) } })
const form = (encoding: unknown): Json => {
  const schema = { type: 'object', properties: { a: { type: 'array', items: TEXT } } }
  return openApi({ requestBody: { content: { 'application/x-www-form-urlencoded': { schema, encoding } } } })
}
const secured = (schemes: unknown): Json =>
  openApi({ security: [{ k: [] }] }, { components: { securitySchemes: schemes } })
const oauth = (flows: unknown): Json => secured({ k: { type: 'oauth2', flows } })
const key = (place: string): Json => ({ k: { type: 'apiKey', in: place, name: 'K' } })
const flows = (host: string): Json => ({ clientCredentials: { tokenUrl: `https://${host}`, scopes: {} } })
const linked = (link: Json): Json =>
  openApi({ responses: { 200: { ...DONE, links: { next: { operationId: 'a', ...link } } } } })
const discriminated = (mapping: unknown): Json => {
  const kinds = { oneOf: [{ $ref: '#/components/schemas/A' }], discriminator: { propertyName: 't', mapping } }
  return { ...body(kinds), components: { schemas: { A: { type: 'object', properties: { t: TEXT } } } } }
}
const referring = (components: unknown): Json => ({
  ...body({ $ref: '#/components/schemas/A' }),
  components,
})

const OF_OPENAPI: readonly Row[] = [
  ['paths', (paths) => ({ ...openApi({}), paths }), { '/a': { get: { responses: {} } } }, {}],
  [
    'parameters',
    (parameters) => openApi({ parameters }),
    [],
    [{ name: 'q', in: 'query', required: true, schema: TEXT }],
  ],
  [
    'responses',
    (responses) => openApi({ responses }),
    { 200: { ...DONE, content: json(TEXT) } },
    { 200: { ...DONE, content: json(WHOLE) } },
  ],
  ['content', (content) => openApi({ requestBody: { content } }), json(TEXT), json(WHOLE)],
  [
    'headers',
    (headers) => openApi({ responses: { 200: { ...DONE, headers } } }),
    { A: { required: true, schema: TEXT } },
    { A: { schema: TEXT } },
  ],
  [
    'callbacks',
    (callbacks) => openApi({ callbacks }),
    { c: { '{$request.body#/u}': { post: { responses: {} } } } },
    {},
  ],
  ['webhooks', (webhooks) => openApi({}, { webhooks }), { w: { post: { responses: {} } } }, {}],
  ['components', referring, { schemas: { A: TEXT } }, { schemas: { A: WHOLE } }],
  ['schemas', (schemas) => referring({ schemas }), { A: TEXT }, { A: WHOLE }],
  ['securitySchemes', secured, key('header'), key('query')],
  ['flows', oauth, flows('a'), flows('b')],
  [
    'the scopes of a flow',
    (scopes) => oauth({ clientCredentials: { tokenUrl: 'https://a', scopes } }),
    { read: '', write: '' },
    { read: '' },
  ],
  ['the parameters of a link', (parameters) => linked({ parameters }), { id: '$response.body#/a' }, {}],
  ['the server of a link', (server) => linked({ server }), { url: 'https://a' }, { url: 'https://b' }],
  [
    'security',
    (security) => openApi({ security }, { components: { securitySchemes: key('header') } }),
    [],
    [{ k: [] }],
  ],
  ['servers', (servers) => openApi({}, { servers }), [{ url: 'https://a' }], [{ url: 'https://b' }]],
  ['a server', (server) => openApi({}, { servers: [server] }), { url: 'https://a' }, { url: 'https://b' }],
  ['encoding', form, {}, { a: { explode: false } }],
  ['the encoding of a field', (a) => form({ a }), {}, { explode: false }],
  ['properties', (properties) => body({ type: 'object', properties }), { a: TEXT }, { a: WHOLE }],
  ['required', (required) => body({ properties: { a: TEXT }, required }), [], ['a']],
  ['enum', (values) => body({ enum: values }), ['a', 'b'], ['a']],
  ['allOf', (allOf) => body({ allOf }), [TEXT], [WHOLE]],
  [
    'a discriminator',
    (discriminator) => body({ oneOf: [{ properties: { t: TEXT, u: TEXT } }], discriminator }),
    { propertyName: 't' },
    { propertyName: 'u' },
  ],
  ['the mapping of a discriminator', discriminated, { a: '#/components/schemas/A' }, { b: '#/components/schemas/A' }],
]

const asyncApi = (more: Json, channel: Json = {}, operation: Json = {}): Json => ({
  asyncapi: '3.0.0',
  info: INFO,
  channels: { c: { address: 'a/{p}', messages: { m: { payload: TEXT } }, ...channel } },
  operations: { o: { action: 'receive', channel: { $ref: '#/channels/c' }, ...operation } },
  ...more,
})
const two = { m: { payload: TEXT }, n: { payload: WHOLE } }
const named = (name: string): Json => ({ $ref: `#/channels/c/messages/${name}` })

const OF_ASYNCAPI: readonly Row[] = [
  ['messages', (messages) => asyncApi({}, { messages }), { m: { payload: TEXT } }, { m: { payload: WHOLE } }],
  [
    'the messages of an operation',
    (messages) => asyncApi({}, { messages: two }, { messages }),
    [named('m'), named('n')],
    [named('m')],
  ],
  ['parameters', (parameters) => asyncApi({}, { parameters }), { p: { enum: ['a', 'b'] } }, { p: { enum: ['a'] } }],
  [
    'traits',
    (traits) => asyncApi({}, {}, { traits }),
    [{ bindings: { kafka: { groupId: 'a' } } }],
    [{ bindings: { kafka: { groupId: 'b' } } }],
  ],
  [
    'servers',
    (servers) => asyncApi({ servers }),
    { s: { host: 'a', protocol: 'kafka' } },
    { s: { host: 'b', protocol: 'kafka' } },
  ],
  ['the scopes of a flow', (availableScopes) => login({ availableScopes }), { read: '', write: '' }, { read: '' }],
  [
    'properties of a payload',
    (properties) => asyncApi({}, { messages: { m: { payload: { properties } } } }),
    { a: TEXT },
    { a: WHOLE },
  ],
]

const login = (flow: Json): Json =>
  asyncApi({}, {}, { security: [{ type: 'oauth2', flows: { password: { tokenUrl: 'https://a', ...flow } } }] })

const OF_SCHEMAS: readonly Row[] = [
  ['properties', (properties) => ({ type: 'object', properties }), { a: TEXT }, { a: WHOLE }],
  ['required', (required) => ({ type: 'object', properties: { a: TEXT }, required }), [], ['a']],
  ['enum', (values) => ({ properties: { a: { enum: values } } }), ['a', 'b'], ['a']],
  ['anyOf', (anyOf) => ({ properties: { a: { anyOf } } }), [TEXT, WHOLE], [TEXT]],
]

const inTool = (inputSchema: Json): Json => ({
  tools: [{ name: 't', inputSchema: { type: 'object', ...inputSchema } }],
})

type Files = Readonly<Record<string, { readonly before: string; readonly after: string }>>

function levels(type: ArtifactType, base: Json, head: Json, files: Files = {}): readonly string[] {
  const [before, after] = [JSON.stringify(base), JSON.stringify(head)]
  const further = Object.keys(files).length === 0 ? {} : { path: 'main.json', files }
  const compared = compare({ id: 'c', type, before, after, ...further }, {}, sha256Hex)
  assert.ok(compared.ok, compared.ok ? '' : compared.problem.message)
  const unresolved = (compared.value.unresolved ?? []).map(({ side, reference }) => `${side} ${reference}`)
  return [...compared.value.groups.map(({ level, rule }) => `${level} ${rule}`), ...unresolved]
}

const SUITES: readonly (readonly [ArtifactType, readonly Row[], hold: (contract: Json, part: unknown) => Json])[] = [
  ['openapi', OF_OPENAPI, (contract, part) => ({ ...contract, 'x-part': part })],
  ['asyncapi', OF_ASYNCAPI, (contract, part) => ({ ...contract, 'x-part': part })],
  ['json_schema', OF_SCHEMAS, (contract, part) => ({ ...contract, 'x-part': part })],
  ['mcp_manifest', OF_SCHEMAS, (contract, part) => inTool({ ...contract, 'x-part': part })],
]

for (const [type, rows, hold] of SUITES)
  suite(type, () => {
    for (const [what, contract, before, after] of rows)
      test(`${what} behind a reference`, () => {
        const written = (part: unknown): Json => hold(contract(part), null)
        const referred = (part: unknown): Json => hold(contract({ $ref: '#/x-part' }), part)
        const found = levels(type, written(before), written(after))
        assert.ok(found.some((one) => !one.startsWith('info')))
        assert.deepEqual(levels(type, referred(before), referred(after)), found)
        assert.deepEqual(levels(type, referred(before), written(before)), [])
        const gone = hold(contract({ $ref: '#/x-none' }), null)
        const unresolved = levels(type, gone, gone)
        for (const side of ['base', 'head']) assert.ok(unresolved.includes(`${side} #/x-none`), side)
      })
  })

const schemas = (type: string): string =>
  JSON.stringify({ A: { type: 'object', properties: { $ref: '../a.json#/p' } }, type })
const part = (type: string): string => JSON.stringify({ p: { a: { type }, b: { $ref: 'parts/schemas.json#/type' } } })
const same = (text: string): Files[string] => ({ before: text, after: text })

suite('in files', () => {
  const document = { ...openApi({}), paths: { $ref: './parts/paths.json' } }
  const paths = JSON.stringify({
    '/a': { post: { requestBody: { content: json({ $ref: './schemas.json#/A' }) }, responses: {} } },
  })
  test('references of a target start from its file', () => {
    const files = {
      'parts/paths.json': same(paths),
      'parts/schemas.json': same(schemas('x')),
      'a.json': { before: part('string'), after: part('integer') },
    }
    assert.deepEqual(levels('openapi', document, document, files), ['breaking request-property-type-changed'])
  })

  test('a file that is not given is unresolved', () => {
    const files = { 'parts/paths.json': same(paths) }
    const found = levels('openapi', document, document, files)
    assert.deepEqual(
      found.filter((one) => /^(?:base|head) /.test(one)),
      ['base parts/schemas.json#/A', 'head parts/schemas.json#/A'],
    )
  })
})

test('references that lead to each other come to an end', () => {
  const looped = { ...openApi({}), paths: { $ref: '#/x-a' }, 'x-a': { $ref: '#/x-b' }, 'x-b': { $ref: '#/x-a' } }
  const nested = { ...openApi({}), paths: { $ref: '#/x-a' }, 'x-a': { '/a': { parameters: { $ref: '#/paths' } } } }
  for (const contract of [looped, nested]) assert.ok(levels('openapi', contract, contract).length >= 0)
})
