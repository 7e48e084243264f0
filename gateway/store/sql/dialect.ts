/** The few places where SQLite and PostgreSQL have different words for the same. */
import type { Sql } from './operation.ts'

/** The texts of a column as one text, joined with commas; null when there are none. */
export function listOf({ dialect }: Pick<Sql, 'dialect'>, column: string): string {
  return dialect === 'sqlite' ? `group_concat(${column})` : `string_agg(${column}, ',')`
}

/** The same, in the order of their code points. */
export function sortedListOf({ dialect }: Pick<Sql, 'dialect'>, column: string): string {
  return dialect === 'sqlite'
    ? `group_concat(${column}, ',' ORDER BY ${column})`
    : `string_agg(${column}, ',' ORDER BY ${column} COLLATE "C")`
}
