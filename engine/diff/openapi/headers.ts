/** The header fields and links of one response. */
import { membersAt } from '../../contracts/openapi/contract.ts'
import { contentOf, type Header, type Response } from '../../contracts/openapi/payloads.ts'
import type { Operation as OperationName } from '../../model/finding.ts'
import { isEqual } from '../../schema/equality.ts'
import { isRecord } from '../../schema/located.ts'
import { matchByKey, matchRest } from '../match.ts'
import type { MessageExchange } from './exchange.ts'
import { anySchema, writingChange } from './serialization.ts'
import { reportAdded, reportChanged, reportRemoved } from './delta-text.ts'
import type { Walk } from './walk.ts'

export function compareHeaders(
  walk: Walk,
  base: Response,
  head: Response,
  operation: OperationName,
  exchange: MessageExchange,
): void {
  const { status } = head
  const { prefix } = exchange
  const byName = matchByKey(base.headers, head.headers, ({ name }) => name)
  const { added, removed, kept } = matchRest(byName, ({ name }) => name.toLowerCase())
  for (const { name, isRequired, located } of removed) {
    reportRemoved(walk, `${prefix}header-removed`, operation, located, name, { name, status, isRequired })
  }
  for (const { name, isRequired, located } of added) {
    reportAdded(walk, `${prefix}header-added`, operation, located, name, { name, status, isRequired })
  }
  for (const [before, after] of kept) compareHeader(walk, before, after, status, operation, exchange)
}

function compareHeader(
  walk: Walk,
  base: Header,
  head: Header,
  status: string,
  operation: OperationName,
  { prefix, lead, answerHeader }: MessageExchange,
): void {
  const { name, located } = head
  if (base.isRequired !== head.isRequired) {
    const facts = { name, status, action: head.isRequired ? 'became' : 'ceased' } as const
    reportChanged(walk, `${prefix}header-requiredness`, operation, located, [base.isRequired, head.isRequired], facts)
  }
  const writing = writingChange(walk, { ...base, place: 'header' }, { ...head, place: 'header' })
  if (writing !== null) {
    const { before, after } = writing
    reportChanged(walk, `${prefix}header-writing`, operation, located, [before, after], { name, status })
    if (writing.isOtherKind) return
  }
  if (base.schema === null && head.schema === null) return
  const use = {
    sites: answerHeader,
    mediaType: contentOf(walk.head, located)[0]?.name ?? null,
    operation,
    where: `${lead}response ${status}, header ${name}`,
    parameter: null,
  }
  walk.use(use, base.schema ?? anySchema(base.located), head.schema ?? anySchema(located))
}

export function compareLinks(walk: Walk, base: Response, head: Response, operation: OperationName): void {
  const { status } = head
  const { added, removed, kept } = matchByKey(
    membersAt(base.located, 'links'),
    membersAt(head.located, 'links'),
    ([name]) => name,
  )
  for (const [name, located] of removed) {
    reportRemoved(walk, 'link', operation, located, name, { name, status, action: 'removed' })
  }
  for (const [name, located] of added) {
    reportAdded(walk, 'link', operation, located, name, { name, status, action: 'added' })
  }
  for (const [[name, one], [, other]] of kept) {
    const [before, after] = [walk.base.documents.follow(one)?.value, walk.head.documents.follow(other)?.value]
    if (isEqual(linkOf(before), linkOf(after))) continue
    reportChanged(walk, 'link', operation, other, [before, after], { name, status, action: 'changed' })
  }
}

function linkOf(value: unknown): unknown {
  if (!isRecord(value)) return value
  const { operationId, operationRef, parameters, requestBody, server } = value
  return { operationId, operationRef, parameters, requestBody, server }
}
