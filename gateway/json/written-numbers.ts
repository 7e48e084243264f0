/**
 * JSON in which a number keeps its digits. To `JSON.parse` 9007199254740993 and 9007199254740992 are one value (RFC 8259 §6).
 * Two contracts with them would be equal once they are written again.
 */
import { randomUUID } from 'node:crypto'
import canonicalize from 'canonicalize'
import { byCodeUnit, endOfString } from '../../engine/base.ts'
import { isJsonObject, type JsonObject } from './strict-json.ts'

/** Fewer digits all are doubles of their own (IEEE 754, DBL_DIG). */
const LONG_NUMBER = /\d{16}|(?=[\d.]{17})\d*\.\d/
const LEAST = 16

/** Stands before the digits of a number that is written as a string. It is made at random, so no text holds it. */
const MARK = `\uE000${randomUUID()} `

declare global {
  /** ECMAScript 2026: text that `JSON.stringify` writes as it is. */
  interface JSON {
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
  }
}

/**
 * The value of a JSON text that is read already. A number with more digits than a double keeps is no number there, but
 * `JSON.stringify` writes its digits. Use it only for what is written again. A reviver takes several times as long.
 */
export function withWrittenNumbers(text: string, value: unknown): unknown {
  if (!LONG_NUMBER.test(text)) return value
  const marked = withMarkedNumbers(text)
  return marked === text ? value : restored({ whole: JSON.parse(marked) })['whole']
}

const [QUOTE, MINUS, PLUS, DOT, ZERO, NINE] = [34, 45, 43, 46, 48, 57]
const EXPONENTS: ReadonlySet<number> = new Set(['e', 'E'].map((letter) => letter.charCodeAt(0)))

function withMarkedNumbers(text: string): string {
  let [marked, end] = ['', 0]
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit === QUOTE) {
      index = endOfString(text, index)
      if (index < 0) break
    } else if (isDigit(unit) || unit === MINUS) {
      const start = index
      while (isOfNumber(text.charCodeAt(index + 1))) index += 1
      if (index - start < LEAST - 1) continue
      const number = text.slice(start, index + 1)
      if (!LONG_NUMBER.test(number)) continue
      marked += `${text.slice(end, start)}"${MARK}${number}"`
      end = index + 1
    }
  }
  return marked + text.slice(end)
}

function isDigit(unit: number): boolean {
  return unit >= ZERO && unit <= NINE
}

function isOfNumber(unit: number): boolean {
  return isDigit(unit) || unit === DOT || unit === MINUS || unit === PLUS || EXPONENTS.has(unit)
}

/** Replaces marked strings by numbers with their digits, in place. */
function restored(root: Record<string, unknown>): typeof root {
  const open = [root]
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    // Numbers and most strings are passed over: of a list of a million, not each gets a name.
    for (const name in holder) {
      const held = holder[name]
      if (isHolder(held)) open.push(held)
      else if (typeof held === 'string' && held.startsWith(MARK)) holder[name] = JSON.rawJSON(held.slice(MARK.length))
    }
  }
  return root
}

function isHolder(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Whether a value has members. A number with its digits has none. */
export function hasMembers(value: unknown): value is JsonObject {
  return isJsonObject(value) && !JSON.isRawJSON(value)
}

/** The canonical text (RFC 8785 §3.2) of a value whose long numbers keep their digits. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  if (!hasMembers(value)) return (JSON.isRawJSON(value) ? JSON.stringify(value) : canonicalize(value)) ?? 'null'
  const members = Object.entries(value).filter(([, held]) => held !== undefined)
  const sorted = members.toSorted(([one], [other]) => byCodeUnit(one, other))
  return `{${sorted.map(([name, held]) => `${canonicalText(name)}:${canonicalText(held)}`).join(',')}}`
}
