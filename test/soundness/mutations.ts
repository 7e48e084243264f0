/** Changes of a schema in one place: each row says what it does; whether that narrows or widens is for the validator to show. */
import { discriminatorOf, remapped } from './discriminators.ts'
import type { Random } from './random.ts'
import { drawingFor, drawSchema, keywordsFor, KEYWORDS, nullable, type Drawing } from './schemas.ts'
import {
  entriesOf,
  isKeywords,
  isSchema,
  listOf,
  namesIn,
  placesOf,
  replaced,
  schemasIn,
  without,
  withSchemaAt,
  type Keywords,
  type Path,
  type Schema,
} from './schema.ts'
import type { Dialect } from './dialects.ts'
import { NAMES } from './values.ts'

/** Changes one schema, or returns null where it does not apply. */
type Change = (schema: Keywords, drawing: Drawing) => Schema | null

function pickIn(random: Random, schema: Keywords, keywords: readonly string[]): string | null {
  const present = keywords.filter((keyword) => schema[keyword] !== undefined)
  return present.length === 0 ? null : random.pick(present)
}

const BOUNDS = [
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minContains',
  'maxContains',
  'multipleOf',
] as const
const REAL_BOUNDS: readonly string[] = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']
const CHOICES = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const
const MAPS = ['properties', 'patternProperties', 'dependentSchemas'] as const

function typeOf(schema: Keywords, random: Random): string {
  const named = typeof schema.type === 'string' ? [schema.type] : namesIn(schema.type)
  return random.pick([...named, 'string', 'integer', 'array', 'object'])
}

