/**
 * The known classes of changes on every surface that a schema can stand in, in every dialect that can express them. Who sends and
 * who reads there decides the level.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DIALECTS, type Dialect, type Feature } from '../../soundness/dialects.ts'
import { isKeywords, mapped, type Schema } from '../../soundness/schema.ts'
import type { Audience } from '../../soundness/meaning.ts'
import { surfacesFor, type Surface } from '../../soundness/surfaces.ts'
import { worstOf, type Worst } from '../elements.ts'
import { CLASSES, SCHEMAS, worse, type ClassRow, type Json, type Levels } from './known-classes.ts'

/** What a dialect must have for a keyword; the others are in all of them, or are written in another way. */
const NEEDS: Readonly<Record<string, Feature>> = {
  anyOf: 'choice',
  oneOf: 'choice',
  not: 'choice',
  if: 'condition',
  prefixItems: 'tuple',
  patternProperties: 'patternProperties',
  contains: 'contains',
  maxContains: 'contains bounds',
  dependentRequired: 'dependency',
  writeOnly: 'mutability',
}

interface Deviation {
  readonly surface: RegExp
  readonly what: RegExp
  /** The worst levels of the change and of the change back, where they are others. */
  readonly forth?: Worst
  readonly back?: Worst
  readonly reason: string
}

const OTHERWISE: readonly Deviation[] = [
  {
    surface: /^(?:MCP|agent)/,
    what: /^a (?:name that|dependency)/,
    back: 'breaking',
    reason: 'models give and read members of a tool by the names that are described: one that goes is missed',
  },
  {
    surface: /^(?:JSON Schema|custom resource)/,
    what: /^a name that was required/,
    back: 'breaking',
    reason: 'what is stored is written and read by the same schema: a required member that goes is missed',
  },
  {
    surface: /^OpenAPI (?:(?:urlencoded |multipart )form of a )?(?:callback|response header|webhook)/,
    what: /only written/,
    back: 'info',
    reason: 'a required member that comes is not a loss to readers; the warning about responses is of the reference',
  },
  {
    surface: /form of a callback/,
    what: /^a name that additionalProperties/,
    forth: 'info',
    reason: 'in a form a number is one of the texts that readers had before',
  },
  {
    surface: / form$| form from /,
    what: /^a name that additionalProperties/,
    back: 'dangerous',
    reason: 'in a form a number is one of the texts that are still taken',
  },
]

function featuresOf(schema: Schema): ReadonlySet<Feature> {
  const found = new Set<Feature>()
  mapped(schema, (one) => {
    if (!isKeywords(one)) return one
    for (const keyword of Object.keys(one)) {
      const feature = NEEDS[keyword]
      if (feature !== undefined) found.add(feature)
    }
    const types: readonly unknown[] = [one.type].flat()
    if (types.includes('null') || one.const === null) found.add('null')
    if (one.$ref !== undefined && Object.keys(one).length > 1) found.add('reference siblings')
    return one
  })
  return found
}

/** A schema with the definitions that a row refers to; without references, where a dialect has none. */
function selfContained(schema: Json, used: readonly (readonly [string, Json])[], dialect: Dialect): Schema {
  if (used.length === 0) return schema
  if (dialect.has.has('reference')) return { ...schema, $defs: Object.fromEntries(used) }
  return used.reduce<Schema>(
    (inner, [name, definition]) =>
      mapped(inner, (one) => (isKeywords(one) && one.$ref === `#/$defs/${name}` ? definition : one)),
    schema,
  )
}

/** Both sides with the same definitions: a definition that goes is a change of its own. */
function expressed([, one, other]: ClassRow, dialect: Dialect): readonly [Schema, Schema] | null {
  const text = JSON.stringify([one, other])
  const used = Object.entries(SCHEMAS).filter(([name]) => text.includes(`#/$defs/${name}"`))
  const [before, after] = [selfContained(one, used, dialect), selfContained(other, used, dialect)]
  const needed = featuresOf(before).union(featuresOf(after))
  return needed.isSubsetOf(dialect.has) ? [before, after] : null
}

function levelsFor(audience: Audience, [, , , request, response]: ClassRow): Levels {
  if (audience === 'sender') return request
  if (audience === 'reader') return response
  return [worse(request[0], warned(response[0])), worse(request[1], warned(response[1]))]
}

/** Where the same schema is written and read, what readers may meet is a warning. */
function warned(level: Worst): Worst {
  return level === 'breaking' ? 'dangerous' : level
}

/** A finding that breaks nobody, or none: which of them depends on how the dialect writes the schemas. */
function harm(level: Worst): Worst {
  return level === 'none' ? 'info' : level
}

function expectedOn(surface: Surface, row: ClassRow): readonly Worst[] {
  const [forth, back] = levelsFor(surface.audience, row)
  const other = OTHERWISE.find(({ surface: names, what }) => names.test(surface.name) && what.test(row[0]))
  return [other?.forth ?? forth, other?.back ?? back].map(harm)
}

for (const dialect of DIALECTS)
  for (const surface of surfacesFor(dialect))
    suite(`${surface.name}, ${dialect.name}`, () => {
      for (const row of CLASSES) {
        const sides = expressed(row, dialect)
        if (sides === null || !sides.every((side) => surface.fits?.(side) ?? true)) continue
        test(row[0], () => {
          const [before, after] = sides.map((side) => surface.write(side, dialect))
          const found = [worstOf(surface.type, before, after), worstOf(surface.type, after, before)].map(harm)
          assert.deepEqual(found, expectedOn(surface, row))
        })
      }
    })

test('every class is expressed on surfaces of senders, of readers and of both', () => {
  for (const row of CLASSES) {
    const audiences = DIALECTS.filter((dialect) => expressed(row, dialect) !== null)
      .flatMap(surfacesFor)
      .map(({ audience }) => audience)
    // Only OpenAPI marks what is written or read alone, and there a schema has one direction or both.
    const wanted = JSON.stringify(row).includes('writeOnly') ? ['reader', 'sender'] : ['reader', 'sender', 'shared']
    assert.deepEqual([...new Set(audiences)].sort(), wanted, row[0])
  }
})
