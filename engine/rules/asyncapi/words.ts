/** How the rows about AsyncAPI are written, and the words that they share. */
import type { Direction, Level } from '../../finding.ts'
import type { ContractRow } from '../contract-row.ts'
import type { Effect } from '../rule.ts'

export const NOTHING_TO_DO = 'Nothing needs to be done.'
export const STILL_WORKS = 'What the other sides use goes on working.'
export const TOGETHER = 'Change both sides together.'
export const KEEP = 'Keep it beside its successor until nobody uses it any more.'

export type Words = readonly [
  level: Level,
  direction: Direction,
  kind: string,
  action: string,
  effect: Effect,
  says: string,
  why?: string,
  fix?: string,
]

export function rowOf([
  level,
  direction,
  kind,
  action,
  effect,
  says,
  why = STILL_WORKS,
  fix = NOTHING_TO_DO,
]: Words): ContractRow {
  return { level, direction, area: 'messages', kind, action, effect, says, why, fix }
}
