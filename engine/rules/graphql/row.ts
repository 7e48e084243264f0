/** A row about one kind of change of a GraphQL schema, and the texts that rows share. */
import type { RuleRow } from '../row.ts'

/** `{name}` in the texts is a schema coordinate. `{detail}` is filled in as well. */
export interface GraphqlRow extends RuleRow {
  readonly area: `graphql-${'types' | 'fields' | 'inputs' | 'directives' | 'federation'}`
}

export type GraphqlRows = Readonly<Record<`graphql-${string}`, GraphqlRow>>

export const NOTHING_TO_DO = 'Nothing needs to be done.'
export const STILL_WORKS = 'Operations that clients send go on working.'
export const DEPRECATE_FIRST = 'Mark it with @deprecated, and remove it when no operation uses it any more.'
export const KEEP_OLD = 'Add the new form under another name, and deprecate the old one before it goes.'
export const WARN_CLIENTS = 'Tell clients before the change takes effect; those with a default branch cope.'
