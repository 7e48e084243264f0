/** Statements on the latest time that has come. It is one row. */
import { integer } from './columns.ts'
import { endLaterThings } from './later-things.ts'
import type { Sql } from './operation.ts'

/** @returns the latest time, which may be later than the given one */
export async function keepTime(sql: Sql, at: number): Promise<number> {
  const row = await sql.get(
    `INSERT INTO latest_time (id, at) VALUES (1, ?)
     ON CONFLICT (id) DO UPDATE SET at = CASE WHEN excluded.at > latest_time.at THEN excluded.at ELSE latest_time.at END
     RETURNING at`,
    at,
  )
  return integer(row ?? {}, 'at')
}

/** Null: none was kept. */
export async function latestTime(sql: Sql): Promise<number | null> {
  const row = await sql.get('SELECT at FROM latest_time WHERE id = 1')
  return row === undefined ? null : integer(row, 'at')
}

/** The next start uses the clock as it is. @param at the time by that clock, milliseconds since the epoch */
export async function forgetTime(sql: Sql, at: number): Promise<void> {
  await endLaterThings(sql, at)
  await sql.run('DELETE FROM latest_time')
}
