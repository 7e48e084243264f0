/**
 * The families of schema rules: the effect of each action of each keyword on the set of admitted values, and its
 * message. Level and direction of a rule follow from its site (rule.ts); exceptions are in exceptions.ts.
 */
import type { SchemaAction } from '../schema/delta.ts'
import type { Effect } from './rule.ts'

export interface Family {
  readonly keyword: string
  readonly action: SchemaAction
  /** The end of the rule ids: `{prefix}-{stem}`. */
  readonly stem: string
  readonly effect: Effect
  readonly kind:
    | 'values'
    | 'type'
    | 'constraints'
    | 'structure'
    | 'existence'
    | 'requiredness'
    | 'lifecycle'
    | 'mutability'
  /** What happened to the schema. `{name}`, `{before}` and `{after}` are filled in. */
  readonly sentence: string
}

type FamilyRow = readonly [keyword: string, action: SchemaAction, stem: string, effect: Effect, sentence: string]

function familyRows(kind: Family['kind'], list: readonly FamilyRow[]): readonly Family[] {
  return list.map(([keyword, action, stem, effect, sentence]) => ({ keyword, action, stem, effect, kind, sentence }))
}

/**
 * The four rows of a bound. Raising an upper bound widens, raising a lower one narrows. Setting one narrows. For
 * values and lengths it only may narrow, because documents often add a bound that servers always had.
 */
function boundFamilies(
  keyword: string,
  stem: string,
  side: 'upper' | 'lower',
  set: Effect = 'narrows',
): readonly Family[] {
  return [
    ...impliedBound(keyword, stem, side),
    ...familyRows('constraints', [
      [keyword, 'set', `${stem}-set`, set, `got the ${keyword} {after}`],
      [keyword, 'unset', `${stem}-unset`, 'widens', `lost its ${keyword} of {before}`],
    ]),
  ]
}

/** A bound that exists without being stated: it is only raised or lowered. */
function impliedBound(keyword: string, stem: string, side: 'upper' | 'lower'): readonly Family[] {
  const [up, down]: readonly [Effect, Effect] = side === 'upper' ? ['widens', 'narrows'] : ['narrows', 'widens']
  return familyRows('constraints', [
    [keyword, 'increased', `${stem}-increased`, up, `had its ${keyword} raised from {before} to {after}`],
    [keyword, 'decreased', `${stem}-decreased`, down, `had its ${keyword} lowered from {before} to {after}`],
  ])
}

/** A condition that narrows when it is added. */
function condition(keyword: string, stem: string, what: string): readonly Family[] {
  return familyRows('structure', [
    [keyword, 'added', `${stem}-added`, 'narrows', `got ${what}`],
    [keyword, 'removed', `${stem}-removed`, 'widens', `lost ${what}`],
  ])
}

/** A keyword that states what is allowed besides the named parts. */
function allowance(keyword: string, stem: string): readonly Family[] {
  return [
    ...condition(keyword, stem, `a limit on ${keyword}`),
    ...familyRows('structure', [
      [keyword, 'narrowed', `${stem}-narrowed`, 'narrows', `allows no ${keyword} any more`],
      [keyword, 'widened', `${stem}-widened`, 'widens', `allows ${keyword} that it did not allow`],
    ]),
  ]
}

