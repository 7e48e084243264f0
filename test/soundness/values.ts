/** Instances: those that a schema most likely admits, those beside them, and those of any kind. */
import type { Random } from './random.ts'
import {
  entriesOf,
  isKeywords,
  listOf,
  namesIn,
  numberOf,
  placesOf,
  schemasIn,
  targetOf,
  type Keywords,
  type Schema,
} from './schema.ts'

export const NAMES = ['a', 'b', 'c', 'd', 'ab', 'x-1'] as const

const TEXTS = [
  '',
  'a',
  'b',
  'ab',
  'ba',
  'abc',
  'abcd',
  'x-1',
  '7',
  'aaaaaaaa',
  '2026-11-21',
  '2026-11-21T10:00:00Z',
  '10:00:00Z',
  '7f9c24e5-1c5f-4f0b-9c39-5c7f2d6a1b11',
  'a@b.example',
  '10.0.0.1',
  '::1',
  'https://a.example/b',
  'a.example',
] as const
const NUMBERS = [-3, -1, 0, 1, 2, 3, 4, 5, 6, 7, 10, 12, 0.5, 2.5, 2 ** 31, -(2 ** 40)] as const
const TYPES = ['string', 'integer', 'number', 'boolean', 'null', 'array', 'object'] as const
const DEEPEST = 5

interface Drawing {
  readonly random: Random
  readonly root: Schema
}

/** Instances for a pair of schemas: drawn from either, changed in one place, and of any kind. */
export function instancesFor(random: Random, before: Schema, after: Schema, count: number): readonly unknown[] {
  const drawn = Array.from({ length: count }, (_, index) => {
    const root = index % 2 === 0 ? before : after
    return sample({ random, root }, [root], 0)
  })
  const scalars = [...scalarsIn(before), ...scalarsIn(after)]
  const beside = drawn.flatMap((one) => [
    varied(random, one, scalars),
    varied(random, varied(random, one, scalars), scalars),
  ])
  const any = Array.from({ length: count >> 1 }, () => anyValue(random, scalars, 0))
  return [...drawn, ...beside, ...any, null, {}, [], '', 0]
}

export function anyValue(random: Random, scalars: readonly unknown[], depth: number): unknown {
  const kind = random.below(depth > 2 ? 6 : 9)
  if (kind < 2) return random.pick(TEXTS)
  if (kind < 4) return random.pick(NUMBERS)
  if (kind === 4) return random.pick([true, false, null])
  if (kind === 5) return scalars.length > 0 ? random.pick(scalars) : null
  if (kind === 6) return Array.from({ length: random.below(4) }, () => anyValue(random, scalars, depth + 1))
  return Object.fromEntries(random.some(NAMES, 0, 3).map((name) => [name, anyValue(random, scalars, depth + 1)]))
}

/** What a schema mentions, and what lies beside it: its bounds, its lengths as texts, its listed values. */
function scalarsIn(root: Schema): readonly unknown[] {
  const found: unknown[] = []
  for (const [, one] of placesOf(root)) {
    if (!isKeywords(one)) continue
    found.push(...listOf(one.enum))
    if (one.const !== undefined) found.push(one.const)
    for (const keyword of ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']) {
      const bound = numberOf(one[keyword])
      if (bound !== null) found.push(bound, bound - 1, bound + 1, bound + 0.5)
    }
    for (const keyword of ['minLength', 'maxLength']) {
      const length = numberOf(one[keyword])
      if (length !== null)
        found.push('a'.repeat(length), 'a'.repeat(length + 1), 'ab'.repeat(length).slice(0, Math.max(0, length - 1)))
    }
  }
  return found
}

/** The value with one place in it changed. */
function varied(random: Random, value: unknown, scalars: readonly unknown[]): unknown {
  if (Array.isArray(value) && value.length > 0 && random.chance(0.6)) return variedList(random, value, scalars)
  if (isKeywords(value) && random.chance(0.8)) return variedObject(random, value, scalars)
  if (Array.isArray(value) && random.chance(0.7)) return [...listOf(value), anyValue(random, scalars, 2)]
  if (typeof value === 'number' && random.chance(0.5)) return value + random.pick([-1, 1, 0.5, 2, -2, 10])
  if (typeof value === 'string' && random.chance(0.5)) return random.chance(0.5) ? `${value}a` : value.slice(0, -1)
  return anyValue(random, scalars, 1)
}

function variedList(random: Random, value: readonly unknown[], scalars: readonly unknown[]): unknown {
  const index = random.below(value.length)
  const way = random.below(5)
  if (way === 0) return value.filter((_, place) => place !== index)
  if (way === 1) return [...value, anyValue(random, scalars, 2)]
  if (way === 2) return [...value, value[index]]
  return value.map((item, place) => (place === index ? varied(random, item, scalars) : item))
}

function variedObject(random: Random, value: Keywords, scalars: readonly unknown[]): unknown {
  const names = Object.keys(value)
  const way = random.below(5)
  if (names.length > 0 && way === 0) {
    const gone = random.pick(names)
    return Object.fromEntries(Object.entries(value).filter(([name]) => name !== gone))
  }
  if (names.length === 0 || way === 1) return { ...value, [random.pick(NAMES)]: anyValue(random, scalars, 2) }
  const name = random.pick(names)
  return { ...value, [name]: varied(random, value[name], scalars) }
}

