/** An id that a data directory keeps: made at the first start, the same after a restart. */
import { randomUUID } from 'node:crypto'
import { join, resolve } from 'node:path'
import { makePrivateDirectory, readPrivateFile, writePrivateFile } from './private-file.ts'

interface KeptId {
  readonly file: string
  /** Beginning of the id, before 32 hexadecimal digits. */
  readonly prefix: string
  /** Of the sentence about a file that cannot be read. */
  readonly subject: string
  readonly remedy: string
}

/** A file without such an id is written again. Throws a StartupError when it cannot be read. */
export function keptId(dataDirectory: string, { file, prefix, subject, remedy }: KeptId): string {
  const directory = resolve(dataDirectory)
  const path = join(directory, file)
  const known = readPrivateFile(path, { subject, remedy })?.trim()
  if (known !== undefined && known.startsWith(prefix) && /^[0-9a-f]{32}$/.test(known.slice(prefix.length))) return known
  const made = prefix + randomUUID().replaceAll('-', '')
  makePrivateDirectory(directory)
  writePrivateFile(path, `${made}\n`)
  return made
}
