/**
 * Soundness, with ajv as the judge that knows nothing of our rules: where a value was valid in a request and is no longer, or
 * was not valid in a response and is now, something breaking or dangerous must be told.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import * as fc from 'fast-check'
import { compareOpenApi } from '../../../engine/diff/openapi/compare.ts'
import { sha256 } from '../../conformance/openapi-run.ts'
import { pair, schema, value, type Schema } from './arbitraries.ts'
import { contracts, instance, meaningOf, type Contract } from './contracts.ts'
import { rewritten } from './rewrites.ts'

type Validator = (instance: unknown) => boolean

const ajv = new Ajv2020({ strict: false, allErrors: false })
addFormats.default(ajv)

/** The alternatives of oneOf are taken to exclude each other, as authors mean them to. */
function validatorOf(schema: Schema): Validator {
  const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"oneOf":', '"anyOf":')))
  return (instance) => validate(instance)
}

interface Side {
  readonly operation: (definition: Schema) => object
  /** True for a value that shows that the contract broke for those who rest on the old one. */
  readonly shows: (wasValid: boolean, isValid: boolean) => boolean
  /** Rules that tell the change as information by convention, whatever the schema admits by its letter. */
  readonly conventions: ReadonlySet<string>
}

function content(schema: Schema): object {
  return { content: { 'application/json': { schema } } }
}

const REQUEST: Side = {
  operation: (schema) => ({ requestBody: content(schema), responses: { '200': { description: 'done' } } }),
  shows: (wasValid, isValid) => wasValid && !isValid,
  // Callers are not taken to send what no contract names.
  conventions: new Set(['new-optional-request-property']),
}

const RESPONSE: Side = {
  operation: (schema) => ({ responses: { '200': { description: 'done', ...content(schema) } } }),
  shows: (wasValid, isValid) => !wasValid && isValid,
  // Readers pass over names that they do not know; the others have the reference's levels.
  conventions: new Set([
    'response-optional-property-added',
    'response-required-property-added',
    ...['pattern-removed', 'pattern-changed', 'any-of-added', 'all-of-removed'].flatMap((stem) => [
      `response-body-${stem}`,
      `response-property-${stem}`,
    ]),
  ]),
}

function documentOf({ operation }: Side, openapi: string, used: Schema, schemas: Schema): string {
  return JSON.stringify({
    openapi,
    info: { title: 't', version: '1' },
    paths: { '/x': { post: operation(used) } },
    components: { schemas },
  })
}

/** The schema stands in the operation, or is a component that the operation refers to. */
function documentWith(side: Side, definition: Schema, isComponent: boolean): string {
  const used = isComponent ? { $ref: '#/components/schemas/Thing' } : definition
  return documentOf(side, '3.1.0', used, { Thing: definition })
}

/**
 * Where ajv itself errs (core §10.2.2.1, §10.3.1.3): it overlooks what a condition without consequences evaluates and counts
 * what a failed one did, and an empty list satisfies its `contains` where that holds `unevaluatedItems`.
 */
function isBeyondJudge(before: Schema, after: Schema): boolean {
  const text = JSON.stringify([before, after])
  if (!text.includes('"unevaluated')) return false
  return (
    text.includes('"if":') ||
    text
      .split('"contains":')
      .slice(1)
      .some((rest) => rest.includes('"unevaluatedItems":'))
  )
}

/** One version of a contract: what it admits, and how it is written around that. */
interface Version {
  readonly admits: Validator
  readonly document: (side: Side) => string
}

function versionOfSchema(definition: Schema, isComponent: boolean): Version {
  return { admits: validatorOf(definition), document: (side) => documentWith(side, definition, isComponent) }
}

function versionOfContract(contract: Contract): Version {
  const used = { $ref: '#/components/schemas/Thing' }
  return {
    admits: validatorOf(meaningOf(contract)),
    document: (side) => documentOf(side, contract.openapi, used, contract.schemas),
  }
}

type Pairs = fc.Arbitrary<readonly [Version, Version]>

const schemaPairs: Pairs = fc
  .tuple(pair, fc.boolean(), fc.boolean())
  .filter(([[before, after]]) => !isBeyondJudge(before, after))
  .map(([[before, after], wasComponent, isComponent]) => [
    versionOfSchema(before, wasComponent),
    versionOfSchema(after, isComponent),
  ])

const contractPairs: Pairs = contracts.map(([before, after]) => [versionOfContract(before), versionOfContract(after)])

/** How many of the generated pairs had a value that shows a break; each of them must be told. */
function judge(side: Side, pairs: Pairs, values: fc.Arbitrary<unknown>, numRuns: number): number {
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
  fc.assert(property, { numRuns, seed: 20261121 })
  return judged
}

suite('no change of what is valid goes unnoticed', () => {
  test('in a request: what was valid and is not any more', () => {
    const judged = judge(REQUEST, schemaPairs, value, 4500)
    assert.ok(judged > 400, `only ${judged} pairs lost a value`)
  })

  test('in a response: what was not valid and is now', () => {
    const judged = judge(RESPONSE, schemaPairs, value, 4500)
    assert.ok(judged > 400, `only ${judged} pairs gained a value`)
  })

  test('in a request by components that name themselves and each other, in 3.0 and 3.1', () => {
    const judged = judge(REQUEST, contractPairs, instance, 2000)
    assert.ok(judged > 400, `only ${judged} pairs lost a value`)
  })

  test('in a response by components that name themselves and each other, in 3.0 and 3.1', () => {
    const judged = judge(RESPONSE, contractPairs, instance, 2000)
    assert.ok(judged > 400, `only ${judged} pairs gained a value`)
  })
})

suite('what is written otherwise and admits the same is no change', () => {
  for (const [name, side] of [
    ['request', REQUEST],
    ['response', RESPONSE],
  ] as const) {
    test(`in a ${name}`, () => {
      const picks = fc.array(fc.nat(), { minLength: 1, maxLength: 12 })
      const forms = fc.tuple(fc.boolean(), fc.boolean())
      const property = fc.property(schema, picks, forms, (before, choices, [wasComponent, isComponent]) => {
        const after = rewritten(before, choices)
        const [base, head] = [documentWith(side, before, wasComponent), documentWith(side, after, isComponent)]
        const compared = compareOpenApi(base, head, {}, sha256)
        assert.ok(compared.ok)
        const told = compared.value.groups.map(({ rule }) => rule)
        assert.deepEqual(told, [], `rewritten as ${JSON.stringify(after)}`)
      })
      fc.assert(property, { numRuns: 2000, seed: 20261121 })
    })
  }
})
