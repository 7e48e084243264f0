/** Compares one operation: identity, life cycle, tags, security, then its requests and responses. */
import type { Operation } from '../../contracts/openapi/contract.ts'
import type { Operation as OperationName } from '../../model/finding.ts'
import { lifecycleChange } from '../../schema/lifecycle.ts'
import { textsOf } from '../../schema/subschemas.ts'
import { changedTexts } from '../match.ts'
import { compareCallbacks } from './callbacks.ts'
import type { MessageExchange } from './exchange.ts'
import { compareParameters } from './parameters.ts'
import { comparePayloads } from './payloads.ts'
import { compareAdmission, compareShownCredentials } from './security-inclusion.ts'
import { compareSecurity } from './security.ts'
import { compareOperationServers } from './servers.ts'
import { reportAdded, reportChanged, reportRemoved } from './delta-text.ts'
import type { OperationSide, Walk } from './walk.ts'

export function compareOperation(
  contract: Walk,
  before: OperationSide,
  after: OperationSide,
  name: OperationName,
  exchange: MessageExchange,
): void {
  const walk = within(contract, after.operation)
  compareIdentity(walk, before.operation, after.operation, name)
  compareLife(walk, before.operation, after.operation, name)
  compareTags(walk, before.operation, after.operation, name)
  compareSecurity(walk, before.operation.located, after.operation.located, name)
  if (exchange.kind === 'operation') {
    compareAdmission(walk, before, after, name)
    compareOperationServers(walk, before, after, name)
  } else compareShownCredentials(walk, before, after, name)
  compareParameters(walk, before, after, name, exchange)
  comparePayloads(walk, before, after, name, exchange)
  compareCallbacks(walk, before.operation, after.operation, name)
}

/** The walk through one operation. Parts without a stability level have that of the operation. */
function within(walk: Walk, { lifecycle: { stability } }: Operation): Walk {
  if (stability === null) return walk
  return {
    ...walk,
    options: { ...walk.options, impliedStability: stability },
    use: (site, before, after) => walk.use({ ...site, stability }, before, after),
  }
}

function compareIdentity(walk: Walk, base: Operation, head: Operation, operation: OperationName): void {
  const [before, after] = [base.operationId, head.operationId]
  if (before === after) return
  const action = before === null ? 'added' : 'removed'
  const facts = { action, before: before ?? '', after: after ?? '' } as const
  reportChanged(walk, 'operation-id', operation, head.located, [before, after], facts)
}

function compareLife(walk: Walk, base: Operation, head: Operation, operation: OperationName): void {
  const change = lifecycleChange(base.lifecycle, head.lifecycle, walk.options)
  if (change === null) return
  const [before, after] = [base.lifecycle.sunset, head.lifecycle.sunset]
  reportChanged(walk, 'operation-lifecycle', operation, head.located, [before, after], { ...change })
}

function compareTags(walk: Walk, base: Operation, head: Operation, operation: OperationName): void {
  const { added, removed } = changedTexts(textsOf(base.value.tags), textsOf(head.value.tags))
  for (const name of removed) {
    const facts = { action: 'removed', name } as const
    reportRemoved(walk, 'operation-tag', operation, base.located, name, facts)
  }
  for (const name of added) {
    const facts = { action: 'added', name } as const
    reportAdded(walk, 'operation-tag', operation, head.located, name, facts)
  }
}
