/**
 * Foreseen failures are values: every fallible step of the engine returns a Result, and only broken invariants throw.
 */

export type Result<T, P = Problem> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: P }

/** Why something could not be done, in a form for API errors, reasons and logs. */
export interface Problem {
  /** Stable reason code, upper snake case (see `docs/errors.md`). */
  readonly code: string
  /** For people: what is wrong and how to fix it. The members below contain the place. */
  readonly message: string
  /** Which document of a comparison is at fault, where it is one of the two. */
  readonly side?: 'base' | 'head'
  /** JSON Pointer into the document (or request) at fault; `''` is its root. */
  readonly pointer?: string
  /** 1-based position in the text, where one is known. */
  readonly line?: number
  readonly column?: number
}

/** A step that succeeded. */
export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value }
}

/** A step that could not be done, and why. */
export function fail<const P>(problem: P): { readonly ok: false; readonly problem: P } {
  return { ok: false, problem }
}
