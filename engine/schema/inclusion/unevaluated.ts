/**
 * What `unevaluatedProperties` and `unevaluatedItems` (JSON Schema 2020-12 core §11) admit, without a look at what the rest
 * evaluated: as one of a few cases, by which alternatives hold. Where these are too many, within bounds: what is looked at in
 * any case, and what may be looked at. With the first the schema admits less than it says, with the second more.
 */
import { NO_NAMES, type Constraint, type Items, type SchemaNode, type Shape } from './model.ts'

/** The nodes of one side, as far as they are needed here. */
interface SideNodes {
  readonly anything: SchemaNode
  readonly side: Shape['side']
  readonly made: (constraints: readonly Constraint[]) => SchemaNode
}

interface UnevaluatedBounds {
  /** A schema that admits the same values; null where it would have too many cases. */
  readonly exact: SchemaNode | null
  readonly widest: Shape | Items | null
  readonly narrowest: Shape | Items
}

/** Schemas of the same value that hold, and what is then evaluated. */
interface Case {
  readonly holding: readonly SchemaNode[]
  readonly seen: Looked
}

const MAX_CASES = 16
/** Constraints that hold schemas of the same value, whose evaluation counts. */
const COMBINED: ReadonlySet<string> = new Set(['all', 'any', 'one', 'dependent', 'condition'])

interface Looked {
  readonly names: Set<string>
  readonly patterns: Set<string>
  /** Of items: the schemas of `contains`, which evaluates those that match. */
  readonly matching: Set<SchemaNode>
  positions: number
  isAll: boolean
}

/** Null where nothing can be left unevaluated. */
export function unevaluatedBounds(
  of: 'array' | 'object',
  constraints: readonly Constraint[],
  node: SchemaNode,
  nodes: SideNodes,
): UnevaluatedBounds | null {
  const always = looked(of, constraints, 'always')
  if (always.isAll) return null
  const perhaps = looked(of, constraints, 'perhaps')
  const narrowest = unevaluatedPart(of, always, node, nodes)
  const isSure = !perhaps.isAll && isSameSight(always, perhaps)
  const cases = new Cases(of, nodes).of(constraints, new Set())
  return {
    exact: cases === null ? null : anyOfCases(of, cases, node, nodes),
    widest: isSure ? narrowest : perhaps.isAll ? null : unevaluatedPart(of, perhaps, node, nodes),
    narrowest,
  }
}

/**
 * More evaluated members leave less to the keyword. So it holds if, and only if, it does in one case: some alternatives hold,
 * and what they do not evaluate meets it, whatever other ones evaluate besides.
 */
function anyOfCases(of: 'array' | 'object', cases: readonly Case[], node: SchemaNode, nodes: SideNodes): SchemaNode {
  const made = cases.map(({ holding, seen }) =>
    nodes.made([
      ...(holding.length === 0 ? [] : [{ kind: 'all', nodes: holding } as const]),
      ...(seen.isAll ? [] : [unevaluatedPart(of, seen, node, nodes)]),
    ]),
  )
  return nodes.made([{ kind: 'any', nodes: made }])
}

function unevaluatedPart(of: 'array' | 'object', seen: Looked, node: SchemaNode, nodes: SideNodes): Shape | Items {
  const { anything, side } = nodes
  if (of === 'array') {
    const rest = seen.matching.size === 0 ? node : nodes.made([{ kind: 'any', nodes: [node, ...seen.matching] }])
    return { kind: 'items', prefix: Array.from({ length: seen.positions }, () => anything), rest }
  }
  return {
    kind: 'shape',
    side,
    properties: new Map([...seen.names].map((name) => [name, anything])),
    patterns: [...seen.patterns].map((pattern) => [pattern, anything]),
    others: node,
    unused: NO_NAMES,
  }
}

class Cases {
  readonly #of: 'array' | 'object'
  readonly #nodes: SideNodes
  readonly #known = new Map<number, readonly Case[] | null>()

  constructor(of: 'array' | 'object', nodes: SideNodes) {
    this.#of = of
    this.#nodes = nodes
  }

  /** Null for too many cases, for schemas that hold themselves, and where it is not known what is evaluated. */
  of(constraints: readonly Constraint[], above: ReadonlySet<number>): readonly Case[] | null {
    const own = unseen()
    for (const constraint of constraints) {
      if (mayEvaluate(this.#of, constraint) === null) return null
      lookAt(this.#of, constraint, own)
    }
    let cases: readonly Case[] | null = [{ holding: [], seen: own }]
    for (const constraint of constraints) {
      if (!COMBINED.has(constraint.kind)) continue
      const more = this.#ofCombined(constraint, above)
      cases = more === null || cases === null ? null : products(cases, more)
    }
    return cases
  }

  #ofNode(node: SchemaNode, above: ReadonlySet<number>): readonly Case[] | null {
    if (above.has(node.id)) return null
    const known = this.#known.get(node.id)
    if (known !== undefined) return known
    // A schema that holds itself has no cases whatever is above it, so they do not depend on that.
    const cases = this.of(node.constraints, new Set([...above, node.id]))
    this.#known.set(node.id, cases)
    return cases
  }

  #ofCombined(constraint: Constraint, above: ReadonlySet<number>): readonly Case[] | null {
    const { kind } = constraint
    if (kind === 'all') return this.#ofAll(constraint.nodes, above)
    if (kind === 'any' || kind === 'one') return this.#ofChoice(kind, constraint.nodes, above)
    if (kind === 'dependent') {
      const required = this.#nodes.made([{ kind: 'required', name: constraint.name }])
      return this.#orNothing(this.#whenHolding(this.#ofNode(constraint.node, above), required))
    }
    if (kind !== 'condition') return [NOTHING_SEEN]
    const { test, then, otherwise } = constraint
    const met = this.#whenHolding(this.#ofAll(then === null ? [test] : [test, then], above), test)
    const failed = this.#nodes.made([{ kind: 'not', node: test }])
    const unmet = otherwise === null ? [NOTHING_SEEN] : this.#whenHolding(this.#ofNode(otherwise, above), failed)
    return met === null || unmet === null ? null : this.#orNothing([...met, ...unmet])
  }

  #ofAll(nodes: readonly SchemaNode[], above: ReadonlySet<number>): readonly Case[] | null {
    let cases: readonly Case[] | null = [NOTHING_SEEN]
    for (const node of nodes) {
      const more = this.#ofNode(node, above)
      cases = more === null || cases === null ? null : products(cases, more)
    }
    return cases
  }

