/**
 * Tables that are looked up by external names. A plain object also has the members of Object.prototype:
 * `TABLE['constructor']` is a function. An architecture test requires this form for every table with text keys.
 */

/** The rows of a table, and nothing else. */
export function lookupTable<Row>(rows: Readonly<Record<string, Row>>): Readonly<Record<string, Row>> {
  const table: Record<string, Row> = Object.create(null)
  return Object.freeze(Object.assign(table, rows))
}
