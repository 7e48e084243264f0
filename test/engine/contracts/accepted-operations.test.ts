/** Single operations of a candidate in the baseline: what is accepted is the candidate's, what is not stays the baseline's. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { acceptOperations, compare, DEFAULT_DOCUMENT_LIMITS, expandFindings } from '../../../engine/internal.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Json = Record<string, unknown>

const schema = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })
const answer = (body: Json): Json => ({
  200: { description: 'good', content: { 'application/json': { schema: body } } },
})
const object = (properties: Json, required: readonly string[] = Object.keys(properties)): Json => ({
  type: 'object',
  properties,
  required,
})
const query = (name: string, required = false): Json => ({ name, in: 'query', required, schema: { type: 'string' } })
const text = { type: 'string' }

function contract(paths: Json, rest: Json = {}): Json {
  return { openapi: '3.0.3', info: { title: 'shop', version: '1' }, paths, ...rest }
}
const get = (operationId: string, rest: Json): Json => ({ operationId, ...rest })

const inheriting = (property: Json): Json => ({ allOf: [schema('Order'), object(property)] })
/** Orders of several kinds, which no list holds. */
const kinds = (paths: Json, others: Json): Json => {
  const order = { ...object({ kind: text }), discriminator: { propertyName: 'kind' } }
  return contract(paths, { components: { schemas: { Order: order, Gift: inheriting({ note: text }), ...others } } })
}

interface Case {
  readonly base: Json
  readonly head: Json
  readonly only: readonly string[]
  /** `METHOD /path` of accepted operations, as findings name them. */
  readonly accepted: readonly string[]
  /** `METHOD /path` of what still differs. */
  readonly left: readonly string[]
}

const order = (body: Json, rest: Json = {}): Json => ({
  get: get('getOrder', { responses: answer(body), ...rest }),
})
const list = (body: Json, rest: Json = {}): Json => ({
  get: get('listOrders', { responses: answer(body), ...rest }),
})
const shared = (properties: Json): Json => ({
  components: { schemas: { Order: object(properties), Line: object({ sku: text }) } },
})

/** Two path items behind references that have parameters of their own, with more beside the references. */
const beside = (parameter: Json, body: Json): Json => {
  const item = (operation: Json): Json => ({ ...operation, parameters: [query('page', true)] })
  const referring = (name: string): Json => ({ $ref: `#/x-items/${name}`, parameters: [parameter] })
  return contract(
    { '/order': referring('order'), '/list': referring('list') },
    { 'x-items': { order: item(order(body)), list: item(list(body)) } },
  )
}

