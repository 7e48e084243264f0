/**
 * Every member of Swagger 2.0 that has a meaning, with each action, in both directions: what it is at the worst. What refuses
 * a caller or takes something from a reader is never information. A member without a row fails.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkElements, type ElementRow } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

/** A contract with one operation: members of the root, of the path and of the operation. */
interface Parts {
  readonly root?: Json
  readonly item?: Json
  readonly operation?: Json
}

const TEXT = { type: 'string' }
const OBJECT = { type: 'object', properties: { a: TEXT } }
const NEEDED = { ...OBJECT, required: ['a'] }
const ANSWER = { description: 'done', schema: OBJECT }
const KEY = { type: 'apiKey', in: 'header', name: 'X-Key' }
const OAUTH = { type: 'oauth2', flow: 'implicit', authorizationUrl: 'https://id.example/a', scopes: { r: '', w: '' } }

const whole = ({ root = {}, item = {}, operation = {} }: Parts): Json => ({
  swagger: '2.0',
  info: { title: 't', version: '1.0.0' },
  paths: { '/a': { ...item, post: { responses: { 200: ANSWER }, ...operation } } },
  ...root,
})

const parameters = (...list: readonly Json[]): Parts => ({ operation: { parameters: list } })
const query = (more: Json): Parts => parameters({ name: 'q', in: 'query', ...TEXT, ...more })
const number = (more: Json): Parts => query({ type: 'integer', ...more })
const list = (more: Json): Parts => query({ type: 'array', items: TEXT, ...more })
/** A list of lists, and the separator of the inner one, which is a definition. */
const innerList = (collectionFormat: string): Parts => ({
  ...list({ items: { $ref: '#/definitions/L' } }),
  root: { definitions: { L: { type: 'array', items: TEXT, collectionFormat } } },
})
const field = (more: Json): Parts => parameters({ name: 'q', in: 'formData', ...TEXT, ...more })
const body = (more: Json): Parts => parameters({ name: 'b', in: 'body', schema: OBJECT, ...more })
const answer = (more: Json): Parts => ({ operation: { responses: { 200: { ...ANSWER, ...more } } } })
const heading = (header: Json): Parts => answer({ headers: { 'X-H': header } })
const at = (root: Json, operation: Json = {}): Parts => ({
  root: { host: 'a.example', schemes: ['https'], ...root },
  operation,
})
const taking = (root: Json, operation: Json = {}): Parts => ({
  root,
  operation: { ...body({}).operation, ...operation },
})
const secured = (scheme: Json, scopes: readonly string[] = []): Parts => ({
  root: { securityDefinitions: { s: scheme }, security: [{ s: scopes }] },
})
/** A field of the path, and what the operation says of the same field. */
const overridden = (own: Json): Parts => ({
  item: { parameters: [{ name: 'q', in: 'formData', ...TEXT }] },
  ...field(own),
})

