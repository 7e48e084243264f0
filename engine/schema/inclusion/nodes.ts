/**
 * Schemas as nodes of a proof: every dialect, and every way to write the same condition, becomes one form. It is one file, since
 * the readings of the keywords share what is remembered of a node.
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { ValueSet, valueKey } from '../equality.ts'
import { admitsAll } from '../ineffective-keywords.ts'
import { isFormed, KEYWORD_FORMS, type KeywordForm } from '../keyword-forms.ts'
import { inAnyLanguage, withByteFormat } from '../languages.ts'
import { isRecord, stepInto, type JsonRecord, type Located } from '../located.ts'
import { itemsOf, membersOf, textsOf } from '../subschemas.ts'
import { evaluatesContained, isDangling, resolveSchema, type ResolvedSchema, type SchemaSource } from '../source.ts'
import { exampleOf } from './formats.ts'
import {
  INTEGER,
  isSilent,
  JSON_TYPES,
  NO_NAMES,
  type Bound,
  type Constraint,
  type ProofSide,
  type SchemaNode,
} from './model.ts'
import { isMarked } from '../usage-marks.ts'
import { unevaluatedBounds } from './unevaluated.ts'

/** Whose values are compared: what callers send, what they get, or what both write and read. */
export type Usage = 'request' | 'response' | 'shared'

/**
 * How a value is treated that several alternatives of `oneOf` admit. `refused`: as JSON Schema says. `null-admitted`: an
 * alternative that is null and nothing else excludes no null. `slips-admitted`: objects are admitted besides. `admitted`:
 * `oneOf` is read as `anyOf`.
 */
export type Overlap = 'refused' | 'null-admitted' | 'slips-admitted' | 'admitted'

/** Numbers the nodes of one proof. */
export interface Numbering {
  next: number
}

/** A node that no schema object holds. */
abstract class UnwrittenNode {
  readonly id: number
  readonly side: ProofSide
  abstract readonly constraints: readonly Constraint[]

  constructor(id: number, side: ProofSide) {
    this.id = id
    this.side = side
  }

  get isOpen(): boolean {
    return this.constraints.every(isSilent)
  }

  get source(): null {
    return null
  }

  get isUnused(): boolean {
    return false
  }
}

class ImpliedNode extends UnwrittenNode implements SchemaNode {
  readonly constraints: readonly Constraint[]

  constructor(id: number, side: ProofSide, constraints: readonly Constraint[]) {
    super(id, side)
    this.constraints = constraints
  }
}

/** A node whose constraints are made when they are asked for, so that recursion ends. */
class DerivedNode extends UnwrittenNode implements SchemaNode {
  readonly #derive: () => readonly Constraint[]
  #constraints: readonly Constraint[] | null = null

  constructor(id: number, side: ProofSide, derive: () => readonly Constraint[]) {
    super(id, side)
    this.#derive = derive
  }

  get constraints(): readonly Constraint[] {
    this.#constraints ??= this.#derive()
    return this.#constraints
  }
}

/** A node of a schema object, which is read when its constraints are asked for. */
class WrittenNode implements SchemaNode {
  readonly id: number
  readonly side: ProofSide
  readonly source: ResolvedSchema
  readonly isUnused: boolean
  readonly #nodes: SchemaNodes
  #constraints: readonly Constraint[] | null = null

  constructor(id: number, source: ResolvedSchema, isUnused: boolean, nodes: SchemaNodes) {
    this.id = id
    this.side = nodes.side
    this.source = source
    this.isUnused = isUnused
    this.#nodes = nodes
  }

  get isOpen(): boolean {
    // A type is a constraint in any case.
    const isTyped = this.#constraints === null && !this.#nodes.isAnyLanguage && this.source.value.type !== undefined
    return !isTyped && this.constraints.every(isSilent)
  }

  /** A schema that combines itself reaches its own node while it is read. No value is checked by it to an end. */
  get constraints(): readonly Constraint[] {
    if (this.#constraints === null) {
      this.#constraints = COMBINES_ITSELF
      this.#constraints = [...this.#nodes.read(this.source)]
    }
    return this.#constraints
  }
}

