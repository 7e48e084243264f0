/** Matches paths and operations of two contracts into added, removed and kept ones. */
import { type Operation, type PathItem } from '../../contracts/openapi/contract.ts'
import { isStability, removalNotice, dayOf, STABILITY_LEVELS } from '../../schema/lifecycle.ts'
import { pointerOf, type Located } from '../../schema/located.ts'
import { matchByKey, matchRest, type Matched } from '../match.ts'
import { EXCHANGES, type MessageExchange } from './exchange.ts'
import { compareOperation } from './operation.ts'
import { compareOverlaps, type PathEntry } from './path-overlaps.ts'
import { reportAdded, reportChanged, reportRemoved } from './delta-text.ts'
import type { OpenApiFacts } from '../../rules/openapi/changes.ts'
import type { Walk } from './walk.ts'

export function comparePaths(walk: Walk, before: readonly PathItem[], after: readonly PathItem[]): void {
  const matched = matchPaths(walk, before, after)
  const { added, removed, kept } = matched
  for (const { key, item } of removed)
    for (const operation of item.operations.values()) reportRemovedOperation(walk, key, operation, true)
  for (const { key, item } of added) {
    walk.added.add(pointerOf(item.located.at, item.located.document))
    for (const operation of item.operations.values()) reportAddedOperation(walk, key, operation)
  }
  for (const [base, head] of kept) comparePathItems(walk, base.item, head.item, base.key, EXCHANGES.operation)
  compareOverlaps(walk, matched)
}

/** First matches paths as written, then without the names of path parameters: `/users/{id}` is `/users/{userId}`. */
function matchPaths({ options }: Walk, before: readonly PathItem[], after: readonly PathItem[]): Matched<PathEntry> {
  const entries = (items: readonly PathItem[], prefix: string): PathEntry[] =>
    items
      .filter(({ path }) => options.keepsPath(path))
      .map((item) => ({
        key: prefix !== '' && item.path.startsWith(prefix) ? item.path.slice(prefix.length) : item.path,
        item,
      }))
  const exact = matchByKey(entries(before, options.stripBase), entries(after, options.stripHead), ({ key }) => key)
  return options.hasIncludedPathParameters ? exact : matchRest(exact, ({ key }) => key.replaceAll(/\{[^{}]*\}/g, '{}'))
}

/** Compares two path items. Findings name the place by `path`. */
export function comparePathItems(
  walk: Walk,
  base: PathItem,
  head: PathItem,
  path: string,
  exchange: MessageExchange,
): void {
  for (const [method, before] of base.operations) {
    const after = head.operations.get(method)
    if (after === undefined) {
      reportRemovedOperation(walk, path, before, false)
      continue
    }
    const name = { method, path, operation_id: after.operationId }
    walk.attributes.note(path, before, after)
    if (compareStability(walk, before, after, name))
      compareOperation(walk, { item: base, operation: before }, { item: head, operation: after }, name, exchange)
  }
  for (const [method, after] of head.operations)
    if (!base.operations.has(method)) reportAddedOperation(walk, path, after)
}

function reportAddedOperation(walk: Walk, path: string, operation: Operation): void {
  walk.attributes.note(path, operation)
  walk.added.add(pointerOf(operation.located.at, operation.located.document))
  reportAdded(
    walk,
    'operation-added',
    { method: operation.method, path, operation_id: operation.operationId },
    operation.located,
    operation.operationId ?? operation.method,
    {},
  )
}

function reportRemovedOperation(walk: Walk, path: string, operation: Operation, isWholePath: boolean): void {
  const name = { method: operation.method, path, operation_id: operation.operationId }
  walk.attributes.note(path, operation)
  const { stability, sunset } = operation.lifecycle
  if (stability !== null && !isStability(stability)) {
    reportStability(walk, name, operation.located, { step: 'invalid', before: null, after: stability })
    return
  }
  if (isStability(stability) && !isStableEnough(walk, stability)) return
  reportRemoved(walk, 'operation-removed', name, operation.located, operation.operationId ?? operation.method, {
    isWholePath,
    removal: removalNotice(operation.lifecycle, walk.options),
    sunset: dayOf(sunset) ?? sunset,
  })
}

function isStableEnough({ options }: Walk, stability: (typeof STABILITY_LEVELS)[number]): boolean {
  return STABILITY_LEVELS.indexOf(stability) >= STABILITY_LEVELS.indexOf(options.minimumStability)
}

type OperationName = { readonly method: string; readonly path: string; readonly operation_id: string | null }

/** Reports a changed stability. Returns false if the operation is not stable enough to be bound by its contract. */
function compareStability(walk: Walk, before: Operation, after: Operation, name: OperationName): boolean {
  const base = before.lifecycle.stability
  const head = after.lifecycle.stability
  for (const [operation, stability] of [
    [before, base],
    [after, head],
  ] as const) {
    if (stability === null || isStability(stability) || base === head) continue
    reportStability(walk, name, operation.located, { step: 'invalid', before: null, after: stability })
    return true
  }
  // An operation that was not stable enough carried no promise, so a lower level is not reported.
  const step = isStability(base) && !isStableEnough(walk, base) ? 0 : rank(head) - rank(base)
  const facts = { before: base ?? 'stable', after: head ?? 'stable' }
  if (step < 0) reportStability(walk, name, after.located, { step: 'decreased', ...facts })
  // The loss of stability is reported. Changes after it are not.
  if (isStability(head) && !isStableEnough(walk, head)) return false
  if (step > 0) reportStability(walk, name, after.located, { step: 'increased', ...facts })
  return true
}

/** An operation without a stability level is stable. */
function rank(stability: unknown): number {
  return STABILITY_LEVELS.indexOf(isStability(stability) ? stability : 'stable')
}

function reportStability(
  walk: Walk,
  operation: OperationName,
  located: Located,
  facts: OpenApiFacts['operation-stability'],
): void {
  const { before, after } = facts
  reportChanged(walk, 'operation-stability', operation, located, [before, after], facts)
}