const ELEMENTS: readonly ElementRow<Parts>[] = [
  ['the host', at({}), at({ host: 'b.example' }), 'dangerous', 'dangerous'],
  ['the base path', at({}), at({ basePath: '/v1' }), 'dangerous', 'dangerous'],
  ['the base path without a path', at({}), at({ basePath: '/' }), 'none', 'none'],
  ['a scheme', at({}), at({ schemes: ['https', 'http'] }), 'info', 'dangerous'],
  ['another scheme', at({}), at({ schemes: ['http'] }), 'dangerous', 'dangerous'],
  [
    'another scheme at the host of the contract',
    { root: { basePath: '/v1', schemes: ['https'] } },
    { root: { basePath: '/v1', schemes: ['http'] } },
    'dangerous',
    'dangerous',
  ],
  [
    'the first scheme at the host of the contract',
    { root: { basePath: '/v1' } },
    { root: { basePath: '/v1', schemes: ['http'] } },
    'none',
    'none',
  ],
  ['a scheme of one operation', at({}), at({}, { schemes: ['http'] }), 'dangerous', 'dangerous'],
  ['the schemes of all as those of one operation', at({}), at({}, { schemes: ['https'] }), 'none', 'none'],
  [
    'a scheme of one operation at the host of the contract',
    { root: { schemes: ['https'] } },
    { root: { schemes: ['https'] }, operation: { schemes: ['http'] } },
    'dangerous',
    'dangerous',
  ],
  [
    'a type of all bodies',
    taking({ consumes: ['text/csv'] }),
    taking({ consumes: ['text/csv', 'text/plain'] }),
    'info',
    'breaking',
  ],
  ['JSON as the type of all bodies', taking({}), taking({ consumes: ['application/json'] }), 'none', 'none'],
  [
    'the types of one body',
    taking({ consumes: ['text/csv'] }),
    taking({ consumes: ['text/csv'] }, { consumes: ['text/plain'] }),
    'breaking',
    'breaking',
  ],
  [
    'the types of all answers',
    { root: { produces: ['text/csv'] } },
    { root: { produces: ['text/plain'] } },
    'breaking',
    'breaking',
  ],
  ['the types of one answer', {}, { operation: { produces: ['text/plain'] } }, 'breaking', 'breaking'],
  ['an optional parameter', {}, query({}), 'info', 'dangerous'],
  ['a parameter of a path', {}, { item: { parameters: [{ name: 'q', in: 'query', ...TEXT }] } }, 'info', 'dangerous'],
  [
    'a parameter by its name',
    query({}),
    {
      root: { parameters: { q: { name: 'q', in: 'query', ...TEXT } } },
      ...parameters({ $ref: '#/parameters/q' }),
    },
    'none',
    'none',
  ],
  ['the name of a parameter', query({}), query({ name: 'p' }), 'dangerous', 'dangerous'],
  ['the place of a parameter', query({}), query({ in: 'header' }), 'dangerous', 'dangerous'],
  ['requiredness of a parameter', query({}), query({ required: true }), 'breaking', 'info'],
  ['an empty value of a parameter', query({ allowEmptyValue: true }), query({}), 'breaking', 'info'],
  ['the type of a parameter', query({}), query({ type: 'integer' }), 'breaking', 'info'],
  ['the format of a parameter', query({}), query({ format: 'date' }), 'breaking', 'info'],
  ['the separator of a list', list({}), list({ collectionFormat: 'pipes' }), 'breaking', 'breaking'],
  ['the separator of a list that is the default', list({}), list({ collectionFormat: 'csv' }), 'none', 'none'],
  [
    'the separator of an inner list',
    list({ items: { type: 'array', items: TEXT } }),
    list({ items: { type: 'array', items: TEXT, collectionFormat: 'ssv' } }),
    'breaking',
    'breaking',
  ],
  ['the separator of an inner list behind a reference', innerList('csv'), innerList('ssv'), 'breaking', 'breaking'],
  ['the items of a list', list({}), list({ items: { ...TEXT, maxLength: 5 } }), 'dangerous', 'info'],
  ['the default of a parameter', query({ default: 'a' }), query({ default: 'b' }), 'breaking', 'breaking'],
  ['the values of a parameter', query({ enum: ['a', 'b'] }), query({ enum: ['a'] }), 'breaking', 'info'],
  ['maximum', number({ maximum: 5 }), number({ maximum: 4 }), 'breaking', 'info'],
  ['exclusiveMaximum', number({ maximum: 5 }), number({ maximum: 5, exclusiveMaximum: true }), 'breaking', 'info'],
  ['minimum', number({ minimum: 5 }), number({ minimum: 6 }), 'breaking', 'info'],
  ['exclusiveMinimum', number({ minimum: 5 }), number({ minimum: 5, exclusiveMinimum: true }), 'breaking', 'info'],
  ['multipleOf', number({}), number({ multipleOf: 2 }), 'breaking', 'info'],
  ['maxLength', query({ maxLength: 5 }), query({ maxLength: 4 }), 'breaking', 'info'],
  ['minLength', query({ minLength: 5 }), query({ minLength: 6 }), 'breaking', 'info'],
  ['pattern', query({}), query({ pattern: '^a' }), 'breaking', 'info'],
  ['maxItems', list({ maxItems: 5 }), list({ maxItems: 4 }), 'breaking', 'info'],
  ['minItems', list({ minItems: 5 }), list({ minItems: 6 }), 'breaking', 'info'],
  ['uniqueItems', list({}), list({ uniqueItems: true }), 'breaking', 'info'],
  [
    'an optional field',
    field({}),
    parameters({ name: 'q', in: 'formData', ...TEXT }, { name: 'r', in: 'formData', ...TEXT }),
    'info',
    'dangerous',
  ],
  ['requiredness of a field', field({}), field({ required: true }), 'breaking', 'info'],
  ['an empty value of a field', field({ allowEmptyValue: true }), field({}), 'breaking', 'info'],
  ['the type of a field', field({}), field({ type: 'integer' }), 'breaking', 'info'],
  ['a field that is a file', field({}), field({ type: 'file' }), 'breaking', 'breaking'],
  [
    'the separator of a field',
    field({ type: 'array', items: TEXT }),
    field({ type: 'array', items: TEXT, collectionFormat: 'multi' }),
    'breaking',
    'breaking',
  ],
  ['a field that overrides that of the path', overridden({}), overridden({ type: 'integer' }), 'breaking', 'info'],
  ['a field that no operation uses', field({}), overridden({}), 'none', 'none'],
  ['the name of the body', body({}), body({ name: 'c' }), 'none', 'none'],
  ['requiredness of the body', body({}), body({ required: true }), 'breaking', 'info'],
  ['the schema of the body', body({}), body({ schema: NEEDED }), 'breaking', 'info'],
  ['a status', {}, { operation: { responses: { 200: ANSWER, 202: ANSWER } } }, 'info', 'breaking'],
  [
    'an answer by its name',
    {},
    { root: { responses: { done: ANSWER } }, operation: { responses: { 200: { $ref: '#/responses/done' } } } },
    'none',
    'none',
  ],
  ['the schema of an answer', answer({ schema: NEEDED }), answer({}), 'breaking', 'info'],
  [
    'the schema of an answer by its name',
    { root: { definitions: { A: NEEDED } }, ...answer({ schema: { $ref: '#/definitions/A' } }) },
    { root: { definitions: { A: OBJECT } }, ...answer({ schema: { $ref: '#/definitions/A' } }) },
    'breaking',
    'info',
  ],
  ['a header', {}, heading(TEXT), 'info', 'dangerous'],
  ['the type of a header', heading({ type: 'integer' }), heading(TEXT), 'breaking', 'info'],
  [
    'the separator of a header',
    heading({ type: 'array', items: TEXT }),
    heading({ type: 'array', items: TEXT, collectionFormat: 'ssv' }),
    'breaking',
    'breaking',
  ],
  ['security of all', { root: { securityDefinitions: { s: KEY } } }, secured(KEY), 'breaking', 'dangerous'],
  [
    'security of one operation',
    secured(KEY),
    { ...secured(KEY), operation: { security: [] } },
    'dangerous',
    'breaking',
  ],
  ['the type of a scheme', secured(KEY), secured({ type: 'basic' }), 'breaking', 'breaking'],
  ['the name of a key', secured(KEY), secured({ ...KEY, name: 'X-Other' }), 'breaking', 'breaking'],
  ['the place of a key', secured(KEY), secured({ ...KEY, in: 'query' }), 'breaking', 'breaking'],
  [
    'the flow of a scheme',
    secured(OAUTH),
    secured({ ...OAUTH, flow: 'application', tokenUrl: 'https://id.example/t' }),
    'breaking',
    'breaking',
  ],
  [
    'the address of authorization',
    secured(OAUTH),
    secured({ ...OAUTH, authorizationUrl: 'https://id.example/b' }),
    'breaking',
    'breaking',
  ],
  ['the scopes of a scheme', secured(OAUTH), secured({ ...OAUTH, scopes: { r: '' } }), 'breaking', 'info'],
  ['a needed scope', secured(OAUTH, ['r']), secured(OAUTH, ['r', 'w']), 'breaking', 'dangerous'],
  ['an operation', {}, { item: { get: { responses: { 200: ANSWER } } } }, 'info', 'breaking'],
  ['a deprecation', {}, { operation: { deprecated: true } }, 'info', 'info'],
  ['the id of an operation', { operation: { operationId: 'a' } }, { operation: { operationId: 'b' } }, 'info', 'info'],
]

