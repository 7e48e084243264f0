/** The meaning of deprecating an element, and of reversing it: the same for all GraphQL elements. */
import { NOTHING_TO_DO, STILL_WORKS, type GraphqlRow } from './row.ts'

/** What can be deprecated: the names in rule ids and messages. */
const SITES = {
  field: { noun: 'field', area: 'graphql-fields' },
  argument: { noun: 'argument', area: 'graphql-inputs' },
  'input-field': { noun: 'input field', area: 'graphql-inputs' },
  'enum-value': { noun: 'enum value', area: 'graphql-types' },
  directive: { noun: 'directive', area: 'graphql-directives' },
  'directive-argument': { noun: 'directive argument', area: 'graphql-directives' },
} as const satisfies Readonly<Record<string, { readonly noun: string; readonly area: GraphqlRow['area'] }>>

export type DeprecableSite = keyof typeof SITES
export type LifecycleRuleId = `graphql-${DeprecableSite}-${'deprecated' | 'reactivated' | 'deprecation-reason-changed'}`

export function lifecycleRows(): readonly (readonly [id: string, row: GraphqlRow])[] {
  return Object.entries(SITES).flatMap(([site, { noun, area }]) => {
    const row = { level: 'info', direction: 'none', area, kind: 'lifecycle', effect: 'none' } as const
    return [
      [
        `graphql-${site}-deprecated`,
        {
          ...row,
          action: 'deprecated',
          sentence: `the ${noun} \`{name}\` was deprecated: {after}`,
          why: 'It still works, and will be removed; GraphQL states no date for that.',
          fix: 'Say in the reason what to use instead, and until when this one stays.',
        },
      ],
      [
        `graphql-${site}-reactivated`,
        {
          ...row,
          action: 'reactivated',
          sentence: `the ${noun} \`{name}\` is no longer deprecated`,
          why: STILL_WORKS,
          fix: NOTHING_TO_DO,
        },
      ],
      [
        `graphql-${site}-deprecation-reason-changed`,
        {
          ...row,
          action: 'changed',
          sentence: `the reason why the ${noun} \`{name}\` is deprecated changed from “{before}” to “{after}”`,
          why: STILL_WORKS,
          fix: NOTHING_TO_DO,
        },
      ],
    ] as const
  })
}
