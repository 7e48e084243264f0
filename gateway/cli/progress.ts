/** What a command is doing, on one line of a terminal that replaces itself; nothing where the output is not a terminal. */
import { printable } from '../report/printable.ts'
import type { CommandIo } from './io.ts'

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
