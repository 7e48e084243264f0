/** Statements on the events that end a receipt. */
import type { Receipts, ReceiptState } from '../receipts.ts'
import { ownersOf, textOrNull } from './columns.ts'
import { isIn, joinedTexts, read, write, type Operations, type Sql } from './operation.ts'
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
    return row === undefined ? null : receiptStateOf(textOrNull(row, 'states'))
  }),

  /** True for exactly one caller, and only while nothing else has ended the receipt. */
  consume: write(async (sql, decisionId, at) => {
    const consumed = await sql.run(
      `INSERT INTO receipt_events (decision_id, state, at, by, reason)
       SELECT decision_id, 'consumed', ?, '', '' FROM decisions d
       WHERE decision_id = ? AND NOT EXISTS (SELECT 1 FROM receipt_events e WHERE e.decision_id = d.decision_id)
       ON CONFLICT DO NOTHING`,
      at,
      decisionId,
    )
    if (consumed === 1) await journal(sql, 'receipt_event', decisionId, 'consumed')
    return consumed === 1
  }),

  supersede: write(async (sql, tenant, decisionId, by, reason, at) => {
    const row = await sql.get('SELECT 1 AS n FROM decisions WHERE decision_id = ? AND tenant = ?', decisionId, tenant)
    if (row !== undefined) await addEvent(sql, decisionId, 'superseded', at, by, reason)
  }),

  revoke: write(async (sql, tenant, decisionId, reason, by, at) => {
    const row = await sql.get('SELECT 1 AS n FROM decisions WHERE decision_id = ? AND tenant = ?', decisionId, tenant)
    if (row === undefined) return false
    await addEvent(sql, decisionId, 'revoked', at, by, reason)
    return true
  }),
}

export async function addEvent(
  sql: Sql,
  decisionId: string,
  state: (typeof STATES)[number],
  at: number,
  by: string,
  reason: string,
): Promise<void> {
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
