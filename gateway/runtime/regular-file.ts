/** Reads of files that somebody named: a FIFO or a device in the place of one is an error at once, and holds nobody up. */
import { closeSync, constants, fstatSync, openSync, readFileSync, statSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'

/** Without this flag the opening of a FIFO waits for who writes to it. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK

/** @throws Error of the file system; with the code `ENOTSUP` where it is no regular file */
export function readRegularFile(file: string): Buffer
export function readRegularFile(file: string, encoding: 'utf8'): string
export function readRegularFile(file: string, encoding?: 'utf8'): Buffer | string {
  const descriptor = openSync(file, FLAGS)
  try {
    assertRegular(file, fstatSync(descriptor))
    return encoding === undefined ? readFileSync(descriptor) : readFileSync(descriptor, encoding)
  } finally {
    closeSync(descriptor)
  }
}

/** The same, without holding up the event loop. */
export async function loadRegularFile(file: string): Promise<Buffer> {
  const handle = await open(file, FLAGS)
  try {
    assertRegular(file, await handle.stat())
    return await handle.readFile()
  } finally {
    await handle.close()
  }
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
  throw Object.assign(new Error(`${file} is ${kind} and no regular file; write its content to a file and name that`), {
    code: 'ENOTSUP',
  })
}
