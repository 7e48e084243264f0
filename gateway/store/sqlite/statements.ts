/** Prepared statements of one SQLite connection, by their text. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Sql } from '../sql/operation.ts'

/** Each text is prepared once for the life of a connection. */
export interface Statements extends Sql {
  /** Rows changed by all runs so far. */
  readonly changed: number
}

/** @param writer the chain that is written, where the ledger has several; null: there is one */
export function createStatements(database: DatabaseSync, writer: string | null = null): Statements {
  const prepared = new Map<string, StatementSync>()
  let changed = 0
  const prepare = (text: string): StatementSync => {
    const known = prepared.get(text)
    if (known !== undefined) return known
    const statement = database.prepare(text)
    prepared.set(text, statement)
    return statement
  }
  // Resolved immediately: an operation runs to its end before the thread sees another message.
  return {
    dialect: 'sqlite',
    writer,
    get: async (text, ...values) => prepare(text).get(...values),
    all: async (text, ...values) => prepare(text).all(...values),
    run: async (text, ...values) => {
      const changes = Number(prepare(text).run(...values).changes)
      changed += changes
      return changes
    },
    get changed() {
      return changed
    },
  }
}