/** An instance that fits all of the schemas, where that is easy; else one that fits some of them. */
function sample(drawing: Drawing, schemas: readonly Schema[], depth: number): unknown {
  const { random } = drawing
  const facets: Keywords[] = []
  for (const schema of schemas) gather(drawing, schema, facets, 0)
  const fixed = facets.filter((one) => one.const !== undefined || Array.isArray(one.enum))
  if (fixed.length > 0 && random.chance(0.9)) {
    const lists = fixed.map((one) => (one.const === undefined ? listOf(one.enum) : [one.const]))
    const common = (lists[0] ?? []).filter((value) =>
      lists.every((list) => list.some((other) => JSON.stringify(other) === JSON.stringify(value))),
    )
    const choices = common.length > 0 ? common : (lists[0] ?? [])
    if (choices.length > 0) return random.pick(choices)
  }
  const type = typeFor(random, facets)
  if (type === 'string') return textFor(random, facets)
  if (type === 'integer' || type === 'number') return numberFor(random, facets, type)
  if (type === 'boolean') return random.chance(0.5)
  if (type === 'null') return null
  if (depth > DEEPEST) return type === 'array' ? [] : {}
  return type === 'array' ? listFor(drawing, facets, depth) : objectFor(drawing, facets, depth)
}

/** The keywords that a schema applies to an instance: its own, those of `allOf` and references, one branch of each choice. */
function gather(drawing: Drawing, schema: Schema, into: Keywords[], depth: number): void {
  if (!isKeywords(schema) || depth > 8) return
  const { random, root } = drawing
  into.push(schema)
  const target = schema.$ref === undefined ? null : targetOf(root, schema.$ref)
  if (target !== null) gather(drawing, target, into, depth + 1)
  for (const one of schemasIn(schema.allOf)) gather(drawing, one, into, depth + 1)
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const branches = schemasIn(schema[keyword])
    if (branches.length > 0) gather(drawing, random.pick(branches), into, depth + 1)
  }
  const [condition, then, otherwise] = [schema.if, schema.then, schema.else].map((one) =>
    isKeywords(one) ? one : null,
  )
  if (condition && random.chance(0.5)) {
    gather(drawing, condition, into, depth + 1)
    if (then) gather(drawing, then, into, depth + 1)
  } else if (otherwise) gather(drawing, otherwise, into, depth + 1)
  for (const [, one] of entriesOf(schema.dependentSchemas)) {
    if (random.chance(0.5)) gather(drawing, one, into, depth + 1)
  }
}

const KEYWORDS_OF: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: ['items', 'prefixItems', 'contains', 'minItems', 'maxItems', 'uniqueItems', 'unevaluatedItems'],
  object: [
    'properties',
    'required',
    'additionalProperties',
    'patternProperties',
    'propertyNames',
    'dependentRequired',
    'dependentSchemas',
    'minProperties',
    'maxProperties',
    'unevaluatedProperties',
  ],
}

function typeFor(random: Random, facets: readonly Keywords[]): string {
  const lists = facets
    .filter((one) => one.type !== undefined)
    .map((one) => (typeof one.type === 'string' ? [one.type] : namesIn(one.type)))
  const fits = (type: string): boolean =>
    lists.every((list) => list.includes(type) || (type === 'integer' && list.includes('number')))
  const common = (lists[0] ?? TYPES).filter(fits)
  if (lists.length > 0) return common.length > 0 ? random.pick(common) : random.pick(lists[0] ?? TYPES)
  // Without a type the keywords themselves show what is meant.
  const meant = Object.entries(KEYWORDS_OF).flatMap(([type, keywords]) =>
    facets.some((one) => keywords.some((keyword) => one[keyword] !== undefined)) ? [type] : [],
  )
  return meant.length > 0 && random.chance(0.8) ? random.pick(meant) : random.pick(TYPES)
}

function boundOf(facets: readonly Keywords[], keyword: string, choose: (...all: number[]) => number): number | null {
  const all = facets.map((one) => numberOf(one[keyword])).filter((one) => one !== null)
  return all.length === 0 ? null : choose(...all)
}

function textFor(random: Random, facets: readonly Keywords[]): string {
  const least = boundOf(facets, 'minLength', Math.max) ?? 0
  const most = boundOf(facets, 'maxLength', Math.min) ?? 64
  const patterns = facets.map((one) => one.pattern).filter((one) => typeof one === 'string')
  const formats = facets.map((one) => one.format).filter((one) => typeof one === 'string')
  const pool = [...TEXTS, 'a'.repeat(least), 'ab'.repeat(least).slice(0, least), 'b'.repeat(Math.min(most, 20))]
  const fitting = pool.filter(
    (text) =>
      text.length >= least && text.length <= most && patterns.every((pattern) => new RegExp(pattern, 'u').test(text)),
  )
  const [format] = formats
  const formatted = format === undefined ? [] : fitting.filter((text) => EXAMPLES[format]?.test(text) === true)
  const choices = formatted.length > 0 && random.chance(0.9) ? formatted : fitting
  return random.pick(choices.length > 0 ? choices : pool)
}

