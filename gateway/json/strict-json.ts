/**
 * JSON from the wire that has one reading only. Text that two parsers could read differently is refused, because the bytes
 * that are judged are the bytes that are sent (law 4 of CONTRIBUTING.md). The engine parses it.
 */
import { isUtf8 } from 'node:buffer'
import { DEFAULT_DOCUMENT_LIMITS, readJson } from '../../engine/base.ts'

type StrictJson = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string }

/**
 * Arguments of a call are not a contract: deeper nesting is legitimate, and length is bounded before this. What costs time is the
 * number of values, not their length, and everybody else waits for it.
 */
const LIMITS = { ...DEFAULT_DOCUMENT_LIMITS, maxDepth: 512, maxValues: 200_000 }

export function readStrictJson(bytes: Buffer): StrictJson {
  return isUtf8(bytes)
    ? readStrictJsonText(bytes.toString('utf8'))
    : { ok: false, message: 'The body is not UTF-8 text.' }
}

export function readStrictJsonText(text: string): StrictJson {
  const reading = readJson(text, LIMITS)
  return reading.ok ? { ok: true, value: reading.value } : { ok: false, message: reading.problem.message }
}

export type JsonObject = Readonly<Record<string, unknown>>

/** A JSON object, as opposed to null, an array or a scalar. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
