/**
 * Opens files that a user named and files of the data directory. A FIFO or a device in place of one is an immediate error and
 * blocks nothing.
 */
import { isUtf8 } from 'node:buffer'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  type Stats,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode } from '../errors/startup-error.ts'

/** Without this flag opening a FIFO waits for a writer. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK

/** What is wrong at the path and how to fix it, by the code of the file system. Other errors keep their own words. */
const FAULTS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'does not exist; make it, or name another file'],
  ['ENOTDIR', 'does not exist: a part of its path is a file'],
  ['EISDIR', 'is a directory; name a file in it'],
  ['EACCES', 'may not be read by this user; change its owner or its mode'],
  ['EPERM', 'may not be read by this user; change its owner or its mode'],
  ['ELOOP', 'is a link that leads back to itself'],
])

const NOT_WRITABLE = 'cannot be written by this user; name another file, or change the owner or mode of its folder'

/** The same for a file that is written. */
const WRITING: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'cannot be made in this folder; name another file'],
  ['ENOTDIR', 'cannot be written: a part of its path is a file; name another file'],
  ['EISDIR', 'is a directory; name a file in it'],
  ['EACCES', NOT_WRITABLE],
  ['EPERM', NOT_WRITABLE],
  ['EROFS', 'is on a file system that is read only; name another file'],
])

/** The error in words that name the file; its code stays. */
function namedFault(file: string, error: unknown): unknown {
  const code = errorCode(error)
  return FAULTS.has(code ?? '') ? Object.assign(new Error(fileFault(file, error), { cause: error }), { code }) : error
}

/** An error of the file system in words that name the file: `x.pem is a directory; name a file in it (EISDIR)`. */
export function fileFault(file: string, error: unknown): string {
  const code = errorCode(error) ?? 'unknown error'
  return `${file} ${FAULTS.get(code) ?? 'cannot be read'} (${code})`
}

/**
 * What the file system refused at a path, in words that name it: the text of a command that could not write its output. Null
 * for other errors.
 */
export function pathFault(error: unknown): string | null {
  const path = error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : null
  if (path === null || errorCode(error) === null) return null
  const folder = dirname(path)
  if (errorCode(error) === 'ENOENT' && !existsSync(folder))
    return `${path} cannot be written: the folder ${folder} does not exist; make it, or name another file`
  return WRITING.has(errorCode(error) ?? '') ? `${path} ${WRITING.get(errorCode(error) ?? '')}` : null
}

/** @throws Error that names the file and has the code of the file system; `ENOTSUP` where it is no regular file */
export function readRegularFile(file: string): Buffer
export function readRegularFile(file: string, encoding: 'utf8'): string
export function readRegularFile(file: string, encoding?: 'utf8'): Buffer | string {
  try {
    const descriptor = openSync(file, FLAGS)
    try {
      assertRegular(file, fstatSync(descriptor))
      return encoding === undefined ? readFileSync(descriptor) : readFileSync(descriptor, encoding)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    throw namedFault(file, error)
  }
}

/** For documents and settings. Lenient decoding would make two different texts the same one. */
export function readTextFile(file: string): string {
  return utf8Text(readRegularFile(file))
}

/**
 * For a file that a command line names. It may also be what the shell opened for the command, such as
 * `<(git show v1:openapi.yaml)`: that FIFO has a writer, so reading it ends.
 */
export function readArgumentText(file: string): string {
  return /^\/(?:dev|proc\/self)\/fd\/\d+$/.test(file) ? utf8Text(readFileSync(file)) : readTextFile(file)
}

/** As `readTextFile`, without holding up the event loop. */
export async function loadTextFile(file: string): Promise<string> {
  return utf8Text(await loadRegularFile(file))
}

/** @throws Error when the bytes are not UTF-8 */
export function utf8Text(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Error('it is not UTF-8; save it as UTF-8')
  return bytes.toString('utf8')
}

/** As `readRegularFile`, without holding up the event loop. */
export async function loadRegularFile(file: string): Promise<Buffer> {
  try {
    const handle = await open(file, FLAGS)
    try {
      assertRegular(file, await handle.stat())
      return await handle.readFile()
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw namedFault(file, error)
  }
}

/**
 * For a file that is read and then written to; made when it is not there, for this user only.
 *
 * @returns its descriptor, for the caller to close
 */
export function openRegularFile(file: string): number {
  const descriptor = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK, 0o600)
  try {
    assertRegular(file, fstatSync(descriptor))
    return descriptor
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/** A file that takes the place of another one when it is whole: whatever was left at its path is removed, not opened. */
export function makeTemporaryFile(file: string): number {
  rmSync(file, { force: true })
  return openSync(file, 'wx', 0o600)
}

/** For a file that a library opens by its path. @throws Error with the code `ENOTSUP` where something else than a file is there */
export function assertNoSpecialFile(file: string): void {
  const stats = statsOf(file)
  if (stats !== null) assertRegular(file, stats)
}

/** What is there; null: nothing that can be looked at (missing, a loop of links, a folder on the way that is closed). Reading it says which. */
export function statsOf(path: string): Stats | null {
  try {
    return statSync(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

/** Of a folder the read itself says that it is one. */
function assertRegular(file: string, stats: Stats): void {
  if (stats.isFile() || stats.isDirectory()) return
  const kind = stats.isFIFO() ? 'a FIFO' : stats.isSocket() ? 'a socket' : 'a device'
  throw Object.assign(new Error(`${file} is ${kind} and not a regular file; put a file with its content there`), {
    code: 'ENOTSUP',
  })
}
