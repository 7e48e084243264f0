/** A platform that did not answer as asked: what happened, in words for people and a kind for code. Never carries a credential. */

/**
 * `refused`: this caller may not, or there is no such thing for it. `limited`: asked too often. `unavailable`: it could not be
 * reached or failed. `unexpected`: it answered something that cannot be used.
 */
type ScmErrorKind = 'refused' | 'limited' | 'unavailable' | 'unexpected'

export class ScmError extends Error {
  readonly kind: ScmErrorKind
  /** Of the answer; null when there was none. */
  readonly status: number | null
  /** Header fields of the answer that the caller can act on. */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    kind: ScmErrorKind,
    message: string,
    options: {
      readonly status?: number
      readonly headers?: Readonly<Record<string, string>>
      readonly cause?: unknown
    } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'ScmError'
    this.kind = kind
    this.status = options.status ?? null
    this.headers = options.headers ?? {}
  }
}

/** Null for what the platform does not have. */
export async function orAbsent<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ScmError && error.status === 404) return null
    throw error
  }
}
