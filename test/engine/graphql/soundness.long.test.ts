/** Of real schemas that changed: an operation that was valid before and is so no more has a breaking change that decides on it. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildASTSchema, parse, validate } from 'graphql'
import {
  operationIn,
  readGraphqlShape,
  readOperationDocument,
  touchOf,
  type GraphqlShape,
} from '../../../engine/internal.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../../engine/model/limits.ts'
import { touchedPlaces } from '../../../engine/decide/graphql-scope.ts'
import { compared } from './compared.ts'
import { Author } from './operations.ts'

const CORPUS = join(import.meta.dirname, '../../../../shared/corpus/graphql')
const PAIRS = ['linear-2021-09-01', 'saleor-2026-04-27', 'shopify-customer-2025-06-09', 'shopify-storefront-2024-10-21']
const OPERATIONS = 1500

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
    const author = new Author(base, 7, { hasAliases: true })
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
