/**
 * For each rule that the families make at a site: two documents on which it holds. The fragments say what changes;
 * the sites say where it stands. Rules outside schemas have their pairs in test/rules/openapi/.
 */
import type { ArtifactType, CompareOptions } from '../../../engine/internal.ts'
import { FAMILIES } from '../../../engine/rules/families.ts'
import { isReportedAt } from '../../../engine/rules/schema-rules.ts'
import { PROPERTY_RULES } from '../../../engine/rules/properties.ts'
import { lookupTable } from '../../../engine/common/lookup-table.ts'
import { JSON_TEXT, SITES, type Schema, type Site } from './sites.ts'

export interface Example {
  readonly rule: string
  readonly type: ArtifactType
  readonly before: Schema
  readonly after: Schema
  readonly options: CompareOptions
}

type Pair = readonly [before: Schema, after: Schema]

const STRING: Schema = { type: 'string' }
const NUMBER: Schema = { type: 'number' }
const LIST: Schema = { type: 'array', items: STRING }
const OBJECT: Schema = { type: 'object' }
/** They hold something, whatever else they refuse. */
const NAMED: Schema = { type: 'object', properties: { a: STRING } }
const PLACED: Schema = { type: 'array', prefixItems: [STRING] }
const CLOSED: Schema = { ...NAMED, additionalProperties: false }
const CAT: Schema = { type: 'object', title: 'Cat', properties: { purrs: { type: 'boolean' } } }
const DOG: Schema = { type: 'object', title: 'Dog', properties: { barks: { type: 'boolean' } } }

function added(schema: Schema, keyword: string, value: unknown): Pair {
  return [schema, { ...schema, [keyword]: value }]
}

/** A keyword that was `low` and is `high`, and the other three things that can become of a bound. */
function boundPairs(schema: Schema, keyword: string): Readonly<Record<string, Pair>> {
  const [low, high] = [
    { ...schema, [keyword]: 2 },
    { ...schema, [keyword]: 7 },
  ]
  return {
    [`${keyword} increased`]: [low, high],
    [`${keyword} decreased`]: [high, low],
    [`${keyword} set`]: [schema, low],
    [`${keyword} unset`]: [low, schema],
  }
}

/** A keyword that came, and that went. */
function presencePairs(keyword: string, [without, having]: Pair): Readonly<Record<string, Pair>> {
  return { [`${keyword} added`]: [without, having], [`${keyword} removed`]: [having, without] }
}

function allowancePairs(schema: Schema, keyword: string): Readonly<Record<string, Pair>> {
  const limited = { ...schema, [keyword]: { type: 'integer' } }
  const closed = { ...schema, [keyword]: false }
  return {
    ...presencePairs(keyword, [schema, limited]),
    [`${keyword} narrowed`]: [limited, closed],
    [`${keyword} widened`]: [closed, limited],
  }
}

/** Alternatives of which exactly one must match: one that grows into another, or joins them, refuses what both admit. */
const oneOf = (...alternatives: Schema[]): Schema => ({ oneOf: alternatives })
const upTo = (maximum: number): Schema => ({ type: 'number', maximum })
/** A map of integers. They can be distinguished from strings even where they are serialized as text. */
const MAP: Schema = { type: 'object', additionalProperties: { type: 'integer' } }
const FROM_10: Schema = { type: 'number', minimum: 10 }
const having = (name: string): Schema => ({ type: 'object', title: name, required: [name] })

const SHORT: Schema = { maxLength: 3 }
const STARTS_WITH_A: Schema = { pattern: '^a' }

const EXTENSIBLE = 'x-extensible-enum'
const contains: Schema = { type: 'array', contains: STRING }
const discriminated = (mapping: Schema, propertyName = 'kind'): Schema => ({
  ...CAT,
  discriminator: { propertyName, mapping },
})

