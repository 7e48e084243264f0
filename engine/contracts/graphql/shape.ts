/**
 * What a schema offers to an operation, by name and without descriptions or positions: enough to find the parts that
 * an operation touches.
 */
import { fail, ok, type Result } from '../../common/result.ts'
import type { DocumentLimits } from '../../model/limits.ts'
import { readGraphql } from './contract.ts'
import { namedTypeOf, type GraphqlSchema, type InputValue, type NamedType, type RootKind } from './schema.ts'

/** Names of types, by the name of an argument or of a field of an input type. */
export type InputShapes = ReadonlyMap<string, string>

export interface FieldShape {
  readonly type: string
  readonly arguments: InputShapes
}

export type TypeShape =
  | { readonly kind: 'object' | 'interface'; readonly fields: ReadonlyMap<string, FieldShape> }
  | { readonly kind: 'input'; readonly fields: InputShapes }
  | { readonly kind: 'enum'; readonly values: ReadonlySet<string> }
  | { readonly kind: 'union' | 'scalar' }

/** Plain data, because a worker may produce it. Types are named without list and non-null markers. */
export interface GraphqlShape {
  readonly roots: ReadonlyMap<RootKind, string>
  readonly types: ReadonlyMap<string, TypeShape>
  /** The possible object types of an interface or a union. */
  readonly possible: ReadonlyMap<string, readonly string[]>
  readonly directives: ReadonlyMap<string, InputShapes>
}

/** @param text SDL, or the JSON of an introspection query */
export function readGraphqlShape(text: string, limits: DocumentLimits): Result<GraphqlShape> {
  const read = readGraphql(text, limits)
  return read.ok ? ok(graphqlShape(read.value)) : fail(read.problem)
}

function graphqlShape({ roots, types, directives }: GraphqlSchema): GraphqlShape {
  return {
    roots: new Map([...roots].map(([kind, { name }]) => [kind, name])),
    types: new Map([...types].map(([name, type]) => [name, typeShape(type)])),
    possible: possibleTypes(types),
    directives: new Map([...directives].map(([name, directive]) => [name, inputShapes(directive.arguments)])),
  }
}

function typeShape(type: NamedType): TypeShape {
  if (type.kind === 'input') return { kind: type.kind, fields: inputShapes(type.fields) }
  if (type.kind === 'enum') return { kind: type.kind, values: new Set(type.values.keys()) }
  if (type.kind !== 'object' && type.kind !== 'interface') return { kind: type.kind }
  const fields = [...type.fields.values()].map((field): [string, FieldShape] => [
    field.name,
    { type: namedTypeOf(field.type), arguments: inputShapes(field.arguments) },
  ])
  return { kind: type.kind, fields: new Map(fields) }
}

function inputShapes(inputs: ReadonlyMap<string, InputValue>): InputShapes {
  return new Map([...inputs].map(([name, { type }]) => [name, namedTypeOf(type)]))
}

/** Includes interfaces that implement an interface, because their fields can be selected there too. */
function possibleTypes(types: GraphqlSchema['types']): GraphqlShape['possible'] {
  const possible = new Map<string, string[]>()
  const add = (abstract: string, name: string): void => {
    const known = possible.get(abstract)
    if (known === undefined) possible.set(abstract, [name])
    else known.push(name)
  }
  for (const type of types.values()) {
    if (type.kind === 'union') for (const member of type.members.keys()) add(type.name, member)
    if ('interfaces' in type) for (const implemented of type.interfaces.keys()) add(implemented, type.name)
  }
  return possible
}
