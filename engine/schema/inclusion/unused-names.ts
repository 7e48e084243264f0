/**
 * Names that values of a direction do not carry, because one part of a schema says so (`readOnly` in a request). What
 * another part of it says of such a name is met by every value: it need not be there, and is not looked at (OpenAPI
 * 3.0.3 §4.7.24.1).
 */
import { NO_NAMES, type Constraint, type ProofSide, type SchemaNode } from './model.ts'

interface NodeMaker {
  readonly side: ProofSide
  readonly anything: SchemaNode
  derived(derive: () => readonly Constraint[]): SchemaNode
}

/** The constraints of a schema without conditions on these names, in the schemas too that it combines. */
export function withoutUnused(
  constraints: readonly Constraint[],
  names: ReadonlySet<string>,
  nodes: NodeMaker,
): readonly Constraint[] {
  if (names.size === 0) return constraints
  return constraints.flatMap((constraint): readonly Constraint[] => {
    if (constraint.kind === 'required') return names.has(constraint.name) ? [] : [constraint]
    if (constraint.kind === 'all' || constraint.kind === 'any' || constraint.kind === 'one') {
      const held = constraint.nodes.map((node) =>
        node.isOpen ? node : nodes.derived(() => withoutUnused(node.constraints, names, nodes)),
      )
      return [{ ...constraint, nodes: held }]
    }
    if (constraint.kind !== 'shape') return [constraint]
    const described = [...constraint.properties.keys()].filter((name) => names.has(name))
    if (described.length === 0) return [constraint]
    const properties = new Map(constraint.properties)
    for (const name of described) properties.set(name, nodes.anything)
    const unused = nodes.side === 'sub' ? constraint.unused.union(new Set(described)) : NO_NAMES
    return [{ ...constraint, properties, unused }]
  })
}
