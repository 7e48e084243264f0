/**
 * Pairs that others wrote: the schemas of the public JSON Schema test suite, with its own instances as witnesses, and a table of
 * inclusions as contracts make them.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { suite, test } from 'node:test'
import { load } from 'js-yaml'
import { at, listAt } from '../json.ts'
import { dialectOf } from './dialects.ts'
import { readDraft4 } from './draft4.ts'
import { answerOf, documentsOf, judge, type Failure, type Judged, type Pair } from './judge.ts'
import { Random } from './random.ts'
import { isIn } from './schemas.ts'
import { isKeywords, isSchema, type Schema } from './schema.ts'
import { fitsBoth, rootNamed, surfacesFor } from './surfaces.ts'
import { instancesFor } from './values.ts'

const SUITE = join(dirname(createRequire(import.meta.url).resolve('json-schema-test-suite')), 'tests/draft4')
const LANGUAGES = ['draft-04', 'draft-07', '2020-12', 'openapi-3.0', 'openapi-3.1'] as const

const MOST_MISSED = { suite: 0, table: 0 }
/**
 * A property of a result that goes is breaking for those who read it by name, also where its name is still admitted (2). The part
 * of a form whose type moves to a place beside its property is sent as bytes by default, and no more as text (2).
 */
const MOST_ALARMS = 4

interface Chapter {
  readonly name: string
  readonly schemas: readonly Schema[]
  readonly instances: readonly unknown[]
}

/** One file of the suite: its schemas, and the instances of them all. */
function chapterOf(file: string): Chapter {
  const cases = listAt(JSON.parse(readFileSync(join(SUITE, file), 'utf8')))
  const schemas = cases.flatMap((one) => {
    const schema = at(one, 'schema')
    const read = isSchema(schema) ? readDraft4(schema) : null
    return read === null ? [] : [read]
  })
  const instances = cases.flatMap((one) => listAt(one, 'tests').map((each) => at(each, 'data')))
  return { name: file.replace('.json', ''), schemas, instances }
}

function textOf({ before, after, dialect }: Pair, { surface, effect, level, witness, findings }: Failure): string {
  return `${dialect.name}, ${surface}, ${effect}: ${level} for ${JSON.stringify(witness)} in ${JSON.stringify(before)} and ${JSON.stringify(after)}: ${findings.join('; ')}`
}

suite('the public JSON Schema test suite', () => {
  const chapters = readdirSync(SUITE)
    .filter((file) => file.endsWith('.json'))
    .map(chapterOf)

  test('has schemas that can be compared', () => {
    assert.ok(chapters.filter(({ schemas }) => schemas.length > 1).length >= 15)
  })

  test('a pair of schemas of one file that an instance of it distinguishes is breaking or dangerous', () => {
    const missed: string[] = []
    for (const { schemas, instances } of chapters) {
      for (const dialect of LANGUAGES.map(dialectOf)) {
        const usable = schemas.filter((schema) => isIn(dialect, schema))
        for (const before of usable) {
          for (const after of usable) {
            const pair = { dialect, before, after }
            missed.push(...judge(pair, instances).failures.map((failure) => textOf(pair, failure)))
          }
        }
      }
    }
    assert.ok(missed.length <= MOST_MISSED.suite, `${missed.length} missed:\n${missed.join('\n')}`)
  })
})

interface Inclusion {
  readonly narrow: Schema
  readonly wide: Schema
  readonly isEqual: boolean
  /** Values that only the wider one admits, where chance would not find any. */
  readonly values: readonly unknown[]
}

function inclusions(): readonly Inclusion[] {
  const table: unknown = load(readFileSync(new URL('inclusions.yaml', import.meta.url), 'utf8'))
  assert.ok(isKeywords(table))
  return Object.keys(table).flatMap((group) =>
    listAt(table, group).map((row) => {
      const [narrow, wide, mark] = listAt(row)
      assert.ok(isSchema(narrow) && isSchema(wide), JSON.stringify(row))
      return { narrow, wide, isEqual: mark === 'equal', values: isKeywords(mark) ? listAt(mark, 'by') : [] }
    }),
  )
}

const LATEST = [dialectOf('2020-12'), dialectOf('openapi-3.1')]

/** The levels at the surfaces of callers, and at those of readers. */
function levelsOf(
  pair: Pair,
): readonly { readonly audience: string; readonly surface: string; readonly level: Judged }[] {
  return surfacesFor(pair.dialect).flatMap((surface) => {
    if (!fitsBoth(surface, pair.before, pair.after)) return []
    const { level } = answerOf(surface, ...documentsOf(pair, surface))
    return [{ audience: surface.audience, surface: surface.name, level }]
  })
}

suite('inclusions of schemas', () => {
  const rows = inclusions()

  test('are a table of some length, and each is what it says', () => {
    assert.ok(rows.length >= 150)
    const wrong: string[] = []
    for (const [index, { narrow, wide, isEqual, values }] of rows.entries()) {
      const [isNarrow, isWide] = [narrow, wide].map((schema) => dialectOf('2020-12').compile(rootNamed(schema)))
      assert.ok(isNarrow && isWide)
      const instances = [...values, ...instancesFor(new Random(7, index), narrow, wide, 300)]
      const isIncluded = instances.every((one) => !isNarrow(one) || isWide(one))
      const hasMore = instances.some((one) => isWide(one) && !isNarrow(one))
      if (!isIncluded || hasMore === isEqual) wrong.push(JSON.stringify([narrow, wide]))
    }
    assert.deepEqual(wrong, [])
  })

  test('read backwards break callers, and forwards break readers', () => {
    const missed = rows.flatMap(({ narrow, wide, isEqual }) =>
      LATEST.flatMap((dialect) => {
        if (isEqual || wide === true || narrow === false) return []
        const back = levelsOf({ dialect, before: wide, after: narrow }).filter(({ audience }) => audience !== 'reader')
        const forth = levelsOf({ dialect, before: narrow, after: wide }).filter(({ audience }) => audience !== 'sender')
        return [...back, ...forth]
          .filter(({ level }) => level === 'info' || level === 'none')
          .map(({ surface, level }) => `${surface}: ${level} for ${JSON.stringify([narrow, wide])}`)
      }),
    )
    assert.ok(missed.length <= MOST_MISSED.table, `${missed.length} missed:\n${missed.join('\n')}`)
  })

  test('break nobody the other way round', () => {
    const alarms = rows.flatMap(({ narrow, wide, isEqual }) =>
      LATEST.flatMap((dialect) => {
        const forth = levelsOf({ dialect, before: narrow, after: wide }).filter(
          ({ audience }) => isEqual || audience === 'sender',
        )
        const back = levelsOf({ dialect, before: wide, after: narrow }).filter(
          ({ audience }) => isEqual || audience === 'reader',
        )
        return [...forth, ...back]
          .filter(({ level }) => level === 'breaking')
          .map(({ surface, level }) => `${surface}: ${level} for ${JSON.stringify([narrow, wide])}`)
      }),
    )
    assert.ok(alarms.length <= MOST_ALARMS, `${alarms.length} alarms:\n${alarms.join('\n')}`)
  })
})
