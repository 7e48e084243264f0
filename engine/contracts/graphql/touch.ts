/**
 * Finds the parts of a schema that an operation touches. These are selected fields on all possible types, given
 * arguments, enum values and input members (also in variables), and the types on the path. Both sides of a contract
 * are searched, so removed parts count like added ones.
 */
import {
  visit,
  type ArgumentNode,
  type ASTNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type TypeNode,
  type ValueNode,
} from 'graphql/language'
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { isRecord } from '../../schema/located.ts'
import { isMetaField } from './operation.ts'
import { STANDARD_SCALARS } from './schema.ts'
import type { FieldShape, GraphqlShape, InputShapes, TypeShape } from './shape.ts'

interface GraphqlRequest {
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  readonly variables: Readonly<Record<string, unknown>>
}

export interface GraphqlTouch {
  readonly root: 'QUERY' | 'MUTATION' | 'SUBSCRIPTION'
  /** Names of the root fields other than introspection fields, sorted. */
  readonly fields: readonly string[]
  /**
   * Locations as in findings, sorted (docs/graphql.md). Null if neither side describes the whole operation, or there
   * are too many.
   */
  readonly touches: readonly string[] | null
}

const ROOTS = { query: 'QUERY', mutation: 'MUTATION', subscription: 'SUBSCRIPTION' } as const

/** @param shapes of the sides of the contract; one suffices if both are equal */
export function touchOf(request: GraphqlRequest, shapes: readonly GraphqlShape[]): GraphqlTouch {
  const traces = shapes.map((shape) => new Trace(request, shape).follow())
  const known = new Set(traces.flatMap((trace) => [...trace.known]))
  const isWhole = traces.every((trace) => trace.isWhole && [...trace.unknown].every((part) => known.has(part)))
  const fields = new Set(traces.flatMap((trace) => [...trace.fields]))
  const touches = new Set(traces.flatMap((trace) => [...trace.touches]))
  return {
    root: ROOTS[request.operation.operation],
    fields: [...fields].sort(byCodeUnit),
    touches: isWhole ? [...touches].sort(byCodeUnit) : null,
  }
}

/**
 * Directives of the language and of incremental delivery. Servers support them whether or not a schema declares them.
 */
const KNOWN_DIRECTIVES: ReadonlySet<string> = new Set(['skip', 'include', 'defer', 'stream'])

/** Maximum selections, over all possible types, and values of one operation. */
const MAX_STEPS = 100_000

/** A node of the document, or a path in the variables. */
type DocumentPart = object | string

interface SelectionStep {
  readonly selections: SelectionSetNode
  readonly parent: string
  readonly isRoot: boolean
}

/** The walk of one operation through one schema. */
class Trace {
  readonly touches = new Set<string>()
  readonly fields = new Set<string>()
  /** The parts that the schema describes, and those that it does not. */
  readonly known = new Set<DocumentPart>()
  readonly unknown = new Set<DocumentPart>()
  readonly #request: GraphqlRequest
  readonly #shape: GraphqlShape
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly #visited = new Map<SelectionSetNode, Set<string>>()
  readonly #open: SelectionStep[] = []
  #steps = 0

