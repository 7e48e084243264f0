/** One operation on both sides: its identity, life, tags and security, then what it takes and what it answers. */
import { membersAt, type Operation, type PathItem } from '../../contracts/openapi/contract.ts'
import { readPathItem } from '../../contracts/openapi/contract.ts'
import type { Operation as OperationName } from '../../finding.ts'
import { judgeLifecycle } from '../../rules/lifecycle.ts'
import { isRecord } from '../../schema/located.ts'
import { textsOf } from '../../schema/parts.ts'
import { changedTexts, matchByKey } from '../match.ts'
import { compareParameters } from './parameters.ts'
import { comparePayloads } from './payloads.ts'
import { compareSecurity } from './security.ts'
import { compareOperationServers } from './servers.ts'
import { tellAdded, tellChanged, tellRemoved } from './telling.ts'
import type { Walk } from './walk.ts'

export interface OperationSide {
  readonly item: PathItem
  readonly operation: Operation
}

export function compareOperation(
  contract: Walk,
  before: OperationSide,
  after: OperationSide,
  name: OperationName,
): void {
  const walk = within(contract, after.operation)
  compareIdentity(walk, before.operation, after.operation, name)
  compareLife(walk, before.operation, after.operation, name)
  compareTags(walk, before.operation, after.operation, name)
  compareSecurity(walk, before.operation.located, after.operation.located, name)
  compareOperationServers(walk, before, after, name)
  compareParameters(walk, before, after, name)
  comparePayloads(walk, before, after, name, 'operation')
  compareCallbacks(walk, before.operation, after.operation, name)
}

/** The walk through one operation: its parts are as stable as itself, where they do not say otherwise. */
function within(walk: Walk, { lifecycle: { stability } }: Operation): Walk {
  if (stability === null) return walk
  return {
    ...walk,
    options: { ...walk.options, impliedStability: stability },
    use: (site, before, after) => walk.use({ ...site, stability }, before, after),
  }
}

function compareIdentity(walk: Walk, old: Operation, now: Operation, operation: OperationName): void {
  const [before, after] = [old.operationId, now.operationId]
  if (before === after) return
  const action = before === null ? 'added' : 'removed'
  const facts = { action, before: before ?? '', after: after ?? '' }
  tellChanged(walk, 'operation-id', operation, now.located, [before, after], facts)
}

function compareLife(walk: Walk, old: Operation, now: Operation, operation: OperationName): void {
  const verdict = judgeLifecycle(old.lifecycle, now.lifecycle, walk.options)
  if (verdict === null) return
  const [before, after] = [old.lifecycle.sunset, now.lifecycle.sunset]
  tellChanged(walk, 'operation-lifecycle', operation, now.located, [before, after], { ...verdict })
}

function compareTags(walk: Walk, old: Operation, now: Operation, operation: OperationName): void {
  const { added, removed } = changedTexts(textsOf(old.value.tags), textsOf(now.value.tags))
  for (const name of removed) {
    const facts = { action: 'removed', name }
    tellRemoved(walk, 'operation-tag', operation, old.located, name, facts)
  }
  for (const name of added) {
    const facts = { action: 'added', name }
    tellAdded(walk, 'operation-tag', operation, now.located, name, facts)
  }
}

/** A callback is a call that the provider makes: its request is read by the client, its response is read by the provider. */
function compareCallbacks(walk: Walk, old: Operation, now: Operation, operation: OperationName): void {
  const before = membersAt(old.located, 'callbacks')
  const after = membersAt(now.located, 'callbacks')
  if (before.length === 0 && after.length === 0) return
  const { added, removed, kept } = matchByKey(before, after, ([name]) => name)
  for (const [name, located] of removed) {
    tellRemoved(walk, 'callback-removed', operation, located, name, { name })
  }
  for (const [name, located] of added) {
    tellAdded(walk, 'callback-added', operation, located, name, { name })
  }
  for (const [[name, one], [, other]] of kept) {
    const oldItems = callItems(walk.base, one)
    const nowItems = callItems(walk.head, other)
    for (const [was, is] of matchByKey(oldItems, nowItems, ({ path }) => path).kept) {
      for (const [method, wasOperation] of was.operations) {
        const isOperation = is.operations.get(method)
        if (isOperation === undefined) {
          tellRemoved(walk, 'callback-removed', operation, wasOperation.located, method, { name: `${name} ${method}` })
          continue
        }
        comparePayloads(
          walk,
          { item: was, operation: wasOperation },
          { item: is, operation: isOperation },
          operation,
          'callback',
        )
      }
    }
  }
}

function callItems(contract: Walk['base'], callback: Parameters<typeof membersAt>[0]): readonly PathItem[] {
  const target = contract.documents.follow(callback)
  if (target === null || !isRecord(target.value)) return []
  return Object.entries(target.value).flatMap(([expression, value]) => {
    const item = readPathItem(contract, expression, {
      value,
      at: { parent: target.at, step: expression },
      document: target.document,
    })
    return item === null ? [] : [item]
  })
}
