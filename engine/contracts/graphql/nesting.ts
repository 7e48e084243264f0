/**
 * How deep brackets nest in an SDL text, told without parsing: the parser recurses, so that hostile nesting must be refused
 * before it is parsed. Strings, block strings and comments are skipped (GraphQL §2.1.4, §2.9.4).
 */
import { endOfString } from '../json-strings.ts'

const MARKS = /"""|["#[\](){}]/g
const LINE_END = /[\n\r]/g

/**
 * Offset of the first bracket that is nested deeper than `maxDepth`; null when there is none. In a text whose strings do
 * not close the answer means nothing, and the parser refuses that text before it comes to the brackets.
 */
export function tooDeepAt(text: string, maxDepth: number): number | null {
  let depth = 0
  MARKS.lastIndex = 0
  for (let match = MARKS.exec(text); match !== null; match = MARKS.exec(text)) {
    const [mark] = match
    if (mark === '{' || mark === '[' || mark === '(') {
      if (++depth > maxDepth) return match.index
    } else if (mark === '}' || mark === ']' || mark === ')') depth--
    else {
      const end = endOfSkipped(text, mark, match.index)
      if (end === null) return null
      MARKS.lastIndex = end
    }
  }
  return null
}

/** Offset after the string or comment that starts at `start`; null when it does not end. */
function endOfSkipped(text: string, mark: string, start: number): number | null {
  if (mark === '"""') return endOfBlock(text, start + 3)
  if (mark === '"') {
    const close = endOfString(text, start)
    return close < 0 ? null : close + 1
  }
  LINE_END.lastIndex = start
  return LINE_END.test(text) ? LINE_END.lastIndex : null
}

/** A block string ends with three quotes that no backslash precedes. */
function endOfBlock(text: string, from: number): number | null {
  let close = text.indexOf('"""', from)
  while (close > from && text[close - 1] === '\\') close = text.indexOf('"""', close + 3)
  return close < 0 ? null : close + 3
}
