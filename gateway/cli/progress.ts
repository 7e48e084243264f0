/** What a command is doing, on one line of a terminal that replaces itself; nothing where the output is not a terminal. */
import { printable } from '../report/printable.ts'
import type { CommandIo } from './io.ts'

export interface Progress {
  show(text: string): void
  /** Takes the line away. */
  end(): void
}

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
