/**
 * Writes log lines to a file descriptor. A line that cannot be written is lost and counted: neither the gateway nor its end
 * waits for a full disk or for a terminal that was closed. (`SonicBoom`, the writer that comes with pino, tries again for ever
 * when a process ends.)
 */
import type { EventEmitter } from 'node:events'
import { write, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'
import { errorCode } from '../errors/startup-error.ts'

/** Code units that may wait for a slow reader; lines beyond are lost. */
const LONGEST_BACKLOG = 16 * 1024 * 1024
/** The reader of a pipe does not read: tried again after this time. */
const RETRY_MS = 100
/** At the end of the process, a full pipe is tried for so long. */
const LAST_MS = 200

interface LinesDeps {
  readonly write: (
    fd: number,
    bytes: Buffer,
    done: (error: NodeJS.ErrnoException | null, written: number) => void,
  ) => void
  readonly writeSync: (fd: number, bytes: Buffer) => number
  /** Emits `exit` when the process ends. */
  readonly ending: Pick<EventEmitter, 'once'>
}

const NEWLINE = 0x0a

export class LogLines implements DestinationStream {
  readonly #fd: number
  readonly #deps: LinesDeps
  readonly #waiting: string[] = []
  #waitingLength = 0
  #isWriting = false
  /** The last line that was begun was not written to its end. */
  #isTorn = false
  #lost = 0
  #reported = 0
  #onWritable: (lost: number) => void = () => {}

  constructor(fd: number, deps: LinesDeps = { write, writeSync, ending: process }) {
    this.#fd = fd
    this.#deps = deps
    deps.ending.once('exit', () => this.#writeLast())
  }

  /** Lines that could not be written since the start. */
  get lost(): number {
    return this.#lost
  }

  /** @param listener is called when a line is written again, with the number of lines lost since the last call */
  whenWritable(listener: (lost: number) => void): void {
    this.#onWritable = listener
  }

  write(line: string): void {
    if (this.#waitingLength + line.length > LONGEST_BACKLOG) {
      this.#lost += 1
      return
    }
    this.#waiting.push(line)
    this.#waitingLength += line.length
    if (!this.#isWriting) this.#writeWaiting()
  }

  #writeWaiting(): void {
    if (this.#waiting.length > 0) this.#writeFrom(0, this.#takeWaiting())
  }

  #takeWaiting(): Buffer {
    const bytes = Buffer.from(`${this.#isTorn ? '\n' : ''}${this.#waiting.join('')}`)
    this.#isTorn = false
    this.#waiting.length = 0
    this.#waitingLength = 0
    return bytes
  }

  #writeFrom(start: number, bytes: Buffer): void {
    this.#isWriting = true
    this.#deps.write(this.#fd, bytes.subarray(start), (error, written) => {
      if (error?.code === 'EAGAIN') {
        setTimeout(() => this.#writeFrom(start, bytes), RETRY_MS).unref()
        return
      }
      const end = error === null ? start + written : start
      if (error === null && end < bytes.length) {
        this.#writeFrom(end, bytes)
        return
      }
      this.#isWriting = false
      if (error === null) this.#reportLost()
      else this.#lose(bytes, end)
      this.#writeWaiting()
    })
  }

  #lose(bytes: Buffer, end: number): void {
    this.#isTorn = end > 0 && bytes[end - 1] !== NEWLINE
    this.#lost += bytes.subarray(end).filter((byte) => byte === NEWLINE).length
  }

  #reportLost(): void {
    const lost = this.#lost - this.#reported
    if (lost === 0) return
    this.#reported = this.#lost
    this.#onWritable(lost)
  }

  /** The process ends. What the system is writing may still be written, and is not repeated. */
  #writeLast(): void {
    if (this.#waiting.length === 0) return
    const bytes = this.#takeWaiting()
    const deadline = performance.now() + LAST_MS
    for (let end = 0; end < bytes.length && performance.now() < deadline;) {
      try {
        end += this.#deps.writeSync(this.#fd, bytes.subarray(end))
      } catch (error) {
        if (errorCode(error) !== 'EAGAIN') return
      }
    }
  }
}

let stderr: LogLines | null = null

/** The one writer of this process to stderr. */
export function stderrLines(): LogLines {
  return (stderr ??= new LogLines(2))
}
