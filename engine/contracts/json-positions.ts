/**
 * Positions of the members and items of a valid JSON text. The scan before the parser records the containers; they are
 * read on demand.
 */
import { endOfString } from './json-strings.ts'
import { itemFinder, placedChildren, type PlacedChildren, type PlacedNode } from './positions.ts'

const NO_CHILDREN: PlacedChildren = new Map<string, PlacedNode>()

const QUOTE = 34
const OPEN_BRACE = 123

/** The root of a text that `readJson` has accepted. */
export function placeJson(text: string, containers: Containers): PlacedNode {
  const start = skipBlank(text, 0)
  return { offset: start, children: () => jsonChildren(text, containers, start) }
}

/** Offsets of the brackets of every container, in opening order, and of the lines that end with LF. */
export class Containers {
  #starts = new Int32Array(64)
  #ends = new Int32Array(64)
  #size = 0
  #lines = new Int32Array(64)
  /** The first line starts at 0. */
  #lineCount = 1
  readonly #open: number[] = []

  /** Offsets at which lines start. */
  get lineStarts(): Int32Array {
    return this.#lines.subarray(0, this.#lineCount)
  }

  /** Records the start of a line. */
  line(offset: number): void {
    if (this.#lineCount === this.#lines.length) this.#lines = doubled(this.#lines)
    this.#lines[this.#lineCount] = offset
    this.#lineCount += 1
  }

  /** Records an opening bracket. */
  open(offset: number): void {
    if (this.#size === this.#starts.length) {
      this.#starts = doubled(this.#starts)
      this.#ends = doubled(this.#ends)
    }
    this.#starts[this.#size] = offset
    this.#ends[this.#size] = offset
    this.#size += 1
    this.#open.push(this.#size - 1)
  }

  close(offset: number): void {
    const last = this.#open.pop()
    if (last !== undefined) this.#ends[last] = offset
  }

  /** The closing offset of the container that opens at an offset. Undefined if none opens there. */
  closingOf(start: number): number | undefined {
    let low = 0
    let high = this.#size - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#starts[middle] ?? 0) < start) low = middle + 1
      else high = middle
    }
    return this.#size > 0 && this.#starts[low] === start ? this.#ends[low] : undefined
  }
}

function doubled(list: Int32Array): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(list.length * 2)
  longer.set(list)
  return longer
}

function jsonChildren(text: string, containers: Containers, open: number): PlacedChildren {
  const close = containers.closingOf(open)
  if (close === undefined) return NO_CHILDREN
  const isObject = text.charCodeAt(open) === OPEN_BRACE
  const members = new Map<string, number>()
  const items: number[] = []
  let index = skipBlank(text, open + 1)
  while (index < close) {
    if (isObject) members.set(keyAt(text, index), index)
    else items.push(index)
    const value = isObject ? valueOfMember(text, index) : index
    index = skipBlank(text, endOfValue(text, containers, value, close))
    if (text[index] === ',') index = skipBlank(text, index + 1)
  }
  const find = isObject ? (name: string) => members.get(name) : itemFinder(items)
  return placedChildren(find, (offset) => {
    const value = isObject ? valueOfMember(text, offset) : offset
    return { offset, children: () => jsonChildren(text, containers, value) }
  })
}

function keyAt(text: string, start: number): string {
  return String(JSON.parse(text.slice(start, endOfString(text, start) + 1)))
}

/** Where the value of the member starts whose key starts at an offset. */
function valueOfMember(text: string, start: number): number {
  return skipBlank(text, text.indexOf(':', endOfString(text, start) + 1) + 1)
}

function endOfValue(text: string, containers: Containers, start: number, close: number): number {
  if (text.charCodeAt(start) === QUOTE) return endOfString(text, start) + 1
  const end = containers.closingOf(start)
  if (end !== undefined) return end + 1
  const comma = text.indexOf(',', start)
  return comma < 0 || comma > close ? close : comma
}

function skipBlank(text: string, index: number): number {
  let next = index
  while (next < text.length && text.charCodeAt(next) <= 32) next++
  return next
}
