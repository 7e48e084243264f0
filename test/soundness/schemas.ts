/** Generated schemas: every keyword that a dialect has, in every nesting, with definitions that name each other and themselves. */
import type { Dialect, Feature } from './dialects.ts'
import type { Random } from './random.ts'
import { isKeywords, placesOf, without, type Keywords, type Schema } from './schema.ts'
import { NAMES } from './values.ts'

export interface Drawing {
  readonly random: Random
  readonly dialect: Dialect
  /** References that a schema may make here. A reference to what contains it stands below a member or an item only. */
  readonly references: readonly string[]
  /** References that a schema may make below a member or an item. */
  readonly below: readonly string[]
}

/** How one keyword is drawn, and what a dialect needs for it. */
interface KeywordRow {
  readonly types: readonly string[]
  readonly needs?: Feature
  readonly draw: (drawing: Drawing, depth: number) => unknown
}

const PATTERNS = ['^a', '^[ab]+$', '^x-', '[0-9]', 'b$', '^.{2,4}$', '^(a|b|ab)$', '^a*$', '^\\d+$'] as const
const NAME_PATTERNS = ['^a', '^[bc]$', '^x-', 'b$', '^[a-d]$'] as const
const FORMATS = ['date', 'date-time', 'uuid', 'email', 'ipv4', 'uri', 'hostname'] as const

const size = ({ random }: Drawing): number => random.below(5)
const limit = ({ random }: Drawing): number => random.pick([-3, -1, 0, 1, 2, 3, 5, 7, 10, 12, 0.5, 2.5])
const inner = (drawing: Drawing, depth: number): Schema =>
  drawSchema({ ...drawing, references: drawing.below }, depth - 1)
const names = ({ random }: Drawing): readonly string[] => random.some(NAMES, 1, 2)

export function mapOf(keys: readonly string[], draw: (key: string) => unknown): Keywords {
  return Object.fromEntries(keys.map((key) => [key, draw(key)]))
}

export const KEYWORDS: Readonly<Record<string, KeywordRow>> = {
  minLength: { types: ['string'], draw: size },
  maxLength: { types: ['string'], draw: size },
  pattern: { types: ['string'], draw: ({ random }) => random.pick(PATTERNS) },
  format: { types: ['string'], draw: ({ random }) => random.pick(FORMATS) },
  minimum: { types: ['integer', 'number'], draw: limit },
  maximum: { types: ['integer', 'number'], draw: limit },
  exclusiveMinimum: { types: ['integer', 'number'], draw: limit },
  exclusiveMaximum: { types: ['integer', 'number'], draw: limit },
  multipleOf: { types: ['integer', 'number'], draw: ({ random }) => random.pick([1, 2, 3, 4, 0.5]) },
  items: { types: ['array'], draw: (drawing, depth) => inner(drawing, depth) },
  prefixItems: {
    types: ['array'],
    needs: 'tuple',
    draw: (drawing, depth) => Array.from({ length: drawing.random.between(1, 2) }, () => inner(drawing, depth)),
  },
  minItems: { types: ['array'], draw: size },
  maxItems: { types: ['array'], draw: size },
  uniqueItems: { types: ['array'], draw: () => true },
  contains: { types: ['array'], needs: 'contains', draw: (drawing, depth) => inner(drawing, depth) },
  minContains: { types: ['array'], needs: 'contains bounds', draw: ({ random }) => random.below(3) },
  maxContains: { types: ['array'], needs: 'contains bounds', draw: ({ random }) => random.between(1, 2) },
  unevaluatedItems: { types: ['array'], needs: 'unevaluated', draw: (drawing, depth) => closing(drawing, depth) },
  properties: {
    types: ['object'],
    draw: (drawing, depth) => mapOf(drawing.random.some(NAMES, 1, 3), () => inner(drawing, depth)),
  },
  required: { types: ['object'], draw: names },
  additionalProperties: { types: ['object'], draw: (drawing, depth) => closing(drawing, depth) },
  patternProperties: {
    types: ['object'],
    needs: 'patternProperties',
    draw: (drawing, depth) => mapOf(drawing.random.some(NAME_PATTERNS, 1, 2), () => inner(drawing, depth)),
  },
  propertyNames: {
    types: ['object'],
    needs: 'propertyNames',
    draw: ({ random }) =>
      random.pick<Schema>([
        { enum: ['a', 'b'] },
        { enum: ['a', 'b', 'c', 'd'] },
        { maxLength: 1 },
        { pattern: '^[a-c]' },
        { pattern: '^x-' },
      ]),
  },
  dependentRequired: {
    types: ['object'],
    needs: 'dependency',
    draw: (drawing) => mapOf(names(drawing), () => names(drawing)),
  },
  dependentSchemas: {
    types: ['object'],
    needs: 'dependency',
    draw: (drawing, depth) => mapOf(names(drawing), () => drawSchema(drawing, depth - 1)),
  },
  minProperties: { types: ['object'], draw: ({ random }) => random.below(3) },
  maxProperties: { types: ['object'], draw: ({ random }) => random.between(1, 4) },
  unevaluatedProperties: { types: ['object'], needs: 'unevaluated', draw: (drawing, depth) => closing(drawing, depth) },
  allOf: { types: [], draw: (drawing, depth) => branches(drawing, depth, 1) },
  anyOf: { types: [], needs: 'choice', draw: (drawing, depth) => branches(drawing, depth, 2) },
  oneOf: { types: [], needs: 'choice', draw: (drawing, depth) => branches(drawing, depth, 2) },
  not: { types: [], needs: 'choice', draw: (drawing, depth) => drawSchema(drawing, depth - 1) },
  if: { types: [], needs: 'condition', draw: (drawing, depth) => drawSchema(drawing, depth - 1) },
  then: { types: [], needs: 'condition', draw: (drawing, depth) => drawSchema(drawing, depth - 1) },
  else: { types: [], needs: 'condition', draw: (drawing, depth) => drawSchema(drawing, depth - 1) },
  enum: { types: [], draw: (drawing) => drawing.random.some(constantsFor(drawing), 1, 3) },
  const: { types: [], draw: (drawing) => drawing.random.pick(constantsFor(drawing)) },
  type: { types: [], draw: (drawing) => drawType(drawing) },
}

