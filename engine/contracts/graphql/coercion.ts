/**
 * Values as their types read them (GraphQL §3, input coercion). A list may be one item, and an ID an integer. Members
 * that are left out have their default.
 */
import { parseConstValue, type ConstValueNode } from 'graphql/language'
import { literalOf, objectLiteral } from './literals.ts'
import type { DirectiveUsage, GraphqlSchema, InputType } from './schema.ts'

/** A default of an input type may contain the type itself. Deeper values are kept as written. */
const MAX_DEPTH = 16

/** The canonical literal of the value that a literal stands for. Undefined types keep their literals. */
export function coercedLiteral(literal: string, type: string, schema: GraphqlSchema): string {
  return coerce(parseConstValue(literal, { noLocation: true }), type, schema, MAX_DEPTH)
}

function coerce(node: ConstValueNode, type: string, schema: GraphqlSchema, depth: number): string {
  if (node.kind === 'NullValue' || depth === 0) return literalOf(node)
  const nullable = type.endsWith('!') ? type.slice(0, -1) : type
  if (nullable.startsWith('[')) {
    const items = node.kind === 'ListValue' ? node.values : [node]
    return `[${items.map((item) => coerce(item, nullable.slice(1, -1), schema, depth)).join(', ')}]`
  }
  if (nullable === 'ID' && node.kind === 'IntValue') return JSON.stringify(node.value)
  const named = schema.types.get(nullable)
  if (node.kind !== 'ObjectValue' || named?.kind !== 'input') return literalOf(node)
  const given = new Map(node.fields.map(({ name, value }) => [name.value, value]))
  const members = [...given].map(([name, value]): [string, string] => {
    const field = named.fields.get(name)
    return [name, field === undefined ? literalOf(value) : coerce(value, field.type, schema, depth - 1)]
  })
  return objectLiteral([...members, ...missingDefaults(given, named, schema, depth)])
}

function missingDefaults(
  given: ReadonlyMap<string, unknown>,
  { fields }: InputType,
  schema: GraphqlSchema,
  depth: number,
): readonly (readonly [name: string, literal: string])[] {
  return [...fields.values()].flatMap(({ name, type, defaultValue }) => {
    if (defaultValue === null || given.has(name)) return []
    return [[name, coerce(parseConstValue(defaultValue, { noLocation: true }), type, schema, depth - 1)] as const]
  })
}

/** Defaults of directives that subgraphs use without a definition. */
const FEDERATION_DEFAULTS: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map([
  ['key', new Map([['resolvable', 'true']])],
])

/** The arguments that a directive gets: those given, and the defaults of the others. */
export function coercedArguments(usage: DirectiveUsage, schema: GraphqlSchema): ReadonlyMap<string, string> {
  const { name, arguments: given } = usage
  const coerced = new Map([...(FEDERATION_DEFAULTS.get(name) ?? []), ...given])
  for (const argument of schema.directives.get(name)?.arguments.values() ?? []) {
    const literal = given.get(argument.name) ?? argument.defaultValue
    if (literal !== null) coerced.set(argument.name, coercedLiteral(literal, argument.type, schema))
  }
  return coerced
}
