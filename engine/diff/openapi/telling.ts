/** How walkers tell what came, what went and what changed: where it stands, and which side is quoted. */
import type { Operation as OperationName } from '../../finding.ts'
import type { Located } from '../../schema/located.ts'
import type { ContractDelta, Walk } from './walk.ts'

type Change = ContractDelta['change']
type Facts = ContractDelta['facts']

/** `what` is quoted as the value that came; it stands in the head. */
export function tellAdded(
  walk: Walk,
  change: Change,
  operation: OperationName | null,
  located: Located,
  what: unknown,
  facts: Facts,
): void {
  walk.say({ change, facts, operation, side: 'head', located, before: null, after: what })
}

/** `what` is quoted as the value that went; it stands in the base. */
export function tellRemoved(
  walk: Walk,
  change: Change,
  operation: OperationName | null,
  located: Located,
  what: unknown,
  facts: Facts,
): void {
  walk.say({ change, facts, operation, side: 'base', located, before: what, after: null })
}

/** Something that stands on both sides, shown in the head. The two values are facts, too. */
export function tellChanged(
  walk: Walk,
  change: Change,
  operation: OperationName | null,
  located: Located,
  [before, after]: readonly [before: unknown, after: unknown],
  facts: Facts,
): void {
  walk.say({ change, facts: { before, after, ...facts }, operation, side: 'head', located, before, after })
}
