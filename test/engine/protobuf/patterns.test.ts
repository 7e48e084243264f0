/** Changes of protobuf contracts are named by the same patterns as those of other formats. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ruleCase } from '../../rules/cases.ts'
import { comparedProtobuf } from './contracts.ts'

function patternsOf(rule: string): readonly string[] {
  const { before, after } = ruleCase('protobuf', rule)
  return comparedProtobuf(before, after).patterns
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
    assert.ok(patternsOf(rule).includes(pattern))
  })
}

test('what is only added has no name', () => {
  for (const rule of ['proto-field-added', 'proto-rpc-added', 'proto-service-added', 'proto-enum-value-added']) {
    assert.deepEqual(patternsOf(rule), [])
  }
})
