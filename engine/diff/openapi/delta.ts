/** How walkers report added, removed and changed elements of the operation, or of the interface, that they are in. */
import type { Located } from '../../schema/located.ts'
import type { OpenApiChange, OpenApiFacts } from '../../rules/openapi/changes.ts'
import type { Walk } from './walk.ts'

/** An element with the text or value that is quoted of each side. */
interface ChangedElement {
  readonly located: Located
  readonly before: unknown
  readonly after: unknown
}

export function reportAdded<Change extends OpenApiChange>(
  walk: Walk,
  change: Change,
  facts: OpenApiFacts[Change],
  { located, after }: Omit<ChangedElement, 'before'>,
): void {
  walk.add({ change, facts, operation: walk.operation, side: 'head', located, before: null, after })
}

export function reportRemoved<Change extends OpenApiChange>(
  walk: Walk,
  change: Change,
  facts: OpenApiFacts[Change],
  { located, before }: Omit<ChangedElement, 'after'>,
): void {
  walk.add({ change, facts, operation: walk.operation, side: 'base', located, before, after: null })
}

/** Reports an element of both sides, located in the head. */
export function reportChanged<Change extends OpenApiChange>(
  walk: Walk,
  change: Change,
  facts: OpenApiFacts[Change],
  { located, before, after }: ChangedElement,
): void {
  walk.add({ change, facts, operation: walk.operation, side: 'head', located, before, after })
}
