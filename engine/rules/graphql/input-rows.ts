/**
 * The meaning of changes of arguments, input fields and directive arguments: one set of rows, made for each of the
 * three.
 */
import type { Level } from '../../model/finding.ts'
import { DEPRECATE_FIRST, KEEP_OLD, NOTHING_TO_DO, STILL_WORKS, type GraphqlRow } from './row.ts'

/** Where a value is given: the names in rule ids and messages. */
const SITES = {
  argument: { noun: 'argument', area: 'graphql-inputs', gainsOptional: 'dangerous' },
  'input-field': { noun: 'input field', area: 'graphql-inputs', gainsOptional: 'dangerous' },
  // Existing uses of the directive without the new argument keep their meaning.
  'directive-argument': { noun: 'directive argument', area: 'graphql-directives', gainsOptional: 'info' },
} as const satisfies Readonly<
  Record<string, { readonly noun: string; readonly area: GraphqlRow['area']; readonly gainsOptional: Level }>
>

export type InputSite = keyof typeof SITES

type InputRow = Omit<GraphqlRow, 'area' | 'direction'>

const DEFAULT_MATTERS = 'Operations that leave the value out behave in another way, although no client changed.'
const KEEP_DEFAULT = 'Keep the default, or let the server treat the absent value as before.'

/** Ids contain the placeholder `{site}`, texts `{noun}`. */
const ROWS = {
  'graphql-required-{site}-added': {
    level: 'breaking',
    kind: 'existence',
    action: 'added',
    effect: 'narrows',
    sentence: 'the required {noun} `{name}` of type {after} was added',
    why: 'Operations that do not give it are refused.',
    fix: 'Make it optional, or give it a default.',
  },
  'graphql-optional-{site}-added': {
    level: 'dangerous',
    kind: 'existence',
    action: 'added',
    effect: 'widens',
    sentence: 'the optional {noun} `{name}` of type {after} was added',
    why: 'Operations without it stay valid; what it does when it is left out, and in a client that copies whole inputs, has to be looked at.',
    fix: 'Let the absent value mean what was done before.',
  },
  'graphql-{site}-removed': {
    level: 'breaking',
    kind: 'existence',
    action: 'removed',
    effect: 'narrows',
    sentence: 'the {noun} `{name}` was removed',
    why: 'Operations that give it are refused.',
    fix: DEPRECATE_FIRST,
  },
  'graphql-{site}-type-changed': {
    level: 'breaking',
    kind: 'type',
    action: 'changed',
    effect: 'moves',
    sentence: 'the type of the {noun} `{name}` changed from {before} to {after}',
    why: 'Values and variables of the old type are refused.',
    fix: KEEP_OLD,
  },
  'graphql-{site}-type-narrowed': {
    level: 'breaking',
    kind: 'type',
    action: 'narrowed',
    effect: 'narrows',
    sentence: 'the {noun} `{name}` takes null in fewer places: {before} → {after}',
    why: 'Values that hold null there, and variables of the old type, are refused.',
    fix: KEEP_OLD,
  },
  'graphql-{site}-type-widened': {
    level: 'info',
    kind: 'type',
    action: 'widened',
    effect: 'widens',
    sentence: 'the {noun} `{name}` takes null in more places: {before} → {after}',
    why: STILL_WORKS,
    fix: NOTHING_TO_DO,
  },
  'graphql-{site}-became-required': {
    level: 'breaking',
    kind: 'requiredness',
    action: 'narrowed',
    effect: 'narrows',
    sentence: 'the {noun} `{name}` no longer takes null: {before} → {after}',
    why: 'Operations that leave it out, give null or use a variable that may be null are refused.',
    fix: 'Leave it nullable, and give it a default.',
  },
  'graphql-{site}-became-optional': {
    level: 'info',
    kind: 'requiredness',
    action: 'widened',
    effect: 'widens',
    sentence: 'the {noun} `{name}` may now be null or left out: {before} → {after}',
    why: STILL_WORKS,
    fix: NOTHING_TO_DO,
  },
  'graphql-{site}-default-value-added': {
    level: 'dangerous',
    kind: 'default',
    action: 'added',
    effect: 'may-narrow',
    sentence: 'the {noun} `{name}` now has the default {after}',
    why: DEFAULT_MATTERS,
    fix: KEEP_DEFAULT,
  },
  'graphql-{site}-default-value-changed': {
    level: 'dangerous',
    kind: 'default',
    action: 'changed',
    effect: 'may-narrow',
    sentence: 'the default of the {noun} `{name}` changed from {before} to {after}',
    why: DEFAULT_MATTERS,
    fix: KEEP_DEFAULT,
  },
  'graphql-{site}-default-value-removed': {
    level: 'dangerous',
    kind: 'default',
    action: 'removed',
    effect: 'may-narrow',
    sentence: 'the {noun} `{name}` no longer has the default {before}',
    why: 'Operations that leave the value out behave in another way, or are refused.',
    fix: KEEP_DEFAULT,
  },
  'graphql-{site}-required-default-value-removed': {
    level: 'breaking',
    kind: 'default',
    action: 'removed',
    effect: 'narrows',
    sentence: 'the {noun} `{name}` no longer has the default {before}, and takes no null: it must be given',
    why: 'Operations that leave it out are refused.',
    fix: KEEP_DEFAULT,
  },
  'graphql-{site}-description-changed': {
    level: 'info',
    kind: 'description',
    action: 'changed',
    effect: 'none',
    sentence: 'the description of the {noun} `{name}` changed',
    why: STILL_WORKS,
    fix: NOTHING_TO_DO,
  },
} as const satisfies Readonly<Record<string, InputRow>>

/** The possible changes of an input: the end of the rule id. */
export type InputChange = keyof typeof ROWS extends infer Id
  ? Id extends `graphql-{site}-${infer Change}`
    ? Change
    : never
  : never

export type InputRuleId =
  | `graphql-${'required' | 'optional'}-${InputSite}-added`
  | `graphql-${InputSite}-${InputChange}`

export function inputRows(): readonly (readonly [id: string, row: GraphqlRow])[] {
  return Object.entries(SITES).flatMap(([site, { noun, area, gainsOptional }]) =>
    Object.entries<InputRow>(ROWS).map(([id, row]) => {
      const level = id.startsWith('graphql-optional-') ? gainsOptional : row.level
      const sentence = row.sentence.replace('{noun}', noun)
      const direction = row.kind === 'description' ? 'none' : 'request'
      return [id.replace('{site}', site), { ...row, level, sentence, direction, area }] as const
    }),
  )
}