/** What changes at a schema, by the family that tells it. */
export const FRAGMENTS: Readonly<Record<string, Pair>> = {
  ...presencePairs('enum', [
    { ...STRING, enum: ['a'] },
    { ...STRING, enum: ['a', 'b'] },
  ]),
  'values narrowed': [oneOf(upTo(3), FROM_10), oneOf(upTo(20), FROM_10)],
  'values widened': [MAP, { ...MAP, properties: { a: STRING } }],
  'values-unproved narrowed': [oneOf(having('a'), having('b')), oneOf(having('a'), having('b'), having('c'))],
  'values-unproved widened': [oneOf(having('a'), having('b'), having('c')), oneOf(having('a'), having('b'))],
  'enum became': added(STRING, 'enum', ['a']),
  'enum ceased': [{ ...STRING, enum: ['a'] }, STRING],
  ...presencePairs(EXTENSIBLE, [
    { ...STRING, [EXTENSIBLE]: ['a'] },
    { ...STRING, [EXTENSIBLE]: ['a', 'b'] },
  ]),
  ...presencePairs('const', added(STRING, 'const', 'a')),
  'const changed': [
    { ...STRING, const: 'a' },
    { ...STRING, const: 'b' },
  ],
  ...presencePairs('default', added(STRING, 'default', 'a')),
  'default changed': [
    { ...STRING, default: 'a' },
    { ...STRING, default: 'b' },
  ],
  ...presencePairs('pattern', added(STRING, 'pattern', '^a')),
  'pattern changed': [
    { ...STRING, pattern: '^a' },
    { ...STRING, pattern: '^b' },
  ],
  'pattern generalized': [
    { ...STRING, pattern: '^a' },
    { ...STRING, pattern: '.*' },
  ],
  ...presencePairs('patternProperties', added(OBJECT, 'patternProperties', { '^x': STRING })),
  'patternProperties narrowed': [{ ...CLOSED, patternProperties: { '^x': STRING } }, CLOSED],
  'patternProperties widened': [CLOSED, { ...CLOSED, patternProperties: { '^x': STRING } }],
  ...presencePairs('uniqueItems', added(LIST, 'uniqueItems', true)),
  'multipleOf set': added(NUMBER, 'multipleOf', 2),
  'multipleOf unset': [{ ...NUMBER, multipleOf: 2 }, NUMBER],
  'multipleOf narrowed': [
    { ...NUMBER, multipleOf: 2 },
    { ...NUMBER, multipleOf: 4 },
  ],
  'multipleOf widened': [
    { ...NUMBER, multipleOf: 4 },
    { ...NUMBER, multipleOf: 2 },
  ],
  'multipleOf changed': [
    { ...NUMBER, multipleOf: 2 },
    { ...NUMBER, multipleOf: 3 },
  ],
  ...boundPairs(NUMBER, 'maximum'),
  ...boundPairs(NUMBER, 'minimum'),
  ...boundPairs(NUMBER, 'exclusiveMaximum'),
  ...boundPairs(NUMBER, 'exclusiveMinimum'),
  ...boundPairs(STRING, 'maxLength'),
  ...boundPairs(STRING, 'minLength'),
  ...boundPairs(LIST, 'maxItems'),
  ...boundPairs(LIST, 'minItems'),
  ...boundPairs(OBJECT, 'maxProperties'),
  ...boundPairs(OBJECT, 'minProperties'),
  ...boundPairs(contains, 'maxContains'),
  ...boundPairs(contains, 'minContains'),
  'nullable became': [STRING, { type: ['string', 'null'] }],
  'nullable ceased': [{ type: ['string', 'null'] }, STRING],
  'listOfTypes widened': [STRING, { oneOf: [STRING, { type: 'integer' }] }],
  'listOfTypes narrowed': [{ oneOf: [STRING, { type: 'integer' }] }, STRING],
  'contentEncoding changed': [
    { ...STRING, contentEncoding: 'base64' },
    { ...STRING, contentEncoding: 'base32' },
  ],
  'contentMediaType changed': [
    { ...STRING, contentMediaType: 'text/html' },
    { ...STRING, contentMediaType: 'text/plain' },
  ],
  'xml changed': [
    { ...STRING, xml: { name: 'thing' } },
    { ...STRING, xml: { name: 'item' } },
  ],
  ...presencePairs('allOf', [
    { ...OBJECT, allOf: [CAT, { title: 'Note' }] },
    { ...OBJECT, allOf: [CAT, { title: 'Note' }, DOG] },
  ]),
  ...presencePairs('allOf-annotation-only', [
    { ...OBJECT, allOf: [CAT, DOG] },
    { ...OBJECT, allOf: [CAT, DOG, { title: 'Note' }] },
  ]),
  ...presencePairs('anyOf-list', [OBJECT, { ...OBJECT, anyOf: [CAT, DOG] }]),
  ...presencePairs('oneOf-list', [OBJECT, { ...OBJECT, oneOf: [CAT, DOG] }]),
  ...presencePairs('anyOf', [{ anyOf: [CAT] }, { anyOf: [CAT, DOG] }]),
  ...presencePairs('oneOf', [{ oneOf: [CAT] }, { oneOf: [CAT, DOG] }]),
  'wrappedInOneOf became': [CAT, { oneOf: [{ ...CAT, required: ['purrs'] }, DOG] }],
  ...presencePairs('prefixItems', [
    { ...LIST, prefixItems: [NUMBER] },
    { ...LIST, prefixItems: [NUMBER, NUMBER] },
  ]),
  'prefixItems narrowed': added(LIST, 'prefixItems', [NUMBER]),
  'prefixItems widened': [{ ...LIST, prefixItems: [NUMBER] }, LIST],
  ...presencePairs('discriminator', [CAT, discriminated({})]),
  'discriminator-property-name changed': [discriminated({}), discriminated({}, 'sort')],
  ...presencePairs('discriminator-mapping', [discriminated({ a: 'A' }), discriminated({ a: 'A', b: 'B' })]),
  'discriminator-mapping changed': [discriminated({ a: 'A' }), discriminated({ a: 'B' })],
  ...presencePairs('not', added(STRING, 'not', { const: 'a' })),
  'not changed': [
    { ...STRING, not: { const: 'a' } },
    { ...STRING, not: { const: 'b' } },
  ],
  ...presencePairs('if', [
    { ...STRING, then: SHORT },
    { ...STRING, then: SHORT, if: STARTS_WITH_A },
  ]),
  'if changed': [
    { ...STRING, then: SHORT, if: STARTS_WITH_A },
    { ...STRING, then: SHORT, if: { pattern: '^b' } },
  ],
  ...presencePairs('then', added({ ...STRING, if: STARTS_WITH_A }, 'then', SHORT)),
  ...presencePairs('else', added({ ...STRING, if: STARTS_WITH_A }, 'else', SHORT)),
  ...presencePairs('dependentRequired', added(OBJECT, 'dependentRequired', { a: ['b'] })),
  'dependentRequired changed': [
    { ...OBJECT, dependentRequired: { a: ['b'] } },
    { ...OBJECT, dependentRequired: { a: ['c'] } },
  ],
  ...presencePairs('dependentSchemas', added(OBJECT, 'dependentSchemas', { a: CAT })),
  ...presencePairs('contains', [{ type: 'array' }, contains]),
  ...presencePairs('propertyNames', added(OBJECT, 'propertyNames', { pattern: '^x' })),
  ...allowancePairs(NAMED, 'additionalProperties'),
  ...allowancePairs(NAMED, 'unevaluatedProperties'),
  ...allowancePairs(PLACED, 'unevaluatedItems'),
  ...allowancePairs(PLACED, 'items'),
  ...presencePairs('contentSchema', added({ ...STRING, contentMediaType: 'application/json' }, 'contentSchema', CAT)),
}