export const MUTATIONS: Readonly<Record<string, Change>> = {
  'keyword dropped': (schema, { random }) => {
    const keyword = pickIn(
      random,
      schema,
      Object.keys(schema).filter((name) => name !== '$defs' && name !== '$ref'),
    )
    if (keyword === null) return null
    const left = without(schema, keyword)
    return keyword === 'if'
      ? without(left, 'then', 'else')
      : keyword === 'contains'
        ? without(left, 'minContains', 'maxContains')
        : left
  },
  'keyword added': (schema, drawing) => {
    const { random, dialect } = drawing
    const own = keywordsFor(dialect, random.chance(0.8) ? typeOf(schema, random) : null)
    const keyword = random.pick(own.length > 0 ? own : ['enum'])
    if (schema[keyword] !== undefined || keyword === 'type') return null
    return completed(schema, keyword, KEYWORDS[keyword]?.draw(drawing, 1), drawing)
  },
  'keyword redrawn': (schema, drawing) => {
    const keyword = pickIn(drawing.random, schema, Object.keys(KEYWORDS))
    if (keyword === null) return null
    return completed(schema, keyword, KEYWORDS[keyword]?.draw(drawing, 1), drawing)
  },
  'bound moved': (schema, { random }) => {
    const keyword = pickIn(random, schema, BOUNDS)
    const bound = keyword === null ? null : schema[keyword]
    if (keyword === null || typeof bound !== 'number') return null
    if (keyword === 'multipleOf') return { ...schema, multipleOf: random.chance(0.5) ? bound * 2 : bound / 2 }
    const moved = bound + random.pick([-2, -1, 1, 2, 5])
    return { ...schema, [keyword]: REAL_BOUNDS.includes(keyword) ? moved : Math.max(0, moved) }
  },
  'schema exchanged': (_schema, drawing) => drawSchema(drawing, 1),
  'branch dropped': (schema, { random }) => {
    const keyword = pickIn(random, schema, CHOICES)
    const list = keyword === null ? [] : schemasIn(schema[keyword])
    if (keyword === null || list.length < 2) return null
    const gone = random.below(list.length)
    return { ...schema, [keyword]: list.filter((_, index) => index !== gone) }
  },
  'branch added': (schema, drawing) => {
    const keyword = pickIn(drawing.random, schema, CHOICES)
    if (keyword === null) return null
    const list = [...schemasIn(schema[keyword])]
    list.splice(drawing.random.below(list.length + 1), 0, drawSchema(drawing, 1))
    return { ...schema, [keyword]: list }
  },
  'branch exchanged': (schema, drawing) => {
    const keyword = pickIn(drawing.random, schema, CHOICES)
    const list = keyword === null ? [] : schemasIn(schema[keyword])
    if (keyword === null || list.length === 0) return null
    const index = drawing.random.below(list.length)
    return { ...schema, [keyword]: list.map((one, place) => (place === index ? drawSchema(drawing, 1) : one)) }
  },
  'combination exchanged': (schema, { random, dialect }) => {
    const keyword = pickIn(random, schema, ['anyOf', 'oneOf', 'allOf'])
    if (keyword === null || !dialect.has.has('choice')) return null
    const other = random.pick(['anyOf', 'oneOf', 'allOf'].filter((one) => one !== keyword))
    if (schema[other] !== undefined) return null
    return { ...without(schema, keyword), [other]: schema[keyword] }
  },
  'tuple reordered': (schema) => {
    const list = schemasIn(schema.prefixItems)
    return list.length < 2 ? null : { ...schema, prefixItems: list.toReversed() }
  },
  negated: (schema, { dialect }) => (dialect.has.has('choice') && schema.$defs === undefined ? { not: schema } : null),
  'null added': (schema, drawing) =>
    drawing.dialect.has.has('null') && schema.$defs === undefined ? nullable(drawing, schema) : null,
  'null taken': (schema) => {
    if (Array.isArray(schema.type) && schema.type.includes('null') && schema.type.length > 1) {
      const left = schema.type.filter((one) => one !== 'null')
      return { ...schema, type: left.length === 1 ? left[0] : left }
    }
    const keyword = ['anyOf', 'oneOf'].find((one) => schemasIn(schema[one]).some(isNull))
    if (keyword === undefined) return null
    const left = schemasIn(schema[keyword]).filter((one) => !isNull(one))
    return left.length === 0 ? null : { ...schema, [keyword]: left }
  },
  'member added': (schema, drawing) => {
    if (!isKeywords(schema.properties)) return null
    const name = drawing.random.pick(NAMES)
    if (schema.properties[name] !== undefined) return null
    const added = {
      ...schema,
      properties: { ...schema.properties, [name]: drawSchema({ ...drawing, references: drawing.below }, 1) },
    }
    return drawing.random.chance(0.3)
      ? { ...added, required: [...namesIn(schema.required).filter((one) => one !== name), name] }
      : added
  },
  'member taken': (schema, { random }) => {
    const keyword = pickIn(random, schema, MAPS)
    const entries = keyword === null ? [] : entriesOf(schema[keyword])
    if (keyword === null || entries.length === 0) return null
    const gone = random.below(entries.length)
    return { ...schema, [keyword]: Object.fromEntries(entries.filter((_, index) => index !== gone)) }
  },
  'member exchanged': (schema, drawing) => {
    const keyword = pickIn(drawing.random, schema, MAPS)
    const entries = keyword === null ? [] : entriesOf(schema[keyword])
    if (keyword === null || entries.length === 0) return null
    const [name] = drawing.random.pick(entries)
    const other = drawSchema(
      { ...drawing, references: keyword === 'dependentSchemas' ? drawing.references : drawing.below },
      1,
    )
    return { ...schema, [keyword]: { ...Object.fromEntries(entries), [name]: other } }
  },
  'member renamed': (schema, { random }) => {
    const entries = entriesOf(schema.properties)
    if (entries.length === 0) return null
    const [name] = random.pick(entries)
    const other = random.pick(NAMES)
    if (entries.some(([one]) => one === other) || name.length > 2) return null
    return { ...schema, properties: Object.fromEntries(entries.map(([key, one]) => [key === name ? other : key, one])) }
  },
  'member required': (schema, { random }) => {
    const open = [...entriesOf(schema.properties).map(([name]) => name), 'a'].filter(
      (name) => !namesIn(schema.required).includes(name),
    )
    return open.length === 0 ? null : { ...schema, required: [...namesIn(schema.required), random.pick(open)] }
  },
  'member optional': (schema, { random }) => {
    const required = namesIn(schema.required)
    if (required.length === 0) return null
    const gone = random.pick(required)
    return required.length === 1
      ? without(schema, 'required')
      : { ...schema, required: required.filter((name) => name !== gone) }
  },
  'mutability changed': (schema, { random }) => {
    const marked = [
      ['r', 'readOnly'],
      ['w', 'writeOnly'],
    ] as const
    const properties = entriesRecord(schema.properties)
    const present = marked.filter(([name]) => isKeywords(properties[name]))
    if (present.length === 0) return null
    const [name, mark] = random.pick(present)
    const member = Object(properties[name])
    const changed = member[mark] === true ? without(member, mark) : { ...member, [mark]: true }
    return { ...schema, properties: { ...properties, [name]: changed } }
  },
  'object closed': (schema) =>
    schema.properties === undefined || schema.additionalProperties === false
      ? null
      : { ...schema, additionalProperties: false },
  'object opened': (schema) =>
    schema.additionalProperties === undefined ? null : without(schema, 'additionalProperties'),
  'value taken': (schema, { random }) => {
    const values = listOf(schema.enum)
    if (values.length < 2) return null
    const gone = random.below(values.length)
    return { ...schema, enum: values.filter((_, index) => index !== gone) }
  },
  'value added': (schema, { random }) => {
    if (!Array.isArray(schema.enum)) return null
    const added = random.pick(['a', 'abcd', 'b', 3, false])
    return schema.enum.includes(added) ? null : { ...schema, enum: [...schema.enum, added] }
  },
  'type generalised': (schema) => (schema.type === 'integer' ? { ...schema, type: 'number' } : null),
  'type specialised': (schema) => (schema.type === 'number' ? { ...schema, type: 'integer' } : null),
  'reference exchanged': (schema, { random, references }) => {
    const others = references.filter((one) => one !== schema.$ref)
    return schema.$ref === undefined || others.length === 0 ? null : { ...schema, $ref: random.pick(others) }
  },
  'value of a discriminator changed': (schema, { random }) => remapped(random, schema),
  'property of a discriminator changed': (schema, { random }) => {
    const discriminator = discriminatorOf(schema)
    if (discriminator === null) return null
    const propertyName = random.pick(NAMES)
    return { ...schema, discriminator: { ...discriminator, propertyName } }
  },
  'part moved into allOf': (schema, drawing) => {
    const keyword = pickIn(drawing.random, schema, [
      'properties',
      'required',
      'additionalProperties',
      'items',
      'prefixItems',
      'unevaluatedProperties',
      'contains',
    ])
    if (keyword === null || schema.allOf !== undefined) return null
    return { ...without(schema, keyword), allOf: [{ [keyword]: schema[keyword] }] }
  },
  'allOf member merged': (schema) => {
    const [first, ...rest] = schemasIn(schema.allOf)
    if (!isKeywords(first)) return null
    return { ...first, ...without(schema, 'allOf'), ...(rest.length > 0 ? { allOf: rest } : {}) }
  },
}

