/** The links of one response. */
import { membersAt } from '../../contracts/openapi/contract.ts'
import type { Response } from '../../contracts/openapi/payloads.ts'
import { isEqual } from '../../schema/equality.ts'
import { isRecord, type JsonRecord, type Located } from '../../schema/located.ts'
import { matchByKey } from '../match.ts'
import { reportAdded, reportChanged, reportRemoved } from './delta.ts'
import { withComparableExpressions } from './runtime-expressions.ts'
import type { Walk } from './walk.ts'

export function compareLinks(walk: Walk, base: Response, head: Response): void {
  const { status } = head
  const { added, removed, kept } = matchByKey(
    membersAt(base.located, 'links'),
    membersAt(head.located, 'links'),
    ([name]) => name,
  )
  for (const [name, located] of removed) {
    reportRemoved(walk, 'link', { name, status, action: 'removed' }, { located, before: name })
  }
  for (const [name, located] of added) {
    reportAdded(walk, 'link', { name, status, action: 'added' }, { located, after: name })
  }
  for (const [[name, one], [, other]] of kept) {
    const [before, after] = [walk.base.documents.follow(one), walk.head.documents.follow(other)]
    const isKept =
      isEqual(callOf(before), callOf(after)) &&
      hasSameParameters(walk, before, after) &&
      !leadsElsewhere(walk, before, after)
    if (isKept) continue
    const quoted = { before: before?.value, after: after?.value }
    reportChanged(walk, 'link', { name, status, action: 'changed' }, { located: other, ...quoted })
  }
}

/** What a link says of the call, without the operation and its parameters. */
function callOf(link: Located | null): unknown {
  if (!isRecord(link?.value)) return link?.value
  const { requestBody, server } = link.value
  return withComparableExpressions({ requestBody, server })
}

/** Parameters are the same if they get the same values, by whatever name a link means them. */
function hasSameParameters({ links }: Walk, base: Located | null, head: Located | null): boolean {
  const [before, after] = [parametersOf(base), parametersOf(head)]
  /** A name that is clear on one side only is compared as it is written. */
  const meant = (name: string): readonly (string | null)[] => {
    const names = [links.base.parameterOf(base, name), links.head.parameterOf(head, name)]
    const isOfBoth = Object.hasOwn(before, name) && Object.hasOwn(after, name)
    return isOfBoth && names.includes(null) ? [null, null] : names
  }
  const byMeaning = (parameters: JsonRecord, side: 0 | 1): JsonRecord => {
    const entries = Object.entries(parameters).map(([name, value]) => [meant(name)[side] ?? `named ${name}`, value])
    const all = new Map<unknown, unknown>(entries.map(([name, value]) => [name, value]))
    // Which of two values a parameter gets is not stated.
    return all.size < entries.length ? parameters : Object.fromEntries(all)
  }
  const [from, to] = [byMeaning(before, 0), byMeaning(after, 1)].map(withComparableExpressions)
  return isEqual(from, to)
}

function parametersOf(link: Located | null): JsonRecord {
  const parameters = isRecord(link?.value) ? link.value['parameters'] : undefined
  return isRecord(parameters) ? parameters : {}
}

/** An operation of the base that the head does not have at its path is reported as removed. */
function leadsElsewhere({ links }: Walk, base: Located | null, head: Located | null): boolean {
  const [before, after] = [links.base.targetOf(base), links.head.targetOf(head)]
  const isSameText = isEqual(targetText(base), targetText(head))
  if (before === null) return !isSameText
  return before !== after && (!isSameText || links.head.has(before))
}

function targetText(link: Located | null): unknown {
  if (!isRecord(link?.value)) return null
  const { operationId, operationRef } = link.value
  return { operationId, operationRef }
}
