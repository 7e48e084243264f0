/**
 * Rules about the properties of an object: added, removed, made required or optional, read-only or write-only. The
 * facts of the property select the rule. Rule ids are made from the scope (`request`, `response`, `tool-input`).
 */
import type { PropertyFacts, SchemaDelta } from '../schema/delta.ts'
import type { UseDirection } from '../schema/sites.ts'
import type { Effect } from './rule.ts'

interface PropertyRule {
  /** The id with the placeholder `{scope}`. */
  readonly id: string
  readonly direction: UseDirection
  readonly keyword: 'properties' | 'required' | 'readOnly' | 'writeOnly'
  readonly action: SchemaDelta['action']
  /** Whether the rule applies to a property with these facts. The first rule that applies counts. */
  readonly applies: (facts: PropertyFacts) => boolean
  readonly effect: Effect
  readonly kind: 'existence' | 'requiredness' | 'mutability'
  /** What happened. `{path}` is the property. */
  readonly sentence: string
}

const always = (): boolean => true
const required = ({ required }: PropertyFacts): boolean => required
const hasDefault = ({ hasDefault }: PropertyFacts): boolean => hasDefault
const newlyRequired = ({ required, requiredBefore }: PropertyFacts): boolean => required && !requiredBefore
const requiredBefore = ({ requiredBefore }: PropertyFacts): boolean => requiredBefore
const writeOnly = ({ writeOnly }: PropertyFacts): boolean => writeOnly
/** Whether readers could not see the property before. That it is now returned, or removed, is reported separately. */
const writeOnlyBefore = ({ writeOnlyBefore }: PropertyFacts): boolean => writeOnlyBefore

type PropertyRow = readonly [
  keyword: PropertyRule['keyword'],
  action: PropertyRule['action'],
  applies: PropertyRule['applies'],
  id: string,
  effect: Effect,
  sentence: string,
]

function propertyRows(
  direction: PropertyRule['direction'],
  kind: PropertyRule['kind'],
  list: readonly PropertyRow[],
): readonly PropertyRule[] {
  return list.map(([keyword, action, applies, id, effect, sentence]) => ({
    direction,
    kind,
    keyword,
    action,
    applies,
    id,
    effect,
    sentence,
  }))
}

