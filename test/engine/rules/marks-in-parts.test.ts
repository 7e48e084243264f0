/** A mark (read-only, write-only) that a part of `allOf` states holds for the property, as one that is next to its keywords. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import type { Level } from '../../../engine/model/finding.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { SITES, type Schema, type Site } from './sites.ts'

const MEMBERS = { type: 'object', properties: { x: { type: 'string' } } }

type Mark = 'readOnly' | 'writeOnly'
type Notations = Readonly<Record<string, (mark: Schema) => Schema>>

/** Notations of one schema; each states the marks that it is given. */
const NOTATIONS: Notations = {
  'in place': (mark) => ({ ...MEMBERS, ...mark }),
  'beside a part': (mark) => ({ allOf: [MEMBERS], ...mark }),
  'in its part': (mark) => ({ allOf: [{ ...MEMBERS, ...mark }] }),
  'in a part of its own': (mark) => ({ allOf: [MEMBERS, mark] }),
  'in the first part': (mark) => ({ allOf: [{ type: 'object', ...mark }, MEMBERS] }),
  'in a part of a part': (mark) => ({ allOf: [{ allOf: [MEMBERS, mark] }] }),
}

function documentOf(site: Site, member: Schema, isRequired: boolean): string {
  const required = isRequired ? { required: ['k'] } : {}
  return JSON.stringify(site.document({ type: 'object', properties: { k: member }, ...required }, 'application/json'))
}

function findingsOf(site: Site, before: Schema, after: Schema, isRequired: boolean): ReadonlyMap<string, Level> {
  const [base, head] = [documentOf(site, before, isRequired), documentOf(site, after, isRequired)]
  const result = compare({ id: 'x', type: site.format, before: base, after: head }, {}, sha256Hex)
  assert.ok(result.ok)
  return new Map(result.value.groups.map(({ rule, level }) => [rule, level]))
}

for (const site of SITES) {
  const mark: Mark = site.direction === 'request' ? 'readOnly' : 'writeOnly'
  const word = mark === 'readOnly' ? 'read-only' : 'write-only'
  suite(`${mark} in parts at ${site.property}`, () => {
    for (const [from, before] of Object.entries(NOTATIONS))
      for (const [to, after] of Object.entries(NOTATIONS))
        for (const isRequired of [true, false]) {
          const which = isRequired ? 'required' : 'optional'
          test(`${from}, then ${to}, ${which}`, () => {
            const became = findingsOf(site, before({}), after({ [mark]: true }), isRequired)
            const level = mark === 'readOnly' ? 'info' : isRequired ? 'breaking' : 'dangerous'
            assert.equal(became.get(`${site.scope}-${which}-property-became-${word}`), level)
            const kept = findingsOf(site, before({ [mark]: true }), after({ [mark]: true }), isRequired)
            assert.deepEqual(
              [...kept].filter(([, found]) => found !== 'info'),
              [],
            )
            const ceased = findingsOf(site, before({ [mark]: true }), after({}), isRequired)
            assert.ok(ceased.has(`${site.scope}-${which}-property-became-not-${word}`))
          })
        }
  })
}
