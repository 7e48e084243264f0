/** The committed checks of envelopes and the published schemas find the same mistakes at every member, in the same words. */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { suite, test } from 'node:test'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { decisionResultConsumerSchema, decisionResultProducerSchema } from '../../../engine/internal.ts'
import { checkConsumerForm, checkProducerForm } from '../../../engine/decide/envelope-check.generated.js'
import { issued } from './breaches.ts'

const ajv = new Ajv2020({ strictTypes: false, strictRequired: false, allErrors: true })
const FORMS = [
  { form: 'producer', published: ajv.compile(decisionResultProducerSchema), committed: checkProducerForm },
  { form: 'consumer', published: ajv.compile(decisionResultConsumerSchema), committed: checkConsumerForm },
] as const

const ODD: readonly unknown[] = [null, true, 0, -1, 1.5, '', 'x', 'x'.repeat(5000), [], [{}], [null], {}, { x: 1 }]

interface Place {
  readonly path: readonly string[]
  readonly holder: Record<string, unknown>
  readonly name: string
}

/** Every member, at any depth. */
function placesOf(value: unknown, path: readonly string[] = []): readonly Place[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.keys(value).flatMap((name) => {
    const holder: Record<string, unknown> = Object(value)
    return [{ path: [...path, name], holder, name }, ...placesOf(holder[name], [...path, name])]
  })
}

/** The same value with one member exchanged, or gone where there is none to put in its place. */
function* variantsOf(envelope: unknown): Generator<readonly [place: string, variant: unknown]> {
  for (const { path, holder, name } of placesOf(envelope)) {
    const kept = holder[name]
    for (const odd of ODD) {
      holder[name] = odd
      yield [`${path.join('/')} = ${JSON.stringify(odd).slice(0, 20)}`, envelope]
    }
    holder[name] = kept
    if (Array.isArray(holder)) continue
    Reflect.deleteProperty(holder, name)
    yield [`${path.join('/')} is missing`, envelope]
    holder[name] = kept
    holder[`${name}_odd`] = kept
    yield [`${path.join('/')}_odd is one more`, envelope]
    Reflect.deleteProperty(holder, `${name}_odd`)
  }
}

function mistakes(errors: ValidateFunction['errors']): readonly string[] {
  return (errors ?? []).map(({ instancePath, keyword, params, message }) =>
    JSON.stringify([instancePath, keyword, params, message]),
  )
}

suite('the committed checks of an envelope', () => {
  for (const { form, published, committed } of FORMS) {
    for (const decision of ['ALLOW', 'WARN', 'REQUIRE_APPROVAL', 'BLOCK']) {
      test(`${form} form of ${decision}: the mistakes of the published schema`, () => {
        let refused = 0
        for (const [place, variant] of variantsOf(structuredClone(issued(decision)))) {
          const isValid = published(variant)
          const checked = committed(variant)
          if (!isValid) refused += 1
          const found = checked.ok
            ? []
            : checked.problem.map((one) => JSON.stringify([one.instancePath, one.keyword, one.params, one.message]))
          assert.deepEqual([...found].sort(), [...mistakes(isValid ? null : published.errors)].sort(), place)
        }
        assert.ok(refused > 300, `${refused} variants were refused`)
      })
    }
  }

  test('are small: what stands at several places is written once', () => {
    const path = new URL('../../../engine/decide/envelope-check.generated.js', import.meta.url)
    assert.ok(statSync(path).size < 240_000)
  })
})
