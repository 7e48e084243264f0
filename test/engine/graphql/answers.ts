/** Answers at random that a schema allows, and whether a client reads one by another schema. */
import {
  executeSync,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  type DocumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLEnumType,
  type GraphQLOutputType,
  type GraphQLNullableOutputType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql'
import type { Random } from '../../soundness/random.ts'

type Json = Readonly<Record<string, unknown>>

const LEAVES: Readonly<Record<string, unknown>> = { Int: 7, Float: 1.5, Boolean: true, String: 'text', ID: 'id' }

const READS: Readonly<Record<string, (value: unknown) => boolean>> = {
  Int: (value) => Number.isInteger(value),
  Float: (value) => typeof value === 'number',
  Boolean: (value) => typeof value === 'boolean',
  String: (value) => typeof value === 'string',
  ID: (value) => typeof value === 'string',
}

/** What a server of the schema may answer; null: an error without data. */
export function drawnAnswer(schema: GraphQLSchema, document: DocumentNode, random: Random): unknown {
  const some = (type: GraphQLNullableOutputType): unknown => {
    if (isListType(type)) return [drawn(type.ofType), drawn(type.ofType)]
    if (isEnumType(type)) return random.pick(type.getValues()).value
    if (isAbstractType(type)) return { type: random.pick(schema.getPossibleTypes(type)).name }
    return isObjectType(type) ? {} : (LEAVES[type.name] ?? 'scalar')
  }
  const drawn = (type: GraphQLOutputType): unknown => {
    if (isNonNullType(type)) return some(type.ofType)
    return random.chance(0.15) ? null : some(type)
  }
  const { data } = executeSync({
    schema,
    document,
    fieldResolver: (_source, _arguments, _context, { returnType }) => drawn(returnType),
    typeResolver: (value) => (isJson(value) ? String(value['type']) : ''),
  })
  return data ?? null
}

/** What a client that knows the schema does not expect in an answer; null: nothing. */
export function misread(schema: GraphQLSchema, document: DocumentNode, data: unknown): string | null {
  const operation = document.definitions.find((one) => one.kind === 'OperationDefinition')
  const root = operation && schema.getRootType(operation.operation)
  if (operation === undefined || root === undefined || root === null) return 'no operation'
  return new Reader(schema).object(root, [operation.selectionSet], data)
}

class Reader {
  readonly #schema: GraphQLSchema

  constructor(schema: GraphQLSchema) {
    this.#schema = schema
  }

  object(type: GraphQLCompositeType, sets: readonly SelectionSetNode[], value: unknown): string | null {
    if (!isJson(value)) return 'no object'
    const name = value['__typename']
    const actual = typeof name === 'string' ? this.#schema.getType(name) : type
    if (!isObjectType(actual) || !this.#isOf(actual.name, type.name)) return `an object of ${String(name)}`
    for (const [key, fields] of this.#collected(sets, actual.name)) {
      const field = actual.getFields()[fields[0]?.name.value ?? '']
      if (field === undefined) continue
      const found = Object.hasOwn(value, key) ? this.#value(field.type, fields, value[key]) : 'nothing'
      if (found !== null) return `${found} at ${actual.name}.${field.name}`
    }
    return null
  }

  #isOf(name: string, condition: string): boolean {
    const [type, other] = [this.#schema.getType(name), this.#schema.getType(condition)]
    if (name === condition) return true
    return isObjectType(type) && isAbstractType(other) && this.#schema.isSubType(other, type)
  }

  #collected(sets: readonly SelectionSetNode[], name: string): ReadonlyMap<string, readonly FieldNode[]> {
    const fields = new Map<string, readonly FieldNode[]>()
    const collect = ({ selections }: SelectionSetNode): void => {
      for (const one of selections) {
        if (one.kind === 'Field') {
          const key = one.alias?.value ?? one.name.value
          fields.set(key, [...(fields.get(key) ?? []), one])
        } else if (one.kind === 'InlineFragment' && this.#isOf(name, one.typeCondition?.name.value ?? name)) {
          collect(one.selectionSet)
        }
      }
    }
    sets.forEach(collect)
    return fields
  }

  #value(type: GraphQLOutputType, fields: readonly FieldNode[], value: unknown): string | null {
    if (isNonNullType(type)) return value === null ? 'null' : this.#value(type.ofType, fields, value)
    if (value === null) return null
    if (isListType(type)) {
      if (!Array.isArray(value)) return 'no list'
      return value.map((item) => this.#value(type.ofType, fields, item)).find((found) => found !== null) ?? null
    }
    if (isEnumType(type)) return isValueOf(type, value) ? null : `the value ${JSON.stringify(value)}`
    if (isCompositeType(type))
      return this.object(
        type,
        fields.flatMap(({ selectionSet }) => selectionSet ?? []),
        value,
      )
    return READS[type.name]?.(value) === false ? `no ${type.name}` : null
  }
}

function isValueOf(type: GraphQLEnumType, value: unknown): boolean {
  return type.getValues().some(({ name }) => name === value)
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
