/** Where the members and items of a valid JSON text stand. The text is scanned once; containers are then entered on demand. */
import { endOfString } from './json-strings.ts'
import { itemFinder, placedChildren, type PlacedChildren, type PlacedNode } from './positions.ts'

const NO_CHILDREN: PlacedChildren = new Map<string, PlacedNode>()

const QUOTE = 34
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/** The root of a text that `readJson` has accepted. */
export function placeJson(text: string): PlacedNode {
  const containers = scanContainers(text)
  const start = skipBlank(text, 0)
  return { offset: start, children: () => childrenOf(text, containers, start) }
}

/** Offsets of the brackets of every container, in the order in which they open. */
interface Containers {
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

function scanContainers(text: string): Containers {
  const starts: number[] = []
  const ends: number[] = []
  const open: number[] = []
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit === QUOTE) index = endOfString(text, index)
    else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      open.push(starts.length)
      starts.push(index)
      ends.push(index)
    } else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) ends[open.pop() ?? 0] = index
  }
  return { starts, ends }
}

/** Where the container that opens at an offset closes; undefined when none opens there. */
function closingOf({ starts, ends }: Containers, start: number): number | undefined {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? 0) < start) low = middle + 1
    else high = middle
  }
  return starts[low] === start ? ends[low] : undefined
}

function childrenOf(text: string, containers: Containers, open: number): PlacedChildren {
  const close = closingOf(containers, open)
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
    return { offset, children: () => childrenOf(text, containers, value) }
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
  const end = closingOf(containers, start)
  if (end !== undefined) return end + 1
  const comma = text.indexOf(',', start)
  return comma < 0 || comma > close ? close : comma
}

function skipBlank(text: string, index: number): number {
  let next = index
  while (next < text.length && text.charCodeAt(next) <= 32) next++
  return next
}