export function propertyOf(schema: Schema, isRequired = false): Schema {
  return { type: 'object', properties: { p: schema }, ...(isRequired ? { required: ['p'] } : {}) }
}

/** Every rule that the families make at the sites, with a pair on which it holds. */
export function examples(): readonly Example[] {
  return SITES.flatMap((site) => {
    const at = (
      rule: string,
      [before, after]: Pair,
      mediaType = 'application/json',
      options: CompareOptions = {},
    ): Example => ({
      rule,
      type: site.format,
      before: site.document(before, mediaType),
      after: site.document(after, mediaType),
      options,
    })
    return [
      ...familyExamples(site, at),
      ...typeExamples(site, at),
      ...propertyExamples(site, at),
      ...lifecycleExamples(site, at),
    ].filter(({ rule }) => site.format !== 'mcp_manifest' || !UNTOLD_OF_TOOLS.test(rule))
  })
}

/** Tools speak JSON alone, and nobody promised days between the deprecation of their arguments and the end of them. */
const UNTOLD_OF_TOOLS = /-(?:type-compatible|deprecated-sunset-missing|sunset-date-too-small)$/

type At = (rule: string, pair: Pair, mediaType?: string, options?: CompareOptions) => Example

/** Ids that were given before the families named them. */
function namedId(site: Site, id: string): string {
  if (id === 'response-body-enum-value-removed') return 'response-mediatype-enum-value-removed'
  return site.scope === 'request-header' && id === 'request-parameter-property-became-enum'
    ? 'request-header-property-became-enum'
    : id
}