function entriesRecord(value: unknown): Keywords {
  return Object.fromEntries(entriesOf(value))
}

function isNull(schema: Schema): boolean {
  return isKeywords(schema) && (schema.type === 'null' || JSON.stringify(schema.enum) === '[null]')
}

/** A keyword that means nothing alone brings the one that it rests on. */
function completed(schema: Keywords, keyword: string, value: unknown, drawing: Drawing): Keywords {
  const whole = { ...schema, [keyword]: value }
  if ((keyword === 'then' || keyword === 'else') && schema.if === undefined)
    return { ...whole, if: drawSchema(drawing, 1) }
  if (keyword === 'if' && schema.then === undefined && schema.else === undefined)
    return { ...whole, then: drawSchema(drawing, 1) }
  if ((keyword === 'minContains' || keyword === 'maxContains') && schema.contains === undefined) {
    return { ...whole, contains: drawSchema(drawing, 0) }
  }
  return whole
}

const EVERYWHERE: ReadonlySet<string> = new Set([
  'keyword dropped',
  'keyword added',
  'keyword redrawn',
  'schema exchanged',
  'negated',
  'null added',
  'member required',
])

export interface Mutated {
  readonly name: string
  readonly schema: Schema
}

/** The root with one place in it changed, by a change that applies somewhere in it; null where none does. */
export function mutated(
  random: Random,
  dialect: Dialect,
  root: Schema,
  isWanted: (path: Path) => boolean = () => true,
): Mutated | null {
  const places = [...placesOf(root)].filter(([path]) => path.at(-1) !== '$defs' && isWanted(path))
  const rows = random.shuffled(Object.entries(MUTATIONS))
  // What applies everywhere would leave no pair to the others.
  const isFirst = ([name]: readonly [string, Change]): boolean => random.chance(EVERYWHERE.has(name) ? 0.2 : 0.9)
  const first = rows.filter(isFirst)
  for (const [name, change] of [...first, ...rows.filter((row) => !first.includes(row))]) {
    for (const [path, schema] of random.shuffled(places).slice(0, 12)) {
      if (!isKeywords(schema)) continue
      const own = path.length === 0 ? without(schema, '$defs') : schema
      const changed = change(own, drawingAt(random, dialect, path))
      if (changed === null || !isFitting(changed, dialect)) continue
      return { name, schema: path.length === 0 ? withDefinitions(root, changed) : withSchemaAt(root, path, changed) }
    }
  }
  return null
}

