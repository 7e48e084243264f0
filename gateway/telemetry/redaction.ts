/** Settings as they may be shown: without credentials, in whatever member they are. */
import { redactText } from './log.ts'

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
