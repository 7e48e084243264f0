/**
 * Text of a contract (JSON or YAML) → plain values with source positions. Bounded before it is believed: length, nesting,
 * aliases, expansion; duplicate keys and two readings are refused (laws 4 and 7 of CONTRIBUTING.md).
 *
 * What starts like JSON is read as JSON and refused as JSON: a text that JSON readers refuse and YAML readers accept
 * (a trailing comma, single quotes) would have two readings. The exception is a flow mapping whose first key is a bare
 * word, which nobody takes for JSON.
 */
import { fail, ok, type Result } from '../result.ts'
import { readPlacedJson } from './json-text.ts'
import type { DocumentLimits } from '../limits.ts'
import type { Locate } from './positions.ts'
import { overLimit, unreadable } from './unreadable.ts'
import { readYaml, readYamlStream } from './yaml-text.ts'

export type { Position } from './positions.ts'

export interface SourceDocument {
  readonly format: 'json' | 'yaml'
  /** Plain objects, arrays and scalars; aliases are shared references. Never written to; members are read with `Object.hasOwn` or `Object.keys`. */
  readonly root: unknown
  /** Where the member (its key) or item at a JSON Pointer starts, or the nearest above it that the text holds. */
  readonly locate: Locate
}

/** Reads a contract's text; the problem of a refused one names the fault, its line and column, and how to mend it. */
export function readDocument(text: string, limits: DocumentLimits): Result<SourceDocument> {
  if (text.length > limits.maxLength) {
    return fail(overLimit(`it has ${text.length} characters, more than ${limits.maxLength}`))
  }
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text
  const first = /\S/.exec(body)?.[0]
  if (first === undefined) return fail(unreadable('it is blank', { fix: 'Give the contract’s text.' }))
  const isJson = (first === '{' || first === '[') && !BARE_FLOW_MAPPING.test(body)
  return isJson ? jsonDocument(body, limits) : yamlDocument(body, limits)
}

/** Like `readDocument`, for formats that are kept as several YAML documents in one text: those are the list of them. */
export function readDocuments(text: string, limits: DocumentLimits): Result<SourceDocument> {
  const single = readDocument(text, limits)
  if (single.ok || single.problem.code === 'ARTIFACT_OVER_LIMIT' || !SEPARATOR.test(text)) return single
  const read = readYamlStream(text.startsWith('\uFEFF') ? text.slice(1) : text, limits)
  // A fault within a stream is told of the stream; what is no stream was told above.
  return read.ok ? ok({ format: 'yaml', ...read.value }) : read
}

/** YAML 1.2.2 §9.1.2. */
const SEPARATOR = /^(?:---|\.\.\.)(?:\s|$)/m

const BARE_FLOW_MAPPING = /^\s*\{\s*[A-Za-z_$][\w$.-]*\s*:\s/

function jsonDocument(text: string, limits: DocumentLimits): Result<SourceDocument> {
  const read = readPlacedJson(text, limits)
  return read.ok ? ok({ format: 'json', ...read.value }) : read
}

function yamlDocument(text: string, limits: DocumentLimits): Result<SourceDocument> {
  const read = readYaml(text, limits)
  if (!read.ok) return read
  if (typeof read.value.root === 'object' && read.value.root !== null) return ok({ format: 'yaml', ...read.value })
  // Any prose is a YAML scalar; a single value counts only where JSON says the same (`true` is a JSON Schema).
  const scalar = jsonDocument(text, limits)
  return scalar.ok ? scalar : fail(unreadable('it is a bare word or text, where a contract is a mapping or a list'))
}