export const FAMILIES: readonly Family[] = [
  // For all values of a schema, where only several keywords together explain a change.
  ...familyRows('values', [
    ['values', 'narrowed', 'values-refused', 'narrows', 'refuses values that it admitted, such as {after}'],
    ['values', 'widened', 'values-admitted', 'widens', 'admits values that it did not admit, such as {after}'],
    [
      'values-unproved',
      'narrowed',
      'values-perhaps-refused',
      'may-narrow',
      'may refuse values that it admitted: {after}',
    ],
    [
      'values-unproved',
      'widened',
      'values-perhaps-admitted',
      'may-widen',
      'may admit values that it did not admit: {after}',
    ],
  ]),
  ...familyRows('values', [
    ['enum', 'added', 'enum-value-added', 'widens', 'got the enum value `{name}`'],
    ['enum', 'removed', 'enum-value-removed', 'narrows', 'lost the enum value `{name}`'],
    ['enum', 'became', 'became-enum', 'narrows', 'was restricted to a list of values'],
    ['enum', 'ceased', 'became-not-enum', 'may-widen', 'is no longer restricted to a list of values'],
    ['x-extensible-enum', 'added', 'x-extensible-enum-value-added', 'widens', 'got the extensible enum value `{name}`'],
    [
      'x-extensible-enum',
      'removed',
      'x-extensible-enum-value-removed',
      'narrows',
      'lost the extensible enum value `{name}`',
    ],
    ['const', 'added', 'const-added', 'narrows', 'was fixed to the value `{after}`'],
    ['const', 'changed', 'const-changed', 'moves', 'had its fixed value changed from `{before}` to `{after}`'],
    ['const', 'removed', 'const-removed', 'widens', 'is no longer fixed to the value `{before}`'],
    ['default', 'added', 'default-value-added', 'none', 'got the default `{after}`'],
    ['default', 'changed', 'default-value-changed', 'none', 'had its default changed from `{before}` to `{after}`'],
    ['default', 'removed', 'default-value-removed', 'none', 'lost its default `{before}`'],
  ]),
  ...familyRows('constraints', [
    ['pattern', 'added', 'pattern-added', 'narrows', 'got the pattern `{after}`'],
    ['pattern', 'changed', 'pattern-changed', 'may-narrow', 'had its pattern changed from `{before}` to `{after}`'],
    ['pattern', 'generalized', 'pattern-generalized', 'widens', 'had its pattern widened from `{before}` to `{after}`'],
    ['pattern', 'removed', 'pattern-removed', 'widens', 'lost its pattern `{before}`'],
    [
      'patternProperties',
      'added',
      'pattern-property-added',
      'narrows',
      'got a condition on properties matching `{name}`',
    ],
    [
      'patternProperties',
      'removed',
      'pattern-property-removed',
      'widens',
      'lost its condition on properties matching `{name}`',
    ],
    ['uniqueItems', 'added', 'unique-items-added', 'narrows', 'must hold no item twice'],
    ['uniqueItems', 'removed', 'unique-items-removed', 'widens', 'may hold an item twice'],
    ['multipleOf', 'set', 'multiple-of-set', 'narrows', 'must be a multiple of {after}'],
    ['multipleOf', 'unset', 'multiple-of-unset', 'widens', 'need not be a multiple of {before} any more'],
    [
      'multipleOf',
      'narrowed',
      'multiple-of-narrowed',
      'narrows',
      'must be a multiple of {after}, not only of {before}',
    ],
    [
      'multipleOf',
      'widened',
      'multiple-of-widened',
      'widens',
      'must be a multiple of {after} only, no longer of {before}',
    ],
    ['multipleOf', 'changed', 'multiple-of-changed', 'moves', 'must be a multiple of {after} instead of {before}'],
  ]),
  ...boundFamilies('maximum', 'max', 'upper', 'may-narrow'),
  ...boundFamilies('minimum', 'min', 'lower', 'may-narrow'),
  ...boundFamilies('exclusiveMaximum', 'exclusive-max', 'upper', 'may-narrow'),
  ...boundFamilies('exclusiveMinimum', 'exclusive-min', 'lower', 'may-narrow'),
  ...boundFamilies('maxLength', 'max-length', 'upper', 'may-narrow'),
  ...impliedBound('minLength', 'min-length', 'lower'),
  ...boundFamilies('maxItems', 'max-items', 'upper'),
  // The ids of set and unset predate reading an absent minItems as 0. No change leads to them.
  ...boundFamilies('minItems', 'min-items', 'lower', 'may-narrow'),
  ...boundFamilies('maxProperties', 'max-properties', 'upper'),
  ...impliedBound('minProperties', 'min-properties', 'lower'),
  ...boundFamilies('maxContains', 'max-contains', 'upper'),
  ...boundFamilies('minContains', 'min-contains', 'lower'),
  ...familyRows('requiredness', [
    ['nullable', 'became', 'became-nullable', 'widens', 'may now be null'],
    ['nullable', 'ceased', 'became-not-nullable', 'narrows', 'may no longer be null'],
  ]),
  ...familyRows('type', [
    ['listOfTypes', 'widened', 'list-of-types-widened', 'widens', 'got the types {name} beside {before}'],
    ['listOfTypes', 'narrowed', 'list-of-types-narrowed', 'narrows', 'lost the types {name} of {before}'],
    [
      'contentEncoding',
      'changed',
      'content-encoding-changed',
      'moves',
      'had its contentEncoding changed from {before} to {after}',
    ],
    [
      'contentMediaType',
      'changed',
      'content-media-type-changed',
      'moves',
      'had its contentMediaType changed from {before} to {after}',
    ],
  ]),
  ...familyRows('structure', [
    ['allOf', 'added', 'all-of-added', 'narrows', 'must also be valid against {name} (allOf)'],
    ['allOf', 'removed', 'all-of-removed', 'may-narrow', 'need no longer be valid against {name} (allOf)'],
    [
      'allOf-annotation-only',
      'added',
      'all-of-added-annotation-only',
      'none',
      'got {name} in its allOf, which holds annotations only',
    ],
    [
      'allOf-annotation-only',
      'removed',
      'all-of-removed-annotation-only',
      'none',
      'lost {name} of its allOf, which held annotations only',
    ],
    ['anyOf', 'added', 'any-of-added', 'widens', 'got the alternative {name} (anyOf)'],
    ['anyOf', 'removed', 'any-of-removed', 'narrows', 'lost the alternative {name} (anyOf)'],
    ['oneOf', 'added', 'one-of-added', 'widens', 'got the alternative {name} (oneOf)'],
    ['oneOf', 'removed', 'one-of-removed', 'narrows', 'lost the alternative {name} (oneOf)'],
    ['anyOf-list', 'added', 'any-of-introduced', 'may-narrow', 'must match one of several alternatives (anyOf)'],
    [
      'anyOf-list',
      'removed',
      'any-of-dropped',
      'may-widen',
      'need not match one of several alternatives any more (anyOf)',
    ],
    [
      'oneOf-list',
      'added',
      'one-of-introduced',
      'may-narrow',
      'must match exactly one of several alternatives (oneOf)',
    ],
    [
      'oneOf-list',
      'removed',
      'one-of-dropped',
      'may-widen',
      'need not match exactly one of several alternatives any more (oneOf)',
    ],
    [
      'wrappedInOneOf',
      'became',
      'wrapped-in-one-of',
      'moves',
      'became a choice of alternatives (oneOf), of which exactly one must match',
    ],
    ['prefixItems', 'added', 'prefix-items-added', 'widens', 'got the positional items {name}'],
    ['prefixItems', 'removed', 'prefix-items-removed', 'narrows', 'lost the positional items {name}'],
    [
      'prefixItems',
      'narrowed',
      'prefix-items-constrained',
      'may-narrow',
      'restricts items by position that were not restricted',
    ],
    ['prefixItems', 'widened', 'prefix-items-released', 'may-widen', 'no longer restricts items by position'],
    ['discriminator', 'added', 'discriminator-added', 'none', 'got a discriminator'],
    ['discriminator', 'removed', 'discriminator-removed', 'none', 'lost its discriminator'],
    [
      'discriminator-property-name',
      'changed',
      'discriminator-property-name-changed',
      'moves',
      'is distinguished by the property `{after}` instead of `{before}`',
    ],
    [
      'discriminator-mapping',
      'added',
      'discriminator-mapping-added',
      'may-widen',
      'got the discriminator value `{name}`',
    ],
    [
      'discriminator-mapping',
      'removed',
      'discriminator-mapping-deleted',
      'narrows',
      'lost the discriminator value `{name}`',
    ],
    [
      'discriminator-mapping',
      'changed',
      'discriminator-mapping-changed',
      'moves',
      'maps the discriminator value `{name}` to {after} instead of {before}',
    ],
    ['xml', 'changed', 'xml-changed', 'moves', 'is written in XML as {after} instead of {before}'],
    ['not', 'changed', 'not-changed', 'moves', 'excludes other values than before (not)'],
    ['if', 'changed', 'if-changed', 'moves', 'has another condition (if)'],
    ['dependentRequired', 'added', 'dependent-required-added', 'narrows', 'needs {after} when `{name}` is there'],
    [
      'dependentRequired',
      'changed',
      'dependent-required-changed',
      'moves',
      'needs {after} instead of {before} when `{name}` is there',
    ],
    [
      'dependentRequired',
      'removed',
      'dependent-required-removed',
      'widens',
      'no longer needs {before} when `{name}` is there',
    ],
  ]),
  ...familyRows('structure', [
    [
      'patternProperties',
      'narrowed',
      'pattern-property-closed',
      'narrows',
      'no longer admits properties matching `{name}` as it did',
    ],
    [
      'patternProperties',
      'widened',
      'pattern-property-opened',
      'widens',
      'admits properties matching `{name}` that it did not admit',
    ],
  ]),
  ...condition('dependentSchemas', 'dependent-schema', 'a condition that holds when `{name}` is there'),
  ...condition('contains', 'contains', 'a condition on what it must contain'),
  ...condition('propertyNames', 'property-names', 'a condition on the names of its properties'),
  ...condition('not', 'not', 'an excluded schema (not)'),
  ...condition('if', 'if', 'a condition (if)'),
  ...condition('then', 'then', 'a consequence of its condition (then)'),
  ...condition('else', 'else', 'an alternative to its condition (else)'),
  ...allowance('additionalProperties', 'additional-properties'),
  ...allowance('unevaluatedProperties', 'unevaluated-properties'),
  ...allowance('unevaluatedItems', 'unevaluated-items'),
  ...allowance('items', 'items'),
  ...familyRows('existence', [
    ['contentSchema', 'added', 'content-schema-added', 'narrows', 'got a schema for its content'],
    ['contentSchema', 'removed', 'content-schema-removed', 'widens', 'lost the schema of its content'],
  ]),
]

/** The outcomes of a change of type or format. The judge selects one (type-verdict.ts). */
export const TYPE_FAMILIES = {
  changed: typeFamily('type-changed', 'moves', 'had its type changed from {before} to {after}'),
  specialized: typeFamily('type-specialized', 'narrows', 'had its type narrowed from {before} to {after}'),
  generalized: typeFamily('type-generalized', 'widens', 'had its type widened from {before} to {after}'),
  compatible: typeFamily(
    'type-compatible',
    'none',
    'had its type changed from {before} to {after}, which this media type does not distinguish',
  ),
} as const

function typeFamily(stem: string, effect: Effect, sentence: string): Family {
  return { keyword: 'type', action: 'changed', stem, effect, kind: 'type', sentence }
}

const BY_CHANGE: ReadonlyMap<string, Family> = new Map(
  FAMILIES.map((family) => [`${family.keyword} ${family.action}`, family]),
)

/** The family of a change. Undefined for changes that other tables judge (types, properties, lifecycle, mutability). */
export function familyOf(keyword: string, action: SchemaAction): Family | undefined {
  return BY_CHANGE.get(`${keyword} ${action}`)
}
