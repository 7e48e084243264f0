/**
 * JSON from the wire that has one reading only. Text that two parsers could read differently is refused, because the bytes
 * that are judged are the bytes that are sent (law 4 of CONTRIBUTING.md). The engine parses it.
 */
import { isUtf8 } from 'node:buffer'
import { DEFAULT_DOCUMENT_LIMITS, readJson } from '../../engine/base.ts'
import type { DocumentLimits } from '../../engine/internal.ts'

type StrictJson = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string }

/**
 * What the JSON, YAML or protobuf of one request may hold, wherever it is read. What costs time is the number of values, not
 * their length, and everybody else waits while it is looked through. A worker does not help: what it reads is copied to the main
 * thread.
 */
export const REQUEST_LIMITS = { maxParts: 100_000, maxValues: 400_000 } as const

/** Arguments of a call are not a contract: deeper nesting is legitimate, and length is bounded before this. */
const LIMITS = { ...DEFAULT_DOCUMENT_LIMITS, ...REQUEST_LIMITS, maxDepth: 512 }

/** For a thread where nobody waits, and whose answer is short. */
export const CHECKED_JSON = { ...LIMITS, maxParts: LIMITS.maxValues }

export function readStrictJson(bytes: Buffer, limits: DocumentLimits = LIMITS): StrictJson {
  return isUtf8(bytes)
    ? readStrictJsonText(bytes.toString('utf8'), limits)
    : { ok: false, message: 'The body is not UTF-8 text.' }
}

export function readStrictJsonText(text: string, limits: DocumentLimits = LIMITS): StrictJson {
  const reading = readJson(text, limits)
  return reading.ok ? { ok: true, value: reading.value } : { ok: false, message: reading.problem.message }
}

/** A message that ends a longer sentence, whose full stop follows. */
export function asClause(message: string): string {
  return message.replace(/\.$/, '')
}

export type JsonObject = Readonly<Record<string, unknown>>

/** A JSON object, as opposed to null, an array or a scalar. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
