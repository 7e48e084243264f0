/** Statements on the ledger of decisions. */
import { chainHash, GENESIS_HASH } from './chain.ts'
import {
  REPLAYED_FOR_MS,
  type DecisionRow,
  type Decisions,
  type LedgerFilter,
  type StoredDecision,
} from '../decisions.ts'
import { RefusedRowError } from '../store.ts'
import { integer, oneOf, text, nullableText, type SqlRow, type SqlValue } from './columns.ts'
import { lockText, joinedTexts, read, write, type Operations, type Sql } from './operation.ts'
import { journal } from './journal.ts'
import { listByPages, readPage, type TablePage } from './pages.ts'
import { addEvent, receiptStateOf } from './receipts.ts'

const DECISIONS = ['ALLOW', 'WARN', 'REQUIRE_APPROVAL', 'BLOCK'] as const satisfies readonly DecisionRow['decision'][]
/** Written out: the thread of SQLite does not load the engine. */
export const ACTIONS = [
  'CONTINUE',
  'CONTINUE_WITH_MONITORING',
  'REQUEST_APPROVAL',
  'STOP',
] as const satisfies readonly DecisionRow['executionAction'][]

const select = (sql: Sql): string => `
  SELECT d.*, (SELECT ${joinedTexts(sql, 'e.state')} FROM receipt_events e WHERE e.decision_id = d.decision_id) AS states
  FROM decisions d`

/** Which index leads to the rows of a list: the first whose member the filter states. */
const INDEXES = [
  ['traceId', 'decisions_by_trace'],
  ['audience', 'decisions_by_audience'],
  ['repository', 'decisions_by_repository'],
  ['decision', 'decisions_by_decision'],
] as const satisfies readonly (readonly [keyof LedgerFilter, string])[]

/** SQLite would read every row between two sequences. PostgreSQL has statistics to choose by. */
function indexOf({ dialect }: Sql, filter: LedgerFilter): string {
  const [, index] = INDEXES.find(([member]) => filter[member] !== undefined) ?? []
  return dialect === 'sqlite' && index !== undefined ? ` INDEXED BY ${index}` : ''
}

/**
 * Without an index: the few rows of one key, or a page in the order of the sequence. The index by time would read every decision
 * since then.
 */
const SINCE = '+evaluated_at >= ?'

/** Answers of a clock that was wrong in the future are no answers of the last day. */
const REPLAYED = `${SINCE} AND +evaluated_at <= ?`

/** As for receipts: the clocks of gateways on one store may differ by so much, in milliseconds. */
const LEEWAY_MS = 30_000

function replayedUntil(since: number): number {
  return since + REPLAYED_FOR_MS + LEEWAY_MS
}

/** Of a tenant, or of one audience in it. */
const OWNED = '(CAST(? AS text) IS NULL OR d.audience = ?)'

export interface DecisionTable extends Decisions {
  /** One page of a list: an operation of its own, so that other operations run before the next one. */
  page(filter: LedgerFilter): Promise<TablePage<StoredDecision>>
}

