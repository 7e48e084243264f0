/**
 * Tables that are asked by names from outside. A plain object has rows of Object.prototype too: `TABLE['constructor']` is a
 * function there. An architecture test keeps every table by text in this form.
 */

/** The rows of a table, and nothing else. */
export function lookupTable<Row>(rows: Readonly<Record<string, Row>>): Readonly<Record<string, Row>> {
  const table: Record<string, Row> = Object.create(null)
  return Object.freeze(Object.assign(table, rows))
}
