/** The file that holds the receipt keys: read and checked whole, written whole (a crash leaves the old file or the new one). */
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { join, resolve } from 'node:path'
import { readPrivateFile, unusableFile, writePrivateFile, type PrivateFileKind } from '../runtime/private-file.ts'
import { messageOf } from '../errors/startup-error.ts'
import { isJsonObject } from '../json/strict-json.ts'

const RECEIPT_KEYS: PrivateFileKind = {
  subject: 'The receipt keys',
  remedy:
    'Restore the file from a backup; without it, receipts issued before cannot be verified. To start over with a new key, ' +
    'move the file away.',
}

/** One receipt key as kept. Times are seconds since the epoch; `d` is the private part, gone once the key may not sign any more. */
export interface StoredKey {
  readonly kid: string
  /** Public key, base64url (RFC 8037 §2). */
  readonly x: string
  readonly d: string | null
  readonly valid_from: number
  readonly retired_at: number | null
  readonly revoked_at: number | null
  /** Signs only when no other key may: published beforehand, so that a revocation needs no new one. */
  readonly standby?: true
}

export function keyFile(dataDirectory: string): string {
  return join(resolve(dataDirectory), 'receipt-keys.json')
}

/** Null when there is none yet. Throws a StartupError on a file that cannot be read as keys. */
export function readKeyFile(file: string): readonly StoredKey[] | null {
  const text = readPrivateFile(file, RECEIPT_KEYS)
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    if (isKeyFile(value)) {
      const broken = value.keys.find((key) => !hasFittingParts(key))
      if (broken === undefined) return value.keys
      throw new Error(`the private and the public part of the key ${broken.kid} do not fit`)
    }
  } catch (error) {
    throw unusableFile(file, RECEIPT_KEYS, messageOf(error), error)
  }
  throw unusableFile(file, RECEIPT_KEYS, 'it is not a file of receipt keys')
}

/** Atomic and durable, readable by this user only. */
export function writeKeyFile(file: string, keys: readonly StoredKey[]): void {
  writePrivateFile(file, `${JSON.stringify({ version: 1, keys }, null, 2)}\n`)
}

/** What the private part signs verifies with the public part. Key libraries take either by itself. */
function hasFittingParts({ x, d }: StoredKey): boolean {
  if (d === null) return true
  const own = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', x, d }, format: 'jwk' })
  return createPublicKey(own).export({ format: 'jwk' }).x === x
}

function isKeyFile(value: unknown): value is { readonly keys: readonly StoredKey[] } {
  if (!isJsonObject(value) || value['version'] !== 1 || !Array.isArray(value['keys'])) return false
  return value['keys'].every(isStoredKey)
}

function isStoredKey(value: unknown): value is StoredKey {
  if (!isJsonObject(value)) return false
  return (
    typeof value['kid'] === 'string' &&
    typeof value['x'] === 'string' &&
    (value['d'] === null || typeof value['d'] === 'string') &&
    Number.isSafeInteger(value['valid_from']) &&
    isTime(value['retired_at']) &&
    isTime(value['revoked_at']) &&
    (value['standby'] === undefined || value['standby'] === true)
  )
}

function isTime(value: unknown): boolean {
  return value === null || Number.isSafeInteger(value)
}
