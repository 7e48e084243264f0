/** Texts and settings as they may be shown: without credentials, in whatever member they are. */

/** Texts hold them too, such as the message of an error about a URL with a password. A token may stand in it alone, without a name. */
const CREDENTIALS_IN_TEXT = [
  { pattern: /\bpf_(live|test)_[A-Za-z0-9_-]+/g, replacement: 'pf_$1_[redacted]' },
  { pattern: /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, replacement: '$1 [redacted]' },
  { pattern: /:\/\/[^/\s]*@/g, replacement: '://[redacted]@' },
  { pattern: /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+/g, replacement: '[redacted token]' },
] as const

/** The same text without bearer tokens, API keys, receipts and passwords in URLs. */
export function redactText(text: string): string {
  return CREDENTIALS_IN_TEXT.reduce((clean, { pattern, replacement }) => clean.replace(pattern, replacement), text)
}

const REDACTED = '[redacted]'

/** Members whose whole value is a credential, or has some in it. */
const SECRET_MEMBERS: ReadonlySet<string> = new Set([
  'client_secret',
  'header',
  'headers',
  'password',
  'secret',
  'sha256',
  'token',
])
/** Sections whose addresses are credentials: whoever knows the path of such a webhook may post to it. */
const SECRET_PATHS: ReadonlySet<string> = new Set(['decision_log', 'monitoring', 'notifications'])

/** The same settings with `[redacted]` in place of credentials. Names of headers stay. */
export function redactedSettings(settings: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, section]) => [name, shownField(name, section, SECRET_PATHS.has(name))]),
  )
}

function shownField(name: string, value: unknown, hasSecretPaths: boolean): unknown {
  if (SECRET_MEMBERS.has(name) && typeof value !== 'number') return hiddenValue(value)
  if (typeof value === 'string') return addressWithout(redactText(value), hasSecretPaths)
  if (Array.isArray(value)) return value.map((member) => shownField(name, member, hasSecretPaths))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([inner, member]) => [inner, shownField(inner, member, hasSecretPaths)]),
  )
}

function hiddenValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hiddenValue)
  if (typeof value !== 'object' || value === null) return REDACTED
  return Object.fromEntries(Object.keys(value).map((name) => [name, REDACTED]))
}

const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i

function addressWithout(text: string, hasSecretPath: boolean): string {
  if (!ADDRESS.test(text)) return text
  const [address = ''] = text.split(/[?#]/, 1)
  const query = address.length === text.length ? '' : `?${REDACTED}`
  if (!hasSecretPath) return `${address}${query}`
  const path = address.indexOf('/', address.indexOf('://') + 3)
  return path < 0 || path === address.length - 1 ? `${address}${query}` : `${address.slice(0, path)}/${REDACTED}`
}
