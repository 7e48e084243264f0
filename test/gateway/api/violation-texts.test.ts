/** Every keyword, pattern and format in the API schemas has its own message. A request with one bad member gets its name and the reason. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROUTES } from '../../../gateway/api/serving/routes.ts'
import { textOfViolation } from '../../../gateway/api/validation.ts'
import { plainSchema } from '../../../gateway/settings/input-schema.ts'
import { startApi } from '../../fakes/api.ts'
import { pets, PETS } from '../../fakes/contracts.ts'
import { listAt, textAt } from '../../json.ts'
import { isJsonObject } from '../../../gateway/json/strict-json.ts'

/** Keywords that say something of a value by themselves. */
const JUDGING = new Set([
  'type',
  'enum',
  'const',
  'pattern',
  'format',
  'required',
  'oneOf',
  'not',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'contains',
  'minProperties',
  'maxProperties',
  'propertyNames',
  'dependentRequired',
])
const PARAMS: Readonly<Record<string, string>> = { pattern: 'pattern', format: 'format' }

/** Keyword and its value, wherever a schema has it. */
function* used(schema: unknown, isMap = false): Generator<readonly [keyword: string, value: unknown]> {
  if (Array.isArray(schema)) for (const one of schema) yield* used(one)
  if (!isJsonObject(schema)) return
  for (const [name, value] of Object.entries(schema)) {
    if (!isMap && JUDGING.has(name)) yield [name, value]
    if (!isMap && ['enum', 'const', 'default', 'examples', 'required'].includes(name)) continue
    yield* used(value, !isMap && name === 'properties')
  }
}

test('what the schemas demand is said in words', () => {
  const schemas = ROUTES.flatMap(({ body, query }) => [body, query].filter((one) => one !== undefined).map(plainSchema))
  let count = 0
  for (const [keyword, value] of schemas.flatMap((schema) => [...used(schema)])) {
    const params = {
      limit: value,
      allowedValues: ['a'],
      allowedValue: 'a',
      type: value,
      [PARAMS[keyword] ?? 'x']: value,
    }
    const reported = textOfViolation({
      keyword,
      params,
      instancePath: '/x',
      schemaPath: `#/${keyword}`,
      schema: value,
      message: 'NO WORDS',
    })
    assert.doesNotMatch(
      reported,
      /NO WORDS|must match the pattern|must be of the format|undefined|one of $|\\u/,
      `${keyword} ${String(value)}`,
    )
    count += 1
  }
  assert.ok(count > 100)
})

const GOOD = { preflight_mode: 'authorize', artifacts: [pets(PETS)], context: { operation: 'merge' } }

const BAD: readonly (readonly [path: string, body: object, pointer: string, says: string])[] = [
  ['/api/v1/preflight', { ...GOOD, artifacts: [] }, '/artifacts', 'must not be empty'],
  ['/api/v1/preflight', { ...GOOD, context: { operation: ' ' } }, '/context/operation', 'must not be blank'],
  [
    '/api/v1/preflight',
    { ...GOOD, context: { operation: 'a\nb' } },
    '/context/operation',
    'must not hold control characters, such as line breaks',
  ],
  [
    '/api/v1/preflight',
    { ...GOOD, context: { operation: 'merge', pull_request: [] } },
    '/context/pull_request',
    'must be string or integer',
  ],
  [
    '/api/v1/preflight',
    { ...GOOD, idempotency_key: 'a'.repeat(201) },
    '/idempotency_key',
    'must have at most 200 characters',
  ],
  ['/api/v1/decisions/lookup', {}, '', 'must have exactly one of decision_id, fingerprint'],
  [
    '/api/v1/decisions/lookup',
    { decision_id: 'a', fingerprint: `sha256:${'0'.repeat(64)}` },
    '',
    'must have exactly one of decision_id, fingerprint',
  ],
  [
    '/api/v1/decisions/lookup',
    { fingerprint: 'x' },
    '/fingerprint',
    'must be a digest: sha256: and 64 lowercase hex digits',
  ],
  [
    '/api/v1/decisions/lookup',
    { decision_id: 'a b' },
    '/decision_id',
    'must be an id: 1 to 200 of the characters A-Z a-z 0-9 _ . : -',
  ],
  ['/api/v1/decisions/lookup', [], '', 'must be object'],
  ['/api/signup', { email: 'nobody' }, '/email', 'must be a mail address, such as you@example.org'],
  ['/api/diff', { base: PETS, head: PETS, options: { limit: -1 } }, '/options/limit', 'must be 0 or more'],
]

for (const [path, body, pointer, says] of BAD)
  test(`${path} ${JSON.stringify(body).slice(-60)}: ${says}`, async (t) => {
    const api = await startApi()
    t.after(() => api.close())
    const answer = await api.post(path, body)
    assert.equal(answer.status, 400)
    const reported = listAt(answer.body, 'details').map((detail) => [
      textAt(detail, 'pointer'),
      textAt(detail, 'message'),
    ])
    assert.deepEqual(reported, [[pointer, says]])
  })
