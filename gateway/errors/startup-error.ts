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

/** Words of OpenSSL that mean nothing to the owner of a file. */
const OPENSSL_REASONS: ReadonlyMap<string, string> = new Map([
  ['interrupted or cancelled', 'a passphrase protects it; write it without one'],
  ['unsupported', 'its content has no known form'],
  ['no start line', 'it has no line -----BEGIN …-----'],
])

/** Of an error of OpenSSL: the reason, without its number and the place in the source of OpenSSL. Never with a line end. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('library' in error && 'reason' in error && typeof error.reason === 'string')
    return OPENSSL_REASONS.get(error.reason) ?? error.reason
  // Node.js advises a flag of its own, which nobody can set here.
  return error.message.replace(/; if the root CA is installed locally, .*$/s, '').trim()
}

/**
 * A connection that failed, for operators: to what, and why. It keeps the code of the failure. Of an address only its origin is
 * named, since the rest may be a secret.
 * @param what with the setting that names the address: `the hub (store.url)`
 */
export function notReached(what: string, address: string, cause: unknown): Error {
  const { protocol = '', host = '' } = URL.parse(address) ?? {}
  const place = host === '' ? address : `${protocol}//${host}`
  const error = new Error(`${what} at ${place} was not reached: ${fetchFailure(cause)}`, { cause })
  const code = errorCode(cause)
  return code === null ? error : Object.assign(error, { code })
}

/** Why `fetch` failed: the cause is one level down, and has only a code where several addresses were tried. */
export function fetchFailure(error: unknown): string {
  const { cause = error } = error instanceof Error ? error : {}
  if (!(cause instanceof Error)) return String(cause)
  return messageOf(cause) || ('code' in cause ? String(cause.code) : cause.name)
}