  /** One alternative, or of `anyOf` several together. Of those that evaluate nothing none is looked for. */
  #ofChoice(kind: 'any' | 'one', nodes: readonly SchemaNode[], above: ReadonlySet<number>): readonly Case[] | null {
    let cases: readonly Case[] = [NOTHING_SEEN]
    let isAnySilent = false
    for (const node of nodes) {
      const own = this.#whenHolding(this.#ofNode(node, above), node)
      if (own === null) return null
      isAnySilent ||= own.some(seesNothing)
      const seeing = own.filter((one) => !seesNothing(one))
      const together = kind === 'one' ? seeing : products(cases, seeing)
      if (together === null || cases.length + together.length > MAX_CASES + 1) return null
      cases = [...cases, ...together]
    }
    return isAnySilent ? cases : cases.slice(1)
  }

  #whenHolding(cases: readonly Case[] | null, node: SchemaNode): readonly Case[] | null {
    return cases?.map(({ holding, seen }) => ({ holding: [node, ...holding], seen })) ?? null
  }

  /** Cases in which nothing is seen are one, which needs nothing to hold. */
  #orNothing(cases: readonly Case[] | null): readonly Case[] | null {
    return cases === null ? null : [NOTHING_SEEN, ...cases.filter((one) => !seesNothing(one))]
  }
}

function unseen(): Looked {
  return { names: new Set(), patterns: new Set(), matching: new Set(), positions: 0, isAll: false }
}

const NOTHING_SEEN: Case = { holding: [], seen: unseen() }

function seesNothing({ seen }: Case): boolean {
  return !seen.isAll && isSameSight(seen, NOTHING_SEEN.seen)
}

function isSameSight(one: Looked, other: Looked): boolean {
  return (
    one.positions === other.positions &&
    isSameContent(one.names, other.names) &&
    isSameContent(one.patterns, other.patterns) &&
    isSameContent(one.matching, other.matching)
  )
}

function isSameContent(one: ReadonlySet<unknown>, other: ReadonlySet<unknown>): boolean {
  return one.symmetricDifference(other).size === 0
}

function products(one: readonly Case[], other: readonly Case[]): readonly Case[] | null {
  if (one.length * other.length > MAX_CASES) return null
  return one.flatMap((a) =>
    other.map((b) => ({
      holding: [...new Set([...a.holding, ...b.holding])],
      seen: {
        names: a.seen.names.union(b.seen.names),
        patterns: a.seen.patterns.union(b.seen.patterns),
        matching: a.seen.matching.union(b.seen.matching),
        positions: Math.max(a.seen.positions, b.seen.positions),
        isAll: a.seen.isAll || b.seen.isAll,
      },
    })),
  )
}

function looked(of: 'array' | 'object', constraints: readonly Constraint[], mode: 'always' | 'perhaps'): Looked {
  const seen = unseen()
  const visited = new Set<number>()
  const visit = (node: SchemaNode): void => {
    if (visited.has(node.id)) return
    visited.add(node.id)
    look(node.constraints)
  }
  const look = (list: readonly Constraint[]): void => {
    for (const constraint of list) {
      if (mayEvaluate(of, constraint) === null) seen.isAll ||= mode === 'perhaps'
      else lookAt(of, constraint, seen)
      if (constraint.kind === 'all' || (mode === 'perhaps' && (constraint.kind === 'any' || constraint.kind === 'one')))
        constraint.nodes.forEach(visit)
      if (mode === 'always') continue
      if (constraint.kind === 'dependent') visit(constraint.node)
      if (constraint.kind !== 'condition') continue
      for (const part of [constraint.test, constraint.then, constraint.otherwise]) if (part !== null) visit(part)
    }
  }
  look(constraints)
  return seen
}

/** Null for a condition of which it is not known what it evaluates, if anything: it may be all. */
function mayEvaluate(of: 'array' | 'object', constraint: Constraint): boolean | null {
  if (constraint.kind === 'opaque') return null
  return constraint.kind === 'contains' && of === 'array' ? constraint.evaluates : true
}

/** Adds what a condition evaluates by itself. */
function lookAt(of: 'array' | 'object', constraint: Constraint, seen: Looked): void {
  if (constraint.kind === 'unevaluated' && constraint.of === of) seen.isAll = true
  if (of === 'object') lookAtObject(constraint, seen)
  else lookAtArray(constraint, seen)
}

function lookAtObject(constraint: Constraint, seen: Looked): void {
  if (constraint.kind !== 'shape') return
  for (const name of constraint.properties.keys()) seen.names.add(name)
  for (const [pattern] of constraint.patterns) seen.patterns.add(pattern)
  if (constraint.others !== null) seen.isAll = true
}

function lookAtArray(constraint: Constraint, seen: Looked): void {
  if (constraint.kind === 'contains' && constraint.evaluates === true) seen.matching.add(constraint.node)
  if (constraint.kind !== 'items') return
  seen.positions = Math.max(seen.positions, constraint.prefix.length)
  if (constraint.rest !== null) seen.isAll = true
}
