/** The payloads of an operation: request body and responses, matched by status. */
import { effectiveBody, responsesOf, type Response } from '../../contracts/openapi/payloads.ts'
import { matchByKey } from '../match.ts'
import { compareContent } from './content.ts'
import { compareHeaders } from './headers.ts'
import { compareLinks } from './links.ts'
import { reportChanged } from './delta.ts'
import type { OperationSide, OperationWalk, PayloadPlace } from './walk.ts'

export function comparePayloads(walk: OperationWalk, before: OperationSide, after: OperationSide): void {
  compareBodies(walk, before, after)
  compareResponses(walk, before, after)
}

function compareBodies(walk: OperationWalk, before: OperationSide, after: OperationSide): void {
  const { exchange } = walk
  const base = effectiveBody(walk.base, before.item, before.operation)
  const head = effectiveBody(walk.head, after.item, after.operation)
  if (base === null && head === null) return
  const change = exchange.kind === 'operation' ? 'request-body' : 'callback-body'
  if (base === null || head === null) {
    const facts = { action: base === null ? 'added' : 'removed', isRequired: head?.isRequired ?? false } as const
    const located = (head ?? base)?.located ?? after.operation.located
    walk.add({
      change,
      facts,
      operation: walk.operation,
      side: head === null ? 'base' : 'head',
      located,
      before: null,
      after: null,
    })
    return
  }
  if (base.isRequired !== head.isRequired) {
    const facts = { action: head.isRequired ? 'became' : 'ceased', isRequired: head.isRequired } as const
    reportChanged(walk, change, facts, { located: head.located, before: base.isRequired, after: head.isRequired })
  }
  const [direction, where] = [
    exchange.kind === 'operation' ? 'request' : 'response',
    `${exchange.lead}request body`,
  ] as const
  const place: PayloadPlace = { direction, of: `${exchange.prefix}request`, status: '', sites: exchange.body, where }
  compareContent(walk, base.content, head.content, place)
}

function compareResponses(walk: OperationWalk, before: OperationSide, after: OperationSide): void {
  const base = responsesOf(walk.base, before.operation)
  const head = responsesOf(walk.head, after.operation)
  const { added, removed, kept } = matchByKey(base, head, ({ status }) => status.toUpperCase())
  for (const response of removed) {
    const range = rangeOf(base, response.status) === null ? null : rangeOf(head, response.status)
    if (range !== null) {
      // It is described by the range of both sides, and readers knew that others of the range are possible.
      if (walk.exchange.kind === 'operation') compareLinks(walk, response, { ...range, status: response.status })
      continue
    }
    const isNarrowed = head.some(({ status }) => isStatusWithin(status, response.status))
    reportStatus(walk, response, isNarrowed ? 'narrowed' : 'removed')
  }
  for (const response of added) reportStatus(walk, response, 'added')
  for (const [before, after] of kept) {
    compareResponse(walk, before, after)
    if (walk.exchange.kind === 'operation') compareLinks(walk, before, after)
  }
  for (const response of removed) {
    const cover = coverOf(head, response.status)
    if (cover !== null) compareResponse(walk, response, { ...cover, status: response.status })
  }
  for (const response of added) {
    const cover = coverOf(base, response.status)
    if (cover !== null) compareResponse(walk, cover, response)
  }
}

function compareResponse(walk: OperationWalk, before: Response, after: Response): void {
  if (before.located.value === after.located.value) return
  const { exchange } = walk
  const { status } = after
  const [direction, where] = [
    exchange.kind === 'operation' ? 'response' : 'request',
    `${exchange.lead}response ${status}`,
  ] as const
  const place: PayloadPlace = { direction, of: `${exchange.prefix}response`, status, sites: exchange.answer, where }
  compareContent(walk, before.content, after.content, place)
  compareHeaders(walk, before, after)
}

/** The response that described an unlisted status: its range, else `default` (OpenAPI 3.1.0 §4.8.16). */
function coverOf(responses: readonly Response[], status: string): Response | null {
  const range = rangeOf(responses, status)
  if (range !== null) return range
  // A default response beside listed successes is written for errors.
  const isForErrors = responses.some((response) => isSuccess(response.status))
  if (status === 'default' || (isSuccess(status) && isForErrors)) return null
  return responses.find((response) => response.status === 'default') ?? null
}

function rangeOf(responses: readonly Response[], status: string): Response | null {
  return responses.find((response) => isStatusWithin(status, response.status)) ?? null
}

/** Whether a status is in a range: `201` is in `2XX`. */
function isStatusWithin(status: string, range: string): boolean {
  return /^[1-5]\d\d$/.test(status) && /^[1-5]XX$/i.test(range) && status[0] === range[0]
}

function isSuccess(status: string): boolean {
  return /^2(\d\d|XX)$/i.test(status)
}

function reportStatus(
  walk: OperationWalk,
  { status, located }: Response,
  action: 'added' | 'removed' | 'narrowed',
): void {
  const of = status === 'default' ? 'default' : isSuccess(status) ? 'success' : 'other'
  const [before, after] = action === 'added' ? [null, status] : [status, null]
  walk.add({
    change: `${walk.exchange.prefix}response-status`,
    facts: { action, status, of },
    operation: walk.operation,
    side: action === 'added' ? 'head' : 'base',
    located,
    before,
    after,
  })
}
