/**
 * The caller, by API key (docs/reference/api.md#authentication). The key is hashed and looked up by its hash, so no comparison
 * of secrets can be timed.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { GatewayError } from '../errors/errors.ts'
import { hashApiKey } from '../callers/api-keys.ts'
import type { ApiKey, Role } from '../store/api-keys.ts'
import type { StorePart } from '../store/store.ts'
import type { Access } from './route.ts'

/** A role includes the rights of the roles below it. */
const RANK: Readonly<Record<Role, number>> = { agent: 0, approver: 1, admin: 2 }
const REQUIRED_RANK: Readonly<Record<Access, number>> = { public: 0, key: RANK.agent, approver: RANK.approver }

/** Longer keys were not issued by this gateway: nothing is hashed for them. */
const LONGEST_KEY = 512

/** The key in the request, as text; null when there is none. */
function presentedKey(headers: IncomingHttpHeaders): string | null {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  const key = bearer ?? headers['x-api-key']
  return typeof key === 'string' && key.length > 0 && key.length <= LONGEST_KEY ? key : null
}

/** The holder of the key in the request; null when there is no valid key. Rejects with STORE_UNAVAILABLE. */
export async function identify(
  headers: IncomingHttpHeaders,
  store: StorePart<'apiKeys.byHash'>,
): Promise<ApiKey | null> {
  const key = presentedKey(headers)
  if (key === null) return null
  const row = await store.apiKeys.byHash(hashApiKey(key))
  return row === null || row.revokedAt !== null ? null : row
}

/** @throws GatewayError UNAUTHENTICATED or FORBIDDEN */
export function requireAccess(caller: ApiKey | null, access: Access): void {
  if (access === 'public') return
  if (caller === null) {
    throw new GatewayError('UNAUTHENTICATED', undefined, {
      headers: { 'WWW-Authenticate': 'Bearer realm="preflight"' },
    })
  }
  if (RANK[caller.role] < REQUIRED_RANK[access]) {
    throw new GatewayError('FORBIDDEN', `This needs the role "${access}"; the key has the role "${caller.role}".`)
  }
}