const CASES: Readonly<Record<string, Case>> = {
  'a subtype of what only the operation uses': {
    base: kinds({ '/order': order(schema('Order')), '/list': list({ type: 'object' }) }, {}),
    head: kinds(
      { '/order': order(schema('Order')), '/list': list({}) },
      { Gift: inheriting({ note: { type: 'integer' } }), Trial: inheriting({ days: text }) },
    ),
    only: ['getOrder'],
    accepted: ['GET /order'],
    left: ['GET /list'],
  },
  'an operation behind a reference to all paths': {
    base: contract(
      { $ref: '#/x-paths' },
      { 'x-paths': { '/order': order({ type: 'object' }), '/list': list({ type: 'object' }) } },
    ),
    head: contract(
      { $ref: '#/x-paths' },
      { 'x-paths': { '/order': order({ type: 'array' }), '/list': list({ type: 'array' }) } },
    ),
    only: ['getOrder'],
    accepted: ['GET /order'],
    left: ['GET /list'],
  },
  'an operation of a path item behind a reference, with parameters beside it': {
    base: beside(query('shop'), { type: 'object' }),
    head: beside(query('shop', true), { type: 'array' }),
    only: ['getOrder'],
    accepted: ['GET /order'],
    left: ['GET /list'],
  },
  'an operation that differs in itself': {
    base: contract({ '/order': order({ type: 'object' }), '/list': list({ type: 'object' }) }),
    head: contract({
      '/order': order({ type: 'object' }, { parameters: [query('shop', true)] }),
      '/list': list({ type: 'object' }, { parameters: [query('shop', true)] }),
    }),
    only: ['getOrder'],
    accepted: ['GET /order'],
    left: ['GET /list'],
  },
  'a component that both use': {
    base: contract(
      { '/order': order(schema('Order')), '/list': list(schema('Order')) },
      shared({ id: text, note: text }),
    ),
    head: contract({ '/order': order(schema('Order')), '/list': list(schema('Order')) }, shared({ id: text })),
    only: ['GET /order'],
    accepted: ['GET /order'],
    left: ['GET /list'],
  },
  'a component behind a component, and one that contains itself': {
    base: contract(
      { '/order': order(schema('Order')), '/list': list(schema('Line')) },
      {
        components: {
          schemas: { Order: object({ line: schema('Line') }), Line: object({ sku: text, next: schema('Line') }) },
        },
      },
    ),
    head: contract(
      { '/order': order(schema('Order')), '/list': list(schema('Line')) },
      { components: { schemas: { Order: object({ line: schema('Line') }), Line: object({ next: schema('Line') }) } } },
    ),
    only: ['getOrder'],
    accepted: ['GET /order'],
    left: ['GET /list'],
  },
  'a component that only this operation uses': {
    base: contract(
      { '/order': order(schema('Order')), '/list': list(schema('Line')) },
      shared({ id: text, note: text }),
    ),
    head: contract(
      { '/order': order(schema('Order')), '/list': list({ type: 'array', items: text }) },
      shared({ id: text }),
    ),
    only: ['getOrder'],
    accepted: ['GET /order'],
    left: ['GET /list'],
  },
  'parameters of the path': {
    base: contract({ '/order': { ...order({}), post: get('addOrder', { responses: answer({}) }) } }),
    head: contract({
      '/order': { ...order({}), post: get('addOrder', { responses: answer({}) }), parameters: [query('shop', true)] },
    }),
    only: ['getOrder'],
    accepted: ['GET /order'],
    left: ['POST /order'],
  },
  'parameters of the path that went': {
    base: contract({
      '/order': { ...order({}), post: get('addOrder', { responses: answer({}) }), parameters: [query('shop', true)] },
    }),
    head: contract({ '/order': { ...order({}), post: get('addOrder', { responses: answer({}) }) } }),
    only: ['getOrder'],
    accepted: ['GET /order'],
    left: ['POST /order'],
  },
  'security of the whole contract': {
    base: contract({ '/order': order({}), '/list': list({}) }),
    head: contract(
      { '/order': order({}), '/list': list({}) },
      {
        security: [{ key: [] }],
        components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
      },
    ),
    only: ['getOrder'],
    accepted: ['GET /order'],
    left: ['GET /list'],
  },
  'an operation that is gone': {
    base: contract({ '/order': order({}), '/list': list({}) }),
    head: contract({ '/other': { get: get('other', { responses: answer({}) }) } }),
    only: ['getOrder'],
    accepted: ['GET /order'],
    left: ['GET /list', 'GET /other'],
  },
  'an operation that came, with its component': {
    base: contract({ '/list': list({ type: 'object' }) }),
    head: contract({ '/order': order(schema('Order')) }, shared({ id: text })),
    only: ['getOrder'],
    accepted: ['GET /order'],
    left: ['GET /list'],
  },
  'an operation at another path': {
    base: contract({ '/order': order({}), '/list': list({}) }),
    head: contract({ '/v2/order': order({}), '/list': list({}, { parameters: [query('shop', true)] }) }),
    only: ['getOrder'],
    accepted: ['GET /order', 'GET /v2/order'],
    left: ['GET /list'],
  },
  'parts of an embedded file': {
    base: contract(
      {
        '/order': order({ $ref: '#/x-preflight-files/o.yaml/Order' }),
        '/list': list({ $ref: '#/x-preflight-files/o.yaml/Order' }),
      },
      { 'x-preflight-files': { 'o.yaml': { Order: object({ id: text, note: text }) } } },
    ),
    head: contract(
      {
        '/order': order({ $ref: '#/x-preflight-files/o.yaml/Order' }),
        '/list': list({ $ref: '#/x-preflight-files/o.yaml/Order' }),
      },
      { 'x-preflight-files': { 'o.yaml': { Order: object({ id: text }) } } },
    ),
    only: ['getOrder'],
    accepted: ['GET /order'],
    left: ['GET /list'],
  },
}

/** `METHOD /path` of all operations that findings name; where a requirement is stated, at the root or with the operation, is info. */
function touched(before: string, after: string): readonly string[] {
  const comparison = compare({ id: 'a', type: 'openapi', before, after }, {}, sha256Hex)
  assert.ok(comparison.ok, JSON.stringify(comparison))
  assert.deepEqual(comparison.value.unresolved, [])
  const groups = comparison.value.groups.filter(({ rule }) => rule !== 'api-security-removed')
  const findings = expandFindings(groups)
  const names = findings.flatMap(({ operation }) =>
    operation === null ? [] : [`${operation.method ?? ''} ${operation.path ?? ''}`],
  )
  return [...new Set(names)].toSorted()
}

suite('what is accepted is the difference, and what is not accepted is what is left', () => {
  for (const [name, { base, head, only, accepted, left }] of Object.entries(CASES))
    test(name, () => {
      const [before, after] = [JSON.stringify(base), JSON.stringify(head)]
      const composed = acceptOperations(before, after, only, DEFAULT_DOCUMENT_LIMITS)
      assert.ok(composed.ok, JSON.stringify(composed))
      const { content, operations } = composed.value
      assert.deepEqual(touched(before, content), accepted)
      assert.deepEqual(touched(content, after), left)
      for (const label of accepted) assert.ok(operations.includes(label), label)
    })
})

