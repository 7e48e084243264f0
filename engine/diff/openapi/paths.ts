/** Matches paths and operations of two contracts into added, removed and kept ones. */
import type { ApiOperation, PathItem } from '../../contracts/openapi/contract.ts'
import { comparableEscapes } from '../../common/percent-decoding.ts'
import { isStability, removalNotice, dayOf, STABILITY_LEVELS } from '../../schema/lifecycle.ts'
import { pointerOf, type Located } from '../../schema/located.ts'
import { matchByKey, matchRest, type Matched } from '../match.ts'
import type { Sides } from '../sides.ts'
import { EXCHANGES, type MessageExchange } from './exchange.ts'
import { compareOperation } from './operation.ts'
import { withoutNames, type MovedPrefix } from './moved-prefix.ts'
import { compareOverlaps } from './path-overlaps.ts'
import type { PathEntry } from './path-templates.ts'
import { untouchedOperations } from './untouched-operations.ts'
import { reportAdded, reportChanged, reportRemoved } from './delta.ts'
import type { OpenApiFacts } from '../../rules/openapi/changes.ts'
import type { OperationWalk, Walk } from './walk.ts'

export function comparePaths(walk: Walk, paths: Sides<readonly PathItem[]>, moved: MovedPrefix): void {
  const matched = matchPaths(walk, paths, moved)
  const { added, removed, kept } = matched
  for (const { key, item } of removed)
    for (const operation of item.operations.values()) reportRemovedOperation(walk, key, operation, true)
  for (const { key, item } of added) {
    walk.added.add(pointerOf(item.located.at, item.located.document))
    for (const operation of item.operations.values()) reportAddedOperation(walk, key, operation)
  }
  const untouched = untouchedOperations(
    walk,
    kept.map(([base, head]) => [base.item, head.item]),
  )
  for (const [base, head] of kept) comparePathItems(walk, base, head, EXCHANGES.operation, untouched)
  compareOverlaps(walk, matched)
}

/**
 * First matches paths as written, then with the same escapes, then without the names of path parameters: `/users/{id}` is
 * `/users/{userId}`.
 */
function matchPaths(
  { options }: Walk,
  { base, head }: Sides<readonly PathItem[]>,
  moved: MovedPrefix,
): Matched<PathEntry> {
  const entries = (items: readonly PathItem[], stripped: string, inServers: string): PathEntry[] =>
    items
      .filter(({ path }) => options.keepsPath(path))
      .map((item) => {
        const key = stripped !== '' && item.path.startsWith(stripped) ? item.path.slice(stripped.length) : item.path
        return { key, address: inServers + key, item }
      })
  const [before, after] = [entries(base, options.stripBase, moved.base), entries(head, options.stripHead, moved.head)]
  const exact = matchByKey(before, after, ({ address }) => address)
  const same = matchRest(exact, ({ address }) => comparableEscapes(address))
  return options.hasIncludedPathParameters
    ? same
    : matchRest(same, ({ address }) => withoutNames(comparableEscapes(address)))
}

const NO_OPERATIONS: ReadonlySet<ApiOperation> = new Set()

/** Findings name the place by the key in the base. */
export function comparePathItems(
  walk: Walk,
  { key: path, item: base }: PathEntry,
  { item: head }: PathEntry,
  exchange: MessageExchange,
  untouched: ReadonlySet<ApiOperation> = NO_OPERATIONS,
): void {
  for (const [method, before] of base.operations) {
    const after = head.operations.get(method)
    if (after === undefined) {
      reportRemovedOperation(walk, path, before, false)
      continue
    }
    const named = { ...inOperation(walk, path, after), exchange }
    walk.attributes.note(path, before, after)
    if (compareStability(named, before, after) && !untouched.has(after))
      compareOperation(named, { item: base, operation: before }, { item: head, operation: after })
  }
  for (const [method, after] of head.operations)
    if (!base.operations.has(method)) reportAddedOperation(walk, path, after)
}

function inOperation(
  walk: Walk,
  path: string,
  { method, operationId }: ApiOperation,
): Walk & Pick<OperationWalk, 'operation'> {
  return { ...walk, operation: { method, path, operation_id: operationId } }
}

function reportAddedOperation(walk: Walk, path: string, operation: ApiOperation): void {
  walk.attributes.note(path, operation)
  walk.added.add(pointerOf(operation.located.at, operation.located.document))
  const name = operation.operationId ?? operation.method
  reportAdded(inOperation(walk, path, operation), 'operation-added', {}, { located: operation.located, after: name })
}

function reportRemovedOperation(walk: Walk, path: string, operation: ApiOperation, isWholePath: boolean): void {
  const named = inOperation(walk, path, operation)
  walk.attributes.note(path, operation)
  const { stability, sunset } = operation.lifecycle
  if (stability !== null && !isStability(stability)) {
    reportStability(named, operation.located, { step: 'invalid', before: null, after: stability })
    return
  }
  if (isStability(stability) && !isStableEnough(walk, stability)) return
  const removal = removalNotice(operation.lifecycle, walk.options)
  const facts = { isWholePath, removal, sunset: dayOf(sunset) ?? sunset }
  const before = operation.operationId ?? operation.method
  reportRemoved(named, 'operation-removed', facts, { located: operation.located, before })
}

function isStableEnough({ options }: Walk, stability: (typeof STABILITY_LEVELS)[number]): boolean {
  return STABILITY_LEVELS.indexOf(stability) >= STABILITY_LEVELS.indexOf(options.minimumStability)
}

/** Reports a changed stability. Returns false if the operation is not stable enough to be bound by its contract. */
function compareStability(walk: Walk, before: ApiOperation, after: ApiOperation): boolean {
  const base = before.lifecycle.stability
  const head = after.lifecycle.stability
  for (const [operation, stability] of [
    [before, base],
    [after, head],
  ] as const) {
    if (stability === null || isStability(stability) || base === head) continue
    reportStability(walk, operation.located, { step: 'invalid', before: null, after: stability })
    return true
  }
  // An operation that was not stable enough carried no promise, so a lower level is not reported.
  const step = isStability(base) && !isStableEnough(walk, base) ? 0 : rank(head) - rank(base)
  const facts = { before: base ?? 'stable', after: head ?? 'stable' }
  if (step < 0) reportStability(walk, after.located, { step: 'decreased', ...facts })
  // The loss of stability is reported. Changes after it are not.
  if (isStability(head) && !isStableEnough(walk, head)) return false
  if (step > 0) reportStability(walk, after.located, { step: 'increased', ...facts })
  return true
}

/** An operation without a stability level is stable. */
function rank(stability: unknown): number {
  return STABILITY_LEVELS.indexOf(isStability(stability) ? stability : 'stable')
}

function reportStability(walk: Walk, located: Located, facts: OpenApiFacts['operation-stability']): void {
  const { before, after } = facts
  reportChanged(walk, 'operation-stability', facts, { located, before, after })
}
