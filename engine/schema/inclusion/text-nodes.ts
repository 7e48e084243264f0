/**
 * Two schemas of values that are written as text, as schemas of these texts. What a text means for a schema is decided here,
 * before any search: a condition on a number becomes one on the texts of numbers. So inclusion of texts is proved as that of
 * any other values.
 */
import { isInBound, isMatch, itemNode } from './evaluate.ts'
import {
  constraintsWithin,
  JSON_TYPES,
  type Bound,
  type Constraint,
  type Items,
  type JsonType,
  type ProofSide,
  type TextReading,
  type SchemaNode,
  type Shape,
  type TextType,
} from './model.ts'
import { valuesConstraint, type SchemaNodes } from './nodes.ts'
import { both, languageOf } from './patterns.ts'
import { itemNodes, memberNodes } from './places.ts'
import { namedTypes, readingsBy, undecidedTypes, type ReadingMode } from './reading.ts'

type Unevaluated = Extract<Constraint, { kind: 'unevaluated' }>
type NodesBySide = Readonly<Record<ProofSide, SchemaNodes>>

/** More patterns than these in one object are not distinguished. */
const MAX_PATTERNS = 4

const STRUCTURED: readonly JsonType[] = ['array', 'object']
const NO_TEXT: readonly JsonType[] = ['null', 'boolean', 'number']
/** What is sent: texts, lists of texts, and parts that hold JSON. */
const SENT: Constraint = { kind: 'types', types: new Set<JsonType>(['string', ...STRUCTURED]) }
const NO_LIST: Constraint = { kind: 'types', types: new Set<JsonType>(JSON_TYPES.filter((type) => type !== 'array')) }
const IS_TEXT: Constraint = { kind: 'types', types: new Set<JsonType>(['string']) }

interface TextSchemas {
  readonly sub: SchemaNode
  readonly super: SchemaNode
  /** Whether both sides read every text alike. Then no text separates them unless its value does. */
  readonly isAlikeRead: boolean
}

export function textSchemas(
  sub: SchemaNode,
  other: SchemaNode,
  sides: NodesBySide,
  mode: 'alike' | 'alike in digits',
): TextSchemas {
  const root = new TextPlace('whole', [sub, other], sides, mode)
  return { sub: root.sent(sub), super: root.sent(other), isAlikeRead: root.isAlikeRead }
}

/**
 * Two schemas of one scalar, as all texts that the first may be written as, and those that every reading of the second
 * admits. Null where the values may be others, or are of any type: what these are read as is not known. How null is written
 * is not known either, so it is a value of its own.
 */
export function surelyReadTexts(
  sub: SchemaNode,
  other: SchemaNode,
  sides: NodesBySide,
): Pick<TextSchemas, 'sub' | 'super'> | null {
  if (![sub, other].every((node) => isTyped(node) && constraintsWithin(node).every(isScalar))) return null
  const places = (['own', 'own and sure'] as const).map((mode) => new TextPlace('whole', [sub, other], sides, mode))
  return {
    sub: sides.sub.made([{ kind: 'any', nodes: places.map((place) => place.sent(sub)) }]),
    super: sides.super.made([{ kind: 'all', nodes: places.map((place) => place.sent(other)) }]),
  }
}

/** Whether the types of all values are named, or the values listed. */
function isTyped(node: SchemaNode, known: Map<SchemaNode, boolean> = new Map()): boolean {
  const answer = known.get(node)
  if (answer !== undefined) return answer
  // A schema that holds itself in place names no type by that.
  known.set(node, false)
  const isPartTyped = (part: SchemaNode): boolean => isTyped(part, known)
  const isOwn = node.constraints.some((one) => {
    if (one.kind === 'types' || one.kind === 'values' || one.kind === 'never') return true
    if (one.kind === 'all') return one.nodes.some(isPartTyped)
    return (one.kind === 'any' || one.kind === 'one') && one.nodes.every(isPartTyped)
  })
  known.set(node, isOwn)
  return isOwn
}

/** Whether a condition is looked into, and lets no list and no object be meant. */
function isScalar(constraint: Constraint): boolean {
  if (constraint.kind === 'types') return STRUCTURED.every((type) => !constraint.types.has(type))
  if (constraint.kind === 'values')
    return constraint.values.every((value) => typeof value !== 'object' || value === null)
  return constraint.kind !== 'opaque'
}

/**
 * The schema of all texts that one side may admit: each condition may read a text in a way of its own. `12` is a whole number
 * and a string.
 */
export function looseTexts(sub: SchemaNode, sides: NodesBySide): SchemaNode {
  return new TextPlace('whole', [sub], sides, 'loose').sent(sub)
}

