/** The published form of the receipt keys (docs/reference/receipts.md#key-set): a JWK Set with the life of each key, written for verifiers and read back by `preflight verify`. */
import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import { fail, ok } from '../../engine/base.ts'
import type { KeySet, KeyStatus, Result, VerificationKey } from '../../engine/internal.ts'
import type { StoredKey } from './key-file.ts'
import { isJsonObject } from '../json/strict-json.ts'

/** Times are UTC, `YYYY-MM-DDThh:mm:ssZ`. */
interface PublishedKey {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
  readonly kid: string
  readonly alg: 'EdDSA'
  readonly use: 'sig'
  readonly status: KeyStatus
  readonly valid_from: string
  readonly retired_at: string | null
  readonly revoked_at: string | null
}

export interface PublishedKeySet {
  readonly keys: readonly PublishedKey[]
}

type KeyLife = Pick<StoredKey, 'retired_at' | 'revoked_at'>

/**
 * A revocation was recorded and holds, whatever the clock shows: this one may have been set back, or that of the machine
 * where the key was revoked may be ahead.
 * @param now seconds since the epoch
 */
export function keyStatus({ retired_at, revoked_at }: KeyLife, now: number): KeyStatus {
  if (revoked_at !== null) return 'revoked'
  return retired_at !== null && retired_at <= now ? 'retired' : 'active'
}

/** @param now seconds since the epoch */
export function publishKeys(keys: readonly StoredKey[], now: number): PublishedKeySet {
  return {
    keys: keys.map((key) => ({
      kty: 'OKP',
      crv: 'Ed25519',
      x: key.x,
      kid: key.kid,
      alg: 'EdDSA',
      use: 'sig',
      status: keyStatus(key, now),
      valid_from: keyInstant(key.valid_from),
      retired_at: key.retired_at === null ? null : keyInstant(key.retired_at),
      revoked_at: key.revoked_at === null ? null : keyInstant(key.revoked_at),
    })),
  }
}

/** @param now seconds since the epoch */
export function verificationKeys(keys: readonly StoredKey[], now: number): KeySet {
  return new Map(
    keys.map((key) => [
      key.kid,
      // Looked up when it is needed: replicas leave keys behind, and a verification asks for one of them.
      verificationKey(() => cachedPublicKey(key.x), {
        keyId: key.kid,
        status: keyStatus(key, now),
        validFrom: key.valid_from,
        retiredAt: key.retired_at,
        revokedAt: key.revoked_at,
      }),
    ]),
  )
}

/** A JWK Set from elsewhere. Keys of other kinds are left out; one of ours that is malformed is a problem, not a key less. */
export function parseKeySet(value: unknown): Result<KeySet> {
  if (!isJsonObject(value) || !Array.isArray(value['keys'])) return malformed('', 'a JWK Set is an object with "keys"')
  const keys = new Map<string, VerificationKey>()
  for (const [index, entry] of value['keys'].entries()) {
    if (!isJsonObject(entry) || entry['kty'] !== 'OKP' || entry['crv'] !== 'Ed25519') continue
    const pointer = `/keys/${index}`
    const key = parseKey(entry)
    if (key === null) return malformed(pointer, 'the Ed25519 key has no valid kid, x, status or times')
    if (keys.has(key.keyId)) return malformed(pointer, `the key id ${key.keyId} occurs twice`)
    keys.set(key.keyId, key)
  }
  return ok(keys)
}

const STATUSES = ['active', 'retired', 'revoked'] as const satisfies readonly KeyStatus[]

function parseKey(entry: Readonly<Record<string, unknown>>): VerificationKey | null {
  const { kid, x } = entry
  // A plain JWK without our members is a key in force since ever.
  const status = STATUSES.find((name) => name === (entry['status'] ?? 'active'))
  const validFrom = epochSeconds(entry['valid_from'] ?? null)
  const retiredAt = epochSeconds(entry['retired_at'] ?? null)
  const revokedAt = epochSeconds(entry['revoked_at'] ?? null)
  if (typeof kid !== 'string' || kid === '' || typeof x !== 'string' || status === undefined) return null
  if (validFrom === undefined || retiredAt === undefined || revokedAt === undefined) return null
  try {
    const key = cachedPublicKey(x)
    return verificationKey(() => key, { keyId: kid, status, validFrom: validFrom ?? 0, retiredAt, revokedAt })
  } catch {
    return null
  }
}

function verificationKey(keyOf: () => KeyObject, life: Omit<VerificationKey, 'verify'>): VerificationKey {
  return {
    ...life,
    verify: (signingInput, signature) => {
      try {
        return verify(null, Buffer.from(signingInput, 'latin1'), keyOf(), Buffer.from(signature, 'base64url'))
      } catch {
        return false
      }
    },
  }
}

/** Keys are few and asked for at every verification. */
const known = new Map<string, KeyObject>()
const MOST_KNOWN = 100

function cachedPublicKey(x: string): KeyObject {
  const found = known.get(x)
  if (found !== undefined) return found
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  if (known.size >= MOST_KNOWN) known.clear()
  known.set(x, key)
  return key
}

function keyInstant(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
}

/** Seconds since the epoch of an keyInstant; null stays null; undefined when it is none. */
function epochSeconds(value: unknown): number | null | undefined {
  if (value === null) return null
  const milliseconds = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(milliseconds) ? undefined : Math.floor(milliseconds / 1000)
}

function malformed(pointer: string, message: string): Result<KeySet> {
  return fail({ code: 'KEYS_UNREADABLE', message: `The key set cannot be read: ${message}.`, pointer })
}
