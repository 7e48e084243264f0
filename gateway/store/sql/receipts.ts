/** Statements on the events that end a receipt, on the lists of their states, and on the public receipt keys. */
import type { ReceiptState } from '../../../engine/internal.ts'
import type { ReceiptEnd, Receipts, StatusLists, ReceiptKeyRow, ReceiptKeys } from '../receipts.ts'
import { ownersOf, nullableText, integer, text, integerOrNull, type SqlRow } from './columns.ts'
import { isIn, joinedTexts, locked, read, write, type Operations, type Sql } from './operation.ts'
import { journal } from './journal.ts'

/**
 * Which event of a receipt counts when there are several: the order of the reasons in
 * docs/reference/receipts.md#reasons-and-statuses.
 */
const STATES = ['revoked', 'superseded', 'consumed'] as const satisfies readonly ReceiptState[]

export const receipts: Operations<Receipts> = {
  tenants: read(async (sql, ids) =>
    ownersOf(
      await sql.all(
        `SELECT decision_id AS id, tenant FROM decisions WHERE ${isIn(sql, 'decision_id')}`,
        JSON.stringify(ids),
      ),
    ),
  ),

  state: read(async (sql, decisionId) => {
    const row = await sql.get(
      `SELECT (SELECT ${joinedTexts(sql, 'state')} FROM receipt_events e WHERE e.decision_id = d.decision_id) AS states
       FROM decisions d WHERE d.decision_id = ?`,
      decisionId,
    )
    return row === undefined ? null : receiptStateOf(nullableText(row, 'states'))
  }),

  /** True for exactly one caller, and only while nothing else has ended one of the receipts. */
  consume: write(async (sql, decisionIds, at) => {
    const wanted = new Set(decisionIds)
    // One of many callers at a time looks at these decisions.
    const current = await sql.all(
      `SELECT decision_id FROM decisions d WHERE ${isIn(sql, 'decision_id')}
         AND NOT EXISTS (SELECT 1 FROM receipt_events e WHERE e.decision_id = d.decision_id)
       ORDER BY decision_id${locked(sql)}`,
      JSON.stringify([...wanted]),
    )
    if (current.length !== wanted.size) return false
    for (const id of wanted) await addEvent(sql, id, { state: 'consumed', at, by: '', reason: '' })
    return true
  }),

  supersede: write(async (sql, tenant, decisionId, end) => {
    const row = await sql.get('SELECT 1 AS n FROM decisions WHERE decision_id = ? AND tenant = ?', decisionId, tenant)
    if (row !== undefined) await addEvent(sql, decisionId, { ...end, state: 'superseded' })
  }),

  revoke: write(async (sql, tenant, decisionId, reason, by, at) => {
    const row = await sql.get('SELECT 1 AS n FROM decisions WHERE decision_id = ? AND tenant = ?', decisionId, tenant)
    if (row === undefined) return false
    await addEvent(sql, decisionId, { state: 'revoked', at, by, reason })
    return true
  }),
}

interface ReceiptEvent extends ReceiptEnd {
  readonly state: (typeof STATES)[number]
}

export async function addEvent(sql: Sql, decisionId: string, { state, at, by, reason }: ReceiptEvent): Promise<void> {
  const added = await sql.run(
    'INSERT INTO receipt_events (decision_id, state, at, by, reason) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    decisionId,
    state,
    at,
    by,
    reason,
  )
  if (added === 1) await journal(sql, 'receipt_event', decisionId, state)
}

/** @param states of the events, joined with commas; null: none */
export function receiptStateOf(states: string | null): ReceiptState {
  const events = states === null ? [] : states.split(',')
  return STATES.find((state) => events.includes(state)) ?? 'current'
}

/** The states come from the events of the receipts, so there is nothing to keep in step. */
export const statusLists: Operations<StatusLists> = {
  open: write(async (sql, { list, uri, size, openedAt }) => {
    await sql.run(
      'INSERT INTO status_lists (list, uri, size, opened_at) VALUES (?, ?, ?, ?)',
      list,
      uri,
      size,
      openedAt,
    )
  }),

  byId: read(async (sql, list) => {
    const row = await sql.get('SELECT uri, size, opened_at FROM status_lists WHERE list = ?', list)
    if (row === undefined) return null
    const ended = await sql.all(
      `SELECT d.status_index, ${joinedTexts(sql, 'e.state')} AS states
       FROM decisions d JOIN receipt_events e ON e.decision_id = d.decision_id
       WHERE d.status_list = ? GROUP BY d.status_index`,
      list,
    )
    return {
      list,
      uri: text(row, 'uri'),
      size: integer(row, 'size'),
      openedAt: integer(row, 'opened_at'),
      states: ended.map((entry) => [integer(entry, 'status_index'), receiptStateOf(text(entry, 'states'))] as const),
    }
  }),
}

export const receiptKeys: Operations<ReceiptKeys> = {
  list: read(async (sql) => (await sql.all('SELECT * FROM receipt_keys ORDER BY valid_from, kid')).map(receiptKey)),

  publish: write(async (sql, rows) => {
    for (const { kid, x, validFrom, retiredAt, revokedAt } of rows) {
      const changed = await sql.run(
        `INSERT INTO receipt_keys (kid, x, valid_from, retired_at, revoked_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (kid) DO UPDATE SET retired_at = excluded.retired_at,
           revoked_at = coalesce(receipt_keys.revoked_at, excluded.revoked_at)
         WHERE receipt_keys.retired_at IS DISTINCT FROM excluded.retired_at
           OR (receipt_keys.revoked_at IS NULL AND excluded.revoked_at IS NOT NULL)`,
        kid,
        x,
        validFrom,
        retiredAt,
        revokedAt,
      )
      if (changed === 1) await journal(sql, 'receipt_key', kid)
    }
  }),

  revoke: write(async (sql, kid, at) => {
    const found = await sql.run('UPDATE receipt_keys SET revoked_at = coalesce(revoked_at, ?) WHERE kid = ?', at, kid)
    if (found === 1) await journal(sql, 'receipt_key', kid)
    return found === 1
  }),
}

function receiptKey(row: SqlRow): ReceiptKeyRow {
  return {
    kid: text(row, 'kid'),
    x: text(row, 'x'),
    validFrom: integer(row, 'valid_from'),
    retiredAt: integerOrNull(row, 'retired_at'),
    revokedAt: integerOrNull(row, 'revoked_at'),
  }
}
