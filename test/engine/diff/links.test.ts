/** A link leads to an operation, which it names by its id or its place, and gives it parameters. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foundBetween } from '../edit-run.ts'

type Json = Readonly<Record<string, unknown>>

const ANSWER = { 200: { description: 'd' } }
const [A, B, C] = ['#/paths/~1a/get', '#/paths/~1b/get', '#/paths/~1c~1%7Bid%7D/get']

/** A contract with the link, and operations by path. */
function linked(link: Json, operations: Readonly<Record<string, string | null>>, rest: Json = {}): Json {
  const items = Object.entries(operations).map(([path, id]) => {
    const operationId = id === null ? {} : { operationId: id }
    const parameters = path.includes('{') ? [{ name: 'x', in: 'path', required: true, schema: {} }] : []
    return [path, { parameters, get: { ...operationId, responses: ANSWER } }] as const
  })
  const start = { get: { responses: { 200: { description: 'd', links: { l: link } } } } }
  return {
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    paths: { '/start': start, ...Object.fromEntries(items) },
    ...rest,
  }
}

const BOTH = { '/a': 'a', '/b': 'b', '/c/{id}': null }
const SWAPPED = { '/a': 'b', '/b': 'a', '/c/{id}': null }
const byId = (operationId: string): Json => ({ operationId })
const byRef = (operationRef: string): Json => ({ operationRef })

const MOVED = linked(byRef(A), { '/b': 'b' })
const BEHIND: Json = {
  ...MOVED,
  paths: { ...Object(MOVED['paths']), '/a': { $ref: '#/components/pathItems/I' } },
  components: { pathItems: { I: { get: { operationId: 'a', responses: ANSWER } } } },
}

function withServer(url: string, start: string): Json {
  const whole = linked(byId('a'), BOTH, { servers: [{ url }] })
  const paths = Object.entries(Object(whole['paths'])).map(([path, item]) => [start + path, item])
  return { ...whole, paths: Object.fromEntries(paths) }
}

const ROWS: readonly (readonly [what: string, one: Json, other: Json, is: 'same' | 'other' | 'lost'])[] = [
  ['an id and a place of one operation', linked(byId('a'), BOTH), linked(byRef(A), BOTH), 'same'],
  ['an id and a place of two operations', linked(byId('a'), BOTH), linked(byRef(B), BOTH), 'other'],
  ['two places', linked(byRef(A), BOTH), linked(byRef(B), BOTH), 'other'],
  ['one place with other escapes', linked(byRef(C), BOTH), linked(byRef('#/paths/~1c~1{id}/get'), BOTH), 'same'],
  ['an id that is another one on both', linked(byId('a'), BOTH), linked(byId('n'), { ...BOTH, '/a': 'n' }), 'same'],
  ['an id that goes to another operation', linked(byId('a'), BOTH), linked(byId('a'), SWAPPED), 'other'],
  ['an id that no operation has', linked(byId('a'), BOTH), linked(byId('a'), { ...BOTH, '/a': null }), 'lost'],
  ['ids that no operation has', linked(byId('n'), BOTH), linked(byId('m'), BOTH), 'other'],
  ['an operation behind a reference', linked(byRef(A), { '/a': 'a', '/b': 'b' }), BEHIND, 'same'],
  [
    'an operation of another contract',
    linked(byRef('https://x/o.json#/a'), BOTH),
    linked(byRef('y.json'), BOTH),
    'other',
  ],
  [
    'another name of a path parameter',
    linked(byRef(C), BOTH),
    linked(byRef('#/paths/~1c~1%7Bno%7D/get'), { '/a': 'a', '/b': 'b', '/c/{no}': null }),
    'same',
  ],
  [
    'a start of the path that moves into the servers',
    withServer('https://x', '/v1'),
    withServer('https://x/v1', ''),
    'same',
  ],
]

const [ID, NO] = ['$response.body#/id', '$response.body#/no']
const at = (place: string, name = 'id'): Json => ({
  name,
  in: place,
  ...(place === 'path' && { required: true }),
  schema: {},
})

