/**
 * Measures bracket nesting in SDL text without parsing. The parser is recursive, so hostile nesting must be refused
 * first. Strings, block strings and comments are skipped (GraphQL §2.1.4, §2.9.4).
 */
import { endOfString } from '../json-strings.ts'

const MARKS = /"""|["#[\](){}]/g
const LINE_END = /[\n\r]/g

/**
 * Offset of the first bracket nested deeper than `maxDepth`, or null. If a string is not closed, the result has no
 * meaning; the parser then refuses the text before it reaches the brackets.
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

/** Offset after the string or comment that starts at `start`. Null if it does not end. */
function endOfSkipped(text: string, mark: string, start: number): number | null {
  if (mark === '"""') return endOfBlock(text, start + 3)
  if (mark === '"') {
    const close = endOfString(text, start)
    return close < 0 ? null : close + 1
  }
  LINE_END.lastIndex = start
  return LINE_END.test(text) ? LINE_END.lastIndex : null
}

/** A block string ends with three quotes without a preceding backslash. */
function endOfBlock(text: string, from: number): number | null {
  let close = text.indexOf('"""', from)
  while (close > from && text[close - 1] === '\\') close = text.indexOf('"""', close + 3)
  return close < 0 ? null : close + 3
}