const COMBINES_ITSELF: readonly Constraint[] = [{ kind: 'opaque', why: 'a schema that combines itself' }]

/** Of the same types there is one constraint: half a million members may be of one type. */
const TYPES: readonly Constraint[] = Array.from({ length: 2 ** JSON_TYPES.length }, (_, mask) => ({
  kind: 'types',
  types: new Set(JSON_TYPES.filter((_type, bit) => (mask & (1 << bit)) !== 0)),
}))
const NULL = 1 << JSON_TYPES.indexOf('null')

/** What each name of a type admits, as bits. A file is text of bytes. */
const TYPE_BITS: ReadonlyMap<string, number> = new Map(
  [...JSON_TYPES.map((type) => [type, type] as const), ['integer', 'number'] as const, ['file', 'string'] as const].map(
    ([name, type]) => [name, 1 << JSON_TYPES.indexOf(type)],
  ),
)
const NUMBER_FORMATS: ReadonlySet<string> = new Set(['int32', 'int64', 'bigint', 'float', 'double', 'decimal'])

const BOUNDS: readonly (readonly [keyword: string, of: Bound['of'], end: Bound['end'], isExclusive: boolean])[] = [
  ['minimum', 'number', 'min', false],
  ['maximum', 'number', 'max', false],
  ['exclusiveMinimum', 'number', 'min', true],
  ['exclusiveMaximum', 'number', 'max', true],
  ['minLength', 'string', 'min', false],
  ['maxLength', 'string', 'max', false],
  ['minItems', 'array', 'min', false],
  ['maxItems', 'array', 'max', false],
  ['minProperties', 'object', 'min', false],
  ['maxProperties', 'object', 'max', false],
]

/** The parts of a schema that are read one by one, as bits. Most schemas have one or two. */
const PARTS = { values: 1, scalars: 2, object: 4, array: 8, combined: 16, dynamic: 32, unevaluated: 64 } as const
/** The bit of a keyword whose value has a wrong JSON type. What it was meant to say is not known. */
const MALFORMED = 128

const KEYWORD_PARTS: ReadonlyMap<string, { readonly part: number; readonly form: KeywordForm }> = new Map(
  (
    [
      ['values', ['enum', 'const']],
      ['scalars', [...BOUNDS.map(([keyword]) => keyword), 'multipleOf', 'pattern', 'format']],
      ['object', ['properties', 'patternProperties', 'additionalProperties', 'required', 'propertyNames']],
      ['object', ['dependentRequired', 'dependencies', 'dependentSchemas']],
      ['array', ['items', 'prefixItems', 'additionalItems', 'uniqueItems', 'contains']],
      ['combined', ['allOf', 'anyOf', 'oneOf', 'not', 'if']],
      ['dynamic', ['$dynamicRef', '$recursiveRef', '$ref']],
      ['unevaluated', ['unevaluatedProperties', 'unevaluatedItems']],
    ] as const
  ).flatMap(([part, keywords]) =>
    keywords.map((keyword) => [keyword, { part: PARTS[part], form: KEYWORD_FORMS.get(keyword) ?? 'any' }]),
  ),
)

function keywordParts(schema: JsonRecord): number {
  let parts = 0
  for (const keyword in schema) {
    const known = KEYWORD_PARTS.get(keyword)
    if (known !== undefined) parts |= isMalformed(schema[keyword], known.form) ? known.part | MALFORMED : known.part
  }
  return parts
}

function isMalformed(value: unknown, form: KeywordForm): boolean {
  return value !== undefined && value !== null && !isFormed(value, form)
}

function readMalformed(schema: JsonRecord, into: Constraint[]): void {
  const malformed = Object.entries(schema).filter(([keyword, value]) => {
    // A parameter of Swagger 2.0 is a schema, and says whether it is required itself.
    if (keyword === 'required' && schema.in !== undefined && isFormed(value, 'boolean')) return false
    return isMalformed(value, KEYWORD_PARTS.get(keyword)?.form ?? 'any')
  })
  if (malformed.length > 0)
    into.push({ kind: 'opaque', why: `the malformed ${valueKey(Object.fromEntries(malformed))}` })
}

