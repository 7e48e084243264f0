/**
 * The schemas that describe one place of a value, whichever of them the value meets. The known names of a place must not
 * depend on the alternatives that a search has chosen so far. Otherwise a name that becomes known later was left out.
 */
import { shapeNodes } from './evaluate.ts'
import { constraintsWithin, type Constraint, type SchemaNode, type Shape } from './model.ts'
import { valuesConstraint } from './nodes.ts'

export interface PlaceSchemas {
  /** Two places with the same schemas have the same number. */
  readonly id: number
  readonly nodes: readonly SchemaNode[]
}

/** A place at which nothing is known of names. */
export const NO_SCHEMAS: PlaceSchemas = { id: 0, nodes: [] }

/** Stands below a list of objects or arrays: such a list is a condition on all that they hold. */
const LISTED: Readonly<Record<SchemaNode['side'], SchemaNode>> = {
  sub: listedNode('sub', -1),
  super: listedNode('super', -2),
}

const KINDS_ON_NAMES: ReadonlySet<Constraint['kind']> = new Set<Constraint['kind']>([
  'shape',
  'required',
  'names',
  'dependent',
  'unevaluated',
  'values',
  'items',
  'contains',
])

/** Constraints that say something of what a value holds. */
const KINDS_ON_PARTS: ReadonlySet<Constraint['kind']> = new Set<Constraint['kind']>([
  'shape',
  'unevaluated',
  'values',
  'items',
  'contains',
])

/** What a schema, with all that it combines, says of names. */
interface Speech {
  readonly isOnNames: boolean
  readonly onParts: readonly Constraint[]
}

export class Places {
  readonly #bySchemas = new Map<string, PlaceSchemas>()
  readonly #members = new Map<number, Map<string, PlaceSchemas>>()
  readonly #items = new Map<number, PlaceSchemas>()
  readonly #speeches = new Map<number, Speech>()

  at(nodes: readonly SchemaNode[]): PlaceSchemas {
    const speaking = new Map(nodes.filter((node) => this.#speechOf(node).isOnNames).map((node) => [node.id, node]))
    if (speaking.size === 0) return NO_SCHEMAS
    const sorted = [...speaking.values()].sort((a, b) => a.id - b.id)
    const key = sorted.map(({ id }) => id).join(' ')
    const place = this.#bySchemas.get(key) ?? { id: this.#bySchemas.size + 1, nodes: sorted }
    this.#bySchemas.set(key, place)
    return place
  }

  /** The place of the member of a name. */
  member(holder: PlaceSchemas, name: string): PlaceSchemas {
    if (holder === NO_SCHEMAS) return NO_SCHEMAS
    let members = this.#members.get(holder.id)
    if (members === undefined) this.#members.set(holder.id, (members = new Map()))
    let place = members.get(name)
    if (place === undefined) members.set(name, (place = this.at(this.#below(holder, (one) => memberNodes(one, name)))))
    return place
  }

  /** The place of the items, at whatever position. */
  item(holder: PlaceSchemas): PlaceSchemas {
    if (holder === NO_SCHEMAS) return NO_SCHEMAS
    let place = this.#items.get(holder.id)
    if (place === undefined) this.#items.set(holder.id, (place = this.at(this.#below(holder, itemNodes))))
    return place
  }

  #below({ nodes }: PlaceSchemas, read: (constraint: Constraint) => readonly SchemaNode[]): readonly SchemaNode[] {
    return nodes.flatMap((node) =>
      this.#speechOf(node).onParts.flatMap((one) =>
        one.kind === 'values' && one.values.some(isComposed) ? [LISTED[node.side]] : read(one),
      ),
    )
  }

  #speechOf(node: SchemaNode): Speech {
    const known = this.#speeches.get(node.id)
    if (known !== undefined) return known
    const constraints = constraintsWithin(node)
    const speech = {
      isOnNames: constraints.some(({ kind }) => KINDS_ON_NAMES.has(kind)),
      onParts: constraints.filter(({ kind }) => KINDS_ON_PARTS.has(kind)),
    }
    this.#speeches.set(node.id, speech)
    return speech
  }
}

export function memberNodes(constraint: Constraint, name: string): readonly SchemaNode[] {
  // What another keyword evaluates in any case is never unevaluated.
  if (constraint.kind === 'unevaluated')
    return constraint.of === 'object' ? memberNodes(constraint.narrowest, name) : []
  return constraint.kind === 'shape' ? (shapeNodes(constraint, name) ?? allNodes(constraint)) : []
}

/** Of patterns that are not understood each may match. */
function allNodes({ properties, patterns, others }: Shape): readonly SchemaNode[] {
  return [...properties.values(), ...patterns.map(([, node]) => node), ...(others === null ? [] : [others])]
}

export function itemNodes(constraint: Constraint): readonly SchemaNode[] {
  if (constraint.kind === 'items')
    return constraint.rest === null ? constraint.prefix : [...constraint.prefix, constraint.rest]
  if (constraint.kind === 'unevaluated') return constraint.of === 'array' ? [constraint.node] : []
  return constraint.kind === 'contains' ? [constraint.node] : []
}

function isComposed(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function listedNode(side: SchemaNode['side'], id: number): SchemaNode {
  return { id, side, constraints: [valuesConstraint([{}])], isOpen: false, source: null, isUnused: false }
}