/** A contract with a link that gives parameters to an operation that has some. */
function giving(values: Json, parameters: readonly Json[], path = '/p'): Json {
  const get = { operationId: 'a', parameters, responses: ANSWER }
  const whole = linked({ operationId: 'a', parameters: values }, {})
  return { ...whole, paths: { ...Object(whole['paths']), [path]: { get } } }
}

/** Parameters that a link gives to one operation: what it means by their names. */
const GIVEN: readonly (readonly [what: string, one: Json, other: Json, is: 'same' | 'other'])[] = [
  ...['query', 'cookie', 'header'].map(
    (place) =>
      [
        `the place of the only ${place} parameter`,
        giving({ [`${place}.id`]: ID }, [at(place)]),
        giving({ id: ID }, [at(place)]),
        'same',
      ] as const,
  ),
  [
    'the place of the only path parameter',
    giving({ 'path.id': ID }, [at('path')], '/p/{id}'),
    giving({ id: ID }, [at('path')], '/p/{id}'),
    'same',
  ],
  [
    'the place of one of two',
    giving({ 'query.id': ID }, [at('query'), at('header')]),
    giving({ id: ID }, [at('query'), at('header')]),
    'other',
  ],
  [
    'another place of two',
    giving({ 'query.id': ID }, [at('query'), at('header')]),
    giving({ 'header.id': ID }, [at('query'), at('header')]),
    'other',
  ],
  [
    'a name with a dot that another parameter has',
    giving({ 'query.id': ID }, [at('query'), at('query', 'query.id')]),
    giving({ id: ID }, [at('query'), at('query', 'query.id')]),
    'other',
  ],
  [
    'a name with a dot',
    giving({ 'query.id': ID }, [at('query', 'query.id')]),
    giving({ 'query.query.id': ID }, [at('query', 'query.id')]),
    'same',
  ],
  ['the place of none', giving({ 'query.id': ID }, []), giving({ id: ID }, []), 'other'],
  [
    'a place without the parameter',
    giving({ 'header.id': ID }, [at('query')]),
    giving({ id: ID }, [at('query')]),
    'other',
  ],
  [
    'letters of a header field',
    giving({ 'header.X-Id': ID }, [at('header', 'X-Id')]),
    giving({ 'x-id': ID }, [at('header', 'x-ID')]),
    'same',
  ],
  ['letters of a query parameter', giving({ ID }, [at('query')]), giving({ id: ID }, [at('query')]), 'other'],
  ['another value', giving({ 'query.id': ID }, [at('query')]), giving({ id: NO }, [at('query')]), 'other'],
  [
    'one parameter twice',
    giving({ 'query.id': ID, id: ID }, [at('query')]),
    giving({ id: ID }, [at('query')]),
    'other',
  ],
  [
    'another name of a path parameter that it gives',
    giving({ id: ID }, [at('path')], '/p/{id}'),
    giving({ no: ID }, [at('path', 'no')], '/p/{no}'),
    'same',
  ],
  [
    'names of path parameters that change places',
    giving({ id: ID, no: NO }, [at('path'), at('path', 'no')], '/p/{id}/{no}'),
    giving({ id: ID, no: NO }, [at('path'), at('path', 'no')], '/p/{no}/{id}'),
    'other',
  ],
  [
    'another parameter of the same name',
    giving({ id: ID }, [at('query')]),
    giving({ id: ID }, [at('query'), at('header')]),
    'same',
  ],
]

const LED_ELSEWHERE = 'dangerous response-link-changed'

for (const [what, one, other, is] of [...ROWS, ...GIVEN]) {
  test(`${what}: the link leads to ${is === 'same' ? 'the same call' : 'another call, or none'}`, () => {
    const [forth, back] = [found(one, other), found(other, one)]
    assert.deepEqual(forth, is === 'same' ? [] : [LED_ELSEWHERE])
    assert.deepEqual(back, is === 'other' ? [LED_ELSEWHERE] : [])
  })
}

function found(base: Json, head: Json): readonly string[] {
  const links = (foundBetween('openapi', base, head) ?? []).filter((finding) => finding.includes('response-link'))
  return links.map((finding) => finding.split(' ').slice(0, 2).join(' '))
}
