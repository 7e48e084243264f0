/**
 * Schemas that several parts of one schema lead to, level by level: a small document has millions of paths. Twelve levels
 * must cost about four times what three do.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../../../engine/index.ts'
import type { ArtifactType } from '../../../engine/internal.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { excessiveGrowth } from '../../fakes/growth.ts'

type Schema = Readonly<Record<string, unknown>>
type Side = 'string' | 'integer'

const LEVELS = 12
const WIDTH = 4

function several<T>(part: (index: number) => T): readonly T[] {
  return Array.from({ length: WIDTH }, (_, index) => part(index))
}

function named(part: () => Schema): Schema {
  return Object.fromEntries(several((index) => [`p${index}`, part()]))
}

/** How a schema leads to the next one several times. */
const RUNGS: Readonly<Record<string, (next: () => Schema, level: number) => Schema>> = {
  allOf: (next) => ({ allOf: several(next) }),
  anyOf: (next) => ({ anyOf: several(next) }),
  oneOf: (next) => ({ oneOf: several(next) }),
  'allOf and anyOf': (next, level) => (level % 2 === 0 ? { anyOf: several(next) } : { allOf: several(next) }),
  'allOf beside a reference': (next) => ({ ...next(), allOf: several(next) }),
  'allOf with a read-only level': (next, level) => ({ allOf: several(next), ...(level === 2 && { readOnly: true }) }),
  'allOf with a discriminator': (next) => ({ allOf: several(next), discriminator: { propertyName: 'k' } }),
  'allOf below unevaluatedProperties': (next, level) => ({
    allOf: several(next),
    ...(level === 0 && { unevaluatedProperties: false }),
  }),
  not: (next) => ({ not: { anyOf: several(next) } }),
  properties: (next) => ({ type: 'object', properties: named(next) }),
  dependentSchemas: (next) => ({ type: 'object', dependentSchemas: named(next) }),
  prefixItems: (next) => ({ type: 'array', prefixItems: several(next) }),
  contains: (next) => ({ type: 'array', allOf: several(() => ({ contains: next() })) }),
}

function ladder(rung: (typeof RUNGS)[string], levels: number, prefix: string, last: Schema): Schema {
  const schemas = Array.from({ length: levels }, (_, level) => [
    `L${level}`,
    rung(() => ({ $ref: `${prefix}L${level + 1}` }), level),
  ])
  return Object.fromEntries([...schemas, [`L${levels}`, last]])
}

const DONE = { responses: { 200: { description: 'done' } } }
const COMPONENTS = '#/components/schemas/'

function openapi(operation: Schema, schemas: Schema): string {
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    paths: { '/a': { post: { ...DONE, ...operation } } },
    components: { schemas },
  })
}

type Rung = (typeof RUNGS)[string]

function sent(mediaType: string, more: Schema = {}): (rung: Rung, levels: number, side: Side) => string {
  const content = { [mediaType]: { schema: { $ref: `${COMPONENTS}L0` }, ...more } }
  return (rung, levels, type) =>
    openapi(
      { requestBody: { content } },
      ladder(rung, levels, COMPONENTS, { type: 'object', required: ['a'], properties: { a: { type } } }),
    )
}

/** Where the ladder stands in a contract. */
const PLACES: Readonly<
  Record<string, readonly [type: ArtifactType, write: (rung: Rung, levels: number, side: Side) => string]>
> = {
  'the body of a request': ['openapi', sent('application/json')],
  'a form': ['openapi', sent('multipart/form-data', { encoding: { zz: { contentType: 'text/plain' } } })],
  'a text in XML': ['openapi', sent('application/xml')],
  'a parameter': [
    'openapi',
    (rung, levels, type) =>
      openapi(
        { parameters: [{ name: 'q', in: 'query', schema: { $ref: `${COMPONENTS}L0` } }] },
        ladder(rung, levels, COMPONENTS, { type }),
      ),
  ],
  'an alternative that is renamed': [
    'openapi',
    (rung, levels, type) =>
      openapi(
        {
          requestBody: {
            content: {
              'application/json': {
                schema: {
                  oneOf: [{ $ref: `${COMPONENTS}A` }, { $ref: `${COMPONENTS}${type}` }],
                  discriminator: { propertyName: 'k' },
                },
              },
            },
          },
        },
        {
          A: { type: 'object' },
          [type]: { $ref: `${COMPONENTS}L0` },
          ...ladder(rung, levels, COMPONENTS, { type: 'object' }),
        },
      ),
  ],
  'the arguments of a tool': [
    'mcp_manifest',
    (rung, levels, type) => {
      const $defs = ladder(rung, levels, '#/$defs/', { type: 'object', properties: { a: { type } } })
      const inputSchema = { type: 'object', properties: { x: { $ref: '#/$defs/L0' } }, $defs }
      return JSON.stringify({ tools: [{ name: 't', description: 'd', inputSchema }] })
    },
  ],
  'a JSON Schema': [
    'json_schema',
    (rung, levels, type) =>
      JSON.stringify({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $ref: '#/$defs/L0',
        $defs: ladder(rung, levels, '#/$defs/', { type: 'object', properties: { a: { type } } }),
      }),
  ],
}

for (const [place, [type, write]] of Object.entries(PLACES))
  test(`${place} of parts of parts costs in proportion to the levels`, { timeout: 240_000 }, async () => {
    const slow: string[] = []
    for (const [name, rung] of Object.entries(RUNGS)) {
      const run = (levels: number): void => {
        const [before, after] = [write(rung, levels, 'integer'), write(rung, levels, 'string')]
        const comparison = compare({ id: 'a', type, before, after }, {}, sha256Hex)
        assert.ok(comparison.ok && comparison.value.groups.length > 0, name)
      }
      const growth = await excessiveGrowth(run, LEVELS)
      if (growth !== null) slow.push(`${name}: ${growth}`)
    }
    assert.deepEqual(slow, [])
  })

function callbacks(levels: number, type: Side, lead: (level: number) => number): string {
  const operation = (level: number): Schema => ({
    ...DONE,
    ...(level === levels
      ? { parameters: [{ name: 'q', in: 'query', schema: { type } }] }
      : {
          callbacks: Object.fromEntries(
            several((index) => [`c${index}`, { $ref: `#/components/callbacks/L${lead(level)}` }]),
          ),
        }),
  })
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    paths: { '/a': { post: { ...DONE, callbacks: { c: { $ref: '#/components/callbacks/L0' } } } } },
    components: {
      callbacks: Object.fromEntries(
        Array.from({ length: levels + 1 }, (_, level) => [`L${level}`, { '{$url}': { post: operation(level) } }]),
      ),
    },
  })
}

function callbackFindings(levels: number, lead: (level: number) => number): readonly string[] {
  const [before, after] = [callbacks(levels, 'integer', lead), callbacks(levels, 'string', lead)]
  const comparison = compare({ id: 'a', type: 'openapi', before, after }, {}, sha256Hex)
  assert.ok(comparison.ok)
  return comparison.value.groups.map(({ message }) => message)
}

function compareLadder(levels: number): void {
  const found = callbackFindings(levels, (level) => level + 1)
  assert.deepEqual(found, ['the callback parameter had its type changed from integer to string'])
}

test('callbacks of callbacks cost in proportion to the levels', { timeout: 120_000 }, async () => {
  assert.equal(await excessiveGrowth(compareLadder, 12), null)
})

test('a callback may lead to itself', () => {
  assert.deepEqual(
    callbackFindings(2, (level) => level),
    [],
  )
})
