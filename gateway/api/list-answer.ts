/** Lists in answers: under `items` in every one of them, and under the name of what they list. */
import type { TSchema } from 'typebox'
import { Type } from '../../engine/base.ts'

type ListName = 'approvals' | 'baselines' | 'bindings' | 'break_glass' | 'delegations' | 'entries' | 'fleet' | 'keys'

export function listMembers(name: ListName, rows: TSchema): Readonly<Record<string, TSchema>> {
  return { items: rows, [name]: Type.Unsafe<readonly unknown[]>({ ...rows, description: 'Equal to items.' }) }
}

export function listed<Row>(name: ListName, rows: readonly Row[]): Readonly<Record<string, readonly Row[]>> {
  return { items: rows, [name]: rows }
}
