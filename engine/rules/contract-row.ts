/** What a row says about one kind of change outside schemas, for formats whose rows need nothing but words to be filled in. */
import type { Direction, Level } from '../finding.ts'
import type { Advice } from './advice.ts'
import type { Effect, Rule } from './rule.ts'

export interface ContractRow {
  readonly level: Level
  readonly direction: Direction
  readonly area: string
  readonly kind: string
  readonly action: string
  readonly effect: Effect
  /** What happened; `{name}`, `{before}` and `{after}` are filled in. */
  readonly says: string
  readonly why: string
  readonly fix: string
}

/** A row in the form that findings are made from. */
export interface ContractRule {
  readonly rule: Rule
  readonly advice: Advice
  readonly says: string
}

/** The rules of a table of rows, by id. */
export function contractRules(rows: Readonly<Record<string, ContractRow>>): ReadonlyMap<string, ContractRule> {
  return new Map(
    Object.entries(rows).map(([id, { says, why, fix, ...row }]) => {
      const rule = { id, ...row, description: says.replaceAll(/[`{}]/g, ''), because: why }
      return [id, { rule, advice: { explanation: why, fix }, says }]
    }),
  )
}
