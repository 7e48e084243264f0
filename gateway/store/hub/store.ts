/**
 * The store of a sidecar: a hub (docs/reference/hub.md). The sidecar has no ledger, no signing key and no database credentials.
 * While the hub cannot be reached, known answers are used up to their age, and everything else is refused.
 */
import { LRUCache } from 'lru-cache'
import { GatewayError } from '../../errors/errors.ts'
import { STALE, type Change } from '../changes.ts'
import { OPERATION_BY_NAME, tablesOver } from '../sql/operations.ts'
import { readCallText } from '../sql/call-text.ts'
import { storeOf } from '../sql/store.ts'
import type { InterceptionRow } from '../calls.ts'
import type { FleetRow } from '../fleet.ts'
import type { Store } from '../store.ts'
import type { HubConnection } from './connection.ts'
import type { HubChanges } from './stream.ts'

interface HubStoreOptions {
  readonly connection: HubConnection
  readonly changes: HubChanges
  readonly calls: 'batched' | 'durable'
  readonly flushMilliseconds: number
  /** Milliseconds that an answer may be used while the hub cannot be reached. */
  readonly maxAge: number
  readonly onFault: ((error: Error) => void) | undefined
  /** A call record that the hub will never take: it is not sent again. */
  readonly onRefusedCall: ((refused: RefusedCallRecord) => void) | undefined
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export interface RefusedCallRecord {
  readonly correlationId: string
  readonly route: string
  readonly reason: string
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
/** The hub takes up to 10,000. */
const CALLS_OF_A_PAGE = 5000
/** Of the methods in `KEPT`, those that a change is about, and the place of its key among the values. */
const ABOUT: Readonly<Record<Change['kind'], readonly (readonly [string, number])[]>> = {
  receipt_event: [['receipts.state', 0]],
  approval: [['approvals.byId', 1]],
  baseline: [
    ['baselines.byRoute', 0],
    ['baselines.stamp', 0],
  ],
  api_key: [['apiKeys.byHash', 0]],
  break_glass: [],
  receipt_key: [],
}
/** Writes that change nothing when they come twice, so they may be sent again. */
const REPEATABLE: ReadonlySet<string> = new Set([
  'apiKeys.touch',
  'approvals.open',
  'baselines.dropCandidate',
  'baselines.set',
  'baselines.setCandidate',
  'ledger.keepTime',
  'receipts.revoke',
  'windows.open',
])

/** An answer, and when it was true. */
interface KeptAnswer {
  readonly operation: string
  readonly values: readonly unknown[]
  readonly answer: unknown
  /** `performance.now()` when it was asked for. */
  readonly at: number
  /** Of the changes then (store/changes.ts). */
  readonly mark: number
}

/** What a sidecar leaves to the hub, or does not do. The value is what its parts get. */
const LOCAL: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['acts.add', undefined],
  ['acts.claim', []],
  ['acts.remove', undefined],
  ['apiKeys.endExpired', undefined],
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
])

export interface HubStore {
  readonly store: Store
  /** Called before a decision is asked for; what it returns, when the hub has issued it: the decision is in force. */
  readonly recording: () => (decisionId: string) => void
}

