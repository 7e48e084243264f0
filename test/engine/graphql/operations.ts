/** Operations at random, for the schema that they are written against. */
import assert from 'node:assert/strict'
import {
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isUnionType,
  type GraphQLCompositeType,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql'
import { generator } from '../../shuffle.ts'

/** Writes operations of a schema at random. */
export class Author {
  readonly #schema: GraphQLSchema
  readonly #next: () => number
  readonly #hasAliases: boolean

  /** Without aliases, selections of several types meet under the names of their fields. */
  constructor(schema: GraphQLSchema, seed: number, hasAliases = true) {
    this.#schema = schema
    this.#hasAliases = hasAliases
    this.#next = generator(seed)
  }

  operation(): string {
    const mutation = this.#schema.getMutationType()
    const query = this.#schema.getQueryType()
    const root = mutation != null && this.#chance(0.4) ? mutation : query
    assert.ok(root != null)
    return `${root === mutation ? 'mutation' : 'query'} ${this.#selection(root, 3, 1)}`
  }

  #chance(part: number): boolean {
    // The lower bits of such a generator are less random than the upper ones.
    return this.#next() / 2 ** 32 < part
  }

  #pick<T>(list: readonly T[]): T {
    const found = list[Math.floor((this.#next() / 2 ** 32) * list.length)]
    assert.ok(found !== undefined)
    return found
  }

  #selection(type: GraphQLCompositeType, depth: number, width: number): string {
    const parts = ['__typename']
    if (isAbstractType(type) && this.#chance(0.7)) {
      const possible = this.#schema.getPossibleTypes(type)
      for (let count = 0; count < (this.#hasAliases ? 1 : 2) && possible.length > 0; count += 1) {
        const one = this.#pick(possible)
        parts.push(`... on ${one.name} ${this.#selection(one, depth - 1, width)}`)
      }
    }
    const fields = isUnionType(type) ? [] : Object.values(type.getFields())
    for (let count = 0; count < width && fields.length > 0; count += 1) {
      const field = this.#pick(fields)
      const inner = getNamedType(field.type)
      if (isCompositeType(inner) && depth <= 0) continue
      const given = field.args
        .filter(
          ({ type: wanted, defaultValue }) =>
            (isNonNullType(wanted) && defaultValue === undefined) || this.#chance(0.3),
        )
        .map((argument) => `${argument.name}: ${this.#value(argument.type, 3)}`)
      const selection = isCompositeType(inner) ? ` ${this.#selection(inner, depth - 1, 3)}` : ''
      const alias = this.#hasAliases ? `a${count}: ` : ''
      parts.push(`${alias}${field.name}${given.length > 0 ? `(${given.join(', ')})` : ''}${selection}`)
    }
    return `{ ${parts.join(' ')} }`
  }

  #value(type: GraphQLInputType, depth: number): string {
    if (isNonNullType(type)) return this.#value(type.ofType, depth)
    if (isListType(type)) return `[${this.#value(type.ofType, depth)}]`
    if (isEnumType(type)) return this.#pick(type.getValues()).name
    if (!isInputObjectType(type)) return { Int: '1', Float: '1.5', Boolean: 'true' }[type.name] ?? '"1"'
    const fields = Object.values(type.getFields())
      .filter(
        ({ type: wanted, defaultValue }) =>
          (isNonNullType(wanted) && defaultValue === undefined) || (depth > 0 && this.#chance(0.4)),
      )
      .map((field) => `${field.name}: ${this.#value(field.type, depth - 1)}`)
    return `{ ${fields.join(', ')} }`
  }
}
