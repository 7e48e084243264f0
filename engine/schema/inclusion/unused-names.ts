/**
 * Names that values of a direction do not carry, because one part of a schema says so (`readOnly` in a request). What
 * another part of it says of such a name is met by every value: it need not be there, and is not looked at (OpenAPI
 * 3.0.3 §4.7.24.1).
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { NO_NAMES, type Constraint, type ProofSide, type SchemaNode } from './model.ts'

interface NodeMaker {
  readonly side: ProofSide
  readonly anything: SchemaNode
  derived(derive: () => readonly Constraint[]): SchemaNode
}

/** A node without conditions on some names: the node that it was made from, and all of these names. */
interface Origin {
  readonly node: SchemaNode
  readonly names: ReadonlySet<string>
}

/** For one side of a proof. Of a schema that holds itself, each node is made once for each set of names. */
export class UnusedNames {
  readonly #nodes: NodeMaker
  readonly #origins = new Map<number, Origin>()
  readonly #made = new Map<string, SchemaNode>()

  constructor(nodes: NodeMaker) {
    this.#nodes = nodes
  }

  /** The constraints of a schema without conditions on these names, in the schemas too that it combines. */
  without(constraints: readonly Constraint[], names: ReadonlySet<string>): readonly Constraint[] {
    if (names.size === 0) return constraints
    return constraints.flatMap((constraint): readonly Constraint[] => {
      if (constraint.kind === 'required') return names.has(constraint.name) ? [] : [constraint]
      if (constraint.kind === 'all' || constraint.kind === 'any' || constraint.kind === 'one')
        return [{ ...constraint, nodes: constraint.nodes.map((node) => this.#nodeWithout(node, names)) }]
      if (constraint.kind !== 'shape') return [constraint]
      const described = [...constraint.properties.keys()].filter((name) => names.has(name))
      if (described.length === 0) return [constraint]
      const properties = new Map(constraint.properties)
      for (const name of described) properties.set(name, this.#nodes.anything)
      const unused = this.#nodes.side === 'sub' ? constraint.unused.union(new Set(described)) : NO_NAMES
      return [{ ...constraint, properties, unused }]
    })
  }

  #nodeWithout(node: SchemaNode, names: ReadonlySet<string>): SchemaNode {
    const origin = this.#origins.get(node.id) ?? { node, names: NO_NAMES }
    const all = origin.names.union(names)
    if (all.size === origin.names.size) return node
    const key = `${origin.node.id} ${JSON.stringify([...all].sort(byCodeUnit))}`
    const known = this.#made.get(key)
    if (known !== undefined) return known
    const made = this.#nodes.derived(() => this.without(origin.node.constraints, all))
    this.#origins.set(made.id, { node: origin.node, names: all })
    this.#made.set(key, made)
    return made
  }
}
