/** The header fields of one response. */
import { contentOf, type Header, type Response } from '../../contracts/openapi/payloads.ts'
import { matchByKey, matchRest } from '../match.ts'
import { anySchema, writingChange } from './serialization.ts'
import { reportAdded, reportChanged, reportRemoved } from './delta.ts'
import type { OperationWalk, Walk } from './walk.ts'

/** Header fields whose definition is ignored, in lower case (OpenAPI 3.1.1 §4.8.12 and §4.8.17). */
const IGNORED = { request: ['accept', 'content-type', 'authorization'], response: ['content-type'] } as const

/** Whether both sides ignore the definition of a header field. Swagger 2.0 ignores none. */
export function isIgnoredHeader(
  { base, head }: Pick<Walk, 'base' | 'head'>,
  name: string,
  direction: keyof typeof IGNORED,
): boolean {
  if (base.isSwagger || head.isSwagger) return false
  return IGNORED[direction].some((ignored) => ignored === name.toLowerCase())
}

export function compareHeaders(walk: OperationWalk, base: Response, head: Response): void {
  const { status } = head
  const { prefix } = walk.exchange
  const [before, after] = [base, head].map(({ headers }) =>
    headers.filter(({ name }) => !isIgnoredHeader(walk, name, 'response')),
  )
  const byName = matchByKey(before ?? [], after ?? [], ({ name }) => name)
  const { added, removed, kept } = matchRest(byName, ({ name }) => name.toLowerCase())
  for (const { name, isRequired, located } of removed) {
    reportRemoved(walk, `${prefix}header-removed`, { name, status, isRequired }, { located, before: name })
  }
  for (const { name, isRequired, located } of added) {
    reportAdded(walk, `${prefix}header-added`, { name, status, isRequired }, { located, after: name })
  }
  for (const [before, after] of kept) compareHeader(walk, before, after, status)
}

function compareHeader(walk: OperationWalk, base: Header, head: Header, status: string): void {
  const { prefix, lead, answerHeader } = walk.exchange
  const { name, located } = head
  if (base.isRequired !== head.isRequired) {
    const facts = { name, status, action: head.isRequired ? 'became' : 'ceased' } as const
    reportChanged(walk, `${prefix}header-requiredness`, facts, {
      located,
      before: base.isRequired,
      after: head.isRequired,
    })
  }
  const writing = writingChange(walk, { ...base, place: 'header' }, { ...head, place: 'header' })
  if (writing !== null) {
    const { before, after } = writing
    reportChanged(walk, `${prefix}header-writing`, { name, status }, { located, before, after })
    if (writing.isOtherKind) return
  }
  if (base.schema === null && head.schema === null) return
  const use = {
    sites: answerHeader,
    mediaType: contentOf(walk.head, located)[0]?.name ?? null,
    operation: walk.operation,
    where: `${lead}response ${status}, header ${name}`,
    parameter: null,
  }
  walk.use(use, base.schema ?? anySchema(base.located), head.schema ?? anySchema(located))
}
