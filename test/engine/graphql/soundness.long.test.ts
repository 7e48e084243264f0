/** Of real schemas that changed: an operation that was valid before and is so no more has a breaking change that decides on it. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  buildASTSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isUnionType,
  parse,
  validate,
  type GraphQLCompositeType,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql'
import {
  operationIn,
  readGraphqlShape,
  readOperationDocument,
  touchOf,
  type GraphqlShape,
} from '../../../engine/internal.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../../engine/model/limits.ts'
import { touchedPlaces } from '../../../engine/decide/graphql-scope.ts'
import { generator } from '../../shuffle.ts'
import { compared } from './compared.ts'

const CORPUS = join(import.meta.dirname, '../../../../shared/corpus/graphql')
const PAIRS = ['linear-2021-09-01', 'saleor-2026-04-27', 'shopify-customer-2025-06-09', 'shopify-storefront-2024-10-21']
const OPERATIONS = 1500

/** Writes operations of a schema at random. */
class Author {
  readonly #schema: GraphQLSchema
  readonly #next: () => number

  constructor(schema: GraphQLSchema, seed: number) {
    this.#schema = schema
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
      if (possible.length > 0) {
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
      parts.push(`a${count}: ${field.name}${given.length > 0 ? `(${given.join(', ')})` : ''}${selection}`)
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

function shapeOf(text: string): GraphqlShape {
  const shape = readGraphqlShape(text, DEFAULT_DOCUMENT_LIMITS)
  assert.ok(shape.ok)
  return shape.value
}

for (const name of PAIRS) {
  test(`operations of ${name}`, (t) => {
    if (!existsSync(CORPUS)) return t.skip('the corpus of real contracts is not there')
    const [before = '', after = ''] = ['before', 'after'].map((side) =>
      readFileSync(join(CORPUS, name, `${side}.graphql`), 'utf8'),
    )
    const [base, head] = [before, after].map((text) => buildASTSchema(parse(text), { assumeValid: true }))
    assert.ok(base !== undefined && head !== undefined)
    const shapes = [before, after].map(shapeOf)
    const breaking = compared(before, after).groups.filter(({ level }) => level === 'breaking')
    const author = new Author(base, 7)
    const counts = { valid: 0, refused: 0, decided: 0 }
    for (let index = 0; index < OPERATIONS; index += 1) {
      const text = author.operation()
      const document = parse(text)
      if (validate(base, document).length > 0) continue
      counts.valid += 1
      const read = readOperationDocument(text, { maxTokens: 20_000, maxDepth: 100 })
      const operation = read.ok ? operationIn(read.value, null) : null
      assert.ok(read.ok && operation?.ok === true)
      const { touches } = touchOf({ document: read.value, operation: operation.value, variables: {} }, shapes)
      assert.ok(touches !== null, `everything in ${text} is described`)
      const isTouched = touchedPlaces(touches)
      const isDecided = breaking.some(isTouched)
      if (isDecided) counts.decided += 1
      const [error] = validate(head, document)
      if (error === undefined) continue
      counts.refused += 1
      assert.ok(isDecided, `${text} is refused now, and nothing decides on it: ${error.message}`)
    }
    t.diagnostic(JSON.stringify(counts))
    assert.ok(counts.valid > OPERATIONS / 2, `only ${counts.valid} operations are valid`)
  })
}
