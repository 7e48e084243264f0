/** Why the gateway cannot start, in words for the operator: what, where, how to fix it. Exit code 2 (docs/reference/command-line.md#exit-codes). */
export class StartupError extends Error {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'StartupError'
  }
}

/** The `code` of a Node.js or SQLite error, e.g. `EACCES`; null for anything else. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Why `fetch` failed: the cause is one level down, and has only a code where several addresses were tried. */
export function fetchFailure(error: unknown): string {
  const { cause = error } = error instanceof Error ? error : {}
  if (!(cause instanceof Error)) return String(cause)
  return cause.message || ('code' in cause ? String(cause.code) : cause.name)
}
