/**
 * The caller, by API key (docs/reference/api.md#authentication), and its source-control token. The key is hashed and looked up by
 * its hash, so no comparison of secrets can be timed.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { GatewayError } from '../errors/errors.ts'
import { hashApiKey, isKeyInForce } from '../callers/api-keys.ts'
import { hasRight, rolesWith } from '../callers/rights.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { StorePart } from '../store/store.ts'
import type { Access, RouteExchange } from './route.ts'

/** Longer keys were not issued by this gateway: nothing is hashed for them. */
const LONGEST_KEY = 512

/**
 * The key in the request, as text; null when there is none. Repeated fields of `X-API-Key` are joined by Node.js, and no key has
 * a space. @throws GatewayError INVALID_INPUT for several keys: which caller is meant is not known
 */
function presentedKey(headers: IncomingHttpHeaders): string | null {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  const keys = new Set([bearer ?? '', ...String(headers['x-api-key'] ?? '').split(', ')])
  keys.delete('')
  if (keys.size > 1) throw new GatewayError('INVALID_INPUT', SEVERAL_KEYS)
  const [key] = keys
  return key !== undefined && key.length <= LONGEST_KEY ? key : null
}

const SEVERAL_KEYS = 'The request has different API keys in Authorization and X-API-Key. Send one key.'

/** The last use of a key is stored at most this often. */
const TOUCH_MS = 60_000

/** The holder of the key in the request; null when there is no valid key. Rejects with STORE_UNAVAILABLE or INVALID_INPUT. */
export async function identify(
  headers: IncomingHttpHeaders,
  store: StorePart<'apiKeys.byHash' | 'apiKeys.touch'>,
  now: number,
): Promise<ApiKey | null> {
  const key = presentedKey(headers)
  if (key === null) return null
  const row = await store.apiKeys.byHash(hashApiKey(key))
  if (row === null || !isKeyInForce(row, now)) return null
  // For the operator only: a store that cannot be written shows that elsewhere.
  if (row.usedAt === null || now - row.usedAt >= TOUCH_MS) store.apiKeys.touch(row.hash, now).catch(() => {})
  return row
}

/** @throws GatewayError UNAUTHENTICATED or FORBIDDEN */
export function requireAccess(caller: ApiKey | null, access: Access): void {
  if (access === 'public') return
  if (caller === null) {
    throw new GatewayError('UNAUTHENTICATED', undefined, {
      headers: { 'WWW-Authenticate': 'Bearer realm="preflight"' },
    })
  }
  if (access === 'key' || hasRight(caller, access)) return
  throw new GatewayError(
    'FORBIDDEN',
    `This needs the role ${rolesWith(access)}; the key has the role "${caller.role}".`,
  )
}

/** For openapi.json. */
export const SCM_TOKEN_HEADER = {
  'X-SCM-Token':
    'Short-lived token of the source-control platform, to read the repository with. Used for this request and never kept.',
} as const

/** Null when the request carries none. */
export function scmToken({ headers }: Pick<RouteExchange, 'headers'>): string | null {
  const given = headers['x-scm-token']
  return typeof given === 'string' && given.trim() !== '' ? given.trim() : null
}
