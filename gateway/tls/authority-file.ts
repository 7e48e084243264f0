/**
 * The file in the data directory with the authorities that sign certificates for agents: read and checked as a whole, written
 * as a whole.
 */
import { join, resolve } from 'node:path'
import { readPrivateFile, unusableFile, writePrivateFile, type PrivateFileKind } from '../runtime/private-file.ts'
import { messageOf } from '../errors/startup-error.ts'
import { isJsonObject } from '../json/strict-json.ts'

const AUTHORITIES: PrivateFileKind = {
  subject: 'The certificate authority',
  remedy:
    'Restore the file from a backup, or move it away. Then a new authority is made, and agents need its ' +
    'certificate (preflight ca show).',
}

export interface StoredAuthority {
  /** PEM. */
  readonly certificate: string
  /** PEM, PKCS #8; null once another one signs. */
  readonly key: string | null
  /** Seconds since the epoch: from then on it signs, and the previous one does not. */
  readonly signs_from: number
}

export function authorityFile(dataDirectory: string): string {
  return join(resolve(dataDirectory), 'interception-ca.json')
}

/** Oldest first; empty when there is none yet. Throws a StartupError on a file that cannot be read as authorities. */
export function readAuthorityFile(file: string): readonly StoredAuthority[] {
  const text = readPrivateFile(file, AUTHORITIES)
  if (text === null) return []
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw unusableFile(file, AUTHORITIES, messageOf(error), error)
  }
  if (isAuthorityFile(value)) return value.authorities
  throw unusableFile(file, AUTHORITIES, 'it is not a file of authorities')
}

export function writeAuthorityFile(file: string, authorities: readonly StoredAuthority[]): void {
  writePrivateFile(file, `${JSON.stringify({ version: 1, authorities }, null, 2)}\n`)
}

function isAuthorityFile(value: unknown): value is { readonly authorities: readonly StoredAuthority[] } {
  return (
    isJsonObject(value) &&
    value['version'] === 1 &&
    Array.isArray(value['authorities']) &&
    value['authorities'].every(
      (one) =>
        isJsonObject(one) &&
        typeof one['certificate'] === 'string' &&
        (one['key'] === null || typeof one['key'] === 'string') &&
        Number.isSafeInteger(one['signs_from']),
    )
  )
}