/** The media types of texts where a keyword has effect, if not JSON or a plain text. */
const TEXT_TYPES: Readonly<Record<string, string>> = lookupTable({ xml: 'application/xml', nullable: JSON_TEXT })

function familyExamples(site: Site, at: At): readonly Example[] {
  return FAMILIES.filter((family) => isReportedAt(site, family)).flatMap(({ keyword, action, stem, effect, kind }) => {
    const pair = FRAGMENTS[`${keyword} ${action}`]
    if (pair === undefined) throw new Error(`no fragment for ${keyword} ${action}`)
    const [before, after] = pair
    if (keyword === 'minItems' && (action === 'set' || action === 'unset')) return []
    const word = site.direction === 'request' ? 'readOnly' : 'writeOnly'
    const unused: Pair = [propertyOf({ ...before, [word]: true }), propertyOf({ ...after, [word]: true })]
    const isReported =
      site.direction === 'request'
        ? effect === 'narrows' && (kind === 'constraints' || stem === 'enum-value-removed')
        : stem === 'enum-value-added'
    // The first of a list of values, and the last: all that is not named by itself shares a rule.
    const isOther = `${keyword} ${action}` === (site.direction === 'request' ? 'enum became' : 'enum ceased')
    const mediaType = TEXT_TYPES[keyword]
    const prefix = `${site.scope}-${site.direction === 'request' ? 'read-only' : 'write-only'}-property`
    return [
      at(namedId(site, `${site.root}-${stem}`), pair, mediaType),
      at(namedId(site, `${site.property}-${stem}`), [propertyOf(before), propertyOf(after)], mediaType),
      ...(isReported ? [at(`${prefix}-${stem}`, unused)] : []),
      ...(isOther ? [at(`${prefix}-changed`, unused)] : []),
    ]
  })
}

const INTEGER: Schema = { type: 'integer' }

function typeExamples(site: Site, at: At): readonly Example[] {
  const both = (stem: string, before: Schema, after: Schema, mediaType?: string): readonly Example[] => [
    at(`${site.root}-${stem}`, [before, after], mediaType),
    ...(site.isParameter ? [] : [at(`${site.property}-${stem}`, [propertyOf(before), propertyOf(after)], mediaType)]),
  ]
  const property = (stem: string, before: Schema, after: Schema): Example =>
    at(`${site.property}-${stem}`, [propertyOf(before), propertyOf(after)])
  const isResponse = site.direction === 'response'
  return [
    ...both('type-changed', isResponse ? INTEGER : STRING, isResponse ? { type: 'boolean' } : INTEGER),
    ...both('type-generalized', INTEGER, NUMBER),
    ...(isResponse ? both('type-specialized', NUMBER, INTEGER) : []),
    ...both('type-compatible', isResponse ? STRING : INTEGER, isResponse ? INTEGER : STRING, 'text/plain'),
    ...(site.isParameter
      ? [
          property('type-changed', INTEGER, STRING),
          property('type-specialized', STRING, INTEGER),
          property('type-generalized', INTEGER, NUMBER),
        ]
      : []),
  ]
}

const EMPTY = { type: 'object', properties: {} }

