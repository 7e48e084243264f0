/** For each rule about a JSON Schema that stands on its own: two schemas on which it holds. */
import assert from 'node:assert/strict'
import { FAMILIES } from '../../../engine/rules/families.ts'
import { isReportedAt } from '../../../engine/rules/schema-rules.ts'
import { ruleTable } from '../../../engine/rules/catalog/table.ts'
import { SCHEMA_DOCUMENT } from '../../../engine/schema/sites.ts'
import { FRAGMENTS, propertyOf } from './examples.ts'
import type { Schema } from './sites.ts'

const EMPTY: Schema = { type: 'object', properties: {} }
const STRING: Schema = { type: 'string' }
const WITH_DEFAULT: Schema = { type: 'string', default: 'a' }

const PROPERTIES: Readonly<Record<string, readonly [Schema, Schema]>> = {
  'new-required-schema-property-with-default': [EMPTY, propertyOf(WITH_DEFAULT, true)],
  'new-required-schema-property': [EMPTY, propertyOf(STRING, true)],
  'new-optional-schema-property': [EMPTY, propertyOf(STRING)],
  'schema-required-property-removed': [propertyOf(STRING, true), EMPTY],
  'schema-optional-property-removed': [propertyOf(STRING), EMPTY],
  'schema-property-became-required-with-default': [propertyOf(WITH_DEFAULT), propertyOf(WITH_DEFAULT, true)],
  'schema-property-became-required': [propertyOf(STRING), propertyOf(STRING, true)],
  'schema-property-became-optional': [propertyOf(STRING, true), propertyOf(STRING)],
}

function usage(keyword: string, word: string): readonly (readonly [string, Schema, Schema])[] {
  const used = { ...STRING, [keyword]: true }
  return [true, false].flatMap((isRequired) => {
    const noun = isRequired ? 'required' : 'optional'
    const [plain, marked] = [propertyOf(STRING, isRequired), propertyOf(used, isRequired)]
    return [
      [`schema-${noun}-property-became-${word}`, plain, marked],
      [`schema-${noun}-property-became-not-${word}`, marked, plain],
    ] as const
  })
}

function deprecated(sunset?: string): Schema {
  return { ...STRING, deprecated: true, ...(sunset === undefined ? {} : { 'x-sunset': sunset }) }
}

const LIFECYCLE: readonly (readonly [string, Schema, Schema])[] = [
  ['deprecated-with-sunset', STRING, deprecated('2026-12-31')],
  ['deprecated-sunset-missing', STRING, deprecated()],
  ['deprecated-sunset-invalid', STRING, deprecated('soon')],
  ['sunset-date-too-small', STRING, deprecated('2026-01-02')],
  ['reactivated', deprecated(), STRING],
  ['stability-decreased', { ...STRING, 'x-stability-level': 'stable' }, { ...STRING, 'x-stability-level': 'beta' }],
  ['stability-increased', { ...STRING, 'x-stability-level': 'beta' }, { ...STRING, 'x-stability-level': 'stable' }],
]

const TYPES: readonly (readonly [string, Schema, Schema])[] = [
  ['type-changed', STRING, { type: 'integer' }],
  ['type-specialized', { type: 'number' }, { type: 'integer' }],
  ['type-generalized', { type: 'integer' }, { type: 'number' }],
]

/** Rule, before, after. */
export function sharedExamples(): readonly (readonly [string, Schema, Schema])[] {
  const families = FAMILIES.filter(
    (family) =>
      isReportedAt(SCHEMA_DOCUMENT.root, family) && !(family.keyword === 'minItems' && family.action.endsWith('set')),
  ).flatMap(({ keyword, action, stem }) => {
    const pair = FRAGMENTS[`${keyword} ${action}`]
    assert.ok(pair, `${keyword} ${action}`)
    return [[stem, pair[0], pair[1]] as const]
  })
  return [
    ...[...families, ...TYPES].flatMap(([stem, before, after]) => [
      [`schema-${stem}`, before, after] as const,
      [`schema-property-${stem}`, propertyOf(before), propertyOf(after)] as const,
    ]),
    ...Object.entries(PROPERTIES).map(([rule, [before, after]]) => [rule, before, after] as const),
    ...usage('readOnly', 'read-only'),
    ...usage('writeOnly', 'write-only'),
    ...LIFECYCLE.map(
      ([stem, before, after]) => [`schema-property-${stem}`, propertyOf(before), propertyOf(after)] as const,
    ),
  ]
}

/** A custom resource whose `spec` has the schema. */
function crdOf(spec: Schema): Schema {
  const version = { name: 'v1', served: true, storage: true }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Thing', plural: 'things' },
      versions: [{ ...version, schema }],
    },
  }
}

/** The same of custom resources, whose schemas lie below their root: rule and two whole documents. */
export function crdExamples(): readonly (readonly [string, Schema, Schema])[] {
  const ids = new Set(ruleTable().map(({ id }) => id))
  return sharedExamples()
    .map(([rule, before, after]) => [rule.replace('schema-', 'crd-'), crdOf(before), crdOf(after)] as const)
    .filter(([rule]) => ids.has(rule))
}
