/**
 * Forms, with ajv as the judge that knows nothing of our rules: where a form was valid and is no longer, something breaking or
 * dangerous is reported, in Swagger 2.0, in OpenAPI 3 and from one to the other.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { compareOpenApi } from '../../../engine/diff/openapi/compare.ts'
import { sha256 } from '../../conformance/openapi-run.ts'
import { form, forms } from './forms.ts'

/** Rules that report information by convention: callers are not taken to send what no contract names. */
const CONVENTIONS: ReadonlySet<string> = new Set(['new-optional-request-property'])

test('no change of a form goes unnoticed', () => {
  let judged = 0
  const instances = fc.array(form, { minLength: 8, maxLength: 24 })
  const property = fc.property(forms, instances, ([before, after], drawn) => {
    const shown = drawn.find((one) => before.admits(one) && !after.admits(one))
    if (shown === undefined) return
    judged += 1
    const compared = compareOpenApi(before.document, after.document, {}, sha256)
    assert.ok(compared.ok)
    const isReported = compared.value.groups.some(({ level, rule }) => level !== 'info' || CONVENTIONS.has(rule))
    assert.ok(isReported, `unnoticed: ${JSON.stringify(shown)} in ${before.document} and ${after.document}`)
  })
  fc.assert(property, { numRuns: 2000, seed: 20261121 })
  assert.ok(judged > 400, `only ${judged} pairs lost a value`)
})
