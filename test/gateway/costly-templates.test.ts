/** Paths of a contract that are costly to match: a request holds the event loop for a short time only, or no contract is read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOperationMatcher, readOperations } from '../../gateway/validation/api-operations.ts'
import { literalsOf, valuesBetween } from '../../gateway/validation/path-templates.ts'
import { pathValues } from '../../gateway/validation/parameters.ts'
import { excessiveGrowth } from '../fakes/growth.ts'

const matcherOf = (paths: readonly string[]) =>
  createOperationMatcher({ basePaths: [''], operations: paths.map((path) => ({ method: 'GET', path })) })

/** Form of the template, with a text and the values that its names have in it; null: it has another form. */
const VALUES: readonly (readonly [segment: string, text: string, values: readonly string[] | null])[] = [
  ['a', 'a', []],
  ['a', 'b', null],
  ['{x}', 'a', ['a']],
  ['{x}', '', null],
  ['{x}.json', 'a.json', ['a']],
  ['{x}.json', '.json', null],
  ['{x}.json', 'a.json.json', ['a.json']],
  ['v{x}', 'v1', ['1']],
  ['v{x}', 'v', null],
  ['{x}{y}', 'a', null],
  ['{x}{y}', 'abc', ['ab', 'c']],
  ['{x}{y}{z}', 'abc', ['a', 'b', 'c']],
  ['{x}-{y}', 'a-b', ['a', 'b']],
  ['{x}-{y}', 'a-b-c', ['a-b', 'c']],
  ['{x}-{y}', '--', null],
  ['{x}-{y}', '---', ['-', '-']],
  ['{x}-{y}', '-a', null],
  ['{x}-{y}', 'a-', null],
  ['{x}-{y}', 'a--', ['a', '-']],
  ['{x}-{y}.tgz', 'a-b-.tgz', ['a', 'b-']],
  ['{x}-{y}-{z}', 'a-b-c-d', ['a-b', 'c', 'd']],
  ['{x}..{y}', 'a...b', ['a.', 'b']],
  ['({x})', '(a)', ['a']],
]

test('the names of a segment stand for what an expression finds', () => {
  for (const [segment, text, values] of VALUES) {
    assert.deepEqual(valuesBetween(literalsOf(segment), text), values, `${segment} in ${text}`)
    const path = `/v1/${text}`
    const named = pathValues(`/v1/${segment}`, path)
    assert.deepEqual(named === null ? null : [...named.values()], values, path)
    const found = matcherOf([`/v1/${segment}`]).match('GET', path)
    // A format behind the last name is no part of it to some routers, and neither is a dot at its end.
    if (values !== null) assert.equal(found?.operations.length, 1, path)
  }
})

const COSTLY: Readonly<Record<string, (size: number) => unknown>> = {
  'a text that stands between names, many times': (size) =>
    matcherOf(['/{a}-{b}-{c}.tgz', '/{a}{b}{c}{d}.tgz']).match('GET', `/${'-'.repeat(size / 8)}x`),
  'the same, where values are read': (size) => pathValues('/{a}-{b}-{c}.tgz', `/${'-'.repeat(size / 8)}x`),
  'a name that is read for the rest of a path': (size) => matcherOf([`/{a:${'*'.repeat(size)}`]),
  'paths of one form': (size) =>
    matcherOf(Array.from({ length: size / 16 }, (_, index) => `/a/{p${index}}`)).match('GET', '/a/b'),
  'paths with a text behind their name': (size) =>
    matcherOf(Array.from({ length: size / 16 }, (_, index) => `/a/{p}x${index}`)).match('GET', '/a/b'),
  'paths that differ in what is a name': (size) => {
    const depth = Math.floor(Math.log2(size / 16))
    const forms = Array.from({ length: 2 ** depth }, (_, form) =>
      Array.from({ length: depth }, (_part, index) => ((form >> index) & 1 ? '/a' : `/{p${index}}`)).join(''),
    )
    return matcherOf(forms).match('GET', '/A'.repeat(depth))
  },
}

for (const [what, run] of Object.entries(COSTLY))
  test(`the time grows with the size for ${what}`, async () => {
    assert.equal(await excessiveGrowth(run, 128 * 1024), null)
  })

test('a path that may mean very many operations is judged by the contract as a whole', () => {
  const many = matcherOf(Array.from({ length: 100 }, (_, index) => `/a/{p${index}}`))
  assert.deepEqual(many.match('GET', '/a/b'), { operations: [], isDescribed: false })
  assert.equal(many.hasOtherMethods('POST', '/a/b'), true)
  assert.equal(many.hasOtherMethods('GET', '/a/b'), true)
  const few = matcherOf(Array.from({ length: 20 }, (_, index) => `/a/{p${index}}`)).match('GET', '/a/b')
  assert.equal(few?.operations.length, 20)
  assert.equal(few?.isDescribed, true)
})

const paths = (count: number, item: object): object =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`/p${index}`, item]))
const servers = Array.from({ length: 20_000 }, (_, index) => ({ url: `/v${index}` }))
const get = { responses: {} }

/** Contracts of less than a megabyte. */
const UNREADABLE: Readonly<Record<string, object>> = {
  'as many servers as paths': { servers, paths: paths(20_000, { get }) },
  'paths that refer to one with many servers': {
    paths: { ...paths(10_000, { $ref: '#/components/pathItems/a' }), '/p': { get } },
    components: { pathItems: { a: { servers, get } } },
  },
  'a path of very many segments': { paths: { ['/a'.repeat(2000)]: { get } } },
}

for (const [what, contract] of Object.entries(UNREADABLE))
  test(`a contract is not matched with ${what}`, () => {
    assert.throws(
      () => createOperationMatcher(readOperations(JSON.stringify({ openapi: '3.1.0', ...contract }))),
      /more servers than paths can be looked for|more than 1000 segments/,
    )
  })

test('operations below servers of their own are not found below the servers of the document', () => {
  const text = JSON.stringify({
    openapi: '3.1.0',
    servers: [{ url: '/v1' }, { url: '/v2' }],
    paths: { '/a': { get }, '/b': { servers: [{ url: '/v2' }, { url: '/v3' }], get } },
  })
  const matcher = createOperationMatcher(readOperations(text))
  for (const [path, isDescribed] of [
    ['/v1/a', true],
    ['/v2/a', true],
    ['/v3/a', false],
    ['/v1/b', false],
    ['/v2/b', true],
    ['/v3/b', true],
  ] as const)
    assert.equal(matcher.match('GET', path)?.isDescribed, isDescribed, path)
})