const CONSTANTS = ['a', 'ab', 'b', 1, 2, 0, true, false, null] as const
const RICH_CONSTANTS = [...CONSTANTS, [], ['a'], {}, { a: 1 }, { a: 1, b: { d: 1, c: 2 } }] as const

function constantsFor({ random, dialect }: Drawing): readonly unknown[] {
  const list: readonly unknown[] = random.chance(0.1) ? RICH_CONSTANTS : CONSTANTS
  return dialect.has.has('null') ? list : list.filter((one) => one !== null)
}

function closing(drawing: Drawing, depth: number): Schema {
  return drawing.random.chance(0.5) ? false : inner(drawing, depth)
}

function branches(drawing: Drawing, depth: number, least: number): readonly Schema[] {
  return Array.from({ length: drawing.random.between(least, 3) }, () => drawSchema(drawing, depth - 1))
}

const TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const

function drawType({ random, dialect }: Drawing): unknown {
  const has = dialect.has
  if (has.has('type list') && random.chance(0.3)) return random.some([...TYPES, 'null'], 2, 3)
  if (has.has('null') && random.chance(0.25)) return [random.pick(TYPES), 'null']
  if (has.has('type list') && random.chance(0.08)) return 'null'
  return random.pick(TYPES)
}

/** Keywords that a dialect has, for schemas of a type; none for those that fit any type. */
export function keywordsFor(dialect: Dialect, type: string | null): readonly string[] {
  return Object.entries(KEYWORDS).flatMap(([keyword, { types, needs }]) =>
    (needs === undefined || dialect.has.has(needs)) && (type === null ? types.length === 0 : types.includes(type))
      ? [keyword]
      : [],
  )
}

function withKeywords(drawing: Drawing, base: Keywords, keywords: readonly string[], depth: number): Keywords {
  const drawn = keywords.map((keyword) => [keyword, KEYWORDS[keyword]?.draw(drawing, depth)] as const)
  return sound(drawing, { ...base, ...Object.fromEntries(drawn) })
}

/** Where a dialect leaves the meaning of two keywords together open, or gives them none, one of them goes. */
function sound({ dialect }: Drawing, schema: Keywords): Keywords {
  const isMarked = !dialect.has.has('type list')
  let kept = schema
  if (isMarked && Array.isArray(kept.type) && (kept.enum !== undefined || kept.const !== undefined))
    kept = without(kept, 'enum', 'const')
  if (kept.contains === undefined) kept = without(kept, 'minContains', 'maxContains')
  if (kept.if === undefined) kept = without(kept, 'then', 'else')
  // Alone it has a meaning only where it counts what is evaluated.
  const isAlone = kept.then === undefined && kept.else === undefined
  if (kept.if !== undefined && isAlone && !dialect.has.has('unevaluated')) kept = { ...kept, then: false }
  // Both keywords in one object are one list of lists to drafts before 2019-09.
  return kept
}

