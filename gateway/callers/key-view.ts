/** An API key as the API, the console and the command line show it: never the key itself. */
import type { ApiKey } from '../store/api-keys.ts'
import { isKeyInForce } from './api-keys.ts'

/** @param now milliseconds since the epoch */
export function apiKeyView(key: ApiKey, now: number) {
  const { audience, name, role, groups, tenant, plan, owner, createdAt, expiresAt, usedAt, revokedAt } = key
  return {
    id: audience,
    name,
    role,
    groups,
    tenant,
    plan,
    owner,
    state: revokedAt !== null ? 'revoked' : isKeyInForce(key, now) ? 'valid' : 'expired',
    created_at: new Date(createdAt).toISOString(),
    expires_at: isoOrNull(expiresAt),
    used_at: isoOrNull(usedAt),
    revoked_at: isoOrNull(revokedAt),
  } as const
}

function isoOrNull(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}
