import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { buildSchema, introspectionFromSchema, validateSchema } from 'graphql'
import { compared } from '../engine/graphql/compared.ts'
import { mutationsOf } from './graphql-mutations.ts'
import {
  askReferences,
  differenceOf,
  isCovered,
  readExpectedDifferences,
  runGraphql,
  type GraphqlCase,
} from './graphql-run.ts'

const SCHEMA = readFileSync(new URL('graphql-mutations.graphql', import.meta.url), 'utf8')

function isValid(text: string): boolean {
  try {
    return validateSchema(buildSchema(text)).length === 0
  } catch {
    // What no server would start with is no schema to compare.
    return false
  }
}

/** Every valid change of the schema, there and back, with what the references say of it. */
async function readCases(): Promise<readonly GraphqlCase[]> {
  const cases: GraphqlCase[] = []
  for (const { name, text } of mutationsOf(SCHEMA)) {
    const changed = text()
    if (!isValid(changed)) continue
    for (const [id, before, after] of [
      [name, SCHEMA, changed],
      [`${name}, back`, changed, SCHEMA],
    ] as const) {
      const entries = await askReferences(before, after)
      assert.ok(entries !== null, id)
      cases.push({ id, before, after, entries })
    }
  }
  return cases
}

/** The same default is another value under another type, or none. The change of the type is reported. */
const COERCED = /_DEFAULT(?:_VALUE)?_CHANGED$/
const TYPE_RULES =
  /-(?:type-(?:changed|narrowed|widened)|became-(?:required|optional))$|-input-field-(?:added|removed)$/

test('every single change of a schema is reported as by both references, and not at a stricter level', async () => {
  const cases = await readCases()
  const expected = readExpectedDifferences()
  const { outcomes, beyond } = runGraphql(cases)
  const isCoerced = (id: string): boolean => {
    const found = cases.find((one) => one.id === id)
    return found !== undefined && compared(found.before, found.after).groups.some(({ rule }) => TYPE_RULES.test(rule))
  }
  const open = outcomes
    .filter((outcome) => !isCovered(outcome) && !expected.weaker.has(differenceOf(outcome)))
    .filter(({ id, entry }) => !(COERCED.test(entry.kind) && isCoerced(id)))
    .map((outcome) => `${outcome.id}: ${differenceOf(outcome)}: ${outcome.entry.message}`)
  const graver = beyond
    .filter(({ group }) => !expected.beyond.has(group.rule))
    .map(({ id, group }) => `${id}: ${group.level} ${group.rule}`)
  assert.deepEqual([...open, ...graver], [])
  assert.ok(cases.length > 1000 && outcomes.length > 1000)
})

/** Introspection tells nothing of the directives that a schema applies. */
const OF_USAGES = /^graphql-(?:directive-usage|federation)-/

function reportedWithoutUsages(before: string, after: string): readonly string[] {
  const { groups } = compared(before, after)
  return groups.filter(({ rule }) => !OF_USAGES.test(rule)).map(({ level, rule }) => `${level} ${rule}`)
}

function introspected(text: string): string {
  const options = { oneOf: true, inputValueDeprecation: true, specifiedByUrl: true, directiveIsRepeatable: true }
  return JSON.stringify(introspectionFromSchema(buildSchema(text), { ...options, schemaDescription: true }))
}

test('every single change gives the same findings from introspection results, except for applied directives', () => {
  const before = introspected(SCHEMA)
  const changes = mutationsOf(SCHEMA)
    .map(({ name, text }) => ({ name, text: text() }))
    .filter(({ text }) => isValid(text))
  for (const { name, text } of changes) {
    const [written, answered] = [reportedWithoutUsages(SCHEMA, text), reportedWithoutUsages(before, introspected(text))]
    assert.deepEqual(answered.toSorted(), written.toSorted(), name)
  }
  assert.ok(changes.length > 500)
})
