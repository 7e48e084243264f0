/**
 * Finds the first fault of a refused JSON text: the wrong character or the repeated member name, with line and column.
 * It runs only on failure, because `JSON.parse` gives no position for most faults. RFC 8259 without extensions.
 */
import type { Problem } from '../common/result.ts'
import { endOfString } from './json-strings.ts'
import { positionAt } from './positions.ts'
import { unreadable } from './unreadable.ts'

/** What may come next in the text. */
type Expectation = 'value' | 'first-item' | 'first-key' | 'key' | 'colon' | 'separator' | 'end'

type Container = { readonly close: ']' } | { readonly close: '}'; readonly names: Map<string, number> }

interface TextCursor {
  readonly text: string
  index: number
  expect: Expectation
  readonly open: Container[]
}

interface JsonFault {
  readonly at: number
  readonly what: string
  readonly fix?: string
}

const BLANK = /[ \t\n\r]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])/y
const WORD = /(?:true|false|null)(?!\w)/y

/** The first fault of a text, or null when the text is valid JSON whose member names are unique. */
export function diagnoseJson(text: string): Problem | null {
  const cursor: TextCursor = { text, index: 0, expect: 'value', open: [] }
  for (;;) {
    cursor.index = endOf(BLANK, text, cursor.index) ?? cursor.index
    if (cursor.index >= text.length) break
    const fault = STEPS[cursor.expect](cursor)
    if (fault !== null) return faultProblem(text, fault)
  }
  return cursor.expect === 'end' ? null : faultProblem(text, endedEarly(cursor))
}

const STEPS: Readonly<Record<Expectation, (cursor: TextCursor) => JsonFault | null>> = {
  value: readValue,
  'first-item': (cursor) => (closes(cursor, ']') ? null : readValue(cursor)),
  'first-key': (cursor) => (closes(cursor, '}') ? null : readKey(cursor)),
  key: readKey,
  colon: (cursor) => (takeUnit(cursor, ':', 'value') ? null : unexpected(cursor, 'a colon after the member name')),
  separator: readSeparator,
  end: (cursor) => unexpected(cursor, 'nothing more after the document'),
}

function readValue(cursor: TextCursor): JsonFault | null {
  const unit = cursor.text[cursor.index]
  if (unit === '{' || unit === '[') {
    cursor.open.push(unit === '{' ? { close: '}', names: new Map() } : { close: ']' })
    cursor.expect = unit === '{' ? 'first-key' : 'first-item'
    cursor.index++
    return null
  }
  const end =
    endOfText(cursor.text, cursor.index) ??
    endOf(NUMBER, cursor.text, cursor.index) ??
    endOf(WORD, cursor.text, cursor.index)
  if (end === null) return unit === '"' ? badText(cursor) : unexpected(cursor, 'a value')
  finishValue(cursor, end)
  return null
}

function readKey(cursor: TextCursor): JsonFault | null {
  const at = cursor.index
  const end = endOfText(cursor.text, at)
  const container = cursor.open.at(-1)
  if (end === null || container?.close !== '}') {
    return cursor.text[at] === '"' ? badText(cursor) : unexpected(cursor, 'a member name in double quotes')
  }
  const name = String(JSON.parse(cursor.text.slice(at, end)))
  const first = container.names.get(name)
  if (first !== undefined) return duplicateMember(cursor.text, name, first, at)
  container.names.set(name, at)
  cursor.index = end
  cursor.expect = 'colon'
  return null
}

function readSeparator(cursor: TextCursor): JsonFault | null {
  const close = cursor.open.at(-1)?.close ?? ''
  if (takeUnit(cursor, ',', close === '}' ? 'key' : 'value') || closes(cursor, close)) return null
  return unexpected(cursor, `a comma or ${close}`)
}

function takeUnit(cursor: TextCursor, unit: string, next: Expectation): boolean {
  if (cursor.text[cursor.index] !== unit) return false
  cursor.index++
  cursor.expect = next
  return true
}

function closes(cursor: TextCursor, close: string): boolean {
  if (cursor.text[cursor.index] !== close) return false
  cursor.open.pop()
  finishValue(cursor, cursor.index + 1)
  return true
}

function finishValue(cursor: TextCursor, end: number): void {
  cursor.index = end
  cursor.expect = cursor.open.length > 0 ? 'separator' : 'end'
}

function endOf(pattern: RegExp, text: string, index: number): number | null {
  pattern.lastIndex = index
  return pattern.test(text) ? pattern.lastIndex : null
}

/** The parser validates the content between two quotes. A pattern would need a stack proportional to the text. */
function endOfText(text: string, index: number): number | null {
  const close = text[index] === '"' ? endOfString(text, index) : -1
  if (close < 0) return null
  try {
    JSON.parse(text.slice(index, close + 1))
    return close + 1
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function unexpected(cursor: TextCursor, wanted: string): JsonFault {
  const unit = String.fromCodePoint(cursor.text.codePointAt(cursor.index) ?? 0)
  return { at: cursor.index, what: `it is not valid JSON: found ${JSON.stringify(unit)} instead of ${wanted}` }
}

function badText(cursor: TextCursor): JsonFault {
  const what = 'it is not valid JSON: a text is not closed, or holds a raw control character or an unknown escape'
  return { at: cursor.index, what, fix: 'Close it with a double quote and escape line breaks as \\n.' }
}

function endedEarly({ text, open }: TextCursor): JsonFault {
  const missing = open.length === 0 ? 'a value' : `${open.at(-1)?.close} (${open.length} still open)`
  return { at: text.length, what: `it is not valid JSON: the text ends where ${missing} is missing` }
}

function duplicateMember(text: string, name: string, first: number, at: number): JsonFault {
  const { line, column } = positionAt(text, first)
  return {
    at,
    what: `the member ${JSON.stringify(name)} is written twice, first at line ${line}, column ${column}`,
    fix: 'Keep one of the two: readers disagree on which one counts.',
  }
}

function faultProblem(text: string, { at, what, fix }: JsonFault): Problem {
  return unreadable(what, { position: positionAt(text, at), ...(fix === undefined ? {} : { fix }) })
}
