/**
 * Reads the text of a contract (JSON or YAML) into plain values with source positions. Length, nesting, aliases and
 * expansion are bounded first. Duplicate keys and ambiguous text are refused (laws 4 and 7 of CONTRIBUTING.md).
 *
 * Text that starts like JSON must be valid JSON. YAML readers accept trailing commas and single quotes that JSON
 * readers refuse, so such text would be ambiguous. The exception is a flow mapping whose first key is unquoted: no
 * reader takes that for JSON.
 */
import { fail, ok, type Result } from '../common/result.ts'
import type { SurveyedReferences } from './json-survey.ts'
import { readPlacedJson } from './json-text.ts'
import type { DocumentLimits } from '../model/limits.ts'
import type { Locate } from './positions.ts'
import { overLimit, unreadable } from './unreadable.ts'
import { readYaml, readYamlStream } from './yaml-text.ts'

export interface SourceDocument {
  readonly format: 'json' | 'yaml'
  /** Plain objects, arrays and scalars; aliases are shared references. Never written to; members are read with `Object.hasOwn` or `Object.keys`. */
  readonly root: unknown
  /** Where the member (its key) or item at a JSON Pointer starts, or its nearest ancestor in the text. */
  readonly locate: Locate
  /** What the text refers to, if its reader has seen it. */
  readonly surveyed?: SurveyedReferences
}

/** Reads a contract's text. The problem of a refused text names the fault, its line and column, and the fix. */
export function readDocument(text: string, limits: DocumentLimits): Result<SourceDocument> {
  if (text.length > limits.maxLength) {
    return fail(overLimit(`it has ${text.length} characters, more than ${limits.maxLength}`))
  }
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text
  if (!/\S/.test(body)) return fail(unreadable('it is blank', { fix: 'Give the contract’s text.' }))
  return isJsonText(body) ? jsonDocument(body, limits) : yamlDocument(body, limits)
}

/**
 * Like `readDocument`, for formats that allow several YAML documents in one text: the root is then the list of them.
 */
export function readDocuments(text: string, limits: DocumentLimits): Result<SourceDocument> {
  const single = readDocument(text, limits)
  if (single.ok || single.problem.code === 'ARTIFACT_OVER_LIMIT' || !SEPARATOR.test(text)) return single
  const read = readYamlStream(text.startsWith('\uFEFF') ? text.slice(1) : text, limits)
  // A fault within a stream is reported for the stream. The fault of other text was returned above.
  return read.ok ? ok({ format: 'yaml', ...read.value }) : read
}

/** YAML 1.2.2 §9.1.2. */
const SEPARATOR = /^(?:---|\.\.\.)(?:\s|$)/m

/** Whether a text is read as JSON, with or without a byte order mark. */
export function isJsonText(text: string): boolean {
  return /^\uFEFF?\s*[{[]/.test(text) && !BARE_FLOW_MAPPING.test(text)
}

const BARE_FLOW_MAPPING = /^\uFEFF?\s*\{\s*[A-Za-z_$][\w$.-]*\s*:\s/

function jsonDocument(text: string, limits: DocumentLimits): Result<SourceDocument> {
  const read = readPlacedJson(text, limits)
  return read.ok ? ok({ format: 'json', ...read.value }) : read
}

function yamlDocument(text: string, limits: DocumentLimits): Result<SourceDocument> {
  const read = readYaml(text, limits)
  if (!read.ok) return read
  if (typeof read.value.root === 'object' && read.value.root !== null) return ok({ format: 'yaml', ...read.value })
  // Any prose is a YAML scalar. A single value is accepted only if it is JSON (`true` is a JSON Schema).
  const scalar = jsonDocument(text, limits)
  return scalar.ok ? scalar : fail(unreadable('it is a bare word or text, where a contract is a mapping or a list'))
}
