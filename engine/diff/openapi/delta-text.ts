/** How walkers tell what came, what went and what changed: where it stands, and which side is quoted. */
import type { Operation as OperationName } from '../../finding.ts'
import type { Located } from '../../schema/located.ts'
import type { OpenApiChange, OpenApiFacts } from './changes.ts'
import type { Walk } from './walk.ts'

/** `what` is quoted as the value that came; it stands in the head. */
export function tellAdded<DeltaChange extends OpenApiChange>(
  walk: Walk,
  change: DeltaChange,
  operation: OperationName | null,
  located: Located,
  what: unknown,
  facts: OpenApiFacts[DeltaChange],
): void {
  walk.add({ change, facts, operation, side: 'head', located, before: null, after: what })
}

/** `what` is quoted as the value that went; it stands in the base. */
export function tellRemoved<DeltaChange extends OpenApiChange>(
  walk: Walk,
  change: DeltaChange,
  operation: OperationName | null,
  located: Located,
  what: unknown,
  facts: OpenApiFacts[DeltaChange],
): void {
  walk.add({ change, facts, operation, side: 'base', located, before: what, after: null })
}

/** Something that stands on both sides, shown in the head.  */
export function tellChanged<DeltaChange extends OpenApiChange>(
  walk: Walk,
  change: DeltaChange,
  operation: OperationName | null,
  located: Located,
  [before, after]: readonly [before: unknown, after: unknown],
  facts: OpenApiFacts[DeltaChange],
): void {
  walk.add({ change, facts, operation, side: 'head', located, before, after })
}
