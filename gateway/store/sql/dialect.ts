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

/** Whether a column is in a list of texts, which is one value: the list as JSON. */
export function isIn({ dialect }: Pick<Sql, 'dialect'>, column: string): string {
  return dialect === 'sqlite'
    ? `${column} IN (SELECT value FROM json_each(?))`
    : `${column} IN (SELECT json_array_elements_text(CAST(? AS json)))`
}

/** JSON text of a list of pairs of a text and a JSON text. */
export function pairsOf({ dialect }: Pick<Sql, 'dialect'>, first: string, second: string, order: string): string {
  return dialect === 'sqlite'
    ? `json_group_array(json_array(${first}, json(${second})) ORDER BY ${order})`
    : `json_agg(json_build_array(${first}, ${second}::json) ORDER BY ${order})::text`
}

/** An item of a column with a JSON list of texts. */
export function itemOf({ dialect }: Pick<Sql, 'dialect'>, column: string, index: number): string {
  return dialect === 'sqlite' ? `${column} ->> ${index}` : `CAST(${column} AS json) ->> ${index}`
}

/** At the end of a query: nobody changes the row before this transaction ends. In SQLite nobody can. */
export function locked({ dialect }: Pick<Sql, 'dialect'>): string {
  return dialect === 'sqlite' ? '' : ' FOR UPDATE'
}
