/** One operation of a request: its parsed document, and the resource to judge. */
import {
  asksForSchemaOnly,
  operationIn,
  readOperationDocument,
  touchOf,
  type GraphqlShape,
  type Problem,
} from '../../../engine/internal.ts'
import { sha256Hex } from '../../runtime/hash.ts'
import type { JudgedResource } from '../../calls/judged-resource.ts'
import type { GraphqlParameters } from './parameters.ts'

type TouchRequest = Parameters<typeof touchOf>[0]

export interface RequestedOperation extends TouchRequest {
  /** For the log: `query GetUser`. */
  readonly name: string
  /** Only the schema itself is requested. */
  readonly isIntrospection: boolean
  /** The executed text, also for a persisted document. */
  readonly text: string
}

type ReadOperation =
  | { readonly ok: true; readonly operation: RequestedOperation }
  | { readonly ok: false; readonly why: string }

/** Limits on parsing one request; documents written by hand or generated have some hundred tokens. */
const MAX_TOKENS = 20_000
const MAX_DEPTH = 200
/** Maximum length of a name that its author chose. */
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
      name: `${kind}${name === undefined ? '' : ` ${shortened(name.value)}`}`,
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

function shortened(text: string): string {
  return text.length <= MAX_NAME ? text : `${text.slice(0, MAX_NAME - 1)}…`
}

/**
 * Hex digits of the hash of the touched elements: enough that nobody finds two operations with different elements and
 * the same target.
 */
const DIGITS = 32

/**
 * The target names the root fields and everything that is touched. So a decision serves operations that touch the same
 * elements, whatever their values. An operation that the contract does not describe is judged by the whole contract.
 */
export function operationResource(
  route: string,
  operation: RequestedOperation,
  shapes: readonly GraphqlShape[],
): JudgedResource {
  const { root, fields, touches } = touchOf(operation, shapes)
  const listed = shortened(fields.join(','))
  const name = `${root} ${listed}${operation.operation.name === undefined ? '' : ` (${shortened(operation.operation.name.value)})`}`
  if (touches === null) return { name, target: route, scope: null }
  const hash = sha256Hex(JSON.stringify([root, fields, touches])).slice(0, DIGITS)
  return { name, target: `${route}/${root} ${listed}#${hash}`, scope: { root, fields, touches } }
}
