/** The executor of operations on one connection. */
import type { SqlRow, SqlValue } from '../sql/columns.ts'
import type { Sql } from '../sql/operation.ts'
import type { PostgresConnection } from './connections.ts'

const numbered = new Map<string, string>()

/** `?` → `$1`; the texts of this program have no question mark in a literal. */
function withNumbers(text: string): string {
  const known = numbered.get(text)
  if (known !== undefined) return known
  let count = 0
  const made = text.replaceAll('?', () => `$${(count += 1)}`)
  numbered.set(text, made)
  return made
}

/** PostgreSQL stores no NUL and no half of a surrogate pair. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

/** JSON of rows with storable texts; nearly always that is its first form. */
export function storableJson(rows: unknown): string {
  const json = JSON.stringify(rows)
  if (!/\\u(?:0000|[dD][89a-fA-F])/.test(json)) return json
  return JSON.stringify(rows, (_, value: unknown) => (typeof value === 'string' ? storable(value) : value))
}

/** @param writer the chain of this gateway */
export function statementsOn(connection: PostgresConnection, writer: string): Sql {
  const query = (text: string, values: readonly SqlValue[]) =>
    connection.query<SqlRow>(
      withNumbers(text),
      values.map((value) => (typeof value === 'string' ? storable(value) : value)),
    )
  return {
    dialect: 'postgres',
    writer,
    get: async (text, ...values) => (await query(text, values)).rows[0],
    all: async (text, ...values) => (await query(text, values)).rows,
    run: async (text, ...values) => (await query(text, values)).rowCount ?? 0,
  }
}
