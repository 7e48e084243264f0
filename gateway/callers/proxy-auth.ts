/** Authenticates clients of the proxy (RFC 9110 §11.7) by API key, where the configuration asks for one. */
import type { IncomingHttpHeaders } from 'node:http'
import { hashApiKey, isApiKey, isKeyInForce, isSignupTenant, LOCAL_TENANT } from './api-keys.ts'
import type { Route } from '../routing/route.ts'
import type { Caller } from './rights.ts'
import type { CallersConfig } from './settings.ts'
import type { Store, StorePart } from '../store/store.ts'

/** A caller that needs no key. */
export const ANYBODY: Caller = { tenant: LOCAL_TENANT, audience: null }

export const PROXY_CHALLENGE: readonly string[] = ['Proxy-Authenticate', 'Basic realm="preflight", charset="UTF-8"']

/** Longer ones are not keys of this gateway: they are not hashed. */
const LONGEST_KEY = 512

/** Who opened a connection, and the key that was presented; null: none was required. */
export interface KeyHolder {
  readonly caller: Caller
  readonly keyHash: string | null
  /** When the key was looked up, milliseconds since the epoch. */
  checkedAt: number
}

/**
 * Null: the key is no longer valid, or a key is required now. A revocation takes effect on open connections within the bound of
 * the store. Rejects with STORE_UNAVAILABLE when the key cannot be
 * looked up.
 */
export async function stillCaller(
  holder: KeyHolder,
  { config }: { readonly config: CallersConfig },
  store: StorePart<'apiKeys.byHash'> & Pick<Store, 'changes'>,
  now: number,
): Promise<Caller | null> {
  const { caller, keyHash } = holder
  if (config.proxy_auth === 'off') return caller
  if (keyHash === null) return null
  if (now - holder.checkedAt < store.changes.bound * 1000) return caller
  const row = await store.apiKeys.byHash(keyHash)
  if (row === null || !isKeyInForce(row, now)) return null
  holder.checkedAt = now
  return caller
}

/**
 * Null: a key is required, and no valid one was presented. Rejects with STORE_UNAVAILABLE when the key cannot be looked
 * up.
 */
export async function proxyCaller(
  headers: IncomingHttpHeaders,
  { config }: { readonly config: CallersConfig },
  store: StorePart<'apiKeys.byHash'>,
  now: number,
): Promise<Caller | null> {
  if (config.proxy_auth === 'off') return ANYBODY
  const hash = presentedHash(headers)
  const row = hash === null ? null : await store.apiKeys.byHash(hash)
  // A key that anybody can get proves nothing about its holder.
  if (row === null || !isKeyInForce(row, now) || isSignupTenant(row.tenant)) return null
  return { tenant: row.tenant, audience: row.audience }
}

/** The caller on this route: a caller without a key has no tenant, and gets one that the route serves. */
export function callerOn({ tenants }: Pick<Route, 'tenants'>, caller: Caller): Caller {
  if (caller.audience !== null || tenants.includes(caller.tenant)) return caller
  return { tenant: tenants[0] ?? LOCAL_TENANT, audience: null }
}

/** The hash of the key in the request, valid or not; null when there is none. */
export function presentedHash(headers: IncomingHttpHeaders): string | null {
  const key = proxyCredentials(headers['proxy-authorization'] ?? '')
  return key === null || key.length > LONGEST_KEY ? null : hashApiKey(key)
}

/**
 * The password of Basic; the user name where there is no password, as in `http://KEY@proxy`; the token of Bearer. Null also for
 * two keys: which caller is meant is not known.
 */
function proxyCredentials(field: string): string | null {
  const [, scheme = '', credentials = ''] = /^(\w+) +(\S+) *$/.exec(field) ?? []
  if (scheme.toLowerCase() === 'bearer') return credentials
  if (scheme.toLowerCase() !== 'basic') return null
  const text = Buffer.from(credentials, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon === -1) return null
  const [user, password] = [text.slice(0, colon), text.slice(colon + 1)]
  return isApiKey(user) && isApiKey(password) && user !== password ? null : password || user || null
}
