/** The authorities of our own that sign what agents are shown, in one file of the data directory: read and checked whole, written whole. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { writePrivateFile } from '../private-file.ts'
import { errorCode, messageOf, StartupError } from '../startup-error.ts'

export interface StoredAuthority {
  /** PEM. */
  readonly certificate: string
  /** PEM, PKCS #8; null once another one signs. */
  readonly key: string | null
  /** Seconds since the epoch: from then on it signs, and the one before it does not. */
  readonly signs_from: number
}

export function authorityFile(dataDirectory: string): string {
  return join(resolve(dataDirectory), 'interception-ca.json')
}

/** Oldest first; empty when there is none yet. Throws a StartupError on a file that cannot be read as authorities. */
export function readAuthorityFile(file: string): readonly StoredAuthority[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw unreadable(file, messageOf(error))
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw unreadable(file, messageOf(error))
  }
  if (isAuthorityFile(value)) return value.authorities
  throw unreadable(file, 'it is not a file of authorities')
}

export function writeAuthorityFile(file: string, authorities: readonly StoredAuthority[]): void {
  writePrivateFile(file, `${JSON.stringify({ version: 1, authorities }, null, 2)}\n`)
}

function isAuthorityFile(value: unknown): value is { readonly authorities: readonly StoredAuthority[] } {
  return (
    isRecord(value) &&
    value['version'] === 1 &&
    Array.isArray(value['authorities']) &&
    value['authorities'].every(
      (one) =>
        isRecord(one) &&
        typeof one['certificate'] === 'string' &&
        (one['key'] === null || typeof one['key'] === 'string') &&
        Number.isSafeInteger(one['signs_from']),
    )
  )
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function unreadable(file: string, reason: string): StartupError {
  return new StartupError(
    `The certificate authority ${file} cannot be read: ${reason}. Restore the file from a backup, or move it away: a new ` +
      'authority is made then, and agents have to be given its certificate (preflight ca show).',
  )
}
