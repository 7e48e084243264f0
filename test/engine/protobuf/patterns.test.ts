/** Changes of protobuf contracts are named by the same patterns as those of other formats. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { comparedProtobuf } from './contracts.ts'

const CASES = new URL('../../rules/protobuf/', import.meta.url)

function text(rule: string, side: 'before' | 'after'): string {
  const alone = new URL(`${rule}/${side}.proto`, CASES)
  return readFileSync(existsSync(alone) ? alone : new URL(`${rule}/${side}.json`, CASES), 'utf8')
}

const NAMED: readonly (readonly [rule: string, pattern: string])[] = [
  ['proto-field-default-changed', 'DEFAULT_CHANGED'],
  ['proto-deprecated', 'DEPRECATION_WITHOUT_SUNSET'],
  ['proto-rpc-removed', 'ENDPOINT_REMOVED'],
  ['proto-service-removed', 'ENDPOINT_REMOVED'],
  ['proto-service-removed-with-package', 'ENDPOINT_REMOVED'],
  ['proto-enum-value-removed', 'ENUM_NARROWING'],
  ['proto-enum-value-removed-number-not-reserved', 'ENUM_NARROWING'],
  ['proto-field-removed', 'FIELD_REMOVED'],
  ['proto-field-removed-and-reserved', 'FIELD_REMOVED'],
  ['proto-required-field-added', 'REQUIRED_FIELD_ADDED'],
  ['proto-field-became-required', 'REQUIRED_FIELD_ADDED'],
  ['proto-field-type-changed', 'TYPE_CHANGED'],
  ['proto-rpc-response-type-changed', 'TYPE_CHANGED'],
  ['proto-rpc-response-type-changed', 'TOOL_RESULT_SHAPE_DRIFT'],
  ['proto-rpc-request-type-changed', 'TOOL_CALLING_SCHEMA_DRIFT'],
]

for (const [rule, pattern] of NAMED) {
  test(`${rule} is named ${pattern}`, () => {
    assert.ok(comparedProtobuf(text(rule, 'before'), text(rule, 'after')).patterns.includes(pattern))
  })
}

test('what is only added has no name', () => {
  for (const rule of ['proto-field-added', 'proto-rpc-added', 'proto-service-added', 'proto-enum-value-added']) {
    assert.deepEqual(comparedProtobuf(text(rule, 'before'), text(rule, 'after')).patterns, [])
  }
})