/** How the schemas of one side of a proof are read. */
interface SchemaReading {
  readonly side: ProofSide
  readonly usage: Usage
  readonly overlap: Overlap
  readonly source: SchemaSource
  readonly numbering: Numbering
  /** Bytes are admitted however the other side's language writes them. */
  readonly isAnyLanguage: boolean
  /** As in `InclusionQuestion`. */
  readonly isNullOfType?: boolean
}

/** Makes the nodes of one side of a proof, one for each schema object. */
export class SchemaNodes {
  readonly side: ProofSide
  readonly usage: Usage
  readonly source: SchemaSource
  readonly isAnyLanguage: boolean
  readonly #reading: SchemaReading
  readonly #nodes = new Map<JsonRecord, SchemaNode>()
  readonly #negations = new Map<number, SchemaNode>()
  readonly anything: SchemaNode
  readonly nothing: SchemaNode
  /** The nodes around a `not`; null for those that are in none. */
  readonly #around: SchemaNodes | null
  #negated: SchemaNodes | null = null

  constructor(reading: SchemaReading, around: SchemaNodes | null = null) {
    this.#reading = reading
    this.#around = around
    this.side = reading.side
    this.usage = reading.usage
    this.source = reading.source
    this.isAnyLanguage = reading.isAnyLanguage
    this.anything = this.made([])
    this.nothing = this.made([{ kind: 'never' }])
  }

  /** The node of a schema, with its references followed. */
  at(schema: Located): SchemaNode {
    const { value } = schema
    if (value === false) return this.nothing
    if (value !== null && value !== undefined && !isFormed(value, 'schema'))
      return this.made([{ kind: 'opaque', why: `the malformed schema ${valueKey(value)}` }])
    const resolved = resolveSchema(schema, this.source)
    if (isDangling(resolved)) {
      const { reference } = resolved
      const why = reference === null ? 'a reference without a target' : `the reference ${reference}`
      return this.made([{ kind: 'opaque', why }])
    }
    const known = this.#nodes.get(resolved.value)
    if (known !== undefined) return known
    const node = new WrittenNode(this.#nextId(), resolved, this.#isUnused(resolved), this)
    this.#nodes.set(resolved.value, node)
    return node
  }

  /** A node of constraints that no schema object holds. */
  made(constraints: readonly Constraint[]): SchemaNode {
    return new ImpliedNode(this.#nextId(), this.side, constraints)
  }

  /** A node of constraints that follow from those of another one. */
  derived(derive: () => readonly Constraint[]): SchemaNode {
    return new DerivedNode(this.#nextId(), this.side, derive)
  }

  #nextId(): number {
    const { numbering } = this.#reading
    numbering.next += 1
    return numbering.next - 1
  }

  negationOf(node: SchemaNode): SchemaNode {
    const known = this.#negations.get(node.id) ?? this.made([{ kind: 'not', node }])
    this.#negations.set(node.id, known)
    return known
  }

  oneOfValues(values: readonly unknown[]): SchemaNode {
    return this.made([valuesConstraint(values)])
  }

  /** A property that is read-only is not sent in requests, one that is write-only not in responses. */
  #isUnused(schema: ResolvedSchema): boolean {
    if (this.usage === 'shared') return false
    return isMarked(schema, this.usage === 'request' ? 'readOnly' : 'writeOnly', this.source)
  }

  #list(owner: ResolvedSchema, keyword: string): readonly Located[] {
    const at = stepInto(owner.at, keyword)
    return itemsOf(owner.value, keyword).map((value, index) => ({
      value,
      at: stepInto(at, String(index)),
      document: owner.document,
    }))
  }