export interface Kind {
  readonly weight: number
  readonly needs?: Feature
  /** Deeper than any schema with schemas within. */
  readonly isLeaf?: boolean
  readonly draw: (drawing: Drawing, depth: number) => Schema
}

export function typed(type: string, least: number, most: number, skips: readonly string[] = []): Kind['draw'] {
  return (drawing, depth) => {
    const keywords = keywordsFor(drawing.dialect, type).filter((keyword) => !skips.includes(keyword))
    return withKeywords(drawing, { type }, drawing.random.some(keywords, least, most), depth)
  }
}

function combined(keyword: string): Kind['draw'] {
  return (drawing, depth) => withKeywords(drawing, {}, [keyword], depth)
}

export const KINDS: Readonly<Record<string, Kind>> = {
  text: { weight: 4, isLeaf: true, draw: typed('string', 0, 2) },
  integer: { weight: 3, isLeaf: true, draw: typed('integer', 0, 2) },
  number: { weight: 2, isLeaf: true, draw: typed('number', 0, 2) },
  boolean: { weight: 1, isLeaf: true, draw: () => ({ type: 'boolean' }) },
  choice: {
    weight: 3,
    isLeaf: true,
    draw: ({ random }) => ({ type: 'string', enum: random.some(['a', 'ab', 'abc', 'b', '7'], 1, 3) }),
  },
  constant: { weight: 1, isLeaf: true, draw: (drawing) => ({ const: drawing.random.pick(constantsFor(drawing)) }) },
  types: { weight: 1, isLeaf: true, draw: (drawing) => ({ type: drawType(drawing) }) },
  anything: {
    weight: 1,
    isLeaf: true,
    draw: ({ random, dialect }) => (dialect.has.has('boolean schema') && random.chance(0.4) ? random.chance(0.6) : {}),
  },
  reference: {
    weight: 4,
    isLeaf: true,
    needs: 'reference',
    draw: (drawing) => {
      const { random, references, dialect } = drawing
      if (references.length === 0) return { type: 'string' }
      const reference = { $ref: random.pick(references) }
      if (!dialect.has.has('reference siblings') || random.chance(0.8)) return reference
      return withKeywords(
        drawing,
        reference,
        random.some(keywordsFor(dialect, random.pick(TYPES)).filter(isScalarKeyword), 0, 1),
        0,
      )
    },
  },
  list: { weight: 4, draw: typed('array', 1, 3) },
  record: {
    weight: 8,
    draw: (drawing, depth) => {
      const { random, dialect } = drawing
      const extra = keywordsFor(dialect, 'object').filter((keyword) => keyword !== 'properties')
      return withKeywords(drawing, { type: 'object' }, ['properties', ...random.some(extra, 0, 2)], depth)
    },
  },
  map: { weight: 2, draw: typed('object', 1, 3, ['properties']) },
  marked: {
    weight: 4,
    needs: 'mutability',
    draw: (drawing, depth) =>
      withMutability(drawing, withKeywords(drawing, { type: 'object' }, ['properties'], depth), depth),
  },
  allOf: { weight: 3, draw: combined('allOf') },
  anyOf: { weight: 3, needs: 'choice', draw: combined('anyOf') },
  oneOf: { weight: 3, needs: 'choice', draw: combined('oneOf') },
  not: { weight: 1, needs: 'choice', draw: combined('not') },
  condition: {
    weight: 2,
    needs: 'condition',
    draw: (drawing, depth) => withKeywords(drawing, {}, ['if', ...drawing.random.some(['then', 'else'], 1, 2)], depth),
  },
  nullable: {
    weight: 3,
    needs: 'null',
    draw: (drawing, depth) => nullable(drawing, drawSchema(drawing, depth - 1)),
  },
  untyped: {
    weight: 2,
    draw: (drawing, depth) => {
      const type = drawing.random.pick(TYPES)
      return withKeywords(drawing, {}, drawing.random.some(keywordsFor(drawing.dialect, type), 1, 2), depth)
    },
  },
  mixture: {
    weight: 2,
    draw: (drawing, depth) => {
      const own = keywordsFor(drawing.dialect, drawing.random.pick(TYPES))
      const any = keywordsFor(drawing.dialect, null)
      return withKeywords(drawing, {}, [...drawing.random.some(own, 0, 2), ...drawing.random.some(any, 1, 2)], depth)
    },
  },
  closedUnion: {
    weight: 2,
    needs: 'unevaluated',
    draw: (drawing, depth) => {
      const { random } = drawing
      const parts = random.some(
        ['allOf', 'anyOf', 'if', 'then', 'properties', 'dependentSchemas', 'patternProperties'],
        1,
        2,
      )
      return withKeywords(drawing, { type: 'object' }, [...parts, 'unevaluatedProperties'], depth)
    },
  },
  closedMembers: {
    weight: 1,
    draw: (drawing, depth) => {
      const members = Array.from({ length: 2 }, () => KINDS.record?.draw(drawing, depth - 1) ?? true)
      return drawing.random.chance(0.5)
        ? { allOf: members }
        : { allOf: members, type: 'object', additionalProperties: false }
    },
  },
  tagged: {
    weight: 1,
    needs: 'choice',
    draw: (drawing, depth) => {
      const keyword = drawing.random.pick(['oneOf', 'anyOf'])
      return { [keyword]: ['one', 'two'].map((tag) => taggedBranch(drawing, tag, depth)) }
    },
  },
}

