/**
 * Maps a JSON Pointer to line and column, for any text format. A format gives the positions of a node's children. This
 * file descends and caches, so that thousands of pointers cost no more than the text they cover.
 */
import { parsePointer } from './pointer.ts'

export interface Position {
  /** 1-based. */
  readonly line: number
  /** 1-based, in UTF-16 code units. */
  readonly column: number
}

/** A value in the text. `children` is called at most once. A scalar has none. */
export interface PlacedNode {
  /** Offset of the member's key, or of the item. For the root, of the value. */
  readonly offset: number
  children(): PlacedChildren
}

/** The parts of a value, by member name or index. The same name returns the same node. */
export interface PlacedChildren {
  get(token: string): PlacedNode | undefined
}

/**
 * Parts that become nodes only on request, because a list may have a million items. `find` returns the start of a part
 * as `make` needs it.
 */
export function placedChildren(
  find: (token: string) => number | undefined,
  make: (start: number) => PlacedNode,
): PlacedChildren {
  const made = new Map<string, PlacedNode>()
  return {
    get: (token) => {
      const start = made.has(token) ? undefined : find(token)
      if (start !== undefined) made.set(token, make(start))
      return made.get(token)
    },
  }
}

/** Finds the items of a list by their index (RFC 6901 §4). */
export function itemFinder(starts: readonly number[]): (token: string) => number | undefined {
  return (token) => (INDEX.test(token) ? starts[Number(token)] : undefined)
}

const INDEX = /^(?:0|[1-9]\d*)$/

/**
 * The position of the member or item at a JSON Pointer, or of its nearest ancestor in the text. Null if it is not a
 * pointer.
 */
export type Locate = (pointer: string) => Position | null

/** Where a text has an element whose location is not a pointer into it: an offset, or a pointer of another kind. */
export type Mark = number | string

/**
 * Makes the `locate` of a document. `root` and the line table are computed on first use.
 *
 * @param linesByFeed the starts of the lines of a text without CR, where a reader has them
 */
export function locator(text: string, root: () => PlacedNode | null, linesByFeed?: () => LineStarts): Locate {
  let top: PlacedNode | null | undefined
  let starts: LineStarts | undefined
  const childrenOf = new Map<PlacedNode, PlacedChildren>()

  function placedChild(node: PlacedNode, token: string): PlacedNode | undefined {
    let children = childrenOf.get(node)
    if (children === undefined) {
      children = node.children()
      childrenOf.set(node, children)
    }
    return children.get(token)
  }

  return (pointer) => {
    const tokens = parsePointer(pointer)
    if (tokens === null) return null
    top ??= root()
    if (top === null) return null
    starts ??= (text.includes('\r') ? undefined : linesByFeed?.()) ?? lineStarts(text)
    let node = top
    for (const token of tokens) {
      const child = placedChild(node, token)
      if (child === undefined) break
      node = child
    }
    return positionIn(starts, node.offset)
  }
}

/** Lines and columns of many offsets in one text. The line table is computed on first use. */
export function positions(text: string): (offset: number) => Position {
  let starts: LineStarts | undefined
  return (offset) => positionIn((starts ??= lineStarts(text)), offset)
}

/** Line and column of one offset, for a message. */
export function positionAt(text: string, offset: number): Position {
  return positionIn(lineStarts(text), Math.min(Math.max(offset, 0), text.length))
}

type LineStarts = ArrayLike<number>

/** Offsets at which lines start. A line ends with LF, CR LF or a lone CR (YAML 1.2.2 §5.4). */
function lineStarts(text: string): LineStarts {
  const starts = [0]
  if (text.includes('\r')) {
    const lineEnd = /\r\n?|\n/g
    while (lineEnd.test(text)) starts.push(lineEnd.lastIndex)
    return starts
  }
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) starts.push(end + 1)
  return starts
}

function positionIn(starts: LineStarts, offset: number): Position {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
}
