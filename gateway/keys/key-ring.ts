/**
 * The receipt keys of this gateway: which one signs now, which verify, and the life of each (docs/reference/receipts.md#key-rotation). A new key is
 * published before it signs (overlap), so that verifiers who cache the key set know it when its first receipt comes.
 */
import { createPrivateKey, sign, type KeyObject } from 'node:crypto'
import { dirname } from 'node:path'
import type { KeySet, Signer } from '../../engine/internal.ts'
import { GatewayError } from '../errors/errors.ts'
import { StartupError, messageOf } from '../errors/startup-error.ts'
import type { ExternalSigner } from './external-signer.ts'
import { keyStatus, publishKeys, verificationKeys, type PublishedKeySet } from './jwks.ts'
import { keyFile, readKeyFile, writeKeyFile, type StoredKey } from './key-file.ts'
import type { ReceiptSigner } from './receipt-signer.ts'
import { makePrivateDirectory } from '../runtime/private-file.ts'

/** Seconds since the epoch. */
type Clock = () => number

export const systemClock: Clock = () => Math.floor(Date.now() / 1000)

/** Public key of another gateway that shares the store. Times are seconds since the epoch. */
interface OtherKey {
  readonly kid: string
  readonly x: string
  readonly validFrom: number
  readonly retiredAt: number | null
  readonly revokedAt: number | null
}

export interface KeyRing {
  /** The key that signs now; ask for it at each receipt. Throws SIGNER_UNAVAILABLE when every key is retired or revoked. */
  signer(): ReceiptSigner
  keySet(): KeySet
  /** What /.well-known/jwks.json answers. */
  published(): PublishedKeySet
  /** Reads the file again: another process may have rotated it. Throws a StartupError and keeps the old keys when it is broken. */
  reload(): void
  /** New key that signs after `overlap` seconds; the key before it retires at that moment. Answers its id. */
  rotate(overlap: number): Promise<string>
  /** The key signs no more; its earlier receipts stay valid. False when there is no such key in force. */
  retire(keyId: string): boolean
  /** Nothing signed by the key is valid any more; the next one signs from then on. False when there is no such key. */
  revoke(keyId: string): boolean
  /** The keys of this gateway. */
  own(): readonly StoredKey[]
  /** Verifies with keys of other gateways too; those of before are forgotten. */
  join(others: readonly OtherKey[]): void
  /** Makes a key that is ready to take over when there is none; it is published from then on. */
  replenish(): Promise<void>
}

/**
 * Opens the keys of a data directory and makes the first one when there is none. Throws a StartupError.
 * @param external signs instead of a key of the file; its public key joins the file, so that its receipts verify for life
 */
export async function openKeyRing(
  dataDirectory: string,
  clock: Clock = systemClock,
  external: ExternalSigner | null = null,
): Promise<KeyRing> {
  const file = keyFile(dataDirectory)
  const keys = external === null ? await ownKeys(file, clock()) : adopt(external, file, clock())
  const ring = new FileKeyRing(file, keys, clock, external)
  await ring.replenish()
  return ring
}

class FileKeyRing implements KeyRing {
  readonly #file: string
  readonly #clock: Clock
  readonly #external: ExternalSigner | null
  #keys: readonly StoredKey[]
  /** Without those of this gateway. */
  #others: readonly StoredKey[] = []
  #signing: Signing | null

  constructor(file: string, keys: readonly StoredKey[], clock: Clock, external: ExternalSigner | null) {
    this.#file = file
    this.#keys = keys
    this.#clock = clock
    this.#external = external
    this.#signing = this.#signerAt(clock())
  }

