/** Of a property that a side does not send (read-only in a request, write-only in a response) nothing breaks, and nothing is silent. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import type { FindingGroup } from '../../../engine/model/finding.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { FRAGMENTS, propertyOf } from './examples.ts'
import { SITES, type Schema, type Site } from './sites.ts'

function groupsOf(site: Site, before: Schema, after: Schema): readonly FindingGroup[] {
  const sides = [before, after].map((schema) => JSON.stringify(site.document(propertyOf(schema), 'application/json')))
  const [base = '', head = ''] = sides
  const result = compare({ id: 'x', type: site.format, before: base, after: head }, {}, sha256Hex)
  assert.ok(result.ok)
  // Titles are texts that models read: a matter of their own. Values that are not sent are not compared as a whole.
  return result.value.groups.filter(({ direction, rule }) => direction !== 'none' && !/-values-/.test(rule))
}

const TYPES: readonly (readonly [Schema, Schema])[] = [
  [{ type: 'string' }, { type: 'boolean' }],
  [{ type: 'number' }, { type: 'integer' }],
  [{ type: 'object', properties: { z: {} } }, { type: 'object' }],
  [{ type: 'object' }, { type: 'object', required: ['z'] }],
]

for (const site of SITES) {
  const isRequest = site.direction === 'request'
  const usage = isRequest ? 'readOnly' : 'writeOnly'
  suite(`${usage} at ${site.property}`, () => {
    test('findings of any other property are reported for it, as information', () => {
      let breaking = 0
      for (const [before, after] of [...Object.values(FRAGMENTS), ...TYPES]) {
        const reported = groupsOf(site, before, after)
        const unused = groupsOf(site, { ...before, [usage]: true }, { ...after, [usage]: true })
        const pair = JSON.stringify([before, after])
        assert.equal(unused.length, reported.length, pair)
        assert.deepEqual(
          unused.filter(({ level }) => level !== 'info').map(({ rule }) => rule),
          [],
          pair,
        )
        breaking += reported.filter(({ level }) => level === 'breaking').length
      }
      assert.ok(breaking > 20, 'of a property that is sent they break')
    })

    test('the other usage changes nothing of the kind', () => {
      const other = isRequest ? 'writeOnly' : 'readOnly'
      const [before, after] = [{ type: 'string' }, { type: 'boolean' }]
      const levels = groupsOf(site, { ...before, [other]: true }, { ...after, [other]: true }).map(({ level }) => level)
      assert.deepEqual(
        levels,
        groupsOf(site, before, after).map(({ level }) => level),
      )
    })
  })
}

const OTHERS: Readonly<Record<string, Schema>> = {
  additionalProperties: { additionalProperties: { type: 'string', pattern: 'b$' } },
  unevaluatedProperties: { unevaluatedProperties: { type: 'string', pattern: 'b$' } },
  patternProperties: { patternProperties: { '^z$': { type: 'string' }, '^[a-y]': { type: 'string', pattern: 'b$' } } },
}

/** The levels found between an object whose property is sent and one whose property is not, in the order of the direction. */
function levelsOfMark(site: Site, others: Schema, isLost: boolean): readonly string[] {
  const member = { type: 'string', pattern: '^a*$' }
  const usage = site.direction === 'request' ? 'readOnly' : 'writeOnly'
  const [sent = '', unsent = ''] = [member, { ...member, [usage]: true }].map((marked) =>
    JSON.stringify(site.document({ type: 'object', properties: { k: marked }, ...others }, 'application/json')),
  )
  const isSentFirst = (site.direction === 'request') === isLost
  const sides = isSentFirst ? { before: sent, after: unsent } : { before: unsent, after: sent }
  const result = compare({ id: 'x', type: site.format, ...sides }, {}, sha256Hex)
  assert.ok(result.ok)
  return result.value.groups.map(({ level }) => level)
}

for (const site of SITES.filter(({ format, root }) => format === 'openapi' && !root.includes('parameter'))) {
  suite(`a property that is sent on one side only, at ${site.root}`, () => {
    for (const [keyword, others] of Object.entries(OTHERS))
      test(`is held against ${keyword} on the other`, () => {
        // A pattern of names describes the property on both sides.
        const isRefused = keyword !== 'patternProperties'
        assert.equal(levelsOfMark(site, others, true).includes('breaking'), isRefused)
        // Readers miss a property that becomes write-only, as one that is removed.
        const level = site.direction === 'request' ? 'info' : 'dangerous'
        assert.deepEqual([...new Set(levelsOfMark(site, others, false))], [level])
      })
  })
}
