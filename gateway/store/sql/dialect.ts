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

/** The bytes that rows use, as `bytes`: pages that deleted rows left free do not count. */
export function usedBytes({ dialect }: Pick<Sql, 'dialect'>): string {
  return dialect === 'sqlite'
    ? `SELECT (SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size)
         - (SELECT freelist_count FROM pragma_freelist_count) * (SELECT page_size FROM pragma_page_size) AS bytes`
    : `SELECT sum(pg_total_relation_size(c.oid))::bigint AS bytes FROM pg_class c
       WHERE c.relkind IN ('r', 'm') AND c.relnamespace = current_schema()::regnamespace`
}
