/** Compares one operation: identity, life cycle, tags, security, then its requests and responses. */
import type { ApiOperation } from '../../contracts/openapi/contract.ts'
import { lifecycleChange } from '../../schema/lifecycle.ts'
import { textsOf } from '../../schema/subschemas.ts'
import { changedTexts } from '../match.ts'
import { compareCallbacks } from './callbacks.ts'
import { compareParameters } from './parameters.ts'
import { comparePayloads } from './payloads.ts'
import { compareAdmission, compareShownCredentials } from './security-inclusion.ts'
import { compareSecurity } from './security.ts'
import { compareOperationServers } from './servers.ts'
import { reportAdded, reportChanged, reportRemoved } from './delta.ts'
import type { OperationSide, OperationWalk, Walk } from './walk.ts'

export function compareOperation(named: OperationWalk, before: OperationSide, after: OperationSide): void {
  const walk = withStability(named, after.operation)
  compareOperationId(walk, before.operation, after.operation)
  compareOperationLifecycle(walk, before.operation, after.operation)
  compareTags(walk, before.operation, after.operation)
  compareSecurity(walk, before.operation.located, after.operation.located)
  if (walk.exchange.kind === 'operation') {
    compareAdmission(walk, before, after)
    compareOperationServers(walk, before, after)
  } else compareShownCredentials(walk, before, after)
  compareParameters(walk, before, after)
  comparePayloads(walk, before, after)
  compareCallbacks(walk, before.operation, after.operation)
}

/** Parts without a stability level have that of their operation. */
function withStability(walk: OperationWalk, { lifecycle: { stability } }: ApiOperation): OperationWalk {
  if (stability === null) return walk
  return {
    ...walk,
    options: { ...walk.options, impliedStability: stability },
    use: (site, before, after) => walk.use({ ...site, stability }, before, after),
  }
}

function compareOperationId(walk: Walk, base: ApiOperation, head: ApiOperation): void {
  const [before, after] = [base.operationId, head.operationId]
  if (before === after) return
  const action = before === null ? 'added' : 'removed'
  const facts = { action, before: before ?? '', after: after ?? '' } as const
  reportChanged(walk, 'operation-id', facts, { located: head.located, before, after })
}

function compareOperationLifecycle(walk: Walk, base: ApiOperation, head: ApiOperation): void {
  const change = lifecycleChange(base.lifecycle, head.lifecycle, walk.options)
  if (change === null) return
  const [before, after] = [base.lifecycle.sunset, head.lifecycle.sunset]
  reportChanged(walk, 'operation-lifecycle', { ...change }, { located: head.located, before, after })
}

function compareTags(walk: Walk, base: ApiOperation, head: ApiOperation): void {
  const { added, removed } = changedTexts(textsOf(base.value.tags), textsOf(head.value.tags))
  for (const name of removed) {
    const facts = { action: 'removed', name } as const
    reportRemoved(walk, 'operation-tag', facts, { located: base.located, before: name })
  }
  for (const name of added) {
    const facts = { action: 'added', name } as const
    reportAdded(walk, 'operation-tag', facts, { located: head.located, after: name })
  }
}
