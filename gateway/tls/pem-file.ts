/** A PEM file of the configuration, or why it cannot be used. */
import type { Result } from '../../engine/internal.ts'
import { messageOf } from '../errors/startup-error.ts'
import { readRegularFile } from '../runtime/regular-file.ts'

export interface PemFault<File extends string> {
  /** The setting that names the file. */
  readonly file: File
  readonly reason: string
}

const CONTENTS = { certificate: 'certificate', key: 'private key', client_ca: 'usable authorities' } as const

export function readPem<File extends keyof typeof CONTENTS, Parsed>(
  file: File,
  path: string,
  parse: (pem: string) => Parsed,
): Result<Parsed, PemFault<File>> {
  try {
    return { ok: true, value: parse(readRegularFile(path, 'utf8')) }
  } catch (error) {
    return pemFault(file, `it holds no ${CONTENTS[file]} in PEM (${messageOf(error)})`)
  }
}

export function pemFault<File extends string>(
  file: File,
  reason: string,
): { readonly ok: false; readonly problem: PemFault<File> } {
  return { ok: false, problem: { file, reason } }
}