  #child(owner: ResolvedSchema, keyword: string): SchemaNode {
    return this.at({ value: owner.value[keyword], at: stepInto(owner.at, keyword), document: owner.document })
  }

  #named(owner: ResolvedSchema, keyword: string, members = membersOf(owner.value, keyword)): [string, SchemaNode][] {
    const at = stepInto(owner.at, keyword)
    return Object.keys(members)
      .sort()
      .map((name) => [name, this.at({ value: members[name], at: stepInto(at, name), document: owner.document })])
  }

  /** The constraints of a schema object; a list that grew holds room for more, which a copy has not. */
  read(owner: ResolvedSchema): readonly Constraint[] {
    const value = this.isAnyLanguage ? inAnyLanguage(owner.value) : withByteFormat(owner.value)
    const constraints: Constraint[] = []
    const isNullable = this.#isNullable(value)
    const parts = keywordParts(value)
    this.#readTypes(value, isNullable, constraints)
    if (parts & PARTS.values) readValues(value, constraints)
    if (parts & PARTS.scalars) readScalars(value, constraints)
    if (parts & PARTS.object) this.#readObject(owner, constraints)
    if (parts & PARTS.array) this.#readArray(owner, constraints)
    if (parts & PARTS.combined) this.#readCombined(owner, constraints)
    if (parts & PARTS.dynamic) readDynamic(value, constraints)
    if (parts & MALFORMED) readMalformed(value, constraints)
    if (parts & PARTS.unevaluated) this.#readUnevaluated(owner, constraints)
    const isPlain = value.enum === undefined && value.const === undefined && !hasCombined(value)
    const isOfType =
      this.#around !== null || (this.#reading.isNullOfType === true && this.source.dialect === 'openapi-3.0')
    // What is said beside it does not take null away again: it is about the whole (OpenAPI 3.0.3 §4.7.24.1).
    if (!isNullable || isPlain || isOfType) return constraints
    return [{ kind: 'any', nodes: [this.made([{ kind: 'types', types: new Set(['null']) }]), this.made(constraints)] }]
  }

  /**
   * Readings of `nullable` beside other conditions differ. Here it admits null; below a `not` it admits null by its type only,
   * since what is admitted there is refused.
   */
  #belowNot(): SchemaNodes {
    if (!hasNullable(this.source)) return this
    this.#negated ??= this.#around ?? new SchemaNodes(this.#reading, this)
    return this.#negated
  }

  #isNullable(value: JsonRecord): boolean {
    if (!hasNullable(this.source)) return false
    return value.nullable === true || value['x-nullable'] === true
  }

  #readTypes(value: JsonRecord, isNullable: boolean, into: Constraint[]): void {
    const { type } = value
    if (type === undefined) return
    const listed: readonly unknown[] = Array.isArray(type) ? type : [type]
    const names = listed.filter((name): name is string => typeof name === 'string' && TYPE_BITS.has(name))
    if (names.length !== listed.length) return void into.push({ kind: 'opaque', why: `type ${valueKey(type)}` })
    const mask = names.reduce((bits, name) => bits | (TYPE_BITS.get(name) ?? 0), isNullable ? NULL : 0)
    if (names.includes('file')) into.push({ kind: 'format', name: 'binary', of: 'string' })
    if (names.includes('integer') && !names.includes('number')) into.push(INTEGER)
    const types = TYPES[mask]
    if (types !== undefined) into.push(types)
  }

  #readObject(owner: ResolvedSchema, into: Constraint[]): void {
    const { value } = owner
    const properties = value.properties === undefined ? [] : this.#named(owner, 'properties')
    const patterns = value.patternProperties === undefined ? [] : this.#named(owner, 'patternProperties')
    const others = this.#allowance(owner, 'additionalProperties')
    const unused = unusedIn(properties)
    const isShaped = properties.length > 0 || patterns.length > 0 || others !== null
    if (isShaped) {
      // What is not sent is absent from what is given. Who takes it does not describe it.
      const isGiven = this.side === 'sub'
      const named = properties.flatMap(([name, node]): (readonly [string, SchemaNode])[] => {
        if (!unused.has(name)) return [[name, node]]
        return isGiven ? [[name, this.anything]] : []
      })
      const absent = isGiven ? unused : NO_NAMES
      into.push({ kind: 'shape', side: this.side, properties: new Map(named), patterns, others, unused: absent })
    }
    for (const name of [...new Set(textsOf(value.required))].sort()) {
      // An empty name that names no property is a slip of a generator.
      const isMeant = name !== '' || properties.some(([described]) => described === name)
      if (isMeant && !unused.has(name) && !this.#isFilledIn(value, name)) into.push({ kind: 'required', name })
    }
    if (value.propertyNames !== undefined) into.push({ kind: 'names', node: this.#child(owner, 'propertyNames') })
    this.#readDependencies(owner, into)
  }

  /** Whether a property that nobody gives is there all the same. */
  #isFilledIn(object: JsonRecord, name: string): boolean {
    if (this.source.fillsDefaults !== true) return false
    const properties = membersOf(object, 'properties')
    const property = Object.hasOwn(properties, name) ? properties[name] : null
    return isRecord(property) && property.default !== undefined && property.default !== null
  }

  #readDependencies(owner: ResolvedSchema, into: Constraint[]): void {
    for (const keyword of ['dependentRequired', 'dependencies', 'dependentSchemas']) {
      if (owner.value[keyword] === undefined) continue
      const members = membersOf(owner.value, keyword)
      const schemas = Object.entries(members).filter(([, member]) => !Array.isArray(member))
      for (const name of Object.keys(members).sort(byCodeUnit)) {
        if (!Array.isArray(members[name])) continue
        const needed = [...textsOf(members[name])].sort(byCodeUnit)
        const node = this.made(needed.map((one) => ({ kind: 'required', name: one }) as const))
        into.push({ kind: 'dependent', name, node })
      }
      for (const [name, node] of this.#named(owner, keyword, Object.fromEntries(schemas)))
        into.push({ kind: 'dependent', name, node })
    }
  }

  /** The schema of all that is not named: null where the keyword is absent. */
  #allowance(owner: ResolvedSchema, keyword: string): SchemaNode | null {
    const value = owner.value[keyword]
    if (value === false) return this.nothing
    if (value === true) return this.anything
    if (!isRecord(value)) return null
    for (const _ in value) return this.#child(owner, keyword)
    return this.anything
  }

  #readArray(owner: ResolvedSchema, into: Constraint[]): void {
    const { value } = owner
    const isTuple = Array.isArray(value.items)
    const prefix = this.#list(owner, isTuple ? 'items' : 'prefixItems').map((item) => this.at(item))
    const rest = this.#allowance(owner, isTuple ? 'additionalItems' : 'items')
    if (prefix.length > 0 || rest !== null) into.push({ kind: 'items', prefix, rest })
    if (value.uniqueItems === true) into.push({ kind: 'unique' })
    if (value.contains === undefined) return
    const min = typeof value.minContains === 'number' ? value.minContains : 1
    const max = typeof value.maxContains === 'number' ? value.maxContains : null
    const evaluates = evaluatesContained(this.source)
    into.push({ kind: 'contains', node: this.#child(owner, 'contains'), min, max, evaluates })
  }

  #readCombined(owner: ResolvedSchema, into: Constraint[]): void {
    const { value } = owner
    for (const [keyword, kind] of [
      ['allOf', 'all'],
      ['anyOf', 'any'],
      ['oneOf', this.#reading.overlap === 'admitted' ? 'any' : 'one'],
    ] as const) {
      if (value[keyword] === undefined) continue
      const nodes = this.#list(owner, keyword).map((item) => this.at(item))
      if (kind === 'one' && nodes.length > 1 && this.#reading.overlap !== 'refused') into.push(this.#intended(nodes))
      else if (nodes.length > 0) into.push({ kind: nodes.length === 1 ? 'all' : kind, nodes })
    }
    if (value.not !== undefined) into.push({ kind: 'not', node: this.#belowNot().#child(owner, 'not') })
    if (value.if === undefined) return
    const part = (keyword: string): SchemaNode | null =>
      admitsAll(value[keyword]) ? null : this.#child(owner, keyword)
    into.push({ kind: 'condition', test: this.#child(owner, 'if'), then: part('then'), otherwise: part('else') })
  }

  /** Null, exactly one of the alternatives that are more than null, or an object of any, where that counts as a slip. */
  #intended(nodes: readonly SchemaNode[]): Constraint {
    const [nulls, others] = [nodes.filter(isNull), nodes.filter((node) => !isNull(node))]
    const object = this.made([
      { kind: 'types', types: new Set(['object']) },
      { kind: 'any', nodes },
    ])
    const choice = this.made([{ kind: others.length === 1 ? 'all' : 'one', nodes: others }])
    return {
      kind: 'any',
      nodes: [...nulls, ...(others.length > 1 && this.#reading.overlap === 'slips-admitted' ? [object] : []), choice],
    }
  }

  #readUnevaluated(owner: ResolvedSchema, into: Constraint[]): void {
    for (const [keyword, of] of [
      ['unevaluatedProperties', 'object'],
      ['unevaluatedItems', 'array'],
    ] as const) {
      const node = this.#allowance(owner, keyword)
      if (node === null) continue
      const bounds = unevaluatedBounds(of, into, node, this)
      if (bounds !== null) into.push({ kind: 'unevaluated', of, node, owner: this.made([...into]), ...bounds })
    }
  }
}

/** Names of properties that values of this direction do not carry. */
function unusedIn(properties: readonly (readonly [string, SchemaNode])[]): ReadonlySet<string> {
  if (properties.every(([, node]) => !node.isUnused)) return NO_NAMES
  return new Set(properties.filter(([, node]) => node.isUnused).map(([name]) => name))
}

function hasNullable({ dialect }: SchemaSource): boolean {
  return dialect === 'openapi-3.0' || dialect === 'openapi-2.0'
}

/** Whether a schema is written as null and nothing else. */
function isNull({ source }: SchemaNode): boolean {
  if (source === null) return false
  const { type, const: only, enum: listed } = source.value
  const isListed = Array.isArray(listed) && listed.length === 1 && listed[0] === null
  return (
    type === 'null' || (Array.isArray(type) && type.length === 1 && type[0] === 'null') || only === null || isListed
  )
}

function hasCombined(value: JsonRecord): boolean {
  return value.allOf !== undefined || value.anyOf !== undefined || value.oneOf !== undefined
}

export function valuesConstraint(values: readonly unknown[]): Constraint {
  const keyed = new Map(values.map((value) => [valueKey(value), value]))
  // The order of a list of values has no meaning.
  const sorted = [...keyed].sort(([a], [b]) => byCodeUnit(a, b)).map(([, value]) => value)
  return { kind: 'values', values: sorted, set: new ValueSet(sorted) }
}

function readDynamic(value: JsonRecord, into: Constraint[]): void {
  for (const keyword of ['$dynamicRef', '$recursiveRef'])
    if (value[keyword] !== undefined) into.push({ kind: 'opaque', why: `${keyword} ${valueKey(value[keyword])}` })
}

function readValues(value: JsonRecord, into: Constraint[]): void {
  if (Array.isArray(value.enum)) into.push(valuesConstraint(value.enum))
  if (value.const !== undefined) into.push(valuesConstraint([value.const]))
}

/** A format that is not known may be of numbers or of texts. */
function typesOfFormat(format: string): readonly ('number' | 'string')[] {
  if (NUMBER_FORMATS.has(format)) return ['number']
  return exampleOf(format) === null ? ['number', 'string'] : ['string']
}

function readScalars(value: JsonRecord, into: Constraint[]): void {
  for (const [keyword, of, end, isExclusive] of BOUNDS) {
    const limit = value[keyword]
    if (typeof limit !== 'number') continue
    // Drafts up to 4 mark a bound as exclusive by a keyword beside it.
    const isMarked = value[end === 'min' ? 'exclusiveMinimum' : 'exclusiveMaximum'] === true && of === 'number'
    into.push({ kind: 'bound', of, end, limit, isExclusive: isExclusive || isMarked })
  }
  if (typeof value.multipleOf === 'number' && value.multipleOf > 0)
    into.push({ kind: 'multiple', of: value.multipleOf })
  if (typeof value.pattern === 'string' && value.pattern !== '') into.push({ kind: 'pattern', source: value.pattern })
  if (typeof value.format === 'string' && value.format !== '')
    for (const of of typesOfFormat(value.format)) into.push({ kind: 'format', name: value.format, of })
}
