/** The input and output of a command: streams, environment, and whether stdout is a terminal. Tests pass in their own. */
import type { Readable, Writable } from 'node:stream'
import { isatty } from 'node:tty'
import { processEnvironment, variable, type Environment } from '../settings/environment.ts'
import { utf8Text } from '../runtime/regular-file.ts'
import { printable } from '../report/printable.ts'

export interface CommandIo {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  readonly environment: Environment
  /** Stdout is a terminal. */
  readonly isTerminal: boolean
  /** From now on the command continues when its output cannot be written: it has other work. */
  readonly continueUnwritten?: () => void
}

/** @param failed is called when a stream cannot be written, such as a file on a full disk */
export function processIo(failed: (stream: 'stdout' | 'stderr', error: Error) => void): CommandIo {
  const { stdin, stdout, stderr } = process
  let isOutputNeeded = true
  // The reader may close the pipe early (`| head`): the command has not failed.
  const handler = (name: 'stdout' | 'stderr') => (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && isOutputNeeded) failed(name, error)
  }
  stdout.on('error', handler('stdout'))
  stderr.on('error', handler('stderr'))
  return {
    stdin,
    stdout,
    stderr,
    environment: processEnvironment(),
    isTerminal: isatty(stdout.fd),
    continueUnwritten() {
      isOutputNeeded = false
    },
  }
}

/** Colour is for a terminal whose user did not decline it (https://no-color.org). */
export function wantsColour({ isTerminal, environment }: CommandIo): boolean {
  return isTerminal && variable(environment, 'NO_COLOR') === null && environment['TERM'] !== 'dumb'
}

export function writeLine(stream: Writable, text: string): void {
  stream.write(text.endsWith('\n') ? text : `${text}\n`)
}

/** @throws Error when the bytes are not UTF-8 */
export async function readStream(stream: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)))
  return utf8Text(Buffer.concat(chunks))
}

/** What a command is doing, on one line of a terminal that replaces itself; nothing where the output is not a terminal. */
export interface Progress {
  show(text: string): void
  /** Takes the line away. */
  end(): void
}

/** The line is written again this often. */
const TICK_MS = 500

/** Work that ends sooner shows nothing. */
const SHOWN_AFTER_MS = 1000
const WIDTH = 78

/** @param now milliseconds since the epoch */
export function openProgress({ isTerminal, stderr }: CommandIo, now: () => number = Date.now): Progress {
  const startedAt = now()
  let isShown = false
  return {
    show(text) {
      if (!isTerminal || now() - startedAt < SHOWN_AFTER_MS) return
      isShown = true
      stderr.write(`\r${printable(text).slice(0, WIDTH).padEnd(WIDTH)}`)
    },
    end() {
      if (isShown) stderr.write(`\r${' '.repeat(WIDTH)}\r`)
    },
  }
}

/** Shows the text, with the seconds so far, while the work takes place. */
export async function during<T>(io: CommandIo, text: string, work: () => Promise<T>): Promise<T> {
  const progress = openProgress(io)
  const startedAt = Date.now()
  const timer = setInterval(() => progress.show(`${text} (${Math.round((Date.now() - startedAt) / 1000)} s)`), TICK_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    progress.end()
  }
}