/** In a mark for null beside a type, a list of values has no agreed meaning. */
function isFitting(schema: Schema, dialect: Dialect): boolean {
  if (dialect.has.has('type list') || !isKeywords(schema)) return true
  if (Array.isArray(schema.type) && (schema.type.length !== 2 || !schema.type.includes('null'))) return false
  return !Array.isArray(schema.type) || (schema.enum === undefined && schema.const === undefined)
}

function withDefinitions(root: Schema, changed: Schema): Schema {
  const definitions = isKeywords(root) ? root.$defs : undefined
  if (definitions === undefined) return changed
  return isKeywords(changed) ? { ...changed, $defs: definitions } : { allOf: [changed], $defs: definitions }
}

const DESCENDS: ReadonlySet<unknown> = new Set([
  'properties',
  'patternProperties',
  'items',
  'prefixItems',
  'additionalProperties',
  'contains',
  'unevaluatedItems',
  'unevaluatedProperties',
])

function drawingAt(random: Random, dialect: Dialect, path: Path): Drawing {
  const definition = path[0] === '$defs' ? String(path[1]) : null
  const drawing = drawingFor(random, dialect, definition)
  return path.some((step, index) => index > (definition === null ? -1 : 1) && DESCENDS.has(step))
    ? { ...drawing, references: drawing.below }
    : drawing
}

/** Every place of a pair with a part of it taken away on one side or on both: what the search for a smaller pair tries. */
export function* smaller(before: Schema, after: Schema): Generator<readonly [Schema, Schema]> {
  const seen = new Set<string>()
  for (const side of ['both', 'before', 'after'] as const) {
    const roots = side === 'after' ? [after] : side === 'before' ? [before] : [before, after]
    for (const path of roots.flatMap((root) => [...cuts(root)])) {
      for (const value of path.values) {
        const key = JSON.stringify([side, path.at, value])
        if (seen.has(key)) continue
        seen.add(key)
        const [base, head] = [
          side === 'after' ? before : replaced(before, path.at, value),
          side === 'before' ? after : replaced(after, path.at, value),
        ]
        if (isSchema(base) && isSchema(head)) yield [base, head]
      }
    }
  }
}

interface Cut {
  readonly at: Path
  readonly values: readonly unknown[]
}

function* cuts(root: Schema): Generator<Cut> {
  for (const [path, schema] of placesOf(root)) {
    if (!isKeywords(schema)) continue
    if (path.length > 0) yield { at: path, values: [true, {}, { type: 'string' }, ...liftsOf(schema)] }
    if (path.length === 0)
      yield {
        at: path,
        values: liftsOf(schema)
          .filter((one) => isKeywords(one))
          .map((one) => ({ ...Object(one), ...(schema.$defs === undefined ? {} : { $defs: schema.$defs }) })),
      }
    for (const [keyword, value] of Object.entries(schema)) {
      yield { at: [...path, keyword], values: [undefined] }
      if (Array.isArray(value))
        for (const index of value.keys()) yield { at: [...path, keyword, index], values: [undefined] }
      if (isKeywords(value))
        for (const name of Object.keys(value)) yield { at: [...path, keyword, name], values: [undefined] }
    }
  }
}

/** Schemas within that may stand for the whole. */
function liftsOf(schema: Keywords): readonly Schema[] {
  return [
    ...['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => schemasIn(schema[keyword])),
    ...['items', 'additionalProperties', 'not', 'then', 'else', 'contains'].flatMap((keyword) => {
      const one = schema[keyword]
      return isKeywords(one) ? [one] : []
    }),
    ...entriesOf(schema.properties).map(([, one]) => one),
  ]
}
