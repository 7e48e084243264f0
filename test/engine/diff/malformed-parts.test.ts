/** Parts of an OpenAPI contract of a wrong JSON type: a change in them is never silent, wherever they are. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../../../engine/index.ts'
import type { FindingGroup } from '../../../engine/model/finding.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Contract = Readonly<Record<string, unknown>>

const BODY = { 'application/json': { schema: { type: 'string' } } }
const body = (schema: object): object => ({ content: { 'application/json': { schema } } })

function openapi(get: object, beside: object = {}): Contract {
  return {
    openapi: '3.1.0',
    info: { title: 'shop', version: '1' },
    paths: { '/orders': { get: { responses: { 200: { description: 'ok' } }, ...get } } },
    ...beside,
  }
}

function swagger(get: object): Contract {
  return {
    swagger: '2.0',
    info: { title: 'shop', version: '1' },
    paths: { '/orders': { get: { responses: { 200: { description: 'ok' } }, ...get } } },
  }
}

const answer = (response: unknown): Contract => openapi({ responses: { 200: response } })

/** Contracts with one malformed part: what it is, the contract with a value in its place. */
const MALFORMED: readonly (readonly [what: string, contract: (value: string) => Contract])[] = [
  ['parameters in a map', (name) => openapi({ parameters: { [name]: { in: 'query' } } })],
  ['a parameter as text', (text) => openapi({ parameters: [text] })],
  ['a schema as text', (text) => openapi({ parameters: [{ name: 'q', in: 'query', schema: text }] })],
  ['contents in a list', (type) => openapi({ requestBody: { content: [type] } })],
  ['a media type as text', (text) => openapi({ requestBody: { content: { 'application/json': text } } })],
  ['a request body as text', (text) => openapi({ requestBody: text })],
  ['a response as text', (text) => answer(text)],
  ['responses in a list', (text) => openapi({ responses: [text] })],
  ['headers in a list', (name) => answer({ description: 'ok', headers: [name] })],
  ['a header as text', (text) => answer({ description: 'ok', headers: { 'x-rate': text } })],
  [
    'an encoding as text',
    (text) => openapi({ requestBody: { content: { 'multipart/form-data': { schema: {}, encoding: { a: text } } } } }),
  ],
  ['callbacks in a list', (name) => openapi({ callbacks: [name] })],
  ['a path item of a callback as text', (text) => openapi({ callbacks: { done: { '{$url}': text } } })],
  ['security in a map', (name) => openapi({ security: { [name]: [] } })],
  ['servers in a map', (url) => openapi({ servers: { url } })],
  ['a path item as text', (text) => openapi({}, { webhooks: { done: text } })],
  ['an operation as text', (text) => openapi({}, { webhooks: { done: { post: text } } })],
  ['paths in a list', (text) => ({ ...openapi({}), paths: [text] })],
  ['components in a list', (text) => openapi({}, { components: [text] })],
  [
    'a component as text',
    (text) =>
      openapi(
        { responses: { 200: { $ref: '#/components/responses/Ok' } } },
        {
          components: { responses: { Ok: text } },
        },
      ),
  ],
  ['a bound as text', (text) => answer({ description: 'ok', ...body({ maxLength: text }) })],
  ['required names as text', (text) => openapi({ requestBody: body({ required: text }) })],
  [
    'a keyword behind a reference',
    (text) => openapi({ requestBody: body({ $ref: '#/x-more' }) }, { 'x-more': { items: text } }),
  ],
  ['a flag of a parameter as text', (required) => openapi({ parameters: [{ name: 'q', in: 'query', required }] })],
  ['parameters of Swagger in a map', (name) => swagger({ parameters: { [name]: { in: 'query' } } })],
  ['a schema of Swagger as text', (text) => swagger({ responses: { 200: { description: 'ok', schema: text } } })],
]

function groupsOf(before: Contract, after: Contract): readonly FindingGroup[] {
  const [base, head] = [JSON.stringify(before), JSON.stringify(after)]
  const result = compare({ id: 'shop', type: 'openapi', before: base, after: head }, {}, sha256Hex)
  assert.ok(result.ok, JSON.stringify(result))
  return result.value.groups
}

function rulesOf(before: Contract, after: Contract): ReadonlySet<string> {
  const groups = groupsOf(before, after).filter(({ level }) => level !== 'info')
  return new Set(groups.map(({ rule }) => rule))
}

for (const [what, contract] of MALFORMED) {
  test(`${what}: a change is reported, and the same on both sides is none`, () => {
    assert.ok(rulesOf(contract('a'), contract('b')).has('api-part-malformed'))
    assert.deepEqual([...rulesOf(contract('a'), contract('a'))], [])
  })
}

test('a part that becomes malformed, or stops being malformed, is reported', () => {
  const [good, bad] = [openapi({ parameters: [] }), openapi({ parameters: { q: {} } })]
  assert.ok(rulesOf(good, bad).has('api-part-malformed'))
  assert.ok(rulesOf(bad, good).has('api-part-malformed'))
})

test('in what is new as a whole it is information: nobody could use it before', () => {
  const bad = { get: { parameters: { q: {} } } }
  const added: readonly Contract[] = [
    openapi({}, { paths: { '/orders': { get: {} }, '/new': bad } }),
    openapi({}, { paths: { '/orders': { get: {}, post: bad.get } } }),
    openapi({}, { paths: { '/orders': { get: {} } }, webhooks: { sent: bad } }),
  ]
  const base = openapi({}, { paths: { '/orders': { get: {} } } })
  for (const head of added) {
    const groups = groupsOf(base, head)
    assert.deepEqual(
      groups.filter(({ level }) => level !== 'info').map(({ rule }) => rule),
      [],
    )
    assert.ok(groups.some(({ rule }) => rule === 'api-added-part-malformed'))
  }
  // A path whose variable has another name is the same path.
  const [one, other] = ['id', 'key'].map((name) =>
    openapi({}, { paths: { [`/orders/{${name}}`]: name === 'id' ? { get: {} } : bad } }),
  )
  assert.ok(one !== undefined && other !== undefined && rulesOf(one, other).has('api-part-malformed'))
})

function referring(name: unknown): Contract {
  return openapi({ parameters: [{ $ref: '#/x-query' }] }, { 'x-query': { name, in: 'query', schema: {} } })
}

test('a part behind a reference to a place of any name is not left out', () => {
  for (const [one, other] of [
    [7, 8],
    [7, 'q'],
    ['q', 7],
  ])
    assert.ok(rulesOf(referring(one), referring(other)).has('api-part-malformed'), `${one} to ${other}`)
})

test('an empty value of YAML is an absent part, and extensions are no parts', () => {
  assert.deepEqual([...rulesOf(openapi({ parameters: null }), openapi({ parameters: [] }))], [])
  const noted = (note: string): Contract =>
    openapi({}, { paths: { '/orders': { get: { 'x-note': note } }, 'x-note': note } })
  assert.deepEqual([...rulesOf(noted('a'), noted('b'))], [])
  assert.deepEqual(
    [...rulesOf(openapi({ requestBody: { content: BODY } }), openapi({ requestBody: { content: BODY } }))],
    [],
  )
})
