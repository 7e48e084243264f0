/** Where the members and items of a valid JSON text stand. The text is scanned once; containers are then entered on demand. */
import { endOfString } from './json-strings.ts'
import type { PlacedNode } from './positions.ts'

const NO_CHILDREN: ReadonlyMap<string, PlacedNode> = new Map()

/** The root of a text that `readJson` has accepted. */
export function placeJson(text: string): PlacedNode {
  const ends = containerEnds(text)
  const start = skipBlank(text, 0)
  return { offset: start, children: () => childrenOf(text, ends, start) }
}

/** Offset of each container's opening bracket → offset of its closing one. */
function containerEnds(text: string): ReadonlyMap<number, number> {
  const ends = new Map<number, number>()
  const open: number[] = []
  for (let index = 0; index < text.length; index++) {
    const unit = text[index]
    if (unit === '"') index = endOfString(text, index)
    else if (unit === '{' || unit === '[') open.push(index)
    else if (unit === '}' || unit === ']') ends.set(open.pop() ?? 0, index)
  }
  return ends
}

function childrenOf(text: string, ends: ReadonlyMap<number, number>, open: number): ReadonlyMap<string, PlacedNode> {
  const close = ends.get(open)
  if (close === undefined) return NO_CHILDREN
  const children = new Map<string, PlacedNode>()
  const isObject = text[open] === '{'
  let index = skipBlank(text, open + 1)
  while (index < close) {
    const offset = index
    let token = String(children.size)
    if (isObject) {
      const keyEnd = endOfString(text, index)
      token = String(JSON.parse(text.slice(index, keyEnd + 1)))
      index = skipBlank(text, text.indexOf(':', keyEnd) + 1)
    }
    const value = index
    children.set(token, { offset, children: () => childrenOf(text, ends, value) })
    index = skipBlank(text, endOfValue(text, ends, value, close))
    if (text[index] === ',') index = skipBlank(text, index + 1)
  }
  return children
}

function endOfValue(text: string, ends: ReadonlyMap<number, number>, start: number, close: number): number {
  if (text[start] === '"') return endOfString(text, start) + 1
  const end = ends.get(start)
  if (end !== undefined) return end + 1
  const comma = text.indexOf(',', start)
  return comma < 0 || comma > close ? close : comma
}

function skipBlank(text: string, index: number): number {
  let next = index
  while (next < text.length && text.charCodeAt(next) <= 32) next++
  return next
}