function isScalarKeyword(keyword: string): boolean {
  return ['minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems', 'required', 'minProperties'].includes(
    keyword,
  )
}

function taggedBranch(drawing: Drawing, tag: string, depth: number): Schema {
  const inside = mapOf(drawing.random.some(NAMES, 0, 2), () => inner(drawing, depth))
  return { type: 'object', properties: { ...inside, t: { const: tag } }, required: ['t'] }
}

/** Members that only one side may give. They have their own names, so that no other schema contains them. */
function withMutability(drawing: Drawing, schema: Keywords, depth: number): Keywords {
  const { random } = drawing
  const [name, mark] = random.pick([
    ['r', 'readOnly'],
    ['w', 'writeOnly'],
  ] as const)
  const member = inner(drawing, Math.min(depth, 1))
  const marked =
    isKeywords(member) && member.$ref === undefined ? { ...member, [mark]: true } : { type: 'string', [mark]: true }
  const properties = { ...(isKeywords(schema.properties) ? schema.properties : {}), [name]: marked }
  const required = Array.isArray(schema.required) ? schema.required : []
  return { ...schema, properties, ...(random.chance(0.5) ? { required: [...required, name] } : {}) }
}

/** The forms in which null is one more value. */
export function nullable(drawing: Drawing, schema: Schema): Schema {
  const { random, dialect } = drawing
  const isTyped =
    isKeywords(schema) &&
    typeof schema.type === 'string' &&
    schema.type !== 'null' &&
    schema.enum === undefined &&
    schema.const === undefined
  if (isTyped && random.chance(0.5))
    return { ...schema, type: random.chance(0.5) ? [schema.type, 'null'] : ['null', schema.type] }
  const empty = dialect.has.has('type list') ? { type: 'null' } : { enum: [null] }
  const branches = random.chance(0.5) ? [schema, empty] : [empty, schema]
  return { [random.chance(0.6) ? 'anyOf' : 'oneOf']: branches }
}

export function drawSchema(drawing: Drawing, depth: number): Schema {
  const { random, dialect } = drawing
  const usable = Object.values(KINDS).filter(
    ({ needs, isLeaf }) => (needs === undefined || dialect.has.has(needs)) && (depth > 0 || isLeaf === true),
  )
  let ticket = random.below(usable.reduce((sum, { weight }) => sum + weight, 0))
  for (const kind of usable) {
    ticket -= kind.weight
    if (ticket < 0) return kind.draw(drawing, depth)
  }
  return true
}

export const DEFINITIONS = ['A', 'B', 'C'] as const
export const REFERENCES = DEFINITIONS.map((name) => `#/$defs/${name}`)

/** A drawing in a definition may refer to later ones directly, and to any one below a member or an item. */
export function drawingFor(random: Random, dialect: Dialect, definition: string | null): Drawing {
  if (!dialect.has.has('reference')) return { random, dialect, references: [], below: [] }
  const index = DEFINITIONS.findIndex((name) => name === definition)
  const below = dialect.has.has('root reference') ? [...REFERENCES, '#'] : REFERENCES
  return { random, dialect, references: REFERENCES.slice(index + 1), below }
}

/** Whether a dialect has every keyword of a schema. */
export function isIn({ has }: Dialect, root: Schema): boolean {
  return [...placesOf(root)].every(([, one]) => {
    if (!isKeywords(one)) return true
    if (!has.has('type list') && Array.isArray(one.type) && !(one.type.length === 2 && one.type.includes('null')))
      return false
    if (one.$ref !== undefined && !has.has('reference')) return false
    if (one.$ref === '#' && !has.has('root reference')) return false
    return Object.keys(one).every((keyword) => {
      const needs = KEYWORDS[keyword]?.needs
      return needs === undefined || has.has(needs)
    })
  })
}
