/** Many paths lead to one schema: what is found there, and how often, is the same for every order of keys. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compareOpenApi, type OpenApiComparison } from '../../../engine/diff/openapi/compare.ts'
import { sha256 } from '../../conformance/openapi-run.ts'
import { shuffledKeys } from '../../shuffle.ts'

type Members = Readonly<Record<string, unknown>>

const STEPS = 10
const to = (name: string): Members => ({ $ref: `#/components/schemas/${name}` })

/** Schemas of which each leads to the next by two names, so that 2^10 paths end at `D`. */
function ladder(top: Members): Members {
  const rungs = Array.from({ length: STEPS }, (_, index) => {
    const next = to(index + 1 === STEPS ? 'D' : `L${index + 1}`)
    return [`L${index}`, { type: 'object', properties: { a: next, b: next }, ...(index === 0 && top) }]
  })
  return Object.fromEntries(rungs)
}

function contract(root: Members, top: Members, last: Members, of: 'request' | 'response' = 'request'): Members {
  const content = { content: { 'application/json': { schema: root } } }
  const answer = { '200': { description: 'done', ...(of === 'response' && content) } }
  return {
    openapi: '3.0.3',
    info: { title: 't', version: '1' },
    paths: { '/x': { post: { ...(of === 'request' && { requestBody: content }), responses: answer } } },
    components: { schemas: { ...ladder(top), D: last } },
  }
}

/** Line and column follow the text, so that they are left out. */
function compare(before: unknown, after: unknown): OpenApiComparison {
  const compared = compareOpenApi(JSON.stringify(before), JSON.stringify(after), {}, sha256)
  assert.ok(compared.ok)
  const groups = compared.value.groups.map((group) => ({ ...group, line: null, column: null }))
  return { ...compared.value, groups }
}

const object = (properties: Members): Members => ({ type: 'object', properties })
const x = { x: { type: 'string' } }
const hidden = object({ r: to('L0'), w: to('D') })
const shown = object({ w: to('D'), r: to('L0') })

suite('a schema at the end of very many paths', () => {
  for (const [of, keyword] of [
    ['request', 'readOnly'],
    ['response', 'writeOnly'],
  ] as const) {
    test(`that a ${of} holds ${keyword} on most of them is judged by the one that is not`, () => {
      const [loose, strict] = [object(x), { ...object(x), required: ['x'] }]
      const [before, after] = of === 'request' ? [loose, strict] : [strict, loose]
      for (const root of [hidden, shown]) {
        const { groups } = compare(
          contract(root, { [keyword]: true }, before, of),
          contract(root, { [keyword]: true }, after, of),
        )
        assert.ok(
          groups.some(({ level }) => level === 'breaking'),
          JSON.stringify(groups.map(({ rule }) => rule)),
        )
      }
    })
  }

  test('gives the same answer, places included, in every order of keys', () => {
    const before = contract(hidden, {}, { ...object(x), maxProperties: 9 })
    const after = contract(hidden, {}, { ...object({ x: { type: 'integer' } }), maxProperties: 4 })
    const expected = compare(before, after)
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      assert.deepEqual(compare(shuffledKeys(before, seed), shuffledKeys(after, seed + 7)), expected, `seed ${seed}`)
    }
  })
})
