/**
 * The type references of a schema. They give the types that clients send and receive, undefined types, and the
 * operations (root fields) that use a type.
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import {
  isReserved,
  namedTypeOf,
  ROOT_KINDS,
  STANDARD_SCALARS,
  type Field,
  type GraphqlSchema,
  type InputValue,
  type NamedType,
  type NamedReference,
} from '../../contracts/graphql/schema.ts'
import type { Operation } from '../../model/finding.ts'

/** A change that reaches more operations than this is reported for the whole schema. */
const MANY_OPERATIONS = 20

type ReachedOperations = Set<Operation> | 'many'

/** A reference to an undefined type, at the first place that has one. */
interface Dangling {
  readonly coordinate: string
  readonly reference: NamedReference
}

export class References {
  /** Types that clients send, and types that they receive. */
  readonly inputs = new Set<string>()
  readonly outputs = new Set<string>()
  readonly dangling = new Map<string, Dangling>()
  /** Root fields by field coordinate. */
  readonly operations = new Map<string, Operation>()
  readonly #schema: GraphqlSchema
  readonly #successors = new Map<string, Set<string>>()
  readonly #reached = new Map<string, ReachedOperations>()

  constructor(schema: GraphqlSchema) {
    this.#schema = schema
    for (const type of schema.types.values()) this.#readType(type)
    for (const { name, arguments: given } of schema.directives.values()) {
      for (const argument of given.values()) {
        // The arguments of federation directives have types that subgraphs do not define.
        this.inputs.add(namedTypeOf(argument.type))
        this.#edge(`@${name}`, namedTypeOf(argument.type))
      }
    }
    this.#readOperations()
  }

  /** The operations that use a type. Null if they are many or none is known. */
  operationsOf(type: string): readonly Operation[] | null {
    const reached = this.#reached.get(type)
    if (reached === undefined || reached === 'many') return null
    return [...reached].sort((a, b) => byCodeUnit(a.method, b.method) || byCodeUnit(a.path, b.path))
  }

  #readType(type: NamedType): void {
    const { name } = type
    if (type.kind === 'union') {
      for (const member of type.members.values()) this.#refer(name, name, member)
    } else if (type.kind === 'input') {
      for (const field of type.fields.values()) this.#readInput(name, `${name}.${field.name}`, field)
    } else if (type.kind === 'object' || type.kind === 'interface') {
      for (const field of type.fields.values()) this.#readField(name, field)
      for (const reference of type.interfaces.values()) {
        this.#refer(name, name, reference)
        // A value of the interface can be a value of this type.
        this.#edge(reference.name, name)
      }
    }
  }

  #readField(owner: string, field: Field): void {
    const coordinate = `${owner}.${field.name}`
    this.outputs.add(namedTypeOf(field.type))
    this.#refer(owner, coordinate, { name: namedTypeOf(field.type), mark: field.mark })
    for (const argument of field.arguments.values()) {
      this.#readInput(owner, `${coordinate}(${argument.name}:)`, argument)
    }
  }

  #readInput(owner: string, coordinate: string, input: InputValue): void {
    this.inputs.add(namedTypeOf(input.type))
    this.#refer(owner, coordinate, { name: namedTypeOf(input.type), mark: input.mark })
  }

  #refer(owner: string, coordinate: string, reference: NamedReference): void {
    const { name } = reference
    if (STANDARD_SCALARS.has(name) || isReserved(name)) return
    this.#edge(owner, name)
    if (this.#schema.types.has(name)) return
    const known = this.dangling.get(name)
    if (known === undefined || byCodeUnit(coordinate, known.coordinate) < 0) {
      this.dangling.set(name, { coordinate, reference })
    }
  }

  #edge(from: string, to: string): void {
    const known = this.#successors.get(from)
    if (known === undefined) this.#successors.set(from, new Set([to]))
    else known.add(to)
  }

  #readOperations(): void {
    const open: (readonly [type: string, operation: Operation | 'many'])[] = []
    const visit = (type: string, operation: Operation | 'many'): void => {
      if (this.#addReached(type, operation)) open.push([type, this.#reached.get(type) === 'many' ? 'many' : operation])
    }
    for (const kind of ROOT_KINDS) {
      const root = this.#schema.types.get(this.#schema.roots.get(kind)?.name ?? '')
      if (root?.kind !== 'object') continue
      for (const field of root.fields.values()) {
        const operation: Operation = { method: kind.toUpperCase(), path: field.name, operation_id: null }
        this.operations.set(`${root.name}.${field.name}`, operation)
        visit(namedTypeOf(field.type), operation)
        for (const argument of field.arguments.values()) visit(namedTypeOf(argument.type), operation)
      }
    }
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [type, operation] = next
      for (const successor of this.#successors.get(type) ?? []) visit(successor, operation)
    }
  }

  /** Adds the operation, and returns whether it was new. The sets only grow, up to a bound, so the walk ends. */
  #addReached(type: string, operation: Operation | 'many'): boolean {
    const reached = this.#reached.get(type)
    if (reached === 'many') return false
    if (operation === 'many' || (reached?.size === MANY_OPERATIONS && !reached.has(operation))) {
      this.#reached.set(type, 'many')
      return true
    }
    if (reached?.has(operation)) return false
    if (reached === undefined) this.#reached.set(type, new Set([operation]))
    else reached.add(operation)
    return true
  }
}
