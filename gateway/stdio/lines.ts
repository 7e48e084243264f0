/** Lines of a byte stream: a message of MCP over standard streams is one line of UTF-8. */
import { MAX_MESSAGE } from './frames.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Cuts a stream into lines without their ends; empty lines are left out. Throws when a line is too long. */
export class LineReader {
  readonly #onLine: (line: Buffer) => void
  readonly #limit: number
  #pieces: Buffer[] = []
  #size = 0

  constructor(limit: number, onLine: (line: Buffer) => void) {
    this.#limit = limit
    this.#onLine = onLine
  }

  push(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.#keep(chunk.subarray(start, end))
      this.#emit()
      start = end + 1
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start))
  }

  /** The last line, when nothing ends it. */
  end(): void {
    this.#emit()
  }

  #keep(piece: Buffer): void {
    this.#size += piece.length
    if (this.#size > this.#limit) throw new Error(`a message is longer than ${this.#limit} bytes`)
    this.#pieces.push(piece)
  }

  #emit(): void {
    const [only] = this.#pieces
    const line = this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#size = 0
    const isTerminated = line.at(-1) === CARRIAGE_RETURN
    const text = isTerminated ? line.subarray(0, -1) : line
    if (text.length > 0) this.#onLine(text)
  }
}

/**
 * True for bytes that some reader takes for two lines. A carriage return is white space of JSON, so the message means
 * the same without it, but a server that ends lines at it would read another message.
 */
export function isSeveralLines(line: Buffer): boolean {
  return line.includes(CARRIAGE_RETURN) || line.includes(LINE_FEED)
}

/** Characters at which some readers end a line (Node.js `readline`, Python `splitlines`), and their escapes in JSON. */
const OTHER_ENDS = [
  ['\u0085', '\\u0085'],
  ['\u2028', '\\u2028'],
  ['\u2029', '\\u2029'],
].map(([character = '', escape = '']) => [Buffer.from(character), escape] as const)

/** Bytes of a line that a wrapper writes: `asOneLine` makes six of two. */
export const LONGEST_WRITTEN_LINE = 3 * MAX_MESSAGE

function latin1Text(bytes: Buffer): string {
  return bytes.toString('latin1')
}

/** The same message as one line for every reader. JSON has these characters only in texts, where an escape means the same. */
export function asOneLine(line: Buffer): Buffer {
  const present = OTHER_ENDS.filter(([bytes]) => line.includes(bytes))
  if (present.length === 0) return line
  // Byte for byte, so that every other byte stays.
  return Buffer.from(
    present.reduce((text, [bytes, escape]) => text.replaceAll(latin1Text(bytes), escape), latin1Text(line)),
    'latin1',
  )
}
