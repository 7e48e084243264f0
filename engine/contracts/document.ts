/**
 * Text of a contract (JSON or YAML) → plain values with source positions. Bounded before it is believed: length, nesting,
 * aliases, expansion; duplicate keys and two readings are refused (design.md, laws 4 and 7).
 */
import type { DocumentLimits } from '../compare.ts'
import { fail, type Result } from '../result.ts'

export interface Position {
  /** 1-based. */
  readonly line: number
  readonly column: number
}

export interface SourceDocument {
  readonly format: 'json' | 'yaml'
  /** Plain objects, arrays and scalars; aliases are shared references. Never written to; members are read with `Object.hasOwn` or `Object.keys`. */
  readonly root: unknown
  /** Where the value at a JSON Pointer starts, or the nearest value above it that the text holds. */
  locate(pointer: string): Position | null
}

export function readDocument(_text: string, _limits: DocumentLimits): Result<SourceDocument> {
  return fail({ code: 'ARTIFACT_UNREADABLE', message: 'Reading is being written.' })
}
