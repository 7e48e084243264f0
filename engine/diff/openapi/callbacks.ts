/**
 * Callbacks of one operation. The provider sends a callback: the client reads its request, and the provider reads the
 * response.
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { canonicalJson } from '../../common/hash.ts'
import {
  membersAt,
  readPathItem,
  type OpenApiContract,
  type PathItem,
  type ApiOperation,
} from '../../contracts/openapi/contract.ts'
import { isRecord, pointerOf, type Located } from '../../schema/located.ts'
import { matchByKey, matchRest } from '../match.ts'
import { EXCHANGES } from './exchange.ts'
import { comparableExpression } from './runtime-expressions.ts'
import { compareParameters } from './parameters.ts'
import { comparePayloads } from './payloads.ts'
import { compareShownCredentials } from './security-inclusion.ts'
import { reportAdded, reportChanged, reportRemoved } from './delta.ts'
import type { OperationWalk } from './walk.ts'

/** @param compared the calls that were compared for the operation: a callback may lead to itself, or twice to another one. */
export function compareCallbacks(
  walk: OperationWalk,
  base: ApiOperation,
  head: ApiOperation,
  compared = new Set<string>(),
): void {
  const before = callbacksOf(walk.base, base)
  const after = callbacksOf(walk.head, head)
  if (before.length === 0 && after.length === 0) return
  // The provider calls addresses. The name of a callback is not sent (OpenAPI 3.1.1 §4.8.18).
  const byName = matchByKey(before, after, ({ name }) => name)
  const { added, removed, kept } = matchRest(byName, ({ name, addresses }) =>
    addresses.length === 0 ? name : canonicalJson(addresses),
  )
  for (const { name, located } of removed) {
    reportRemoved(walk, 'callback-removed', { name }, { located, before: name })
  }
  for (const { name, located } of added) {
    reportAdded(walk, 'callback-added', { name }, { located, after: name })
  }
  for (const [{ located }, { name, located: other }] of kept) compareCallback(walk, name, [located, other], compared)
}

interface NamedCallback {
  readonly name: string
  readonly located: Located
  readonly addresses: readonly string[]
}

function callbacksOf(contract: OpenApiContract, { located: owner }: ApiOperation): readonly NamedCallback[] {
  return membersAt(owner, 'callbacks').map(([name, located]) => ({
    name,
    located,
    addresses: callItems(contract, located).map(addressKey),
  }))
}

function addressKey({ path }: PathItem): string {
  return comparableExpression(path)
}

function compareCallback(
  walk: OperationWalk,
  name: string,
  [base, head]: readonly [Located, Located],
  compared: Set<string>,
): void {
  const byExpression = matchByKey(callItems(walk.base, base), callItems(walk.head, head), addressKey)
  // The only unmatched callback on either side is the same one at another address.
  const isMoved = byExpression.added.length === 1 && byExpression.removed.length === 1
  const { added, removed, kept } = isMoved ? matchRest(byExpression, () => '') : byExpression
  for (const { path, located } of removed) {
    reportRemoved(walk, 'callback-removed', { name: `${name} ${path}` }, { located, before: path })
  }
  for (const { path, located } of added) {
    reportAdded(walk, 'callback-added', { name: `${name} ${path}` }, { located, after: path })
  }
  for (const [before, after] of kept) {
    if (addressKey(before) !== addressKey(after)) {
      reportChanged(
        walk,
        'callback-address',
        { name },
        { located: after.located, before: before.path, after: after.path },
      )
    }
    const places = [before, after].map(({ located: { at, document } }) => pointerOf(at, document))
    const key = JSON.stringify([name, ...places])
    if (compared.has(key)) continue
    compared.add(key)
    compareCalls(walk, name, [before, after], compared)
  }
}

function compareCalls(
  walk: OperationWalk,
  name: string,
  [before, after]: readonly [PathItem, PathItem],
  compared: Set<string>,
): void {
  for (const [method, { located }] of after.operations) {
    if (before.operations.has(method)) continue
    reportAdded(walk, 'callback-added', { name: `${name} ${method}` }, { located, after: method })
  }
  for (const [method, base] of before.operations) {
    const head = after.operations.get(method)
    if (head === undefined) {
      reportRemoved(walk, 'callback-removed', { name: `${name} ${method}` }, { located: base.located, before: method })
      continue
    }
    const called = { ...walk, exchange: EXCHANGES.callback }
    const sides = [
      { item: before, operation: base },
      { item: after, operation: head },
    ] as const
    compareShownCredentials(called, ...sides)
    compareParameters(called, ...sides)
    comparePayloads(called, ...sides)
    compareCallbacks(walk, base, head, compared)
  }
}

function callItems(contract: OpenApiContract, callback: Located): readonly PathItem[] {
  const target = contract.documents.follow(callback)
  if (target === null || !isRecord(target.value)) return []
  const { value, at, document } = target
  const expressions = Object.keys(value).filter((expression) => !expression.startsWith('x-'))
  return expressions.sort(byCodeUnit).flatMap((expression) => {
    const located = { value: value[expression], at: { parent: at, step: expression }, document }
    const item = readPathItem(contract, expression, located)
    return item === null ? [] : [item]
  })
}
