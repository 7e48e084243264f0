/**
 * Operations on the ledger of decisions and on the state of their receipts. Each runs inside the writer thread and writes
 * inside its transaction.
 */
import type { SQLInputValue } from 'node:sqlite'
import { chainHash, GENESIS_HASH } from '../chain.ts'
import type { DecisionRow, HistoryFilter, HistoryRow, LedgerFilter, ReceiptState, StoredDecision } from '../store.ts'
import { journal } from './journal.ts'
import { integer, oneOf, text, textOrNull, type SqlRow, type Statements } from './statements.ts'

const DECISIONS = ['ALLOW', 'WARN', 'REQUIRE_APPROVAL', 'BLOCK'] as const satisfies readonly DecisionRow['decision'][]
/** Written out: this thread does not load the engine. */
export const ACTIONS = [
  'CONTINUE',
  'CONTINUE_WITH_MONITORING',
  'REQUEST_APPROVAL',
  'STOP',
] as const satisfies readonly DecisionRow['executionAction'][]

/**
 * Which event of a receipt counts when there are several: the order of the reasons in
 * docs/reference/receipts.md#reasons-and-statuses.
 */
const STATES = ['revoked', 'superseded', 'consumed'] as const satisfies readonly ReceiptState[]

const SELECT = `
  SELECT d.*, (SELECT group_concat(e.state) FROM receipt_events e WHERE e.decision_id = d.decision_id) AS states
  FROM decisions d`

/** Which decisions: those of a tenant, or of one audience in it. */
export interface Owner {
  readonly tenant: string
  readonly audience: string | null
}

const OWNED = '(? IS NULL OR d.audience = ?)'

export const decisionReads = {
  decisionById: (sql: Statements, args: Owner & { readonly decisionId: string }) =>
    storedOrNull(
      sql.get(
        `${SELECT} WHERE d.decision_id = ? AND d.tenant = ? AND ${OWNED}`,
        args.decisionId,
        args.tenant,
        args.audience,
        args.audience,
      ),
    ),

  decisionByFingerprint: (sql: Statements, args: Owner & { readonly fingerprint: string }) =>
    storedOrNull(
      sql.get(
        `${SELECT} WHERE d.tenant = ? AND d.fingerprint = ? AND ${OWNED} ORDER BY d.sequence DESC LIMIT 1`,
        args.tenant,
        args.fingerprint,
        args.audience,
        args.audience,
      ),
    ),

  decisionByIdempotencyKey: (sql: Statements, args: Owner & { readonly key: string; readonly since: number }) =>
    storedOrNull(
      sql.get(
        `${SELECT} WHERE d.tenant = ? AND d.idempotency_key = ? AND d.evaluated_at >= ? AND ${OWNED}
         ORDER BY d.sequence DESC LIMIT 1`,
        args.tenant,
        args.key,
        args.since,
        args.audience,
        args.audience,
      ),
    ),

  ledger: (sql: Statements, filter: LedgerFilter): readonly StoredDecision[] => {
    const { where, values } = ledgerConditions(filter)
    return sql.all(`${SELECT} WHERE ${where} ORDER BY d.sequence DESC LIMIT ?`, ...values, filter.limit).map(stored)
  },

  history: (sql: Statements, { tenant, supersessionKey, since, limit }: HistoryFilter): readonly HistoryRow[] =>
    sql
      .all(
        `SELECT decision, input_fingerprint, evaluated_at FROM decisions
         WHERE tenant = ? AND supersession_key = ? AND evaluated_at >= ? ORDER BY sequence DESC LIMIT ?`,
        tenant,
        supersessionKey,
        since,
        limit,
      )
      .map((row) => ({
        decision: oneOf(DECISIONS, row, 'decision'),
        inputFingerprint: text(row, 'input_fingerprint'),
        evaluatedAt: integer(row, 'evaluated_at'),
      })),

  receiptState: (sql: Statements, decisionId: string): ReceiptState | null => {
    const row = sql.get(
      `SELECT (SELECT group_concat(state) FROM receipt_events e WHERE e.decision_id = d.decision_id) AS states
       FROM decisions d WHERE d.decision_id = ?`,
      decisionId,
    )
    return row === undefined ? null : receiptState(textOrNull(row, 'states'))
  },

  /** One page of the chain check, so that a long ledger does not delay the writes between pages. */
  chainPage: (sql: Statements, from: { readonly sequence: number; readonly hash: string; readonly limit: number }) => {
    let { sequence, hash } = from
    const rows = sql.all(
      'SELECT *, NULL AS states FROM decisions WHERE sequence > ? ORDER BY sequence LIMIT ?',
      sequence,
      from.limit,
    )
    for (const row of rows) {
      const decision = stored(row)
      sequence += 1
      const isWhole =
        decision.sequence === sequence &&
        decision.previousHash === hash &&
        decision.hash === chainHash(hash, sequence, decision)
      if (!isWhole) return { sequence, hash, broken: sequence, isLast: true }
      hash = decision.hash
    }
    return { sequence, hash, broken: null, isLast: rows.length < from.limit }
  },
} as const

