/** Who uses the proxy (RFC 9110 §11.7): the holder of an API key, where the configuration asks for one. */
import type { IncomingHttpHeaders } from 'node:http'
import { hashApiKey, isSignupTenant, LOCAL_TENANT } from './api-keys.ts'
import type { Route } from '../routing/route.ts'
import type { Caller } from './caller.ts'
import type { CallersConfig } from './settings.ts'
import type { Store } from '../store/store.ts'

/** Whoever is not asked for a key. */
export const ANYBODY: Caller = { tenant: LOCAL_TENANT, audience: null }

export const PROXY_CHALLENGE: readonly string[] = ['Proxy-Authenticate', 'Basic realm="preflight", charset="UTF-8"']

/** Longer ones are not ours: nothing is hashed for them. */
const LONGEST_KEY = 512

/** Who opened a connection, and the key that stands behind it; null: none was asked for. */
export interface KeyHolder {
  readonly caller: Caller
  readonly keyHash: string | null
  /** When the key was looked up, milliseconds since the epoch. */
  checkedAt: number
}

/** A revocation reaches connections that are open within this. */
const RECHECK_MS = 1000

/** Null: the key holds no more, or one is asked for since. Rejects with STORE_UNAVAILABLE when that cannot be told. */
export async function stillCaller(
  holder: KeyHolder,
  { config }: { readonly config: CallersConfig },
  store: Pick<Store, 'apiKey'>,
  now: number,
): Promise<Caller | null> {
  const { caller, keyHash } = holder
  if (config.proxy_auth === 'off') return caller
  if (keyHash === null) return null
  if (now - holder.checkedAt < RECHECK_MS) return caller
  const row = await store.apiKey(keyHash)
  if (row === null || row.revokedAt !== null) return null
  holder.checkedAt = now
  return caller
}

/** Null: a key is asked for, and there is none that holds. Rejects with STORE_UNAVAILABLE when that cannot be told. */
export async function proxyCaller(
  headers: IncomingHttpHeaders,
  { config }: { readonly config: CallersConfig },
  store: Pick<Store, 'apiKey'>,
): Promise<Caller | null> {
  if (config.proxy_auth === 'off') return ANYBODY
  const hash = presentedHash(headers)
  const row = hash === null ? null : await store.apiKey(hash)
  // A key that anybody can have proves nothing about its holder.
  if (row === null || row.revokedAt !== null || isSignupTenant(row.tenant)) return null
  return { tenant: row.tenant, audience: row.audience }
}

/** The caller on this route: who came without a key has no tenant of their own, and is of one that the route serves. */
export function callerOn({ tenants }: Pick<Route, 'tenants'>, caller: Caller): Caller {
  if (caller.audience !== null || tenants.includes(caller.tenant)) return caller
  return { tenant: tenants[0] ?? LOCAL_TENANT, audience: null }
}

/** Of the key in the request, whether it holds or not; null when there is none. */
export function presentedHash(headers: IncomingHttpHeaders): string | null {
  const key = presentedKey(headers['proxy-authorization'] ?? '')
  return key === null || key.length > LONGEST_KEY ? null : hashApiKey(key)
}

/** The password of Basic; the user name where there is no password, as in `http://KEY@proxy`; the token of Bearer. */
function presentedKey(field: string): string | null {
  const [, scheme = '', credentials = ''] = /^(\w+) +(\S+) *$/.exec(field) ?? []
  if (scheme.toLowerCase() === 'bearer') return credentials
  if (scheme.toLowerCase() !== 'basic') return null
  const text = Buffer.from(credentials, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon === -1) return null
  return text.slice(colon + 1) || text.slice(0, colon) || null
}