function propertyExamples({ direction, scope }: Site, at: At): readonly Example[] {
  const withDefault = { ...STRING, default: 'a' }
  const writeOnly = { ...STRING, writeOnly: true }
  const pairs: Readonly<Record<string, Pair>> = {
    'new-required-{scope}-property-with-default': [EMPTY, propertyOf(withDefault, true)],
    'new-required-{scope}-property': [EMPTY, propertyOf(STRING, true)],
    'new-optional-{scope}-property': [EMPTY, propertyOf(STRING)],
    '{scope}-property-removed': [propertyOf(STRING), EMPTY],
    '{scope}-property-became-required-with-default': [propertyOf(withDefault), propertyOf(withDefault, true)],
    '{scope}-property-became-required': [propertyOf(STRING), propertyOf(STRING, true)],
    '{scope}-property-became-optional': [propertyOf(STRING, true), propertyOf(STRING)],
    '{scope}-required-write-only-property-added': [EMPTY, propertyOf(writeOnly, true)],
    '{scope}-optional-write-only-property-added': [EMPTY, propertyOf(writeOnly)],
    '{scope}-required-property-added': [EMPTY, propertyOf(STRING, true)],
    '{scope}-optional-property-added': [EMPTY, propertyOf(STRING)],
    '{scope}-required-write-only-property-removed': [propertyOf(writeOnly, true), EMPTY],
    '{scope}-optional-write-only-property-removed': [propertyOf(writeOnly), EMPTY],
    '{scope}-required-property-removed': [propertyOf(STRING, true), EMPTY],
    '{scope}-optional-property-removed': [propertyOf(STRING), EMPTY],
    '{scope}-write-only-property-became-required': [propertyOf(writeOnly), propertyOf(writeOnly, true)],
    '{scope}-write-only-property-became-optional': [propertyOf(writeOnly, true), propertyOf(writeOnly)],
    ...usagePairs('readOnly', 'read-only'),
    ...usagePairs('writeOnly', 'write-only'),
  }
  return PROPERTY_RULES.filter((rule) => rule.direction === direction).map(({ id }) => {
    const pair = pairs[id]
    if (pair === undefined) throw new Error(`no pair for ${id}`)
    return at(id.replace('{scope}', scope), pair)
  })
}

function usagePairs(keyword: string, word: string): Readonly<Record<string, Pair>> {
  const used = { ...STRING, [keyword]: true }
  return {
    [`{scope}-required-property-became-${word}`]: [propertyOf(STRING, true), propertyOf(used, true)],
    [`{scope}-optional-property-became-${word}`]: [propertyOf(STRING), propertyOf(used)],
    [`{scope}-required-property-became-not-${word}`]: [propertyOf(used, true), propertyOf(STRING, true)],
    [`{scope}-optional-property-became-not-${word}`]: [propertyOf(used), propertyOf(STRING)],
  }
}

const PROMISED: CompareOptions = { today: '2026-01-01', deprecation_days_stable: 30 }

function lifecycleExamples({ scope }: Site, at: At): readonly Example[] {
  const deprecated = (sunset?: string): Schema => ({
    ...STRING,
    deprecated: true,
    ...(sunset === undefined ? {} : { 'x-sunset': sunset }),
  })
  const example = (stem: string, before: Schema, after: Schema, options: CompareOptions = {}): Example =>
    at(`${scope}-property-${stem}`, [propertyOf(before), propertyOf(after)], 'application/json', options)
  const level = (value: string): Schema => ({ ...STRING, 'x-stability-level': value })
  return [
    example('deprecated', STRING, deprecated()),
    example('deprecated-with-sunset', STRING, deprecated('2026-12-31'), PROMISED),
    example('deprecated-sunset-missing', STRING, deprecated(), PROMISED),
    example('deprecated-sunset-invalid', STRING, deprecated('soon'), PROMISED),
    example('sunset-date-too-small', STRING, deprecated('2026-01-02'), PROMISED),
    example('reactivated', deprecated(), STRING),
    example('stability-decreased', level('stable'), level('beta')),
    example('stability-increased', level('beta'), level('stable')),
  ]
}