export const decisionWrites = {
  recordDecision: (sql: Statements, row: DecisionRow): null => {
    const tip = sql.get('SELECT sequence, hash FROM decisions ORDER BY sequence DESC LIMIT 1')
    const previousHash = tip === undefined ? GENESIS_HASH : text(tip, 'hash')
    const sequence = (tip === undefined ? 0 : integer(tip, 'sequence')) + 1
    const values = columnsOf(row)
    const columns = Object.keys(values)
    sql.run(
      `INSERT INTO decisions (sequence, ${columns.join(', ')}, previous_hash, hash)
       VALUES (?, ${columns.map(() => '?').join(', ')}, ?, ?)`,
      sequence,
      ...Object.values(values),
      previousHash,
      chainHash(previousHash, sequence, row),
    )
    journal(sql, 'decision', row.decisionId)
    supersede(sql, row)
    return null
  },

  /** True for exactly one caller, and only while nothing else has ended the receipt. */
  consumeReceipt: (sql: Statements, args: { readonly decisionId: string; readonly at: number }): boolean => {
    const isConsumed =
      sql.run(
        `INSERT OR IGNORE INTO receipt_events (decision_id, state, at, by, reason)
       SELECT decision_id, 'consumed', ?, '', '' FROM decisions d
       WHERE decision_id = ? AND NOT EXISTS (SELECT 1 FROM receipt_events e WHERE e.decision_id = d.decision_id)`,
        args.at,
        args.decisionId,
      ) === 1
    if (isConsumed) journal(sql, 'receipt_event', args.decisionId, 'consumed')
    return isConsumed
  },

  revokeReceipt: (
    sql: Statements,
    args: {
      readonly tenant: string
      readonly decisionId: string
      readonly reason: string
      readonly by: string
      readonly at: number
    },
  ): boolean => {
    const row = sql.get('SELECT 1 FROM decisions WHERE decision_id = ? AND tenant = ?', args.decisionId, args.tenant)
    if (row === undefined) return false
    addEvent(sql, args.decisionId, 'revoked', args.at, args.by, args.reason)
    return true
  },
} as const

function supersede(sql: Statements, row: DecisionRow): void {
  const head = sql.get(
    'SELECT decision_id FROM supersession_heads WHERE tenant = ? AND supersession_key = ?',
    row.tenant,
    row.supersessionKey,
  )
  if (head !== undefined)
    addEvent(sql, text(head, 'decision_id'), 'superseded', row.evaluatedAt, row.decisionId, 'a newer decision')
  sql.run(
    `INSERT INTO supersession_heads (tenant, supersession_key, decision_id) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET decision_id = excluded.decision_id`,
    row.tenant,
    row.supersessionKey,
    row.decisionId,
  )
}

function addEvent(
  sql: Statements,
  decisionId: string,
  state: (typeof STATES)[number],
  at: number,
  by: string,
  reason: string,
): void {
  const isNew =
    sql.run(
      'INSERT OR IGNORE INTO receipt_events (decision_id, state, at, by, reason) VALUES (?, ?, ?, ?, ?)',
      decisionId,
      state,
      at,
      by,
      reason,
    ) === 1
  if (isNew) journal(sql, 'receipt_event', decisionId, state)
}

function columnsOf(row: DecisionRow): Readonly<Record<string, SQLInputValue>> {
  return {
    decision_id: row.decisionId,
    tenant: row.tenant,
    route: row.route,
    decision: row.decision,
    execution_action: row.executionAction,
    operation: row.operation,
    environment: row.environment,
    repository: row.repository,
    fingerprint: row.fingerprint,
    input_fingerprint: row.inputFingerprint,
    evaluated_at: row.evaluatedAt,
    expires_at: row.expiresAt,
    supersession_key: row.supersessionKey,
    envelope: row.envelope,
    response: row.response,
    idempotency_key: row.idempotency?.key ?? null,
    body_digest: row.idempotency?.bodyDigest ?? null,
  }
}

/** Which filter member narrows by which condition; the column names are ours, the values are bound. */
const CONDITIONS = [
  ['repository', 'd.repository = ?'],
  ['decision', 'd.decision = ?'],
  ['operation', 'd.operation = ?'],
  ['environment', 'd.environment = ?'],
  ['route', 'd.route = ?'],
  ['audience', 'd.audience = ?'],
  ['from', 'd.evaluated_at >= ?'],
  ['to', 'd.evaluated_at < ?'],
  ['before', 'd.sequence < ?'],
] as const satisfies readonly (readonly [keyof LedgerFilter, string])[]

function ledgerConditions(filter: LedgerFilter): { readonly where: string; readonly values: readonly SQLInputValue[] } {
  const conditions = ['d.tenant = ?']
  const values: SQLInputValue[] = [filter.tenant]
  for (const [member, condition] of CONDITIONS) {
    const value = filter[member]
    if (value === undefined) continue
    conditions.push(condition)
    values.push(value)
  }
  return { where: conditions.join(' AND '), values }
}

function storedOrNull(row: SqlRow | undefined): StoredDecision | null {
  return row === undefined ? null : stored(row)
}

function stored(row: SqlRow): StoredDecision {
  const key = textOrNull(row, 'idempotency_key')
  return {
    decisionId: text(row, 'decision_id'),
    tenant: text(row, 'tenant'),
    route: textOrNull(row, 'route'),
    decision: oneOf(DECISIONS, row, 'decision'),
    executionAction: oneOf(ACTIONS, row, 'execution_action'),
    operation: textOrNull(row, 'operation'),
    environment: textOrNull(row, 'environment'),
    repository: textOrNull(row, 'repository'),
    fingerprint: text(row, 'fingerprint'),
    inputFingerprint: text(row, 'input_fingerprint'),
    evaluatedAt: integer(row, 'evaluated_at'),
    expiresAt: integer(row, 'expires_at'),
    supersessionKey: text(row, 'supersession_key'),
    envelope: text(row, 'envelope'),
    response: textOrNull(row, 'response'),
    idempotency: key === null ? null : { key, bodyDigest: text(row, 'body_digest') },
    receiptState: receiptState(textOrNull(row, 'states')),
    sequence: integer(row, 'sequence'),
    previousHash: text(row, 'previous_hash'),
    hash: text(row, 'hash'),
  }
}

function receiptState(states: string | null): ReceiptState {
  const events = states === null ? [] : states.split(',')
  return STATES.find((state) => events.includes(state)) ?? 'current'
}
