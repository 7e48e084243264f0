/** How walkers report added, removed and changed elements: the location and the quoted side. */
import type { Operation as OperationName } from '../../model/finding.ts'
import type { Located } from '../../schema/located.ts'
import type { OpenApiChange, OpenApiFacts } from '../../rules/openapi/changes.ts'
import type { Walk } from './walk.ts'

/** Quotes `what` as the added value, located in the head. */
export function reportAdded<DeltaChange extends OpenApiChange>(
  walk: Walk,
  change: DeltaChange,
  operation: OperationName | null,
  located: Located,
  what: unknown,
  facts: OpenApiFacts[DeltaChange],
): void {
  walk.add({ change, facts, operation, side: 'head', located, before: null, after: what })
}

/** Quotes `what` as the removed value, located in the base. */
export function reportRemoved<DeltaChange extends OpenApiChange>(
  walk: Walk,
  change: DeltaChange,
  operation: OperationName | null,
  located: Located,
  what: unknown,
  facts: OpenApiFacts[DeltaChange],
): void {
  walk.add({ change, facts, operation, side: 'base', located, before: what, after: null })
}

/** Reports an element of both sides, located in the head. */
export function reportChanged<DeltaChange extends OpenApiChange>(
  walk: Walk,
  change: DeltaChange,
  operation: OperationName | null,
  located: Located,
  [before, after]: readonly [before: unknown, after: unknown],
  facts: OpenApiFacts[DeltaChange],
): void {
  walk.add({ change, facts, operation, side: 'head', located, before, after })
}