/** A name, or all names that match the same patterns, with the place of its value. */
interface Cell {
  readonly name: string | null
  readonly matched: ReadonlySet<string>
  readonly place: TextPlace
}

/** Where a text stands. Within a list, and within an object that is a member, values are JSON. */
type TextLevel = 'whole' | 'member' | 'item'

class TextPlace {
  readonly #level: TextLevel
  readonly #sides: NodesBySide
  readonly #constraints: readonly Constraint[]
  readonly #readings: Readonly<Record<ProofSide, TextReading>>
  readonly #mode: ReadingMode
  /** The types that a condition may leave unread. */
  readonly #undecided: readonly TextType[]
  /** Whether a condition may also read a text as a list. */
  readonly #mayBeList: boolean
  readonly #items: TextPlace | null
  readonly #texts = new Map<number, SchemaNode>()
  readonly #sent = new Map<number, SchemaNode>()
  #cells: readonly Cell[] | null | undefined

  /** @param nodes the schemas of both sides that may describe the place, whichever alternatives hold */
  constructor(level: TextLevel, nodes: readonly SchemaNode[], sides: NodesBySide, mode: ReadingMode) {
    const bySide = (side: ProofSide): readonly Constraint[] =>
      nodes.filter((node) => node.side === side).flatMap(constraintsWithin)
    const [sub, other] = [bySide('sub'), bySide('super')]
    this.#level = level
    this.#sides = sides
    this.#constraints = [...sub, ...other]
    const types = namedTypes(sub)
    const isLoose = mode === 'loose'
    this.#readings = readingsBy(mode, sub, other)
    this.#mode = mode
    this.#undecided = isLoose ? undecidedTypes(types) : []
    this.#mayBeList = isLoose && types.has('array') && types.size > 1
    const items = level === 'item' ? [] : this.#constraints.flatMap(itemNodes)
    this.#items = items.length === 0 ? null : new TextPlace('item', items, sides, mode)
  }

  get isAlikeRead(): boolean {
    if (this.#keyOf('sub') !== this.#keyOf('super')) return false
    return this.#allCells()?.every(({ place }) => place.isAlikeRead) ?? false
  }

  #keyOf(side: ProofSide): string {
    const { typed, isList } = this.#readings[side]
    return `${[...typed].join(' ')} ${isList} ${this.#items === null ? '' : this.#items.#keyOf(side)}`
  }

  /** The schema of all that is sent at the place. */
  sent(node: SchemaNode): SchemaNode {
    if (node.isOpen || node.side === 'super') return this.#text(node)
    const known = this.#sent.get(node.id) ?? this.#of(node).derived(() => [...this.#text(node).constraints, SENT])
    this.#sent.set(node.id, known)
    return known
  }

