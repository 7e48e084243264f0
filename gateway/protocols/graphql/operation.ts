/** One operation of a request: its document, read, and what it comes to as a thing to judge. */
import {
  asksForSchemaOnly,
  operationIn,
  readOperationDocument,
  touchOf,
  type GraphqlShape,
  type Problem,
} from '../../../engine/internal.ts'
import { sha256Hex } from '../../runtime/hash.ts'
import type { Subject } from '../../calls/subject.ts'
import type { GraphqlParameters } from './parameters.ts'

type TouchRequest = Parameters<typeof touchOf>[0]

export interface AskedOperation extends TouchRequest {
  /** For the log: `query GetUser`. */
  readonly name: string
  /** Nothing but the schema itself is asked for. */
  readonly isIntrospection: boolean
  /** As it is executed, a persisted one too. */
  readonly text: string
}

type ReadOperation =
  | { readonly ok: true; readonly operation: AskedOperation }
  | { readonly ok: false; readonly why: string }

/** What one request may cost to be read; those that are written by hand or generated have some hundred. */
const MAX_TOKENS = 20_000
const MAX_DEPTH = 200
/** Of a name that its author chose. */
const MAX_NAME = 100

export function readOperation(text: string, { operationName, variables }: GraphqlParameters): ReadOperation {
  const document = readOperationDocument(text, { maxTokens: MAX_TOKENS, maxDepth: MAX_DEPTH })
  if (!document.ok) return { ok: false, why: wordsOf(document.problem) }
  const operation = operationIn(document.value, operationName)
  if (!operation.ok) return { ok: false, why: wordsOf(operation.problem) }
  const { operation: kind, name } = operation.value
  return {
    ok: true,
    operation: {
      document: document.value,
      operation: operation.value,
      variables,
      name: `${kind}${name === undefined ? '' : ` ${cut(name.value)}`}`,
      isIntrospection: asksForSchemaOnly(document.value, operation.value),
      text,
    },
  }
}

/** As a part of a sentence, with the place in the document. */
function wordsOf({ message, line, column }: Problem): string {
  const what = message.charAt(0).toLowerCase() + message.slice(1).replace(/\.$/, '')
  return line === undefined ? what : `${what} (line ${line}, column ${column})`
}

function cut(text: string): string {
  return text.length <= MAX_NAME ? text : `${text.slice(0, MAX_NAME - 1)}…`
}

/** Digits of the hash of what is touched: nobody finds two operations that touch different things under one target. */
const DIGITS = 32

/**
 * The target names the root fields and everything that is touched, so that a decision serves operations that touch the same, whatever
 * values they give. An operation that the contract does not describe is judged by all of it.
 */
export function subjectOf(route: string, operation: AskedOperation, shapes: readonly GraphqlShape[]): Subject {
  const { root, fields, touches } = touchOf(operation, shapes)
  const listed = cut(fields.join(','))
  const name = `${root} ${listed}${operation.operation.name === undefined ? '' : ` (${cut(operation.operation.name.value)})`}`
  if (touches === null) return { name, target: route, scope: null }
  const hash = sha256Hex(JSON.stringify([root, fields, touches])).slice(0, DIGITS)
  return { name, target: `${route}/${root} ${listed}#${hash}`, scope: { root, fields, touches } }
}
