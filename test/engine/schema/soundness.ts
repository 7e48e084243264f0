/**
 * The judge of soundness: pairs of contracts whose meaning ajv knows, values that show that something broke, and what the
 * comparison has to tell of such a pair.
 */
import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import * as fc from 'fast-check'
import { compareOpenApi } from '../../../engine/diff/openapi/compare.ts'
import { sha256 } from '../../conformance/openapi-run.ts'
import type { Schema } from './arbitraries.ts'

export type Validator = (instance: unknown) => boolean

const ajv = new Ajv2020({ strict: false, allErrors: false })
addFormats.default(ajv)

export function validatorOf(schema: Schema): Validator {
  const validate = ajv.compile(structuredClone(schema))
  return (instance) => validate(instance)
}

export interface Side {
  readonly operation: (definition: Schema) => object
  /** The same in Swagger 2.0. */
  readonly swaggerOperation: (definition: Schema) => object
  /** True for a value that shows that the contract broke for those who rest on the old one. */
  readonly shows: (wasValid: boolean, isValid: boolean) => boolean
  /** Rules that tell the change as information by convention, whatever the schema admits by its letter. */
  readonly conventions: ReadonlySet<string>
}

const JSON_ONLY = ['application/json'] as const

function content(schema: Schema): object {
  return { content: { 'application/json': { schema } } }
}

export const REQUEST: Side = {
  operation: (schema) => ({ requestBody: content(schema), responses: { '200': { description: 'done' } } }),
  swaggerOperation: (schema) => ({
    parameters: [{ in: 'body', name: 'body', schema }],
    responses: { '200': { description: 'done' } },
  }),
  shows: (wasValid, isValid) => wasValid && !isValid,
  // Callers are not taken to send what no contract names.
  conventions: new Set(['new-optional-request-property']),
}

export const RESPONSE: Side = {
  operation: (schema) => ({ responses: { '200': { description: 'done', ...content(schema) } } }),
  swaggerOperation: (schema) => ({ responses: { '200': { description: 'done', schema } } }),
  shows: (wasValid, isValid) => !wasValid && isValid,
  conventions: new Set(),
}

/** A whole document in any version: the operation takes or gives what is used. */
export function documentOf(
  { operation, swaggerOperation }: Side,
  openapi: string,
  used: Schema,
  schemas: Schema,
): string {
  if (openapi === '2.0') {
    const paths = { '/x': { post: { consumes: JSON_ONLY, produces: JSON_ONLY, ...swaggerOperation(used) } } }
    const document = { swagger: '2.0', info: { title: 't', version: '1' }, paths, definitions: schemas }
    return JSON.stringify(document).replaceAll('#/components/schemas/', '#/definitions/')
  }
  return JSON.stringify({
    openapi,
    info: { title: 't', version: '1' },
    paths: { '/x': { post: operation(used) } },
    components: { schemas },
  })
}

/** One version of a contract: what it admits, and how it is written around that. */
export interface Version {
  readonly admits: Validator
  readonly document: (side: Side) => string
}

export type Pairs = fc.Arbitrary<readonly [Version, Version]>

/** The same pairs in each run of the tests. */
export const SEED = 20261121

/** How many of the generated pairs had a value that shows a break; each of them must be told. */
export function judge(side: Side, pairs: Pairs, values: fc.Arbitrary<unknown>, numRuns: number, seed = SEED): number {
  let judged = 0
  const instances = fc.array(values, { minLength: 8, maxLength: 24 })
  const property = fc.property(pairs, instances, ([before, after], drawn) => {
    // What never had a valid value was no contract that anybody rests on.
    if (!drawn.some(before.admits)) return
    const shown = drawn.find((one) => side.shows(before.admits(one), after.admits(one)))
    if (shown === undefined) return
    judged += 1
    const [base, head] = [before.document(side), after.document(side)]
    const compared = compareOpenApi(base, head, {}, sha256)
    assert.ok(compared.ok)
    const isTold = compared.value.groups.some(({ level, rule }) => level !== 'info' || side.conventions.has(rule))
    assert.ok(isTold, `unnoticed: ${JSON.stringify(shown)} in ${base} and ${head}`)
  })
  fc.assert(property, { numRuns, seed })
  return judged
}
