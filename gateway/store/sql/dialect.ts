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

/** JSON text of a list of pairs of a text and a JSON text. */
export function pairsOf({ dialect }: Pick<Sql, 'dialect'>, first: string, second: string, order: string): string {
  return dialect === 'sqlite'
    ? `json_group_array(json_array(${first}, json(${second})) ORDER BY ${order})`
    : `json_agg(json_build_array(${first}, ${second}::json) ORDER BY ${order})::text`
}

/** The bytes that rows use, as `bytes`: pages that deleted rows left free do not count. */
export function usedBytes({ dialect }: Pick<Sql, 'dialect'>): string {
  return dialect === 'sqlite'
    ? `SELECT (SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size)
         - (SELECT freelist_count FROM pragma_freelist_count) * (SELECT page_size FROM pragma_page_size) AS bytes`
    : `SELECT sum(pg_total_relation_size(c.oid))::bigint AS bytes FROM pg_class c
       WHERE c.relkind IN ('r', 'm') AND c.relnamespace = current_schema()::regnamespace`
}
