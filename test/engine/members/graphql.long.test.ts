/**
 * The members of a GraphQL schema: of each kind of node that the parser of `graphql` has, and of each type of introspection.
 * The lists are those of the package, so a kind that a new version adds needs a place in the documents.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  buildSchema,
  introspectionFromSchema,
  introspectionTypes,
  isListType,
  isNonNullType,
  isObjectType,
  isTypeSystemDefinitionNode,
  isTypeSystemExtensionNode,
  Kind,
  parse,
  print,
  type ASTNode,
  type GraphQLOutputType,
} from 'graphql'
import { isRecord } from '../../../engine/schema/located.ts'
import { checkMembers, forPeople, grammarText } from './run.ts'

const SDL = `
"d" schema @own { query: Query mutation: Mutation }
extend schema @own { subscription: Subscription }
"d" directive @own("d" a: Int = 1 @own) repeatable on DIRECTIVE_DEFINITION | SCHEMA | SCALAR | OBJECT | FIELD_DEFINITION | ARGUMENT_DEFINITION | INTERFACE | UNION | ENUM | ENUM_VALUE | INPUT_OBJECT | INPUT_FIELD_DEFINITION
"d" directive @once @deprecated(reason: "r") on FIELD
extend directive @once @own
"d" interface Node @own { "d" id: ID! }
extend interface Node @own { more: Int }
interface Named implements Node @own { id: ID! more: Int other: [Int!] name("d" lang: Lang = EN @own, upper: Boolean! = false): String @deprecated(reason: "r") }
extend interface Named implements Other
interface Other { other: [Int!] }
"d" type Thing implements Named & Node & Other @own { id: ID! more: Int other: [Int!] "d" name(lang: Lang = EN, upper: Boolean! = false, gone: Int @deprecated(reason: "r")): String @own }
extend type Thing @own { added(a: [Int!] = [1, 2], f: Float = 1.5, n: String = null, o: Filter = { text: "x" }): Int }
extend type Late implements Node
type Late { id: ID! more: Int }
"d" union Any @own = Thing | Late
extend union Any @own = Third
type Third { a: Int }
"d" enum Lang @own { "d" EN @own DE @deprecated }
extend enum Lang @own { FR }
"d" scalar Time @own @specifiedBy(url: "https://a.example/time")
extend scalar Time @own
"d" input Filter @own { "d" text: String = "a" @own limit: Int! = 3 ids: [ID!] }
extend input Filter @own { more: Int @deprecated(reason: "r") }
input One @oneOf { id: ID name: String }
type Query { things(filter: Filter, one: One): [Any!]! node(id: ID!): Node at: Time }
type Mutation { add(name: String!): Thing }
type Subscription { added: Thing }
`

function isNode(value: unknown): value is ASTNode {
  return isRecord(value) && typeof value['kind'] === 'string'
}

/** The tree without what says where a node stands. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (!isRecord(value)) return value
  const members = Object.entries(value).filter(([name, held]) => !['loc', 'block'].includes(name) && held !== undefined)
  return Object.fromEntries(members.map(([name, held]) => [name, plain(held)]))
}

const TREE = plain(parse(SDL))

/** The members of each kind of node, as they occur. */
function kindsIn(
  value: unknown,
  kinds: Map<string, Map<string, string>> = new Map(),
): Map<string, Map<string, string>> {
  if (Array.isArray(value)) for (const item of value) kindsIn(item, kinds)
  if (!isRecord(value)) return kinds
  const kind = String(value['kind'])
  const members = kinds.get(kind) ?? new Map<string, string>()
  kinds.set(kind, members)
  for (const [name, held] of Object.entries(value)) {
    if (name === 'kind') continue
    members.set(name, Array.isArray(held) ? '?[]' : isRecord(held) ? '?' : (members.get(name) ?? ''))
    kindsIn(held, kinds)
  }
  return kinds
}

const KINDS = kindsIn(TREE)

const STILL = 'Operations that use it are still served.'

/** Null: a part is gone without which there is no text. */
function printed(tree: unknown): string | null {
  try {
    return isNode(tree) ? print(tree) : null
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

test('GraphQL: the document has every kind of definition and extension that the parser knows', () => {
  const all = Object.values(Kind).filter((kind) => {
    const node: unknown = { kind }
    return isNode(node) && (isTypeSystemDefinitionNode(node) || isTypeSystemExtensionNode(node))
  })
  assert.deepEqual(
    all.filter((kind) => !KINDS.has(kind)),
    [],
  )
})

checkMembers('GraphQL', {
  type: 'graphql',
  grammar: grammarText(KINDS, 'Document'),
  document: TREE,
  textOf: printed,
  silent: {},
  harmless: {
    'DirectiveDefinition.directives': STILL,
    ...forPeople(`
      DirectiveDefinition.description
      EnumTypeDefinition.description
      EnumValueDefinition.description
      FieldDefinition.description
      InputObjectTypeDefinition.description
      InputValueDefinition.description
      InterfaceTypeDefinition.description
      ObjectTypeDefinition.description
      ScalarTypeDefinition.description
      SchemaDefinition.description
      UnionTypeDefinition.description
    `),
  },
})

/** The types of introspection and their fields. A type of the schema is a type of any kind. */
const INTROSPECTION = new Map(
  introspectionTypes.filter(isObjectType).map((type) => {
    const fields = Object.values(type.getFields()).filter(
      ({ name }) => !['isDeprecated_', 'description_'].includes(name),
    )
    return [type.name, new Map(fields.map(({ name, type: held }) => [name, formOf(held)]))]
  }),
)

function formOf(type: GraphQLOutputType, isList = false): string {
  if (isNonNullType(type)) return formOf(type.ofType, isList)
  if (isListType(type)) return formOf(type.ofType, true)
  return isObjectType(type) ? `${type.name}${isList ? '[]' : ''}` : ''
}

const ANSWER = introspectionFromSchema(buildSchema(SDL), {
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
}).__schema

checkMembers('GraphQL introspection', {
  type: 'graphql',
  grammar: grammarText(INTROSPECTION, '__Schema'),
  document: ANSWER,
  textOf: (schema) => JSON.stringify({ __schema: schema }),
  silent: {
    '__Type.kind': 'Of a reference: it names its type.',
    '__Type.ofType': 'Of a type that wraps none. Others are refused without it.',
  },
  harmless: {
    ...forPeople('__Directive.description __EnumValue.description __Field.description'),
    ...forPeople('__InputValue.description __Schema.description __Type.description'),
    ...Object.fromEntries(
      ['__Directive', '__EnumValue', '__Field', '__InputValue'].flatMap((type) =>
        ['isDeprecated', 'deprecationReason'].map((name) => [`${type}.${name}`, STILL]),
      ),
    ),
  },
})
