/** Acts that wait for their entry in the decision log: those of the command line, and those that no sink took. */
import type { EntryFacts } from '../telemetry/decision-log/entry.ts'

export interface ActRow {
  /** The id of its entry: an act that is reported twice has one id. */
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** False: the log has no record of it yet. */
  readonly isLogged: boolean
  readonly facts: EntryFacts
}

export interface Acts {
  add(row: ActRow): Promise<void>
  /** Oldest first. Until `until`, no other gateway gets them. */
  claim(now: number, until: number, limit: number): Promise<readonly ActRow[]>
  remove(id: string): Promise<void>
}