checkElements('an element of Swagger 2.0', 'openapi', ELEMENTS, whole)

/** Members of the Swagger 2.0 objects. Those for people only are left out, as are schemas, which have rows of every format. */
const MEMBERS = new Set(
  `host basePath schemes consumes produces paths definitions parameters responses securityDefinitions security
  operationId deprecated get post name in required schema type format allowEmptyValue items collectionFormat default
  maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems enum
  multipleOf headers flow authorizationUrl tokenUrl scopes`.split(/\s+/),
)

/** The names of the members in which two values differ, with those that hold them. */
function differing(one: unknown, other: unknown, holders: readonly string[], into: Set<string>): void {
  if (JSON.stringify(one) === JSON.stringify(other)) return
  for (const name of holders) into.add(name)
  const [base, head] = [one, other].map((side): Json => (typeof side === 'object' ? { ...side } : {}))
  for (const name of new Set([...Object.keys(base ?? {}), ...Object.keys(head ?? {})]))
    differing(base?.[name], head?.[name], [...holders, name], into)
}

test('each member of Swagger 2.0 has a row', () => {
  const touched = new Set<string>()
  for (const [, one, other] of ELEMENTS) differing(whole(one), whole(other), [], touched)
  assert.deepEqual(
    [...MEMBERS].filter((name) => !touched.has(name)),
    [],
  )
})
