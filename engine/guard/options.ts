/** Options of the guard: their types, and what is wrong with those of a program in JavaScript. */
import type { ArtifactType } from '../model/change-set.ts'
import type { Sha256 } from '../common/hash.ts'
import { nearest } from '../common/suggestion.ts'
import { isRecord } from '../schema/located.ts'

/**
 * The gateway, as the guard needs it. Each function sends one body and returns the parsed body of a successful
 * response; otherwise it rejects.
 */
export interface GuardService {
  /** POST /api/v1/preflight */
  readonly preflight: (request: object) => Promise<unknown>
  /** POST /api/v1/verify-receipt */
  readonly verify: (question: object) => Promise<unknown>
  /** POST /api/v1/telemetry. Absent: no monitoring is wired, so CONTINUE_WITH_MONITORING does not proceed. */
  readonly report?: (event: object) => Promise<unknown>
}

/** Where the operation takes place; bound into the receipt. */
export interface GuardPlace {
  readonly environment?: string
  readonly repository?: string
  readonly branch?: string
  readonly pull_request?: string
  readonly base?: string
  readonly head?: string
  readonly target_id?: string
}

export interface GuardOptions extends GuardService {
  /** The one operation that the guarded calls are part of: merge, deploy, publish or register. Not empty. */
  readonly operation: string
  readonly context?: GuardPlace
  /** The file as it is now; null when there is none. Without this function only edits that carry both sides can be judged. */
  readonly readFile?: (path: string) => Promise<string | null>
  /**
   * Tools that change nothing: they run unjudged. Every other tool runs only if its call is read as a change of one
   * file.
   */
  readonly reads?: readonly string[]
  /** Absolute path of the folder that relative paths start from: `typeOf` then gets absolute paths from there, too. */
  readonly root?: string
  /**
   * The contract type of a file. `none`: it is not a contract and may be changed unjudged. Null: detect it from the
   * text. The path is resolved, with slashes and without `.` and `..`.
   */
  readonly typeOf?: (path: string) => ArtifactType | 'none' | null
  readonly sha256: Sha256
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** All of them: an option that is mistyped would be left out. */
const OPTIONS: readonly string[] = Object.keys({
  operation: true,
  context: true,
  reads: true,
  readFile: true,
  root: true,
  typeOf: true,
  preflight: true,
  verify: true,
  report: true,
  sha256: true,
  now: true,
} satisfies Record<keyof GuardOptions, true>)

/** What is wrong with the options, for programs in JavaScript. A text as `reads` would contain the names of other tools. */
export function guardOptionsMistake(options: unknown): string | null {
  if (!isRecord(options)) return 'A guard needs options: operation, preflight, verify, sha256 and now.'
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name))
  if (unknown !== undefined) {
    const meant = nearest(unknown, OPTIONS)
    return `A guard has no option ${unknown}${meant === null ? `; it has ${OPTIONS.join(', ')}` : `: did you mean ${meant}?`}`
  }
  const { operation, reads = [] } = options
  if (typeof operation !== 'string' || operation.trim() === '')
    return 'A guard needs an operation: merge, deploy, publish or register.'
  if (!Array.isArray(reads) || !reads.every((name) => typeof name === 'string'))
    return 'The option reads of a guard must be a list of names of tools.'
  const isCallable = (name: string): boolean => typeof options[name] === 'function'
  const missing = ['preflight', 'verify', 'sha256', 'now'].find((name) => !isCallable(name))
  if (missing !== undefined) return `A guard needs the function ${missing}; preflightClient makes it.`
  const wrong = ['report', 'readFile', 'typeOf'].find((name) => options[name] !== undefined && !isCallable(name))
  if (wrong !== undefined) return `The option ${wrong} of a guard must be a function.`
  const isRoot = options['root'] === undefined || typeof options['root'] === 'string'
  return isRoot ? null : 'The option root of a guard must be the path of a folder.'
}
