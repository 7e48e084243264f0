/**
 * Bounds of `unevaluatedProperties` and `unevaluatedItems` (JSON Schema 2020-12 core §11): what is looked at in any case,
 * and what may be looked at. With the first the schema admits less than it says, with the second more.
 */
import { NO_NAMES, type Constraint, type Items, type SchemaNode, type Shape } from './model.ts'

/** The nodes of one side, as far as they are needed here. */
interface SideNodes {
  readonly anything: SchemaNode
  readonly side: Shape['side']
}

interface Looked {
  readonly names: Set<string>
  readonly patterns: Set<string>
  positions: number
  isAll: boolean
}

/** Null where nothing can be left unevaluated. */
export function unevaluatedBounds(
  of: 'array' | 'object',
  constraints: readonly Constraint[],
  node: SchemaNode,
  nodes: SideNodes,
): { readonly widest: Shape | Items | null; readonly narrowest: Shape | Items } | null {
  const always = looked(of, constraints, 'always')
  if (always.isAll) return null
  const perhaps = looked(of, constraints, 'perhaps')
  return {
    widest: perhaps.isAll ? null : unevaluatedPart(of, perhaps, node, nodes),
    narrowest: unevaluatedPart(of, always, node, nodes),
  }
}

function unevaluatedPart(of: 'array' | 'object', seen: Looked, node: SchemaNode, nodes: SideNodes): Shape | Items {
  const { anything, side } = nodes
  if (of === 'array')
    return { kind: 'items', prefix: Array.from({ length: seen.positions }, () => anything), rest: node }
  return {
    kind: 'shape',
    side,
    properties: new Map([...seen.names].map((name) => [name, anything])),
    patterns: [...seen.patterns].map((pattern) => [pattern, anything]),
    others: node,
    unused: NO_NAMES,
  }
}

function looked(of: 'array' | 'object', constraints: readonly Constraint[], mode: 'always' | 'perhaps'): Looked {
  const seen: Looked = { names: new Set(), patterns: new Set(), positions: 0, isAll: false }
  const visited = new Set<number>()
  const visit = (node: SchemaNode): void => {
    if (visited.has(node.id)) return
    visited.add(node.id)
    look(node.constraints)
  }
  const look = (list: readonly Constraint[]): void => {
    for (const constraint of list) {
      if (of === 'object') lookAtObject(constraint, seen)
      else lookAtArray(constraint, seen, mode)
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

function lookAtObject(constraint: Constraint, seen: Looked): void {
  if (constraint.kind === 'unevaluated' && constraint.of === 'object') seen.isAll = true
  if (constraint.kind !== 'shape') return
  for (const name of constraint.properties.keys()) seen.names.add(name)
  for (const [pattern] of constraint.patterns) seen.patterns.add(pattern)
  if (constraint.others !== null) seen.isAll = true
}

function lookAtArray(constraint: Constraint, seen: Looked, mode: 'always' | 'perhaps'): void {
  if (constraint.kind === 'unevaluated' && constraint.of === 'array') seen.isAll = true
  // `contains` looks at whatever it matches.
  if (constraint.kind === 'contains' && mode === 'perhaps') seen.isAll = true
  if (constraint.kind !== 'items') return
  seen.positions = Math.max(seen.positions, constraint.prefix.length)
  if (constraint.rest !== null) seen.isAll = true
}
