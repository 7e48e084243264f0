/**
 * The store of a sidecar: a hub (docs/reference/hub.md). The sidecar has no ledger, no signing key and no database credentials.
 * While the hub cannot be reached, known answers are used up to their age, and everything else is refused.
 */
import { LRUCache } from 'lru-cache'
import { GatewayError } from '../../errors/errors.ts'
import { timedChanges } from '../changes.ts'
import { OPERATION_BY_NAME, tablesOver } from '../sql/operations.ts'
import { storeOf } from '../sql/store.ts'
import type { FleetRow } from '../fleet.ts'
import type { Store } from '../store.ts'
import type { HubConnection } from './connection.ts'

interface HubStoreOptions {
  readonly connection: HubConnection
  readonly calls: 'batched' | 'durable'
  readonly flushMilliseconds: number
  /** Milliseconds that an answer may be used while the hub cannot be reached. */
  readonly maxAge: number
  readonly onFault: ((error: Error) => void) | undefined
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Answers that may be used while the hub is away: they only say whether something known still holds. */
const KEPT: ReadonlySet<string> = new Set([
  'apiKeys.byHash',
  'approvals.byId',
  'baselines.byRoute',
  'baselines.stamp',
  'breakGlass.list',
  'receipts.state',
  'uses.of',
])
const KEPT_ANSWERS = 5000
/** Seconds after which a change at the hub is in force here: each use of an older answer asks the hub. */
const IN_FORCE_WITHIN = 1

/** What a sidecar leaves to the hub, or does not do. The value is what its parts get. */
const LOCAL: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['acts.add', undefined],
  ['acts.claim', []],
  ['acts.remove', undefined],
  ['approvals.endExpired', []],
  ['approvals.remind', []],
  ['inputs.keep', []],
  ['inputs.keepContent', undefined],
  ['inputs.byDecision', null],
  ['inputs.content', null],
  ['notifications.notices', []],
  ['notifications.enqueue', undefined],
  ['notifications.claim', []],
  ['notifications.complete', undefined],
  ['notifications.log', []],
  ['notifications.backlog', []],
  ['notifications.forget', undefined],
  ['ledger.newestCut', null],
  ['ledger.removeBehindCuts', 0],
  ['ledger.proposeCuts', []],
])

export function openHubStore(options: HubStoreOptions): Store {
  const { connection, maxAge, now } = options
  const kept = new LRUCache<string, { readonly value: unknown; readonly at: number }>({ max: KEPT_ANSWERS })
  const carry = async (operation: string, values: readonly unknown[]): Promise<unknown> => {
    if (LOCAL.has(operation)) return LOCAL.get(operation)
    if (operation === 'health.probe') return probe(connection)
    if (operation === 'fleet.report') return reportTo(connection, values[0])
    if (operation === 'calls.write') return ask(connection, '/hub/v1/calls', [JSON.parse(String(values[0]))], false)
    const isRead = OPERATION_BY_NAME.get(operation)?.kind !== 'write'
    const key = KEPT.has(operation) ? JSON.stringify([operation, values]) : null
    try {
      const value = await ask(connection, `/hub/v1/operations/${operation}`, values, isRead)
      if (key !== null) kept.set(key, { value, at: now() })
      return value
    } catch (error) {
      const known = key === null ? undefined : kept.get(key)
      const isAway = error instanceof GatewayError && error.code === 'STORE_UNAVAILABLE'
      if (!isAway || known === undefined || now() - known.at > maxAge) throw error
      return known.value
    }
  }
  return storeOf(tablesOver(carry), {
    description: connection.description,
    calls: options.calls,
    flushMilliseconds: options.flushMilliseconds,
    onFault: options.onFault,
    changes: timedChanges(IN_FORCE_WITHIN),
    close: () => connection.close(),
  })
}

async function ask(
  connection: HubConnection,
  path: string,
  values: readonly unknown[],
  isRepeatable: boolean,
): Promise<unknown> {
  const answer = await connection.ask('POST', path, { values }, isRepeatable)
  return typeof answer === 'object' && answer !== null && 'value' in answer ? answer.value : null
}

/** The hub knows the name and the tenant of the sidecar, and the time. */
async function reportTo(connection: HubConnection, rows: unknown): Promise<void> {
  const [row]: readonly FleetRow[] = Array.isArray(rows) ? rows : []
  if (row === undefined) return
  const { memberId, host, version, tier, mode, configHash, policyName, policyHash, startedAt, stoppedAt, lag } = row
  const member = { memberId, host, version, tier, mode, configHash, policyName, policyHash, startedAt, stoppedAt, lag }
  await connection.ask('POST', '/hub/v1/heartbeat', { member }, true)
}

async function probe(connection: HubConnection): Promise<void> {
  await connection.ask('POST', '/hub/v1/heartbeat', {}, true)
}
