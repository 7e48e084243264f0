/** Values and rows of statements, and readers that turn columns into values. */

export type SqlValue = string | number | null | Uint8Array
export type SqlRow = Readonly<Record<string, unknown>>

export function text(row: SqlRow, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw new TypeError(`column ${column} is not a text`)
  return value
}

export function nullableText(row: SqlRow, column: string): string | null {
  return row[column] === null ? null : text(row, column)
}

export function integer(row: SqlRow, column: string): number {
  const value = row[column]
  if (typeof value !== 'number') throw new TypeError(`column ${column} is not an integer`)
  return value
}

export function integerOrNull(row: SqlRow, column: string): number | null {
  return row[column] === null ? null : integer(row, column)
}

/** A column with a closed set of values; another value means that another program changed the file. */
export function oneOf<T extends string>(allowed: readonly T[], row: SqlRow, column: string): T {
  const value = text(row, column)
  const known = allowed.find((candidate) => candidate === value)
  if (known === undefined) throw new TypeError(`column ${column} holds the unknown value ${JSON.stringify(value)}`)
  return known
}

/** A column that holds a list of texts as JSON. */
export function textList(row: SqlRow, column: string): readonly string[] {
  const list: unknown = JSON.parse(text(row, column))
  return storedTexts(list)
}

export function storedTexts(list: unknown): readonly string[] {
  if (!Array.isArray(list)) throw new TypeError('a stored list is not a list')
  return list.map((item: unknown) => {
    if (typeof item !== 'string') throw new TypeError('an item of a stored list is not a text')
    return item
  })
}

/** Rows with `id` and `tenant`, by id. */
export function ownersOf(rows: readonly SqlRow[]): Readonly<Record<string, string>> {
  return Object.fromEntries(rows.map((row) => [text(row, 'id'), text(row, 'tenant')]))
}
