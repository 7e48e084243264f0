/** One end of a copy: a store that no gateway uses, in one transaction. */
import type { SqlRow } from '../sql/columns.ts'
import type { Sql } from '../sql/operation.ts'
import type { CopiedTable } from './tables.ts'

export interface Side {
  /** For people; it never contains a password. */
  readonly description: string
  readonly sql: Sql
  /** Columns that can be written. */
  columns(table: string): Promise<readonly string[]>
  close(): Promise<void>
}

export interface Source extends Side {
  /** All rows of a table as they were when the copy began. */
  rows(table: CopiedTable): AsyncIterable<readonly SqlRow[]>
}

export interface Target extends Side {
  /** Called once, before the rows come. @param firstCall milliseconds since the epoch; null: there are no calls */
  prepare(firstCall: number | null): Promise<void>
  add(table: string, columns: readonly string[], rows: readonly SqlRow[]): Promise<void>
  /** After the last row, and before the check. */
  finish(): Promise<void>
  /** The copy is there, all of it. Without this call there is nothing. */
  commit(): Promise<void>
}
