/** Statements on notices and deliveries. */
import { randomUUID } from 'node:crypto'
import {
  NOTICE_KINDS,
  type ClaimedDelivery,
  type DeliveryRow,
  type Notice,
  type Notifications,
} from '../notifications.ts'
import { integer, integerOrNull, oneOf, text, nullableText, type SqlRow } from './columns.ts'
import { read, write, type Operations, type Sql } from './operation.ts'

/** Notices that no gateway with channels takes; the newest stay. */
const MOST_NOTICES = 10_000

/** Runs inside the transaction of the event. */
export async function recordNotice(
  sql: Sql,
  { kind, subject, tenant, at }: Pick<Notice, 'kind' | 'subject' | 'tenant' | 'at'>,
): Promise<void> {
  const id = `ntc_${randomUUID().replaceAll('-', '')}`
  await sql.run(
    'INSERT INTO notices (id, kind, subject, tenant, at) VALUES (?, ?, ?, ?, ?)',
    id,
    kind,
    subject,
    tenant,
    at,
  )
}

const WAITING = 'delivered_at IS NULL AND failed_at IS NULL'

export const notifications: Operations<Notifications> = {
  notices: read(async (sql, limit) =>
    (await sql.all('SELECT * FROM notices ORDER BY at, id LIMIT ?', limit)).map(noticeOf),
  ),

  enqueue: write(async (sql, noticeIds, deliveries) => {
    let taken = 0
    for (const id of noticeIds) taken += await sql.run('DELETE FROM notices WHERE id = ?', id)
    // Another gateway has taken them meanwhile, and their messages with them.
    if (taken < noticeIds.length) throw new TypeError('notices were taken by another gateway')
    for (const { id, channel, kind, subject, payload, createdAt } of deliveries)
      await sql.run(
        `INSERT INTO deliveries (id, channel, kind, subject, payload, created_at, attempts, next_at)
         VALUES (?, ?, ?, ?, ?, ?, 0, ?)`,
        id,
        channel,
        kind,
        subject,
        payload,
        createdAt,
        createdAt,
      )
  }),

  claim: write(async (sql, now, until, limit) => {
    const rows = await sql.all(
      `SELECT d.*, (SELECT r.reference FROM deliveries r WHERE r.channel = d.channel AND r.subject = d.subject
           AND r.reference IS NOT NULL ORDER BY r.created_at DESC LIMIT 1) AS thread
         FROM deliveries d WHERE ${WAITING} AND d.next_at <= ?
         AND NOT EXISTS (SELECT 1 FROM deliveries e WHERE e.channel = d.channel AND e.subject = d.subject
           AND e.delivered_at IS NULL AND e.failed_at IS NULL
           AND (e.created_at < d.created_at OR (e.created_at = d.created_at AND e.id < d.id)))
       ORDER BY d.created_at, d.id LIMIT ?`,
      now,
      limit,
    )
    const claimed: ClaimedDelivery[] = []
    for (const found of rows) {
      const row = { ...noticeDelivery(found), thread: nullableText(found, 'thread') }
      const won = await sql.run(
        'UPDATE deliveries SET next_at = ? WHERE id = ? AND next_at = ?',
        until,
        row.id,
        row.nextAt,
      )
      if (won === 1) claimed.push(row)
    }
    return claimed
  }),

  complete: write(async (sql, id, { at, problem, nextAt, reference }) => {
    await sql.run(
      `UPDATE deliveries SET attempts = attempts + 1, problem = ?, next_at = ?, delivered_at = ?, failed_at = ?,
         reference = ? WHERE id = ?`,
      problem,
      nextAt ?? at,
      problem === null ? at : null,
      problem !== null && nextAt === null ? at : null,
      reference,
      id,
    )
  }),

  log: read(async (sql, limit) =>
    (await sql.all('SELECT * FROM deliveries ORDER BY created_at DESC, id DESC LIMIT ?', limit)).map(noticeDelivery),
  ),

  backlog: read(async (sql) =>
    (
      await sql.all(
        `SELECT channel, count(*) AS waiting, min(created_at) AS oldest FROM deliveries WHERE ${WAITING} GROUP BY channel ORDER BY channel`,
      )
    ).map((row) => ({
      channel: text(row, 'channel'),
      waiting: integer(row, 'waiting'),
      oldest: integer(row, 'oldest'),
    })),
  ),

  forget: write(async (sql, before) => {
    await sql.run('DELETE FROM deliveries WHERE delivered_at < ? OR failed_at < ?', before, before)
    await sql.run(
      'DELETE FROM notices WHERE id NOT IN (SELECT id FROM notices ORDER BY at DESC, id DESC LIMIT ?)',
      MOST_NOTICES,
    )
  }),
}

function noticeOf(row: SqlRow): Notice {
  return {
    id: text(row, 'id'),
    kind: oneOf(NOTICE_KINDS, row, 'kind'),
    subject: text(row, 'subject'),
    tenant: text(row, 'tenant'),
    at: integer(row, 'at'),
  }
}

const KINDS = [...NOTICE_KINDS, 'test'] as const

function noticeDelivery(row: SqlRow): DeliveryRow {
  return {
    id: text(row, 'id'),
    channel: text(row, 'channel'),
    kind: oneOf(KINDS, row, 'kind'),
    subject: text(row, 'subject'),
    payload: text(row, 'payload'),
    createdAt: integer(row, 'created_at'),
    attempts: integer(row, 'attempts'),
    nextAt: integer(row, 'next_at'),
    deliveredAt: integerOrNull(row, 'delivered_at'),
    failedAt: integerOrNull(row, 'failed_at'),
    problem: nullableText(row, 'problem'),
  }
}