  constructor(request: GraphqlRequest, shape: GraphqlShape) {
    this.#request = request
    this.#shape = shape
    this.#fragments = new Map(
      request.document.definitions.flatMap((one) =>
        one.kind === 'FragmentDefinition' ? [[one.name.value, one] as const] : [],
      ),
    )
  }

  get isWhole(): boolean {
    return this.#steps <= MAX_STEPS
  }

  follow(): this {
    const { operation } = this.#request
    const root = this.#shape.roots.get(operation.operation)
    if (this.#touch(operation, root)) {
      this.touches.add(`/schema/${operation.operation}`)
      this.#open.push({ selections: operation.selectionSet, parent: root, isRoot: true })
    } else for (const field of operation.selectionSet.selections) this.#nameRoot(field)
    this.#directives(operation.directives)
    this.#variables()
    for (let step = this.#open.pop(); step !== undefined && this.isWhole; step = this.#open.pop()) this.#take(step)
    return this
  }

  /** Whether the schema has the part that the operation uses. */
  #touch<T>(part: DocumentPart, found: T | undefined): found is T {
    if (found === undefined) this.unknown.add(part)
    else this.known.add(part)
    return found !== undefined
  }

  #nameRoot(selection: { readonly kind: string; readonly name?: { readonly value: string } }): void {
    const name = selection.kind === 'Field' ? selection.name?.value : undefined
    if (name !== undefined && !isMetaField(name, true)) this.fields.add(name)
  }

  #take({ selections, parent, isRoot }: SelectionStep): void {
    const parents = this.#visited.get(selections) ?? new Set()
    if (parents.has(parent)) return
    this.#visited.set(selections, parents.add(parent))
    const type = this.#shape.types.get(parent)
    if (!this.#touch(selections, type)) return
    const possible = this.#shape.possible.get(parent) ?? []
    for (const name of [parent, ...possible]) this.touches.add(`/types/${name}`)
    for (const selection of selections.selections) {
      this.#steps += 1 + possible.length
      this.#directives(selection.directives)
      if (selection.kind === 'Field') {
        if (isRoot) this.#nameRoot(selection)
        if (isMetaField(selection.name.value, isRoot)) this.#withinMeta(selection)
        else this.#field(selection, type, [parent, ...possible])
      } else if (selection.kind === 'InlineFragment') {
        const condition = selection.typeCondition?.name.value ?? parent
        this.#open.push({ selections: selection.selectionSet, parent: condition, isRoot })
      } else this.#spread(selection.name.value, selection, isRoot)
    }
  }

  /** Selections of introspection are not part of the contract. Directives on them are. */
  #withinMeta(field: FieldNode): void {
    const open = new Set<ASTNode>([field])
    for (const node of open)
      visit(node, {
        Directive: (directive) => this.#directives([directive]),
        FragmentSpread: ({ name }) => {
          const fragment = this.#fragments.get(name.value)
          if (fragment !== undefined) open.add(fragment)
        },
      })
  }

  #spread(name: string, node: DocumentPart, isRoot: boolean): void {
    const fragment = this.#fragments.get(name)
    if (!this.#touch(node, fragment)) return
    this.#directives(fragment.directives)
    this.#open.push({ selections: fragment.selectionSet, parent: fragment.typeCondition.name.value, isRoot })
  }

  /** @param owners the type of the selection, and all its possible types */
  #field(node: FieldNode, type: TypeShape, owners: readonly string[]): void {
    const name = node.name.value
    const field: FieldShape | undefined = 'fields' in type && type.kind !== 'input' ? type.fields.get(name) : undefined
    if (!this.#touch(node, field)) return
    this.touches.add(`/types/${field.type}`)
    if (this.#shape.types.get(field.type)?.kind === 'enum') this.touches.add(`/types/${field.type}/values`)
    for (const owner of owners) {
      this.touches.add(`/types/${owner}/fields/${name}`)
      for (const given of node.arguments ?? [])
        this.touches.add(`/types/${owner}/fields/${name}/arguments/${given.name.value}`)
    }
    this.#arguments(node.arguments, field.arguments)
    if (node.selectionSet !== undefined)
      this.#open.push({ selections: node.selectionSet, parent: field.type, isRoot: false })
  }

  #directives(directives: readonly DirectiveNode[] | undefined): void {
    for (const node of directives ?? []) {
      const name = node.name.value
      const known = this.#shape.directives.get(name)
      if (known === undefined && KNOWN_DIRECTIVES.has(name)) continue
      if (!this.#touch(node, known)) continue
      this.touches.add(`/directives/${name}`)
      for (const given of node.arguments ?? []) this.touches.add(`/directives/${name}/arguments/${given.name.value}`)
      this.#arguments(node.arguments, known)
    }
  }

  #arguments(given: readonly ArgumentNode[] | undefined, known: InputShapes): void {
    for (const argument of given ?? []) {
      const type = known.get(argument.name.value)
      if (this.#touch(argument, type)) this.#literal(argument.value, type)
    }
  }

  #variables(): void {
    for (const definition of this.#request.operation.variableDefinitions ?? []) {
      const type = innermostName(definition.type)
      const name = definition.variable.name.value
      this.#directives(definition.directives)
      if (!STANDARD_SCALARS.has(type) && !this.#touch(definition, this.#shape.types.get(type))) continue
      this.touches.add(`/types/${type}`)
      if (Object.hasOwn(this.#request.variables, name)) this.#json(this.#request.variables[name], type, `$${name}`)
      else if (definition.defaultValue !== undefined) this.#literal(definition.defaultValue, type)
    }
  }

  /** A variable in it is followed at its declaration. */
  #literal(value: ValueNode, type: string): void {
    this.#steps += 1
    this.touches.add(`/types/${type}`)
    if (value.kind === 'ListValue') for (const item of value.values) this.#literal(item, type)
    else if (value.kind === 'EnumValue') this.#enumValue(value, value.value, type)
    else if (value.kind === 'ObjectValue') {
      for (const field of value.fields)
        this.#member(field, field.name.value, type, (inner) => this.#literal(field.value, inner))
    }
  }

  #json(value: unknown, type: string, at: string): void {
    this.#steps += 1
    if (!this.isWhole) return
    if (Array.isArray(value)) for (const item of value) this.#json(item, type, at)
    else if (isRecord(value)) {
      for (const [name, held] of Object.entries(value))
        this.#member(`${at}.${name}`, name, type, (inner) => this.#json(held, inner, `${at}.${name}`))
    } else if (typeof value === 'string') this.#enumValue(`${at}=${value}`, value, type)
  }

  #enumValue(part: DocumentPart, value: string, type: string): void {
    const owner = this.#shape.types.get(type)
    if (owner?.kind !== 'enum') return
    if (this.#touch(part, owner.values.has(value) ? value : undefined))
      this.touches.add(`/types/${type}/values/${value}`)
  }

  /** A member of an input object. The content of a custom scalar is not described. */
  #member(part: DocumentPart, name: string, type: string, follow: (type: string) => void): void {
    const owner = this.#shape.types.get(type)
    if (owner?.kind !== 'input') return
    const inner = owner.fields.get(name)
    if (!this.#touch(part, inner)) return
    this.touches.add(`/types/${type}`)
    this.touches.add(`/types/${type}/fields/${name}`)
    this.touches.add(`/types/${inner}`)
    follow(inner)
  }
}

function innermostName(node: TypeNode): string {
  return node.kind === 'NamedType' ? node.name.value : innermostName(node.type)
}