export const decisions: Operations<DecisionTable> = {
  record: write(async (sql, row) => {
    await requireFirst(sql, row)
    const tip = await sql.get('SELECT sequence, hash FROM decisions ORDER BY sequence DESC LIMIT 1')
    const own = sql.writer === null ? tip : await sql.get(NEWEST_OF_CHAIN, sql.writer)
    const previousHash = own === undefined ? GENESIS_HASH : text(own, 'hash')
    const sequence = (tip === undefined ? 0 : integer(tip, 'sequence')) + 1
    const hash = chainHash(previousHash, sequence, row)
    await sql.run(INSERT, sequence, ...columnValues(row), previousHash, hash, sql.writer)
    await journal(sql, 'decision', row.decisionId)
    await supersede(sql, row)
  }),

  byId: read(async (sql, tenant, decisionId, audience = null) =>
    decisionOrNull(
      await sql.get(
        `${select(sql)} WHERE d.decision_id = ? AND d.tenant = ? AND ${OWNED}`,
        decisionId,
        tenant,
        audience,
        audience,
      ),
    ),
  ),

  byFingerprint: read(async (sql, tenant, fingerprint, audience = null) =>
    decisionOrNull(
      await sql.get(
        `${select(sql)} WHERE d.tenant = ? AND d.fingerprint = ? AND ${OWNED} ORDER BY d.sequence DESC LIMIT 1`,
        tenant,
        fingerprint,
        audience,
        audience,
      ),
    ),
  ),

  byIdempotencyKey: read(async (sql, tenant, key, since, audience = null) =>
    decisionOrNull(
      await sql.get(
        `${select(sql)} WHERE d.tenant = ? AND d.idempotency_key = ? AND ${REPLAYED} AND ${OWNED}
         ORDER BY d.sequence DESC LIMIT 1`,
        tenant,
        key,
        since,
        replayedUntil(since),
        audience,
        audience,
      ),
    ),
  ),

  list: read((sql, filter) =>
    listByPages(filter.limit, filter.before ?? null, (limit, before) => pageOf(sql, { ...filter, limit }, before)),
  ),

  page: read((sql, filter) => pageOf(sql, filter, filter.before ?? null)),

  counts: read(async (sql, { tenant, from, period }) => {
    const rows = await sql.all(
      `SELECT CAST(evaluated_at - ? AS bigint) / CAST(? AS bigint) AS period, route, decision, count(*) AS count FROM decisions
       WHERE tenant = ? AND evaluated_at >= ? GROUP BY 1, 2, 3 ORDER BY 1`,
      from,
      period,
      tenant,
      from,
    )
    return rows.map((row) => ({
      period: integer(row, 'period'),
      route: nullableText(row, 'route'),
      decision: oneOf(DECISIONS, row, 'decision'),
      count: integer(row, 'count'),
    }))
  }),

  history: read(async (sql, { tenant, supersessionKey, since, limit }) => {
    const rows = await sql.all(
      `SELECT decision, input_fingerprint, evaluated_at FROM decisions
       WHERE tenant = ? AND supersession_key = ? AND ${SINCE} ORDER BY sequence DESC LIMIT ?`,
      tenant,
      supersessionKey,
      since,
      limit,
    )
    return rows.map((row) => ({
      decision: oneOf(DECISIONS, row, 'decision'),
      inputFingerprint: text(row, 'input_fingerprint'),
      evaluatedAt: integer(row, 'evaluated_at'),
    }))
  }),
}

/** The audience of the decision, as in its envelope. */
export function audienceOf({ envelope }: DecisionRow): string | null {
  const { audience }: { readonly audience?: unknown } = JSON.parse(envelope)
  return typeof audience === 'string' ? audience : null
}

/**
 * A request that is repeated gets the first decision, also when two gateways have it in the same moment. Another caller gets a
 * decision of its own for the same request (docs/reference/api.md#post-apiv1preflight).
 * @throws RefusedRowError
 */
export async function requireFirst(sql: Sql, row: DecisionRow): Promise<void> {
  const { tenant, idempotency, evaluatedAt } = row
  if (idempotency === null) return
  await lockText(sql, `idempotency ${tenant} ${idempotency.key}`)
  const earlier = await sql.get(
    `SELECT decision_id FROM decisions WHERE tenant = ? AND idempotency_key = ? AND ${REPLAYED}
       AND (body_digest <> ? OR audience = ?) LIMIT 1`,
    tenant,
    idempotency.key,
    evaluatedAt - REPLAYED_FOR_MS,
    replayedUntil(evaluatedAt - REPLAYED_FOR_MS),
    idempotency.bodyDigest,
    audienceOf(row),
  )
  if (earlier !== undefined) throw new RefusedRowError('a decision with its idempotency key is there')
}

async function supersede(sql: Sql, row: DecisionRow): Promise<void> {
  const head = await sql.get(
    'SELECT decision_id FROM supersession_heads WHERE tenant = ? AND supersession_key = ?',
    row.tenant,
    row.supersessionKey,
  )
  if (head !== undefined)
    await addEvent(sql, text(head, 'decision_id'), {
      state: 'superseded',
      at: row.evaluatedAt,
      by: row.decisionId,
      reason: 'a newer decision',
    })
  await sql.run(
    `INSERT INTO supersession_heads (tenant, supersession_key, decision_id) VALUES (?, ?, ?)
     ON CONFLICT (tenant, supersession_key) DO UPDATE SET decision_id = excluded.decision_id`,
    row.tenant,
    row.supersessionKey,
    row.decisionId,
  )
}

/** The columns of a decision that its caller gives, with the value of each. */
const COLUMNS: readonly (readonly [column: string, value: (row: DecisionRow) => SqlValue])[] = [
  ['decision_id', (row) => row.decisionId],
  ['tenant', (row) => row.tenant],
  ['route', (row) => row.route],
  ['decision', (row) => row.decision],
  ['execution_action', (row) => row.executionAction],
  ['operation', (row) => row.operation],
  ['environment', (row) => row.environment],
  ['repository', (row) => row.repository],
  ['fingerprint', (row) => row.fingerprint],
  ['input_fingerprint', (row) => row.inputFingerprint],
  ['evaluated_at', (row) => row.evaluatedAt],
  ['expires_at', (row) => row.expiresAt],
  ['supersession_key', (row) => row.supersessionKey],
  ['envelope', (row) => row.envelope],
  ['response', (row) => row.response],
  ['idempotency_key', (row) => row.idempotency?.key ?? null],
  ['body_digest', (row) => row.idempotency?.bodyDigest ?? null],
  ['status_list', (row) => row.statusPlace?.list ?? null],
  ['status_index', (row) => row.statusPlace?.index ?? null],
  ['trace_id', (row) => row.traceId],
]

