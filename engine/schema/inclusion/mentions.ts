/** Which names schemas describe, and which conventions leave out of values: a new name in a schema that was open. */
import { isMatch } from './evaluate.ts'
import { constraintsWithin, type Constraint, type Literal, type ProofSide, type SchemaNode } from './model.ts'
import type { PlaceSchemas } from './places.ts'

/**
 * Names that a value does not hold, though the schemas admit them: those that only one side gets to describe.
 * `described-by-super`: callers do not send what no contract names or constrains. `unnamed-by-sub`: they may where the
 * contract allows other names expressly. `described-by-sub`: readers pass over names that they do not know.
 */
export type Convention = 'none' | 'described-by-super' | 'unnamed-by-sub' | 'described-by-sub'

/** What schemas say of names that they do not list: nothing, that they are allowed, or a condition on them. */
type Beyond = 'nothing' | 'allowed' | 'constrained'

interface Mentioned {
  /** Names with a schema of their own. */
  readonly described: ReadonlySet<string>
  /** Names that are required, in place or on a branch. */
  readonly required: ReadonlySet<string>
  /** Names that anything else constrains. */
  readonly needed: ReadonlySet<string>
  readonly patterns: readonly string[]
  readonly beyond: Beyond
  /** Names that no value carries by these schemas, and those that one does. */
  readonly unused: ReadonlySet<string>
  readonly used: ReadonlySet<string>
}

export class Mentions {
  readonly #known = new Map<number, Mentioned>()

  /**
   * The names that values do not hold: those that are not sent, and those that a convention leaves out. Names are described by
   * the schemas of a goal; what is known of them depends on the place alone.
   */
  leftOut(literals: readonly Literal[], place: PlaceSchemas, convention: Convention): (name: string) => boolean {
    const [sub, other] = this.#bySide(place)
    const giving = sub.filter(({ unused }) => unused.size > 0)
    const isUnsent = (name: string): boolean =>
      giving.some(({ unused }) => unused.has(name)) && !sub.some(({ used }) => used.has(name))
    if (convention === 'none') return giving.length === 0 ? () => false : isUnsent
    const isReader = convention === 'described-by-sub'
    const describing = literals.filter(({ node }) => (node.side === 'sub') === isReader)
    const described = describing.map(({ node }) => this.#of(node).described)
    const knowing = isReader ? other : sub
    const isAllowed = convention === 'unnamed-by-sub'
    return (name) =>
      isUnsent(name) ||
      (described.some((names) => names.has(name)) && !knowing.some((one) => isMentioned(one, name, isAllowed)))
  }

  /** Whether a schema names a property, or has a pattern for it, in place or within one that it holds in place. */
  describes(node: SchemaNode, name: string): boolean {
    const { described, required, patterns } = this.#of(node)
    if (described.has(name) || required.has(name)) return true
    return patterns.some((pattern) => isMatch(pattern, name) === true)
  }

  #bySide({ nodes }: PlaceSchemas): readonly [sub: readonly Mentioned[], other: readonly Mentioned[]] {
    const of = (side: ProofSide): readonly Mentioned[] =>
      nodes.filter((node) => node.side === side).map((node) => this.#of(node))
    return [of('sub'), of('super')]
  }

  #of(node: SchemaNode): Mentioned {
    const known = this.#known.get(node.id)
    if (known !== undefined) return known
    const found = gatherMentions(node)
    this.#known.set(node.id, found)
    return found
  }
}

function isMentioned({ described, needed, patterns, beyond }: Mentioned, name: string, isAllowed: boolean): boolean {
  if (beyond === 'constrained' || (isAllowed && beyond === 'allowed')) return true
  if (described.has(name) || needed.has(name)) return true
  return patterns.some((pattern) => isMatch(pattern, name) !== false)
}

function gatherMentions(start: SchemaNode): Mentioned {
  const described = new Set<string>()
  const required = new Set<string>()
  const needed = new Set<string>()
  const patterns: string[] = []
  const unused = new Set<string>()
  const used = new Set<string>()
  let beyond: Beyond = 'nothing'
  const widen = (node: SchemaNode | null): void => {
    const found = beyondOf(node)
    if (found === 'constrained' || beyond === 'nothing') beyond = found === 'nothing' ? beyond : found
  }
  const look = (constraint: Constraint): void => {
    if (constraint.kind === 'shape') {
      for (const name of constraint.properties.keys()) {
        described.add(name)
        if (constraint.unused.has(name)) unused.add(name)
        else used.add(name)
      }
      for (const [pattern] of constraint.patterns) patterns.push(pattern)
      widen(constraint.others)
      return
    }
    if (constraint.kind === 'unevaluated' || constraint.kind === 'names') {
      widen(constraint.node)
      return
    }
    if (constraint.kind === 'required' || constraint.kind === 'dependent') {
      needed.add(constraint.name)
      if (constraint.kind === 'required') required.add(constraint.name)
      return
    }
    if (constraint.kind === 'values') beyond = 'constrained'
  }
  constraintsWithin(start).forEach(look)
  return { described, required, needed, patterns, beyond, unused, used }
}

/** A closed object has no condition on values: nothing is sent beside its names. */
function beyondOf(node: SchemaNode | null): Beyond {
  if (node === null || node.constraints.some(({ kind }) => kind === 'never')) return 'nothing'
  return node.isOpen ? 'allowed' : 'constrained'
}
