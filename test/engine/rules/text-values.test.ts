/** Values that are serialized as text may have several types. A schema without a JSON value may still admit a text. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { ruleOf } from '../../../engine/rules/catalog/table.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { SITES, type Schema, type Site } from './sites.ts'

const BOUNDS: readonly Schema[] = [{ maxLength: 5 }, { minLength: 2 }, { pattern: '^[0-9]+$' }, { enum: ['1', '2'] }]

/** The levels found, and those of their rules. */
function levelsAt(site: Site, mediaType: string, bound: Schema): readonly (readonly [string, string | undefined])[] {
  const types = { type: 'integer' }
  const wide = site.document({ allOf: [{ type: 'string' }, types] }, mediaType)
  const narrow = site.document({ allOf: [{ type: 'string', ...bound }, types] }, mediaType)
  const [before, after] = site.direction === 'request' ? [wide, narrow] : [narrow, wide]
  const sides = { before: JSON.stringify(before), after: JSON.stringify(after) }
  const result = compare({ id: 'x', type: 'openapi', ...sides }, {}, sha256Hex)
  assert.ok(result.ok)
  return result.value.groups.map(({ level, rule }) => [level, ruleOf(rule)?.level])
}

suite('a schema of two types', () => {
  for (const site of SITES.filter(({ format, hasMediaType }) => format === 'openapi' && hasMediaType)) {
    test(`has texts at ${site.root}, and no values of JSON`, () => {
      for (const bound of BOUNDS) {
        const name = JSON.stringify(bound)
        const inText = levelsAt(site, 'text/plain', bound)
        assert.ok(inText.length > 0, name)
        for (const [level, own] of inText) assert.equal(level, own, name)
        for (const [level] of levelsAt(site, 'application/json', bound)) assert.equal(level, 'info', name)
      }
    })
  }
})