const INSERT = `
  INSERT INTO decisions (sequence, ${COLUMNS.map(([column]) => column).join(', ')}, previous_hash, hash, chain)
  VALUES (?, ${COLUMNS.map(() => '?').join(', ')}, ?, ?, ?)`

const NEWEST_OF_CHAIN = 'SELECT hash FROM decisions WHERE chain = ? ORDER BY sequence DESC LIMIT 1'

/** Columns of a statement, as the hash of a decision covers them: the sequence, and what its caller gave and the hash has. */
export function hashedColumns(): string {
  return ['sequence', ...COLUMNS.slice(0, -3).map(([column]) => column)].join(', ')
}

/** A decision by its columns. */
export function decisionColumns(row: DecisionRow): Readonly<Record<string, SqlValue>> {
  return Object.fromEntries(COLUMNS.map(([column, value]) => [column, value(row)]))
}

function columnValues(row: DecisionRow): readonly SqlValue[] {
  return COLUMNS.map(([, value]) => value(row))
}

/** Which filter member narrows by which condition; the column names are ours, the values are bound. */
const CONDITIONS = [
  ['repository', 'd.repository = ?'],
  ['decision', 'd.decision = ?'],
  ['operation', 'd.operation = ?'],
  ['environment', 'd.environment = ?'],
  ['route', 'd.route = ?'],
  ['traceId', 'd.trace_id = ?'],
  ['audience', 'd.audience = ?'],
  ['from', SINCE],
  ['to', '+evaluated_at < ?'],
] as const satisfies readonly (readonly [keyof LedgerFilter, string])[]

function pageOf(sql: Sql, filter: LedgerFilter, before: number | null): Promise<TablePage<StoredDecision>> {
  const { where, values } = ledgerConditions(filter)
  return readPage(sql, { table: 'decisions', tenant: filter.tenant, before }, async (range) => {
    const rows = await sql.all(
      `${select(sql)}${indexOf(sql, filter)} WHERE ${where} AND d.sequence >= ? AND d.sequence < ? ORDER BY d.sequence DESC LIMIT ?`,
      ...values,
      range.from,
      range.before,
      filter.limit,
    )
    return rows.map(stored)
  })
}

function ledgerConditions(filter: LedgerFilter): { readonly where: string; readonly values: readonly SqlValue[] } {
  const conditions = ['d.tenant = ?']
  const values: SqlValue[] = [filter.tenant]
  for (const [member, condition] of CONDITIONS) {
    const value = filter[member]
    if (value === undefined) continue
    conditions.push(condition)
    values.push(value)
  }
  return { where: conditions.join(' AND '), values }
}

function decisionOrNull(row: SqlRow | undefined): StoredDecision | null {
  return row === undefined ? null : stored(row)
}

export function stored(row: SqlRow): StoredDecision {
  const key = nullableText(row, 'idempotency_key')
  const list = nullableText(row, 'status_list')
  return {
    decisionId: text(row, 'decision_id'),
    tenant: text(row, 'tenant'),
    route: nullableText(row, 'route'),
    decision: oneOf(DECISIONS, row, 'decision'),
    executionAction: oneOf(ACTIONS, row, 'execution_action'),
    operation: nullableText(row, 'operation'),
    environment: nullableText(row, 'environment'),
    repository: nullableText(row, 'repository'),
    fingerprint: text(row, 'fingerprint'),
    inputFingerprint: text(row, 'input_fingerprint'),
    evaluatedAt: integer(row, 'evaluated_at'),
    expiresAt: integer(row, 'expires_at'),
    supersessionKey: text(row, 'supersession_key'),
    envelope: text(row, 'envelope'),
    response: nullableText(row, 'response'),
    idempotency: key === null ? null : { key, bodyDigest: text(row, 'body_digest') },
    statusPlace: list === null ? null : { list, index: integer(row, 'status_index') },
    traceId: nullableText(row, 'trace_id'),
    receiptState: receiptStateOf(nullableText(row, 'states')),
    sequence: integer(row, 'sequence'),
    previousHash: text(row, 'previous_hash'),
    hash: text(row, 'hash'),
  }
}