/** Which of the texts are of a format. */
const EXAMPLES: Readonly<Record<string, RegExp>> = {
  date: /^\d{4}-\d\d-\d\d$/,
  'date-time': /T/,
  time: /^\d\d:/,
  uuid: /^7f9c/,
  email: /@/,
  ipv4: /^10\.0/,
  ipv6: /^::/,
  uri: /^https/,
  hostname: /^a\.example$/,
}

function numberFor(random: Random, facets: readonly Keywords[], type: 'integer' | 'number'): number {
  const lows = [boundOf(facets, 'minimum', Math.max), boundOf(facets, 'exclusiveMinimum', Math.max)].filter(
    (one) => one !== null,
  )
  const highs = [boundOf(facets, 'maximum', Math.min), boundOf(facets, 'exclusiveMaximum', Math.min)].filter(
    (one) => one !== null,
  )
  const step = boundOf(facets, 'multipleOf', Math.max) ?? 1
  const near = [...lows, ...highs].flatMap((bound) => [bound, bound + 1, bound - 1, bound + 0.5, bound - 0.5])
  const multiples = [0, 1, 2, 3, -1, 4, 6].map((factor) => factor * step)
  const pool = [...near, ...multiples, ...NUMBERS].filter(
    (one) =>
      lows.every((low) => one >= low) &&
      highs.every((high) => one <= high) &&
      (type === 'number' || Number.isInteger(one)),
  )
  const exact = pool.filter((one) => Number.isInteger(one / step))
  const choices = exact.length > 0 && random.chance(0.8) ? exact : pool
  return random.pick(choices.length > 0 ? choices : NUMBERS)
}

function listFor(drawing: Drawing, facets: readonly Keywords[], depth: number): readonly unknown[] {
  const { random } = drawing
  const least = boundOf(facets, 'minItems', Math.max) ?? 0
  const most = boundOf(facets, 'maxItems', Math.min) ?? Math.max(least, 3)
  const wanted = facets.map((one) => one.contains).filter(isKeywords)
  const longest = Math.max(0, ...facets.map((one) => listOf(one.prefixItems).length))
  const length = Math.min(
    Math.max(
      random.between(least, Math.max(least, most)),
      random.chance(0.5) ? longest : 0,
      random.chance(0.7) ? wanted.length : 0,
    ),
    Math.max(least, most),
  )
  return Array.from({ length }, (_, index) => {
    const schemas = facets.flatMap((one): readonly Schema[] => {
      const prefix = schemasIn(one.prefixItems)
      const own = prefix[index] ?? one.items ?? one.unevaluatedItems
      return isKeywords(own) || typeof own === 'boolean' ? [own] : []
    })
    const some = wanted[index]
    return sample(drawing, some !== undefined && random.chance(0.7) ? [...schemas, some] : schemas, depth + 1)
  })
}

function objectFor(drawing: Drawing, facets: readonly Keywords[], depth: number): Keywords {
  const { random } = drawing
  const required = facets.flatMap((one) => namesIn(one.required))
  const named = facets.flatMap((one) => Object.keys(isKeywords(one.properties) ? one.properties : {}))
  const dependent = facets.flatMap((one) =>
    [one.dependentRequired, one.dependentSchemas].flatMap((map) => (isKeywords(map) ? Object.keys(map) : [])),
  )
  const names = new Set(required)
  for (const name of [...named, ...dependent]) if (random.chance(0.5)) names.add(name)
  const isOpen = facets.every((one) => one.additionalProperties !== false && one.unevaluatedProperties !== false)
  if (isOpen ? random.chance(0.4) : random.chance(0.1)) names.add(random.pick(NAMES))
  const least = boundOf(facets, 'minProperties', Math.max) ?? 0
  for (const name of random.shuffled([...named, ...NAMES])) if (names.size < least) names.add(name)
  for (const one of facets) {
    if (!isKeywords(one.dependentRequired)) continue
    for (const [name, others] of Object.entries(one.dependentRequired)) {
      if (names.has(name) && random.chance(0.7)) for (const other of namesIn(others)) names.add(other)
    }
  }
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      sample(
        drawing,
        facets.flatMap((one) => membersOf(one, name)),
        depth + 1,
      ),
    ]),
  )
}

/** The schemas that one schema object applies to a member. */
export function membersOf(schema: Keywords, name: string): readonly Schema[] {
  const own = entriesOf(schema.properties).filter(([key]) => key === name)
  const byPattern = entriesOf(schema.patternProperties).filter(([pattern]) => new RegExp(pattern, 'u').test(name))
  const found = [...own, ...byPattern].map(([, one]) => one)
  if (found.length > 0) return found
  // Beside `additionalProperties` no name is unevaluated.
  return [schema.additionalProperties ?? schema.unevaluatedProperties].filter((one) => isKeywords(one))
}