export function openHubStore(options: HubStoreOptions): HubStore {
  const { connection, changes, maxAge, now } = options
  const kept = new LRUCache<string, KeptAnswer>({ max: KEPT_ANSWERS })
  const keep = (answer: KeptAnswer): void => void kept.set(JSON.stringify([answer.operation, answer.values]), answer)
  changes.subscribe(({ kind, key: [id] }) => {
    for (const [name, { operation, values }] of kept.entries())
      if (ABOUT[kind].some(([about, place]) => about === operation && values[place] === id)) kept.delete(name)
  })
  /** While every change is heard, an answer stays true. */
  const ageOf = ({ at, mark }: KeptAnswer): number => {
    const proven = changes.proven()
    const isHeard = mark !== STALE && proven !== null && at >= proven.from
    return performance.now() - (isHeard ? Math.max(at, proven.to) : at)
  }
  const read = async (operation: string, values: readonly unknown[]): Promise<unknown> => {
    const [at, begin] = [performance.now(), changes.begin(now())]
    try {
      const answer = await askValues(connection, `/hub/v1/operations/${operation}`, values, true)
      const mark = changes.mark(begin, now())
      keep({ operation, values, answer, at, mark })
      if (operation === 'baselines.byRoute')
        keep({ operation: 'baselines.stamp', values, answer: baselineStamp(answer), at, mark })
      return answer
    } catch (error) {
      const known = kept.get(JSON.stringify([operation, values]))
      const isAway = error instanceof GatewayError && error.code === 'STORE_UNAVAILABLE'
      if (!isAway || known === undefined || ageOf(known) > maxAge) throw error
      return known.answer
    }
  }
  const carry = (operation: string, values: readonly unknown[]): Promise<unknown> => {
    if (LOCAL.has(operation)) return Promise.resolve(LOCAL.get(operation))
    if (operation === 'health.probe') return probe(connection)
    if (operation === 'fleet.report') return reportTo(connection, values[0])
    if (operation === 'calls.write') return writeCalls(readCallText(String(values[0])), options)
    if (KEPT.has(operation)) return read(operation, values)
    const isRepeatable = OPERATION_BY_NAME.get(operation)?.kind === 'read' || REPEATABLE.has(operation)
    return askValues(connection, `/hub/v1/operations/${operation}`, values, isRepeatable)
  }
  const store = storeOf(tablesOver(carry), {
    description: connection.description,
    calls: options.calls,
    flushMilliseconds: options.flushMilliseconds,
    onFault: options.onFault,
    changes,
    close: async () => {
      await changes.close()
      await connection.close()
    },
  })
  return {
    store,
    recording: () => {
      const [at, begin] = [performance.now(), changes.begin(now())]
      const markNow = (): number => changes.mark(begin, now())
      return (decisionId) =>
        keep({ operation: 'receipts.state', values: [decisionId], answer: 'current', at, mark: markNow() })
    },
  }
}

function baselineStamp(row: unknown): unknown {
  if (typeof row !== 'object' || row === null) return null
  const { digest, setAt } = { digest: null, setAt: null, ...row }
  return { digest, setAt }
}

async function askValues(
  connection: HubConnection,
  path: string,
  values: readonly unknown[],
  isRepeatable: boolean,
): Promise<unknown> {
  const answer = await connection.ask('POST', path, { values }, isRepeatable)
  return typeof answer === 'object' && answer !== null && 'value' in answer ? answer.value : null
}

/** What waited while no hub answered may be more than a hub takes in one request. */
async function writeCalls(rows: readonly InterceptionRow[], options: HubStoreOptions): Promise<void> {
  for (let from = 0; from < rows.length; from += CALLS_OF_A_PAGE)
    for (const refused of await writePage(rows.slice(from, from + CALLS_OF_A_PAGE), options.connection)) {
      options.onRefusedCall?.(refused)
      // The call waits for its record and is not forwarded without it.
      if (options.calls === 'durable')
        throw new GatewayError('STORE_UNAVAILABLE', undefined, { cause: new Error(refused.reason) })
    }
}

/** Resolves with the records that the hub refuses; the others are durable. */
async function writePage(
  rows: readonly InterceptionRow[],
  connection: HubConnection,
): Promise<readonly RefusedCallRecord[]> {
  try {
    const answer = await connection.ask('POST', '/hub/v1/calls', { values: [rows] }, false)
    return refusedIn(answer).flatMap(({ index, message }) => refusedRecord(rows[index], message))
  } catch (error) {
    if (!(error instanceof GatewayError) || !REFUSED_WHOLE.has(error.code)) throw error
    if (rows.length === 1) return refusedRecord(rows[0], error.message)
    // The records that the hub takes are found by halves.
    const half = Math.ceil(rows.length / 2)
    const first = await writePage(rows.slice(0, half), connection)
    return [...first, ...(await writePage(rows.slice(half), connection))]
  }
}

/** A batch that is refused with one of these is refused again when it is repeated. */
const REFUSED_WHOLE: ReadonlySet<string> = new Set(['INVALID_INPUT', 'PAYLOAD_TOO_LARGE'])

function refusedRecord(row: InterceptionRow | undefined, reason: string): readonly RefusedCallRecord[] {
  return row === undefined ? [] : [{ correlationId: row.correlationId, route: row.route, reason }]
}

function refusedIn(answer: unknown): readonly { readonly index: number; readonly message: string }[] {
  const { refused } = typeof answer === 'object' && answer !== null ? { refused: [], ...answer } : { refused: [] }
  if (!Array.isArray(refused)) return []
  return refused.map((one: unknown) => {
    return typeof one === 'object' && one !== null ? { ...NO_RECORD, ...one } : NO_RECORD
  })
}

const NO_RECORD = { index: -1, message: '' }

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
