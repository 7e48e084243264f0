/**
 * Soundness, with ajv as the judge that knows nothing of our rules: where a value was valid in a request and is no longer, or
 * was not valid in a response and is now, something breaking or dangerous must be told.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { compareOpenApi } from '../../../engine/diff/openapi/compare.ts'
import { sha256 } from '../../conformance/openapi-run.ts'
import { pair, schema, value, type Schema } from './arbitraries.ts'
import { contracts, instance, meaningOf, type Contract } from './contracts.ts'
import { form, forms } from './forms.ts'
import { rewritten } from './rewrites.ts'
import { documentOf, judge, REQUEST, RESPONSE, validatorOf, type Pairs, type Side, type Version } from './soundness.ts'

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

const schemaPairs: Pairs = fc
  .tuple(pair, fc.boolean(), fc.boolean())
  .filter(([[before, after]]) => !isBeyondJudge(before, after))
  .map(([[before, after], wasComponent, isComponent]) => [
    versionOfSchema(before, wasComponent),
    versionOfSchema(after, isComponent),
  ])

const contractPairs: Pairs = contracts.map(([before, after]) => [versionOfContract(before), versionOfContract(after)])

suite('no change of what is valid goes unnoticed', () => {
  test('in a request: what was valid and is not any more', () => {
    const judged = judge(REQUEST, schemaPairs, value, 4500)
    assert.ok(judged > 400, `only ${judged} pairs lost a value`)
  })

  test('in a response: what was not valid and is now', () => {
    const judged = judge(RESPONSE, schemaPairs, value, 4500)
    assert.ok(judged > 400, `only ${judged} pairs gained a value`)
  })

  test('in a request by components that name themselves and each other, in 2.0, 3.0 and 3.1', () => {
    const judged = judge(REQUEST, contractPairs, instance, 2000)
    assert.ok(judged > 400, `only ${judged} pairs lost a value`)
  })

  test('in a response by components that name themselves and each other, in 2.0, 3.0 and 3.1', () => {
    const judged = judge(RESPONSE, contractPairs, instance, 2400)
    assert.ok(judged > 400, `only ${judged} pairs gained a value`)
  })
})

suite('no change of a form goes unnoticed', () => {
  test('in Swagger 2.0, in OpenAPI 3 and from one to the other', () => {
    const judged = judge(REQUEST, forms, form, 2000)
    assert.ok(judged > 400, `only ${judged} pairs lost a value`)
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
