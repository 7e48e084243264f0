/**
 * API keys: how they are created, hashed, named and shown (docs/reference/api.md#authentication), and the first one of an empty
 * store. A key itself is shown once and not stored.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { sha256Hex } from '../runtime/hash.ts'
import type { ApiKey, Role } from '../store/api-keys.ts'
import { isoInstantOrNull } from '../runtime/iso-instant.ts'
import { StartupError } from '../errors/startup-error.ts'
import type { Store } from '../store/store.ts'

/** Default tenant of keys and intercepted calls: a self-hosted gateway usually has one. */
export const LOCAL_TENANT = 'local'

/** Default plan of a self-hosted key (docs/reference/api.md#discovery-and-accounts). */
const DEFAULT_PLAN = 'enterprise'

const SIGNUP = 'signup-'

/** A separate tenant for a key from signup: nobody else may read the decisions of its holder. */
export function signupTenant(): string {
  return SIGNUP + randomUUID()
}

/** True for the tenants that `signupTenant` made. */
export function isSignupTenant(tenant: string): boolean {
  return tenant.startsWith(SIGNUP)
}

/** Minimum length of a key that the operator chooses, in characters. */
export const BOOTSTRAP_KEY_MINIMUM = 24

/** Keys of sidecars outside Kubernetes; the configuration of the hub has their hashes. */
export const HUB_KEY_PREFIX = 'pf_hub_'

const PREFIXES = { live: 'pf_live_', test: 'pf_test_' } as const
type KeyKind = keyof typeof PREFIXES

/** True for the form of an API key, which is also that of the key of a session. */
export function isApiKey(text: string): boolean {
  return Object.values(PREFIXES).some((prefix) => text.startsWith(prefix))
}

/** 256 random bits after the prefix: too many to guess, so an unsalted SHA-256 of it may be stored. */
export function mintApiKey(kind: KeyKind = 'live'): string {
  return PREFIXES[kind] + randomBytes(32).toString('base64url')
}

/** SHA-256 of the UTF-8 key as 64 hex digits: the only form that is stored and looked up. */
export function hashApiKey(key: string): string {
  return sha256Hex(key)
}

/** `v:` and the first 12 digits of the hash (docs/reference/hashes.md#audience). */
export function audienceOfHash(hash: string): string {
  return `v:${hash.slice(0, 12)}`
}

interface ApiKeyRequest {
  readonly key: string
  readonly name: string
  readonly role: Role
  readonly at: number
  readonly tenant?: string
  readonly plan?: string
  readonly groups?: readonly string[]
  readonly expiresAt?: number | null
  readonly owner?: string | null
}

/** False: it was revoked, or it has expired. @param now milliseconds since the epoch */
export function isKeyInForce({ revokedAt, expiresAt }: Pick<ApiKey, 'revokedAt' | 'expiresAt'>, now: number): boolean {
  return revokedAt === null && (expiresAt === null || now < expiresAt)
}

/** When a key ends or has ended, milliseconds since the epoch; null: never by itself. */
export function endOf({ expiresAt }: Pick<ApiKey, 'expiresAt'>): number | null {
  return expiresAt === null ? null : Math.abs(expiresAt)
}

/** Plan of the keys of console sessions. No configuration has it, so they are good for nothing else. */
export const SESSION_PLAN = 'console-session'

/** Owner of the key of a session that a key began. Keys of such owners are removed when they have ended (gateway/store/sql/api-keys.ts). */
export function sessionOwner({ audience }: Pick<ApiKey, 'audience'>): string {
  return `console:${audience}`
}

/** The row to store for a key. */
export function apiKeyRow({ key, name, role, at, tenant, plan, groups, expiresAt, owner }: ApiKeyRequest): ApiKey {
  const hash = hashApiKey(key)
  return {
    hash,
    audience: audienceOfHash(hash),
    tenant: tenant ?? LOCAL_TENANT,
    name,
    role,
    plan: plan ?? DEFAULT_PLAN,
    groups: groups ?? [],
    createdAt: at,
    revokedAt: null,
    expiresAt: expiresAt ?? null,
    owner: owner ?? null,
    usedAt: null,
  }
}

/** @param now milliseconds since the epoch */
export function apiKeyView(key: ApiKey, now: number) {
  const { audience, name, role, groups, tenant, plan, owner, createdAt, usedAt, revokedAt } = key
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
    expires_at: isoInstantOrNull(endOf(key)),
    used_at: isoInstantOrNull(usedAt),
    revoked_at: isoInstantOrNull(revokedAt),
  } as const
}

interface Bootstrap {
  /** The key to show once; null when there was one already or the operator supplied it. */
  readonly printed: string | null
  /** For people, when something that they asked for was not done. */
  readonly warning: string | null
}

/**
 * Creates the admin key of an empty store. A store with keys ignores a bootstrap key: a revoked key must not come back
 * with a restart.
 */
export async function bootstrapKey(store: Store, own: string | null, at: number): Promise<Bootstrap> {
  if (own !== null) requireUsableBootstrapKey(own)
  const existing = await store.apiKeys.list()
  if (existing.length > 0) {
    const isKnown = own === null || existing.some(({ hash }) => hash === hashApiKey(own))
    return { printed: null, warning: isKnown ? null : IGNORED }
  }
  const key = own ?? mintApiKey()
  try {
    await store.apiKeys.create(apiKeyRow({ key, name: 'bootstrap', role: 'admin', at }))
  } catch (error) {
    // Another gateway that starts on the same store may have been first with the same key.
    if (!(await store.apiKeys.list()).some(({ hash }) => hash === hashApiKey(key))) throw error
  }
  return { printed: own === null ? key : null, warning: null }
}

const IGNORED =
  'PREFLIGHT_BOOTSTRAP_KEY is not a key of this store and was ignored: it only sets the first key of an empty store. ' +
  'Create further keys with `preflight keys create`.'

/** Throws a StartupError for a key that can be guessed or that a header cannot carry. */
export function requireUsableBootstrapKey(key: string): void {
  if (key.length >= BOOTSTRAP_KEY_MINIMUM && /^[\x21-\x7e]+$/.test(key)) return
  throw new StartupError(
    `PREFLIGHT_BOOTSTRAP_KEY must have at least ${BOOTSTRAP_KEY_MINIMUM} visible ASCII characters and no spaces, ` +
      'e.g. the output of: openssl rand -hex 32',
  )
}
