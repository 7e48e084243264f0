/**
 * Events on disk that no sink has acknowledged yet: one NDJSON file, appended before an event counts as taken. It survives
 * a crash of the process (no fsync: a monitoring window itself is durable in the store), and an event may be delivered
 * twice after one (receivers drop repeats by the CloudEvents id).
 */
import { appendFileSync, mkdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export interface Spool {
  readonly length: number
  /** Serialized events, oldest first; at most `limit`. */
  head(limit: number): readonly string[]
  /** False, and nothing kept, when the bound is reached or the disk refuses. */
  append(lines: readonly string[]): boolean
  /** Forgets the `count` oldest. */
  drop(count: number): void
}

/** @param bound events kept at the most. Throws when the file can neither be read nor made: a start-up mistake. */
export function openSpool(file: string, bound: number): Spool {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const lines = readLines(file)
  let droppedInFile = 0
  return {
    get length() {
      return lines.length
    },
    head: (limit) => lines.slice(0, limit),
    append(added) {
      if (lines.length + added.length > bound) return false
      try {
        appendFileSync(file, added.map((line) => `${line}\n`).join(''), { mode: 0o600 })
      } catch {
        // A full or broken disk is the same answer as a full spool: the caller must not proceed unmonitored.
        return false
      }
      lines.push(...added)
      return true
    },
    drop(count) {
      lines.splice(0, count)
      droppedInFile += count
      if (lines.length === 0) {
        truncateSync(file)
        droppedInFile = 0
      } else if (droppedInFile >= bound) {
        rewrite(file, lines)
        droppedInFile = 0
      }
    },
  }
}

function readLines(file: string): string[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (!isMissing(error)) throw error
    writeFileSync(file, '', { mode: 0o600 })
    return []
  }
  // A crash can tear the last line; what is not JSON cannot be delivered.
  return text.split('\n').filter(isJson)
}

function isJson(line: string): boolean {
  if (line === '') return false
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}

function rewrite(file: string, lines: readonly string[]): void {
  const temporary = `${file}.new`
  writeFileSync(temporary, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 })
  renameSync(temporary, file)
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