test('what was accepted before stays when another operation follows, and unused versions go', () => {
  const { base, head } = CASES['a component that both use'] ?? assert.fail()
  const [before, after] = [JSON.stringify(base), JSON.stringify(head)]
  const first = acceptOperations(before, after, ['getOrder'], DEFAULT_DOCUMENT_LIMITS)
  assert.ok(first.ok)
  assert.match(first.value.content, /x-preflight-accepted/)
  const second = acceptOperations(first.value.content, after, ['listOrders'], DEFAULT_DOCUMENT_LIMITS)
  assert.ok(second.ok)
  assert.deepEqual(touched(second.value.content, after), [])
  const again = acceptOperations(first.value.content, before, ['getOrder'], DEFAULT_DOCUMENT_LIMITS)
  assert.ok(again.ok)
  assert.deepEqual(JSON.parse(again.value.content), base)
})

const mapped = (property: Json): Json =>
  contract(
    { '/order': order(schema('Order')), '/list': list(schema('Order')) },
    {
      components: {
        schemas: {
          Order: {
            oneOf: [schema('Line')],
            discriminator: { propertyName: 'kind', mapping: { line: '#/components/schemas/Line' } },
          },
          Line: object({ kind: text, ...property }),
        },
      },
    },
  )
const secured = (name: string): Json =>
  contract(
    { '/order': order({}), '/list': list({}) },
    { security: [{ key: [] }], components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name } } } },
  )
const plain = contract({ '/order': order({ type: 'object' }), '/list': list({ type: 'object' }) })

const REFUSED: Readonly<
  Record<string, readonly [base: Json, head: Json, only: readonly string[], pointer: string, why: RegExp]>
> = {
  'a name that nobody has': [plain, plain, ['getOrder', 'nothing'], '/1', /neither/],
  'a name that two operations have': [
    plain,
    contract({ '/order': order({}), '/again': order({}) }),
    ['getOrder'],
    '/0',
    /several/,
  ],
  'another version of the language': [plain, { ...plain, openapi: '3.1.0' }, ['getOrder'], '', /version of OpenAPI/],
  'a path whose parameter has another name': [
    contract({ '/o/{id}': { ...order({}), delete: get('drop', { responses: {} }) } }),
    contract({ '/o/{order}': order({}) }),
    ['getOrder'],
    '',
    /accept DELETE/,
  ],
  'a file that is not there': [
    plain,
    contract({ '/order': order({ $ref: './order.yaml' }) }),
    ['getOrder'],
    '',
    /order\.yaml/,
  ],
  'a component that is not there': [
    { ...plain, ...shared({}) },
    contract({ '/order': order(schema('Order')) }),
    ['getOrder'],
    '',
    /Order/,
  ],
  'a discriminator that maps to what differs': [mapped({ a: text }), mapped({}), ['getOrder'], '', /discriminator/i],
  'a security scheme that differs for all': [secured('X-Key'), secured('X-Other'), ['getOrder'], '', /secured/],
  'an identifier within a part': [
    plain,
    contract({ '/order': order({ $id: 'https://example.org/order', type: 'object' }) }),
    ['getOrder'],
    '',
    /\$id/,
  ],
  'a subtype that another operation uses': [
    kinds({ '/order': order(schema('Order')), '/list': list(schema('Order')) }, {}),
    kinds({ '/order': order(schema('Order')), '/list': list(schema('Order')) }, { Gift: inheriting({ note: {} }) }),
    ['getOrder'],
    '',
    /discriminator selects .*Gift/,
  ],
  'a new subtype that another operation would get': [
    kinds({ '/order': order({ type: 'object' }), '/list': list(schema('Order')) }, {}),
    kinds({ '/order': order(schema('Trial')), '/list': list(schema('Order')) }, { Trial: inheriting({ days: text }) }),
    ['getOrder'],
    '',
    /discriminator selects .*Trial/,
  ],
  'a subtype that is removed': [
    kinds({ '/order': order(schema('Order')) }, { Trial: inheriting({ days: text }) }),
    kinds({ '/order': order(schema('Order')) }, {}),
    ['getOrder'],
    '',
    /discriminator selects .*Trial/,
  ],
  'the name of a member of Object.prototype': [plain, plain, ['constructor'], '/0', /neither/],
}

suite('what cannot be accepted alone is refused with the reason', () => {
  for (const [name, [base, head, only, pointer, why]] of Object.entries(REFUSED))
    test(name, () => {
      const composed = acceptOperations(JSON.stringify(base), JSON.stringify(head), only, DEFAULT_DOCUMENT_LIMITS)
      assert.ok(!composed.ok, JSON.stringify(composed))
      assert.equal(composed.problem.pointer ?? '', pointer)
      assert.match(composed.problem.message, why)
    })
})
