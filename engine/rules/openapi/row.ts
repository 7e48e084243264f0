/**
 * The form of the rules about an OpenAPI contract outside its schemas, one row each. A row holds when its change was told and
 * the facts are as it wants them; of several rows of one change the first that holds counts. Its level follows from direction and effect.
 */
import type { Direction } from '../../finding.ts'
import type { Effect } from '../rule.ts'

export type Facts = Readonly<Record<string, unknown>>

export interface OpenApiRow {
  readonly change: OpenApiChange
  /** Facts that must have these values; none for a row that always holds. */
  readonly when: Facts
  readonly id: string
  readonly effect: Effect
  /** What happened: facts are filled in for `{name}`. */
  readonly says: string
  /** Where it is not that of the section. */
  readonly kind?: string
}

export interface Section {
  readonly direction: Direction
  readonly area: string
  readonly kind: string
  readonly rows: readonly OpenApiRow[]
}

export function row(
  change: OpenApiChange,
  when: Facts,
  id: string,
  effect: Effect,
  says: string,
  own: Pick<OpenApiRow, 'kind'> = {},
): OpenApiRow {
  return { change, when, id, effect, says, ...own }
}

/** What walkers tell. */
export type OpenApiChange =
  | 'admission'
  | 'callback-added'
  | 'callback-address'
  | 'callback-header-added'
  | 'callback-header-removed'
  | 'callback-header-requiredness'
  | 'callback-header-writing'
  | 'callback-parameter-added'
  | 'callback-parameter-content'
  | 'callback-parameter-empty'
  | 'callback-parameter-moved'
  | 'callback-parameter-removed'
  | 'callback-parameter-requiredness'
  | 'callback-parameter-style'
  | 'callback-response-status'
  | 'callback-body'
  | 'callback-security'
  | 'callback-removed'
  | 'component-scheme-added'
  | 'component-scheme-changed'
  | 'component-scheme-flow'
  | 'component-scheme-removed'
  | 'component-scope'
  | 'component-schema-removed'
  | 'dangling-reference'
  | 'global-security'
  | 'global-scope'
  | 'header-added'
  | 'header-removed'
  | 'header-requiredness'
  | 'header-writing'
  | 'link'
  | 'media-type'
  | 'media-type-encoding'
  | 'media-type-schema'
  | 'operation-added'
  | 'operation-id'
  | 'operation-lifecycle'
  | 'operation-removed'
  | 'operation-scope'
  | 'operation-security'
  | 'operation-server'
  | 'operation-stability'
  | 'operation-tag'
  | 'parameter-added'
  | 'parameter-content'
  | 'parameter-empty'
  | 'parameter-lifecycle'
  | 'parameter-moved'
  | 'parameter-removed'
  | 'parameter-requiredness'
  | 'parameter-style'
  | 'request-body'
  | 'response-status'
  | 'server'
  | 'server-variable'
  | 'version'
  | 'webhook-added'
  | 'webhook-removed'
