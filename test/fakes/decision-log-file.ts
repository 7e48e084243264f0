/** What a decision log wrote into a file. */
import { existsSync, readFileSync } from 'node:fs'

export type LoggedEntry = Readonly<Record<string, unknown>>

/** Its entries, oldest first; none while there is no file. */
export function entriesIn(file: string): readonly LoggedEntry[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}
