/**
 * The form of the rules about an OpenAPI contract outside its schemas, one row each. A row applies if its change was
 * reported with the required facts. The first such row counts. Its level follows from direction and effect.
 */
import type { OpenApiChange, OpenApiFacts } from './changes.ts'
import type { Direction } from '../../model/finding.ts'
import type { Advice } from '../advice.ts'
import type { Effect } from '../rule.ts'

interface Row<Change extends OpenApiChange> {
  readonly change: Change
  /** Facts that must have these values. Empty for a row that always applies. */
  readonly when: Partial<OpenApiFacts[Change]>
  readonly id: string
  readonly effect: Effect
  /** What happened. Facts are filled in for `{name}`. */
  readonly sentence: string
  /** The kind, if it differs from that of the section. */
  readonly kind?: string
  /** Why it matters and how to fix it. Default: by area, kind and action (advice.ts). */
  readonly advice?: Advice
}

export type OpenApiRow = { readonly [Change in OpenApiChange]: Row<Change> }[OpenApiChange]

export interface Section {
  readonly direction: Direction
  readonly area: string
  readonly kind: string
  readonly rows: readonly OpenApiRow[]
}

type HolesOf<Text extends string> = Text extends `${string}{${infer Hole}}${infer Rest}` ? Hole | HolesOf<Rest> : never

/** A sentence with a placeholder that is not a fact of the change does not compile. */
export function row<Change extends OpenApiChange, const Text extends string>(
  change: Change,
  when: Partial<OpenApiFacts[Change]>,
  id: string,
  effect: Effect,
  sentence: HolesOf<Text> extends keyof OpenApiFacts[Change] ? Text : never,
  own: Pick<OpenApiRow, 'kind' | 'advice'> = {},
): Row<Change> {
  return { change, when, id, effect, sentence, ...own }
}