  signer(): ReceiptSigner {
    const now = this.#clock()
    if (this.#signing === null || now >= this.#signing.until) this.#signing = this.#signerAt(now)
    if (this.#signing !== null) return this.#signing.signer
    throw new GatewayError('SIGNER_UNAVAILABLE', undefined, { cause: new Error(whyNone(this.#keys, now)) })
  }

  keySet(): KeySet {
    return verificationKeys([...this.#keys, ...this.#others], this.#clock())
  }

  published(): PublishedKeySet {
    return publishKeys([...this.#keys, ...this.#others], this.#clock())
  }

  own(): readonly StoredKey[] {
    return this.#keys
  }

  join(rows: readonly OtherKey[]): void {
    const own = new Set(this.#keys.map(({ kid }) => kid))
    this.#others = rows.filter(({ kid }) => !own.has(kid)).map(storedKey)
  }

  reload(): void {
    this.#keys = readKeyFile(this.#file) ?? this.#keys
    this.#signing = this.#signerAt(this.#clock())
  }

  async rotate(overlap: number): Promise<string> {
    const startsAt = this.#clock() + overlap
    const key = await newKey(startsAt)
    this.#replace([...this.#keys.map((one) => (one.standby === true ? one : retiredAt(one, startsAt))), key])
    return key.kid
  }

  retire(keyId: string): boolean {
    const key = this.#find(keyId)
    const now = this.#clock()
    if (key === undefined || keyStatus(key, now) !== 'active') return false
    this.#replace(this.#keys.map((one) => (one === key ? { ...key, retired_at: now, d: null } : one)))
    return true
  }

  revoke(keyId: string): boolean {
    const key = this.#find(keyId)
    if (key === undefined) return false
    const revoked = { ...key, revoked_at: key.revoked_at ?? this.#clock(), d: null }
    this.#replace(this.#keys.map((one) => (one === key ? revoked : one)))
    return true
  }

  async replenish(): Promise<void> {
    if (this.#external !== null || hasSpare(this.#keys, this.#clock())) return
    const spare = await newKey(this.#clock())
    this.#replace([...this.#keys, { ...spare, standby: true }])
  }

  #find(keyId: string): StoredKey | undefined {
    return this.#keys.find(({ kid }) => kid === keyId)
  }

  #replace(keys: readonly StoredKey[]): void {
    writeKeyFile(this.#file, keys)
    this.#keys = keys
    this.#signing = this.#signerAt(this.#clock())
  }

  #signerAt(now: number): Signing | null {
    return this.#external === null ? currentSigner(this.#keys, now) : externalSigning(this.#external, this.#keys, now)
  }
}

/** Another gateway's key has no private part here. */
function storedKey({ kid, x, validFrom, retiredAt, revokedAt }: OtherKey): StoredKey {
  return { kid, x, d: null, valid_from: validFrom, retired_at: retiredAt, revoked_at: revokedAt }
}

function whyNone(keys: readonly StoredKey[], now: number): string {
  const begins = keys.find((key) => key.d !== null && key.valid_from > now && keyStatus(key, now) === 'active')
  if (begins === undefined) return 'no receipt key is in force; make one with `preflight keys rotate --overlap 0`'
  const at = new Date(begins.valid_from * 1000).toISOString()
  return `the clock of this machine is before the first receipt key begins (${at}): set the clock. If it is right now, it was wrong when the key was made: run \`preflight keys rotate --overlap 0\``
}

interface Signing {
  readonly signer: ReceiptSigner
  /** When another key takes over, seconds since the epoch. */
  readonly until: number
}

/** Keys that may sign now: begun, not ended, with their private part. */
function usableKeys(keys: readonly StoredKey[], now: number): readonly StoredKey[] {
  return keys.filter((key) => key.d !== null && key.valid_from <= now && keyStatus(key, now) === 'active')
}

/** The youngest that may sign; the oldest of those that stand by when there is no other. */
function currentKey(keys: readonly StoredKey[], now: number): StoredKey | null {
  const usable = usableKeys(keys, now)
  const youngest = usable
    .filter(({ standby }) => standby === undefined)
    .reduce<StoredKey | null>(
      (found, next) => (found === null || next.valid_from >= found.valid_from ? next : found),
      null,
    )
  return youngest ?? usable[0] ?? null
}

/** True when a key takes over immediately when the one that signs is revoked. */
function hasSpare(keys: readonly StoredKey[], now: number): boolean {
  const current = currentKey(keys, now)
  return current === null || usableKeys(keys, now).some((key) => key !== current)
}

function currentSigner(keys: readonly StoredKey[], now: number): Signing | null {
  const key = currentKey(keys, now)
  if (key === null || key.d === null) return null
  const starts = keys
    .filter(({ valid_from, d, standby }) => d !== null && standby === undefined && valid_from > now)
    .map(({ valid_from }) => valid_from)
  return {
    signer: createSigner(key.kid, privateKey(key.x, key.d)),
    until: Math.min(...starts, key.retired_at ?? Infinity),
  }
}

function createSigner(keyId: string, key: KeyObject): Signer {
  return {
    keyId,
    sign: (signingInput) => sign(null, Buffer.from(signingInput, 'latin1'), key).toString('base64url'),
  }
}

function privateKey(x: string, d: string): KeyObject {
  return createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', x, d }, format: 'jwk' })
}

function retiredAt(key: StoredKey, at: number): StoredKey {
  return key.retired_at === null || key.retired_at > at ? { ...key, retired_at: at } : key
}

async function ownKeys(file: string, now: number): Promise<readonly StoredKey[]> {
  return readKeyFile(file) ?? writtenKeys(file, [await newKey(now)])
}

/** The external key stands in the file without its private part; keys of the file's own sign no more, and lose theirs. */
function adopt({ keyId, x }: ExternalSigner, file: string, now: number): readonly StoredKey[] {
  const before = readKeyFile(file) ?? []
  // A new data directory does not know since when the key signs: other gateways of the same signer may be older.
  const since = before.length === 0 ? 0 : now
  const own = { kid: keyId, x, d: null, valid_from: since, retired_at: null, revoked_at: null }
  const stored = before.find(({ kid }) => kid === keyId)
  const others = before.filter((key) => key !== stored)
  // It signs now: the clock was ahead when the key joined the file.
  const known = stored !== undefined && stored.valid_from > now ? { ...stored, valid_from: now } : stored
  if (
    known !== undefined &&
    known === stored &&
    others.every((key) => key.d === null && keyStatus(key, now) !== 'active')
  )
    return before
  return writtenKeys(file, [...others.map((key) => ({ ...retiredAt(key, now), d: null })), known ?? own])
}

function externalSigning(signer: ExternalSigner, keys: readonly StoredKey[], now: number): Signing | null {
  const key = keys.find(({ kid }) => kid === signer.keyId)
  if (key === undefined || keyStatus(key, now) !== 'active') return null
  return { signer, until: key.retired_at ?? Infinity }
}

/** The first keys of a file that may not be there yet. */
function writtenKeys(file: string, keys: readonly StoredKey[]): readonly StoredKey[] {
  try {
    makePrivateDirectory(dirname(file))
    writeKeyFile(file, keys)
  } catch (error) {
    throw new StartupError(
      `The receipt key cannot be written to ${file}: ${messageOf(error)}. The data directory must be writable by this ` +
        'user; name another with data_dir (PREFLIGHT_DATA_DIR).',
      { cause: error },
    )
  }
  return keys
}

/** An Ed25519 key whose id is its RFC 7638 thumbprint; one that a command line would take for an option is made again. */
export async function newKey(validFrom: number): Promise<StoredKey> {
  // Needed once in the life of a key: not worth loading at every start.
  const { generateKeyPair } = await import('jose/key/generate/keypair')
  const { exportJWK } = await import('jose/key/export')
  const { calculateJwkThumbprint } = await import('jose/jwk/thumbprint')
  for (;;) {
    const pair = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
    const { x, d } = await exportJWK(pair.privateKey)
    if (x === undefined || d === undefined) throw new Error('the generated key has no Ed25519 members')
    const kid = await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x })
    if (!kid.startsWith('-')) return { kid, x, d, valid_from: validFrom, retired_at: null, revoked_at: null }
  }
}
