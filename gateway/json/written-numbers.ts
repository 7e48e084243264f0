/**
 * JSON in which a number keeps its digits. To `JSON.parse` 9007199254740993 and 9007199254740992 are one value (RFC 8259 §6).
 * Two contracts with them would be equal once they are written again.
 */
import canonicalize from 'canonicalize'
import { byCodeUnit } from '../../engine/base.ts'
import { isJsonObject, type JsonObject } from './strict-json.ts'

/** Fewer digits all are doubles of their own (IEEE 754, DBL_DIG). */
const LONG_NUMBER = /\d{16}|(?=[\d.]{17})\d*\.\d/

declare global {
  /** ECMAScript 2026: the text of each value for a reviver, and text that `JSON.stringify` writes as it is. */
  interface JSON {
    parse(
      text: string,
      reviver: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
  }
}

/**
 * The value of a JSON text that is read already. A number with more digits than a double keeps is no number there, but
 * `JSON.stringify` writes its digits. Use it only for what is written again.
 */
export function withWrittenNumbers(text: string, value: unknown): unknown {
  if (!LONG_NUMBER.test(text)) return value
  return JSON.parse(text, (_, held, { source }) =>
    typeof held === 'number' && source !== undefined && LONG_NUMBER.test(source) ? JSON.rawJSON(source) : held,
  )
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
