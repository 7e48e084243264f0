/** Which names schemas describe, and which conventions leave out of values: a new name in a schema that was open. */
import { isMatch } from './evaluate.ts'
import type { Constraint, Literal, ProofSide, SchemaNode } from './model.ts'

interface Mentioned {
  /** Names with a schema of their own. */
  readonly described: ReadonlySet<string>
  /** Names that anything else constrains. */
  readonly needed: ReadonlySet<string>
  readonly patterns: readonly string[]
  /** Every name has a condition. */
  readonly isAll: boolean
}

export class Mentions {
  readonly #known = new Map<number, Mentioned>()

  /** By the schemas of a goal, the names that a convention leaves out. */
  leftOut(
    literals: readonly Literal[],
    convention: 'described-by-super' | 'described-by-sub',
  ): (name: string) => boolean {
    const describing: ProofSide = convention === 'described-by-super' ? 'super' : 'sub'
    const [described, knowing]: [Mentioned[], Mentioned[]] = [[], []]
    for (const { node } of literals) (node.side === describing ? described : knowing).push(this.#of(node))
    return (name) => described.some((one) => one.described.has(name)) && !knowing.some((one) => isMentioned(one, name))
  }

  /** Whether a schema has a schema of its own for a name, in place or within one that it holds in place. */
  describes(node: SchemaNode, name: string): boolean {
    return this.#of(node).described.has(name)
  }

  #of(node: SchemaNode): Mentioned {
    const known = this.#known.get(node.id)
    if (known !== undefined) return known
    const found = gather(node)
    this.#known.set(node.id, found)
    return found
  }
}

function isMentioned({ described, needed, patterns, isAll }: Mentioned, name: string): boolean {
  if (isAll || described.has(name) || needed.has(name)) return true
  return patterns.some((pattern) => isMatch(pattern, name) !== false)
}

function gather(start: SchemaNode): Mentioned {
  const described = new Set<string>()
  const needed = new Set<string>()
  const patterns: string[] = []
  let isAll = false
  const visited = new Set<number>()
  const open = [start]
  const look = (constraint: Constraint): void => {
    if (constraint.kind === 'shape') {
      for (const name of constraint.properties.keys()) described.add(name)
      for (const [pattern] of constraint.patterns) patterns.push(pattern)
      isAll ||= isCondition(constraint.others)
      return
    }
    if (constraint.kind === 'unevaluated') {
      isAll ||= isCondition(constraint.node)
      return
    }
    if (constraint.kind === 'required') {
      needed.add(constraint.name)
      return
    }
    if (constraint.kind === 'dependent') {
      needed.add(constraint.name)
      open.push(constraint.node)
      return
    }
    if (constraint.kind === 'values') {
      isAll = true
      return
    }
    if (constraint.kind === 'all' || constraint.kind === 'any' || constraint.kind === 'one') {
      open.push(...constraint.nodes)
      return
    }
    if (constraint.kind === 'not') {
      open.push(constraint.node)
      return
    }
    if (constraint.kind === 'condition') {
      for (const part of [constraint.test, constraint.then, constraint.otherwise]) if (part !== null) open.push(part)
    }
  }
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (visited.has(node.id)) continue
    visited.add(node.id)
    node.constraints.forEach(look)
  }
  return { described, needed, patterns, isAll }
}

/** Neither absent, nor admitting everything, nor admitting nothing: a closed object has no condition on values. */
function isCondition(node: SchemaNode | null): boolean {
  if (node === null || node.constraints.length === 0) return false
  return !node.constraints.some(({ kind }) => kind === 'never')
}
