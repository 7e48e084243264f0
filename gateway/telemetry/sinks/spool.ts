/**
 * Events on disk that no sink has acknowledged yet: one NDJSON file. An event counts as taken once it is on the disk itself;
 * those that come while the disk is busy share its next write. After a crash an event may be delivered twice, never lost:
 * receivers drop repeats by the CloudEvents id.
 */
import { closeSync, constants, ftruncateSync, readFileSync } from 'node:fs'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf, StartupError } from '../../errors/startup-error.ts'
import { openRegularFile } from '../../runtime/regular-file.ts'
import { makePrivateDirectory } from '../../runtime/private-file.ts'

export interface Spool {
  /** Events kept, those on their way to the disk included. */
  readonly length: number
  /** Serialized events, oldest first; at most `limit`. */
  head(limit: number): readonly string[]
  /**
   * Resolves when the events are on disk; false, and none kept, when the bound is reached or the disk refuses.
   * @param isOwed they end something whose beginning was taken: no bound holds them off, and where the disk refuses them
   *   they are kept in memory until it takes them
   */
  append(lines: readonly string[], isOwed: boolean): Promise<boolean>
  /** Forgets the `count` oldest. */
  drop(count: number): void
  /** Resolves when nothing more is written. */
  close(): Promise<void>
}

/**
 * @param bound maximum number of events before `append` returns false. Throws a StartupError when the file can be neither read
 * nor made.
 */
export function openSpool(file: string, bound: number): Spool {
  try {
    makePrivateDirectory(dirname(file))
    return new FileSpool(file, bound, readSpool(file))
  } catch (error) {
    throw new StartupError(
      `The telemetry spool ${file} cannot be opened: ${messageOf(error)}. ` +
        'It must be a file that this user can read and write, in a directory of data_dir; to begin without the events in it, move it away.',
      { cause: error },
    )
  }
}

interface Group {
  readonly lines: readonly string[]
  readonly isOwed: boolean
  readonly resolve: (isKept: boolean) => void
}

/** Acknowledged events that may stay in the file while live ones do: what makes a rewrite worth its cost. */
const LEAST_DEAD = 1024

class FileSpool implements Spool {
  readonly #file: string
  readonly #bound: number
  /** Not acknowledged, oldest first. */
  readonly #lines: string[]
  #waiting: Group[] = []
  #waitingCount = 0
  #handle: FileHandle | null = null
  /** Bytes of the file that are whole lines; the next write goes there. */
  #size: number
  /** Events in the file, acknowledged ones included. */
  #inFile: number
  /** The file is not what it should be (a write failed in the middle, or events are in memory only). */
  #isAskew: boolean
  #isDue = false
  #isWorking = false
  #work: Promise<void> = Promise.resolve()

  constructor(file: string, bound: number, read: SpoolFile) {
    this.#file = file
    this.#bound = bound
    this.#lines = [...read.lines]
    this.#size = read.size
    this.#inFile = read.lines.length
    this.#isAskew = read.isAskew
  }

  get length(): number {
    return this.#lines.length + this.#waitingCount
  }

  head(limit: number): readonly string[] {
    return this.#lines.slice(0, limit)
  }

  append(lines: readonly string[], isOwed: boolean): Promise<boolean> {
    if (!isOwed && this.length + lines.length > this.#bound) return Promise.resolve(false)
    return new Promise((resolve) => {
      this.#waiting.push({ lines, isOwed, resolve })
      this.#waitingCount += lines.length
      this.#wake()
    })
  }

  drop(count: number): void {
    this.#lines.splice(0, count)
    if (this.#hasDeadWeight()) this.#wake()
  }

  async close(): Promise<void> {
    await this.#work
    await this.#handle?.close()
    this.#handle = null
  }

  #hasDeadWeight(): boolean {
    if (this.#lines.length === 0) return this.#inFile > 0
    return this.#inFile - this.#lines.length >= Math.max(LEAST_DEAD, this.#lines.length)
  }

  /** One worker at a time: the order on the disk is the order of the `append` calls. */
  #wake(): void {
    this.#isDue = true
    if (this.#isWorking) return
    this.#isWorking = true
    this.#work = this.#workOff()
  }

  async #workOff(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false
      await this.#commit(this.#waiting.splice(0))
    }
    // In the same turn as the last look: whoever comes next starts anew.
    this.#isWorking = false
  }

  async #commit(groups: readonly Group[]): Promise<void> {
    const isWritten = await this.#write(groups.flatMap(({ lines }) => lines))
    for (const { lines, isOwed, resolve } of groups) {
      this.#waitingCount -= lines.length
      const isKept = isWritten || isOwed
      if (isKept) for (const line of lines) this.#lines.push(line)
      resolve(isKept)
    }
  }

  /** False when the disk refuses: the file is put right before anything else is written to it. */
  async #write(lines: readonly string[]): Promise<boolean> {
    try {
      if (this.#isAskew || this.#hasDeadWeight()) await this.#rewrite()
      if (lines.length === 0) return true
      this.#handle ??= await open(this.#file, constants.O_RDWR | constants.O_NONBLOCK)
      const bytes = Buffer.from(joinedLines(lines))
      await writeAt(this.#handle, bytes, this.#size)
      await this.#handle.datasync()
      this.#size += bytes.length
      this.#inFile += lines.length
      return true
    } catch {
      // A full or broken disk is the same answer as a full spool: the caller must not proceed unmonitored.
      this.#isAskew = true
      return false
    }
  }

  /** Whole or not at all: a crash in the middle leaves the old file. */
  async #rewrite(): Promise<void> {
    const lines = [...this.#lines]
    const bytes = Buffer.from(joinedLines(lines))
    const temporary = `${this.#file}.new`
    await rm(temporary, { force: true })
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await writeAt(handle, bytes, 0)
      await handle.datasync()
      await rename(temporary, this.#file)
    } catch (error) {
      await handle.close()
      throw error
    }
    await this.#handle?.close()
    this.#handle = handle
    this.#size = bytes.length
    this.#inFile = lines.length
    await syncDirectory(dirname(this.#file))
    this.#isAskew = false
  }
}

async function writeAt(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let written = 0
  while (written < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written)
    written += bytesWritten
  }
}

/** A rename is on the disk when its directory is. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

interface SpoolFile {
  readonly lines: readonly string[]
  /** Bytes of whole lines. */
  readonly size: number
  readonly isAskew: boolean
}

const NEWLINE = 0x0a

/** A crash can tear the last line; it is cut off, or the next event would be written to its end and be lost with it. */
function readSpool(file: string): SpoolFile {
  const descriptor = openRegularFile(file)
  try {
    const bytes = readFileSync(descriptor)
    const size = bytes.lastIndexOf(NEWLINE) + 1
    if (size < bytes.length) ftruncateSync(descriptor, size)
    const written = bytes.subarray(0, size).toString('utf8').split('\n').slice(0, -1)
    const lines = written.filter(isJsonLine)
    return { lines, size, isAskew: lines.length < written.length }
  } finally {
    closeSync(descriptor)
  }
}

function isJsonLine(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}

function joinedLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}
