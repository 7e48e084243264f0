/**
 * The content of a GraphQL schema, in one form for SDL and introspection results: maps by name, because order has no
 * meaning. Types are strings (`[User!]!`) and values are canonical literals. Changes are not judged here.
 */
import type { Mark, Position } from '../positions.ts'

/** An applied directive. Arguments are canonical literals by name. */
export interface DirectiveUsage {
  readonly name: string
  readonly arguments: ReadonlyMap<string, string>
  readonly mark: Mark
}

export interface Element {
  readonly name: string
  readonly mark: Mark
  readonly description: string | null
  /** Without `@deprecated`, `@specifiedBy` and `@oneOf`, which are members of the element. */
  readonly usages: readonly DirectiveUsage[]
}

/** An element that can be deprecated: the reason, or null if it is not. */
export interface Deprecable extends Element {
  readonly deprecation: string | null
}

/** An argument, or a field of an input object. */
export interface InputValue extends Deprecable {
  readonly type: string
  readonly defaultValue: string | null
}

export interface Field extends Deprecable {
  readonly type: string
  readonly arguments: ReadonlyMap<string, InputValue>
}

/** A name that an element refers to: an interface, a union member, a directive location, a root type. */
export interface NamedReference {
  readonly name: string
  readonly mark: Mark
}

export interface ScalarType extends Element {
  readonly kind: 'scalar'
  readonly specifiedBy: string | null
}

export interface CompositeType extends Element {
  readonly kind: 'object' | 'interface'
  readonly fields: ReadonlyMap<string, Field>
  readonly interfaces: ReadonlyMap<string, NamedReference>
}

export interface UnionType extends Element {
  readonly kind: 'union'
  readonly members: ReadonlyMap<string, NamedReference>
}

export interface EnumType extends Element {
  readonly kind: 'enum'
  readonly values: ReadonlyMap<string, Deprecable>
}

export interface InputType extends Element {
  readonly kind: 'input'
  readonly fields: ReadonlyMap<string, InputValue>
  /** Exactly one field must be given (`@oneOf`). */
  readonly isOneOf: boolean
}

export type NamedType = ScalarType | CompositeType | UnionType | EnumType | InputType
export type TypeKind = NamedType['kind']

export interface DirectiveDefinition extends Deprecable {
  readonly arguments: ReadonlyMap<string, InputValue>
  readonly locations: ReadonlyMap<string, NamedReference>
  readonly isRepeatable: boolean
}

export const ROOT_KINDS = ['query', 'mutation', 'subscription'] as const
export type RootKind = (typeof ROOT_KINDS)[number]

/** Members that a query of introspection asks for only if the server is recent. */
export type IntrospectedMember = 'isRepeatable' | 'specifiedByURL' | 'isOneOf'

export const NOTHING_UNASKED: ReadonlySet<IntrospectedMember> = new Set()

export interface GraphqlSchema {
  /** The schema itself: its description and the directives on it. */
  readonly schema: Element
  readonly roots: ReadonlyMap<RootKind, NamedReference>
  readonly types: ReadonlyMap<string, NamedType>
  readonly directives: ReadonlyMap<string, DirectiveDefinition>
  /** False for introspection, which does not contain applied directives: their absence then has no meaning. */
  readonly hasUsages: boolean
  /** What the query of an introspection did not ask for. Its absence then has no meaning. */
  readonly unasked: ReadonlySet<IntrospectedMember>
  readonly positionOf: (mark: Mark) => Position | null
}

/** Types and directives that every server has, so they are not part of the contract (GraphQL §3.5, §3.13). */
export const STANDARD_SCALARS: ReadonlySet<string> = new Set(['Int', 'Float', 'String', 'Boolean', 'ID'])
export const STANDARD_DIRECTIVES: ReadonlySet<string> = new Set([
  'skip',
  'include',
  'deprecated',
  'specifiedBy',
  'oneOf',
])

/** GraphQL §3.13.3: the default reason. */
export const NO_REASON = 'No longer supported'

/** The named type inside a type: `User` of `[User!]!`. */
export function namedTypeOf(type: string): string {
  if (type.startsWith('[')) return type.replaceAll(/[[\]!]/g, '')
  return type.endsWith('!') ? type.slice(0, -1) : type
}

/** Names that begin with two underscores belong to introspection. */
export function isReserved(name: string): boolean {
  return name.startsWith('__')
}

/** An empty schema: the side of a contract that does not exist. */
export const NO_SCHEMA: GraphqlSchema = {
  schema: { name: 'schema', mark: 0, description: null, usages: [] },
  roots: new Map(),
  types: new Map(),
  directives: new Map(),
  hasUsages: true,
  unasked: NOTHING_UNASKED,
  positionOf: () => null,
}
