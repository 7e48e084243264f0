/** Refusals for GraphQL clients: the members of every refusal, and `errors`, which clients show. */
import type { IncomingHttpHeaders } from 'node:http'
import { ERRORS, type ErrorDetail } from '../../errors/errors.ts'
import type { CallFault, Refusal } from '../common/action.ts'
import type { Answer } from '../../calls/answer.ts'
import { jsonAnswer, refusalMembers } from '../common/refusal.ts'

/** With the status of the code, as in docs/reference/wire-headers.md#refusals. */
export function graphqlRefusal(headers: IncomingHttpHeaders, refusal: Refusal): Answer {
  const { code, message, correlationId } = refusal
  const errors = [errorOf({ code, message, correlationId }, refusal.envelope?.decision_id ?? null)]
  return answerTo(headers, ERRORS[code].status, { ...refusalMembers(refusal), errors })
}

/** A fault, or a request that was not judged. */
export function graphqlFault(
  headers: IncomingHttpHeaders,
  { code, message, correlationId }: CallFault,
  details?: readonly ErrorDetail[],
): Answer {
  const errors = [errorOf({ code, message, correlationId }, null)]
  const extensions = details === undefined ? {} : { details }
  return answerTo(headers, ERRORS[code].status, {
    error: code,
    message,
    correlation_id: correlationId,
    ...extensions,
    errors,
  })
}

/**
 * The answer of servers with persisted queries for an unknown hash; clients then state the document together with it.
 * @param batch the number of requests in a batch; null: it is not a batch
 */
export function persistedQueryNotFound(headers: IncomingHttpHeaders, batch: number | null): Answer {
  const extensions = {
    errors: [{ message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }],
  }
  return answerTo(headers, 200, batch === null ? extensions : Array.from({ length: batch }, () => extensions))
}

function errorOf({ code, message, correlationId }: CallFault, decisionId: string | null): unknown {
  const decision = decisionId === null ? {} : { decision_id: decisionId }
  return { message, extensions: { code, correlation_id: correlationId, ...decision } }
}

const RESPONSE_TYPE = 'application/graphql-response+json'

/**
 * Clients that accept the newer media type look for errors in answers with an error status as well (GraphQL over HTTP,
 * "Status Codes").
 */
function answerTo({ accept = '' }: IncomingHttpHeaders, status: number, body: unknown): Answer {
  const type = accept.includes(RESPONSE_TYPE) ? RESPONSE_TYPE : 'application/json'
  return jsonAnswer(status, body, { 'content-type': type })
}