  #text(node: SchemaNode): SchemaNode {
    if (node.isOpen) return node
    const known =
      this.#texts.get(node.id) ??
      this.#of(node).derived(() => node.constraints.flatMap((constraint) => this.#read(constraint, this.#of(node))))
    this.#texts.set(node.id, known)
    return known
  }

  #of({ side }: SchemaNode): SchemaNodes {
    return this.#sides[side]
  }

  /** The conditions on texts that are a condition on values. */
  #read(constraint: Constraint, nodes: SchemaNodes): readonly Constraint[] {
    const text = (node: SchemaNode): SchemaNode => this.#text(node)
    const { kind } = constraint
    if (kind === 'all' || kind === 'any' || kind === 'one')
      return [{ ...constraint, nodes: constraint.nodes.map(text) }]
    if (kind === 'not' || kind === 'dependent') return [{ ...constraint, node: text(constraint.node) }]
    if (kind === 'condition') {
      const [test, then, otherwise] = [constraint.test, constraint.then, constraint.otherwise]
      return [{ kind, test: text(test), then: then && text(then), otherwise: otherwise && text(otherwise) }]
    }
    if (kind === 'shape') return [this.#level === 'whole' ? this.#shape(constraint, nodes) : constraint]
    if (kind === 'unevaluated') return this.#unevaluated(constraint, nodes)
    if (kind === 'types') return this.#types(constraint.types, nodes)
    if (kind === 'values') return this.#values(constraint, nodes)
    if (kind === 'items' || kind === 'contains') return this.#ofLists(constraint, nodes)
    if (kind === 'bound' && constraint.of === 'array') return this.#length(constraint, nodes)
    if (kind === 'bound' && constraint.of === 'object') return [constraint]
    const isScalar = kind === 'bound' || kind === 'multiple' || kind === 'pattern' || kind === 'format'
    return isScalar ? this.#scalar(constraint, nodes) : [constraint]
  }

  #scalar(constraint: Constraint, nodes: SchemaNodes): readonly Constraint[] {
    const { typed, isList } = this.#readings[nodes.side]
    if (isList || this.#mayBeList) return []
    const read = (types: TextReading['typed']): Constraint => ({ kind: 'read', typed: types, constraint })
    if (this.#undecided.length === 0) return [read(typed)]
    const sure = [...typed].filter((type) => !this.#undecided.includes(type))
    return [{ kind: 'any', nodes: [nodes.made([read(typed)]), nodes.made([read(new Set(sure))])] }]
  }

  #types(types: ReadonlySet<JsonType>, nodes: SchemaNodes): readonly Constraint[] {
    const kept = STRUCTURED.filter((type) => types.has(type))
    const sent = (isText: boolean): Constraint => ({
      kind: 'types',
      types: new Set([...NO_TEXT, ...kept, ...(isText ? (['string'] as const) : [])]),
    })
    const { isList, typed } = this.#readings[nodes.side]
    if (isList) return [sent(types.has('array'))]
    if (this.#mayBeList) return [sent(true)]
    const isEveryText =
      types.has('string') && [...typed].every((type) => types.has(type === 'integer' ? 'number' : type))
    if (isEveryText || ![...types].some((type) => type === 'string' || isAmong(typed, type))) return [sent(isEveryText)]
    return [sent(true), ...this.#scalar({ kind: 'types', types }, nodes)]
  }

  #values(constraint: Extract<Constraint, { kind: 'values' }>, nodes: SchemaNodes): readonly Constraint[] {
    const texts = this.#readings[nodes.side].isList
      ? this.#ifText(this.#item(nodes.made([valuesConstraint(onlyItems(constraint.values))])), nodes)
      : this.#scalar(constraint, nodes)
    if (constraint.values.every((value) => typeof value !== 'object' || value === null)) {
      return [{ kind: 'types', types: new Set([...NO_TEXT, 'string']) }, ...texts]
    }
    return [{ kind: 'any', nodes: [nodes.made([IS_TEXT]), nodes.made([constraint])] }, ...texts]
  }

  #item(node: SchemaNode): SchemaNode {
    return this.#items === null ? node : this.#items.sent(node)
  }

  #ofLists(constraint: Extract<Constraint, { kind: 'items' | 'contains' }>, nodes: SchemaNodes): readonly Constraint[] {
    if (constraint.kind === 'items') {
      const { prefix, rest } = constraint
      const items: Items = {
        kind: 'items',
        prefix: prefix.map((node) => this.#item(node)),
        rest: rest && this.#item(rest),
      }
      return [items, ...this.#ifText(itemNode(items, 0), nodes)]
    }
    const { min, max } = constraint
    const node = this.#item(constraint.node)
    const texts = [
      ...(min > 0 ? this.#ifText(min > 1 ? nodes.nothing : node, nodes) : []),
      ...(max === 0 ? this.#ifText(nodes.negationOf(node), nodes) : []),
    ]
    return [{ ...constraint, node }, ...texts]
  }

  #length(constraint: Bound, nodes: SchemaNodes): readonly Constraint[] {
    if (!isInBound(constraint, 1)) return [constraint, ...this.#ifText(nodes.nothing, nodes)]
    return !isInBound(constraint, 2) && this.#isOfItem(nodes) ? [constraint, NO_LIST] : [constraint]
  }

  /**
   * Whether a parameter that was a list is the text of its only item now. A list without items is not written (RFC 6570 §2.3).
   */
  #isOfItem({ side }: SchemaNodes): boolean {
    const { sub, super: other } = this.#readings
    if (this.#level !== 'whole' || side !== 'sub' || !sub.isList || other.isList || this.#items === null) return false
    const types = namedTypes(this.#items.#constraints)
    return types.size > 0 && STRUCTURED.every((type) => !types.has(type))
  }

  /** What the only item of a list must meet. */
  #ifText(node: SchemaNode | null, nodes: SchemaNodes): readonly Constraint[] {
    if (node === null || !this.#readings[nodes.side].isList) return []
    return [{ kind: 'condition', test: nodes.made([IS_TEXT]), then: node, otherwise: null }]
  }

  #shape(shape: Shape, nodes: SchemaNodes): Shape {
    const { properties, patterns, others } = shape
    const isBeyond = ({ name, matched }: Cell): boolean =>
      (name === null || !properties.has(name)) && !patterns.some(([pattern]) => matched.has(pattern))
    return {
      ...shape,
      properties: new Map(
        [...properties].map(([name, node]) => [name, this.#member(node, (cell) => cell.name === name, nodes)]),
      ),
      patterns: patterns.map(([pattern, node]) => [
        pattern,
        this.#member(node, ({ matched }) => matched.has(pattern), nodes),
      ]),
      others: others && this.#member(others, isBeyond, nodes),
    }
  }

  #unevaluated(constraint: Unevaluated, nodes: SchemaNodes): readonly Constraint[] {
    const { of, node, owner, widest, narrowest } = constraint
    if (of === 'object' && this.#level !== 'whole') return [{ ...constraint, exact: null }]
    const form = (one: Shape | Items): Shape | Items => {
      if (one.kind === 'shape') return this.#shape(one, nodes)
      const [items] = this.#ofLists(one, nodes)
      return items?.kind === 'items' ? items : one
    }
    const read: Unevaluated = {
      ...constraint,
      node: of === 'array' ? this.#item(node) : this.#member(node, () => true, nodes),
      owner: this.#text(owner),
      exact: null,
      widest: widest && form(widest),
      narrowest: form(narrowest),
    }
    return [read, ...this.#ifText(firstUnevaluated(read, nodes), nodes)]
  }

  /** A schema of the values of many names, whose texts must all be read in one way. */
  #member(node: SchemaNode, isOfName: (cell: Cell) => boolean, nodes: SchemaNodes): SchemaNode {
    if (node.isOpen || node.constraints.some(({ kind }) => kind === 'never')) return node
    const cells = this.#allCells()?.filter(isOfName) ?? []
    const places = new Map(cells.map(({ place }) => [place.#keyOf(nodes.side), place]))
    const [place] = places.values()
    if (place !== undefined && places.size === 1) return place.sent(node)
    return nodes.made([{ kind: 'opaque', why: `fields that are read by their names, ${nodes.side}` }])
  }

  /** Null if there are too many patterns. */
  #allCells(): readonly Cell[] | null {
    if (this.#cells === undefined) this.#cells = this.#level === 'whole' ? this.#makeCells() : []
    return this.#cells
  }

  #makeCells(): readonly Cell[] | null {
    const shapes = this.#constraints.filter((one): one is Shape => one.kind === 'shape')
    const patterns = [...new Set(shapes.flatMap((shape) => shape.patterns.map(([pattern]) => pattern)))]
    if (patterns.length > MAX_PATTERNS) return null
    const named = [...new Set(shapes.flatMap(({ properties }) => [...properties.keys()]))].map((name) =>
      this.#cell(
        name,
        patterns.filter((pattern) => isMatch(pattern, name) !== false),
        (one) => memberNodes(one, name),
      ),
    )
    const masks = Array.from({ length: 2 ** patterns.length }, (_, mask) =>
      patterns.filter((_pattern, bit) => (mask & (1 << bit)) !== 0),
    )
    return [...named, ...masks.filter(maySomeNameMatch).map((matched) => this.#cellOf(matched))]
  }

  #cellOf(matched: readonly string[]): Cell {
    return this.#cell(null, matched, (one) => {
      if (one.kind === 'unevaluated') return one.of === 'object' ? [one.node] : []
      if (one.kind !== 'shape') return []
      const nodes = one.patterns.flatMap(([pattern, node]) => (matched.includes(pattern) ? [node] : []))
      return nodes.length > 0 || one.others === null ? nodes : [one.others]
    })
  }

  #cell(
    name: string | null,
    matched: readonly string[],
    nodesOf: (constraint: Constraint) => readonly SchemaNode[],
  ): Cell {
    const place = new TextPlace('member', this.#constraints.flatMap(nodesOf), this.#sides, this.#mode)
    return { name, matched: new Set(matched), place }
  }
}

function isAmong(typed: TextReading['typed'], type: JsonType): boolean {
  return [...typed].some((one) => one === type || (one === 'integer' && type === 'number'))
}

/** What the first item must meet if no other keyword evaluates it. Null for objects. */
function firstUnevaluated({ widest, narrowest }: Unevaluated, nodes: SchemaNodes): SchemaNode | null {
  if (narrowest.kind !== 'items') return null
  const least = itemNode(narrowest, 0)
  const most = widest?.kind === 'items' ? itemNode(widest, 0) : null
  if (least === null || least === most) return least
  const between: readonly Constraint[] = [
    ...(most?.constraints ?? []),
    { kind: 'opaque', why: 'a first item that may be unevaluated' },
  ]
  return nodes.made([{ kind: 'any', nodes: [least, nodes.made(between)] }])
}

/** The items of listed lists of one. */
function onlyItems(values: readonly unknown[]): readonly unknown[] {
  return values.flatMap((value): readonly unknown[] => (Array.isArray(value) && value.length === 1 ? value : []))
}

function maySomeNameMatch(patterns: readonly string[]): boolean {
  let common = languageOf('')
  for (const pattern of patterns) {
    const language = languageOf(pattern)
    if (common === null || language === null) return true
    common = both(common, language)
  }
  return common === null || !common.isEmpty
}
