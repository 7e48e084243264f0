/** Statements on deliveries of webhooks, and on the checks at commits. */
import type { MergeCheck, WebhookDeliveryRow, WebhookQueue } from '../webhooks.ts'
import { integer, oneOf, text, nullableText, type SqlRow } from './columns.ts'
import { read, statement, write, type Operations } from './operation.ts'

const PLATFORMS = ['scm_a', 'scm_b', 'scm_c'] as const satisfies readonly MergeCheck['platform'][]

const WAITING = 'd.done_at IS NULL'

export const webhooks: Operations<WebhookQueue> = {
  accept: write(async (sql, { platform, deliveryId, digest, subject, task, receivedAt }) => {
    const added = await sql.run(
      `INSERT INTO webhook_deliveries (platform, delivery_id, digest, subject, task, received_at, attempts, next_at)
       VALUES (?, ?, ?, ?, ?, ?, 0, ?) ON CONFLICT DO NOTHING`,
      platform,
      deliveryId,
      digest,
      subject,
      task,
      receivedAt,
      receivedAt,
    )
    if (added === 0) return false
    // The task judges the state of the platform at its time, so that the newest one does for all.
    await sql.run(
      `UPDATE webhook_deliveries SET done_at = ?, problem = 'replaced by a newer delivery'
       WHERE platform = ? AND subject = ? AND done_at IS NULL AND attempts = 0 AND next_at <= received_at
         AND received_at <= ? AND delivery_id <> ?`,
      receivedAt,
      platform,
      subject,
      receivedAt,
      deliveryId,
    )
    return true
  }),

  claim: write(async (sql, now, until, limit) => {
    const rows = await sql.all(
      `SELECT d.* FROM webhook_deliveries d WHERE ${WAITING} AND d.next_at <= ?
         AND NOT EXISTS (SELECT 1 FROM webhook_deliveries e WHERE e.platform = d.platform AND e.subject = d.subject
           AND e.done_at IS NULL
           AND (e.received_at < d.received_at OR (e.received_at = d.received_at AND e.delivery_id < d.delivery_id)))
       ORDER BY d.received_at, d.delivery_id LIMIT ?`,
      now,
      limit,
    )
    const claimed: WebhookDeliveryRow[] = []
    for (const row of rows) {
      const delivery = webhookDelivery(row)
      const won = await sql.run(
        'UPDATE webhook_deliveries SET next_at = ? WHERE platform = ? AND delivery_id = ? AND next_at = ?',
        until,
        delivery.platform,
        delivery.deliveryId,
        integer(row, 'next_at'),
      )
      if (won === 1) claimed.push(delivery)
    }
    return claimed
  }),

  complete: statement(async (sql, platform, deliveryId, { at, problem, nextAt }) => {
    await sql.run(
      `UPDATE webhook_deliveries SET attempts = attempts + 1, problem = ?, next_at = ?, done_at = ?
       WHERE platform = ? AND delivery_id = ?`,
      problem,
      nextAt ?? at,
      nextAt === null ? at : null,
      platform,
      deliveryId,
    )
  }),

  saveCheck: statement(async (sql, check) => {
    await sql.run(
      `INSERT INTO merge_checks
         (platform, repository, commit_sha, subject, tenant, task, decision_id, approval_id, report, shown, at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (platform, repository, commit_sha, subject) DO UPDATE SET tenant = excluded.tenant,
         task = excluded.task, decision_id = excluded.decision_id, approval_id = excluded.approval_id,
         report = excluded.report, shown = excluded.shown, at = excluded.at`,
      check.platform,
      check.repository,
      check.commit,
      check.subject,
      check.tenant,
      check.task,
      check.decisionId,
      check.approvalId,
      check.report,
      check.shown,
      check.at,
    )
  }),

  checksAt: read(async (sql, platform, repository, commit) =>
    (
      await sql.all(
        'SELECT * FROM merge_checks WHERE platform = ? AND repository = ? AND commit_sha = ? ORDER BY subject',
        platform,
        repository,
        commit,
      )
    ).map(checkOf),
  ),

  removeChecks: write(async (sql, platform, subject) => {
    const rows = await sql.all(
      'DELETE FROM merge_checks WHERE platform = ? AND subject = ? RETURNING commit_sha',
      platform,
      subject,
    )
    return rows.map((row) => text(row, 'commit_sha'))
  }),

  queueDecided: write(async (sql, now, limit) => {
    const rows = await sql.all(
      `SELECT c.*, coalesce(a.settled_state, 'expired') AS settled FROM merge_checks c
       JOIN approvals a ON a.approval_id = c.approval_id
       WHERE a.settled_state IS NOT NULL OR a.ended_at IS NOT NULL OR a.expires_at <= ?
       ORDER BY c.at LIMIT ?`,
      now,
      limit,
    )
    let queued = 0
    for (const row of rows) {
      const { platform, repository, commit, subject, task, approvalId } = checkOf(row)
      const won = await sql.run(
        `UPDATE merge_checks SET approval_id = NULL
         WHERE platform = ? AND repository = ? AND commit_sha = ? AND subject = ? AND approval_id = ?`,
        platform,
        repository,
        commit,
        subject,
        approvalId,
      )
      if (won === 0) continue
      const id = `approval:${approvalId ?? ''}:${commit}:${now}`
      queued += await sql.run(
        `INSERT INTO webhook_deliveries (platform, delivery_id, digest, subject, task, received_at, attempts, next_at)
         VALUES (?, ?, ?, ?, ?, ?, 0, ?) ON CONFLICT DO NOTHING`,
        platform,
        id,
        id,
        subject,
        text(row, 'settled') === 'expired'
          ? JSON.stringify({ kind: 'approval_expired', repository, commit, subject })
          : task,
        now,
        now,
      )
    }
    return queued
  }),

  backlog: read(async (sql) => {
    const row = await sql.get(
      `SELECT count(*) AS waiting, min(d.received_at) AS oldest FROM webhook_deliveries d WHERE ${WAITING}`,
    )
    return {
      waiting: row === undefined ? 0 : integer(row, 'waiting'),
      oldestAt: row === undefined || row['oldest'] === null ? null : integer(row, 'oldest'),
    }
  }),

  forget: write(async (sql, before) => {
    await sql.run('DELETE FROM webhook_deliveries WHERE done_at < ?', before)
    await sql.run('DELETE FROM merge_checks WHERE at < ?', before)
  }),
}

function webhookDelivery(row: SqlRow): WebhookDeliveryRow {
  return {
    platform: oneOf(PLATFORMS, row, 'platform'),
    deliveryId: text(row, 'delivery_id'),
    digest: text(row, 'digest'),
    subject: text(row, 'subject'),
    task: text(row, 'task'),
    receivedAt: integer(row, 'received_at'),
    attempts: integer(row, 'attempts'),
  }
}

function checkOf(row: SqlRow): MergeCheck {
  return {
    platform: oneOf(PLATFORMS, row, 'platform'),
    repository: text(row, 'repository'),
    commit: text(row, 'commit_sha'),
    subject: text(row, 'subject'),
    tenant: text(row, 'tenant'),
    task: text(row, 'task'),
    decisionId: nullableText(row, 'decision_id'),
    approvalId: nullableText(row, 'approval_id'),
    report: text(row, 'report'),
    shown: nullableText(row, 'shown'),
    at: integer(row, 'at'),
  }
}