export const PROPERTY_RULES: readonly PropertyRule[] = [
  ...propertyRows('request', 'existence', [
    [
      'properties',
      'added',
      (f) => newlyRequired(f) && hasDefault(f),
      'new-required-{scope}-property-with-default',
      'narrows',
      'the required property `{path}`, which has a default, was added',
    ],
    [
      'properties',
      'added',
      newlyRequired,
      'new-required-{scope}-property',
      'narrows',
      'the required property `{path}` was added',
    ],
    [
      'properties',
      'added',
      always,
      'new-optional-{scope}-property',
      'widens',
      'the optional property `{path}` was added',
    ],
    ['properties', 'removed', always, '{scope}-property-removed', 'may-narrow', 'the property `{path}` was removed'],
  ]),
  ...propertyRows('request', 'requiredness', [
    [
      'required',
      'added',
      hasDefault,
      '{scope}-property-became-required-with-default',
      'narrows',
      'the property `{path}`, which has a default, became required',
    ],
    [
      'required',
      'added',
      always,
      '{scope}-property-became-required',
      'narrows',
      'the property `{path}` became required',
    ],
    [
      'required',
      'removed',
      always,
      '{scope}-property-became-optional',
      'widens',
      'the property `{path}` became optional',
    ],
  ]),
  ...propertyRows('response', 'existence', [
    [
      'properties',
      'added',
      (f) => writeOnly(f) && required(f),
      '{scope}-required-write-only-property-added',
      'none',
      'the required write-only property `{path}` was added',
    ],
    [
      'properties',
      'added',
      writeOnly,
      '{scope}-optional-write-only-property-added',
      'none',
      'the optional write-only property `{path}` was added',
    ],
    [
      'properties',
      'added',
      required,
      '{scope}-required-property-added',
      'narrows',
      'the required property `{path}` was added',
    ],
    [
      'properties',
      'added',
      always,
      '{scope}-optional-property-added',
      'none',
      'the optional property `{path}` was added',
    ],
    [
      'properties',
      'removed',
      (f) => writeOnly(f) && requiredBefore(f),
      '{scope}-required-write-only-property-removed',
      'none',
      'the required write-only property `{path}` was removed',
    ],
    [
      'properties',
      'removed',
      writeOnly,
      '{scope}-optional-write-only-property-removed',
      'none',
      'the optional write-only property `{path}` was removed',
    ],
    [
      'properties',
      'removed',
      requiredBefore,
      '{scope}-required-property-removed',
      'widens',
      'the required property `{path}` was removed',
    ],
    [
      'properties',
      'removed',
      always,
      '{scope}-optional-property-removed',
      'may-widen',
      'the optional property `{path}` was removed',
    ],
  ]),
  ...propertyRows('response', 'requiredness', [
    [
      'required',
      'added',
      writeOnlyBefore,
      '{scope}-write-only-property-became-required',
      'none',
      'the write-only property `{path}` became required',
    ],
    [
      'required',
      'added',
      always,
      '{scope}-property-became-required',
      'narrows',
      'the property `{path}` became required',
    ],
    [
      'required',
      'removed',
      writeOnlyBefore,
      '{scope}-write-only-property-became-optional',
      'none',
      'the write-only property `{path}` became optional',
    ],
    [
      'required',
      'removed',
      always,
      '{scope}-property-became-optional',
      'widens',
      'the property `{path}` became optional',
    ],
  ]),
  ...propertyRows('shared', 'existence', [
    [
      'properties',
      'added',
      (f) => newlyRequired(f) && hasDefault(f),
      'new-required-{scope}-property-with-default',
      'narrows',
      'the required property `{path}`, which has a default, was added',
    ],
    [
      'properties',
      'added',
      newlyRequired,
      'new-required-{scope}-property',
      'narrows',
      'the required property `{path}` was added',
    ],
    [
      'properties',
      'added',
      always,
      'new-optional-{scope}-property',
      'none',
      'the optional property `{path}` was added',
    ],
    [
      'properties',
      'removed',
      requiredBefore,
      '{scope}-required-property-removed',
      'moves',
      'the required property `{path}` was removed',
    ],
    [
      'properties',
      'removed',
      always,
      '{scope}-optional-property-removed',
      'may-narrow',
      'the optional property `{path}` was removed',
    ],
  ]),
  ...propertyRows('shared', 'requiredness', [
    [
      'required',
      'added',
      hasDefault,
      '{scope}-property-became-required-with-default',
      'narrows',
      'the property `{path}`, which has a default, became required',
    ],
    [
      'required',
      'added',
      always,
      '{scope}-property-became-required',
      'narrows',
      'the property `{path}` became required',
    ],
    [
      'required',
      'removed',
      always,
      '{scope}-property-became-optional',
      'widens',
      'the property `{path}` became optional',
    ],
  ]),
  ...mutability('request'),
  ...mutability('response'),
  ...mutability('shared'),
]

function mutability(direction: PropertyRule['direction']): readonly PropertyRule[] {
  return (['readOnly', 'writeOnly'] as const).flatMap((keyword) => {
    const word = keyword === 'readOnly' ? 'read-only' : 'write-only'
    return propertyRows(direction, 'mutability', [
      [
        keyword,
        'became',
        required,
        `{scope}-required-property-became-${word}`,
        'none',
        `the required property \`{path}\` became ${word}`,
      ],
      [
        keyword,
        'became',
        always,
        `{scope}-optional-property-became-${word}`,
        'none',
        `the optional property \`{path}\` became ${word}`,
      ],
      [
        keyword,
        'ceased',
        required,
        `{scope}-required-property-became-not-${word}`,
        'none',
        `the required property \`{path}\` is no longer ${word}`,
      ],
      [
        keyword,
        'ceased',
        always,
        `{scope}-optional-property-became-not-${word}`,
        'none',
        `the optional property \`{path}\` is no longer ${word}`,
      ],
    ])
  })
}

export function propertyRuleOf(
  direction: PropertyRule['direction'],
  delta: SchemaDelta,
  facts: PropertyFacts,
): PropertyRule | undefined {
  return BY_CHANGE.get(propertyKey(direction, delta))?.find((rule) => rule.applies(facts))
}

const BY_CHANGE: ReadonlyMap<string, readonly PropertyRule[]> = Map.groupBy(PROPERTY_RULES, (rule) =>
  propertyKey(rule.direction, rule),
)

function propertyKey(direction: UseDirection, { keyword, action }: Pick<SchemaDelta, 'keyword' | 'action'>): string {
  return `${direction} ${keyword} ${action}`
}
