/** Operations on the other tables of the store: baselines, monitoring windows, API keys, monthly counts. */
import { existsSync } from 'node:fs'
import type { ApiKey, BaselineRow, MonitoringWindowRow, Role } from '../store.ts'
import { journal } from './journal.ts'
import {
  integer,
  integerOrNull,
  oneOf,
  text,
  textList,
  textOrNull,
  type SqlRow,
  type Statements,
} from './statements.ts'

const ROLES = ['agent', 'approver', 'admin'] as const satisfies readonly Role[]
const OBSERVERS = ['gateway', 'caller'] as const satisfies readonly MonitoringWindowRow['observer'][]
const BASELINE_SOURCES = [
  'file',
  'url',
  'git',
  'first_use',
  'promotion',
] as const satisfies readonly BaselineRow['source'][]

export const recordReads = {
  baseline: (sql: Statements, args: { readonly route: string; readonly artifactId: string }): BaselineRow | null => {
    const row = sql.get('SELECT * FROM baselines WHERE route = ? AND artifact_id = ?', args.route, args.artifactId)
    return row === undefined ? null : baseline(row)
  },
  baselines: (sql: Statements): readonly BaselineRow[] =>
    sql.all('SELECT * FROM baselines ORDER BY route, artifact_id').map(baseline),
  usesInMonth: (sql: Statements, args: { readonly tenant: string; readonly month: string }): number => {
    const row = sql.get('SELECT count FROM monthly_uses WHERE tenant = ? AND month = ?', args.tenant, args.month)
    return row === undefined ? 0 : integer(row, 'count')
  },
  openWindows: (sql: Statements): readonly MonitoringWindowRow[] =>
    sql.all('SELECT * FROM monitoring_windows WHERE closed_at IS NULL ORDER BY opened_at').map(window),
  apiKey: (sql: Statements, hash: string): ApiKey | null => {
    const row = sql.get('SELECT * FROM api_keys WHERE hash = ?', hash)
    return row === undefined ? null : apiKey(row)
  },
  apiKeys: (sql: Statements): readonly ApiKey[] =>
    sql.all('SELECT * FROM api_keys ORDER BY created_at, hash').map(apiKey),
} as const

export const recordWrites = {
  setBaseline: (sql: Statements, row: BaselineRow): null => {
    sql.run(
      `INSERT INTO baselines (route, artifact_id, type, content, digest, source, set_by, set_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET type = excluded.type, content = excluded.content, digest = excluded.digest,
         source = excluded.source, set_by = excluded.set_by, set_at = excluded.set_at`,
      row.route,
      row.artifactId,
      row.type,
      row.content,
      row.digest,
      row.source,
      row.setBy,
      row.setAt,
    )
    journal(sql, 'baseline', row.route, row.artifactId)
    return null
  },

  openWindow: (sql: Statements, row: MonitoringWindowRow): null => {
    sql.run(
      `INSERT INTO monitoring_windows
         (window_id, correlation_id, decision_id, tenant, route, observer, opened_at, closed_at, outcome)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      row.windowId,
      row.correlationId,
      row.decisionId,
      row.tenant,
      row.route,
      row.observer,
      row.openedAt,
      row.closedAt,
      row.outcome,
    )
    return null
  },

  closeWindow: (
    sql: Statements,
    args: { readonly windowId: string; readonly outcome: string; readonly at: number },
  ): boolean =>
    sql.run(
      'UPDATE monitoring_windows SET closed_at = ?, outcome = ? WHERE window_id = ? AND closed_at IS NULL',
      args.at,
      args.outcome,
      args.windowId,
    ) === 1,

  createApiKey: (sql: Statements, key: ApiKey): null => {
    sql.run(
      `INSERT INTO api_keys (hash, audience, tenant, name, role, plan, groups_of_key, created_at, revoked_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      key.hash,
      key.audience,
      key.tenant,
      key.name,
      key.role,
      key.plan,
      JSON.stringify(key.groups),
      key.createdAt,
      key.revokedAt,
    )
    journal(sql, 'api_key', key.hash)
    return null
  },

  /** True when the key exists; the time of the first revocation stays. */
  revokeApiKey: (sql: Statements, args: { readonly hash: string; readonly at: number }): boolean => {
    const isKnown =
      sql.run('UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE hash = ?', args.at, args.hash) === 1
    if (isKnown) journal(sql, 'api_key', args.hash)
    return isKnown
  },

  /** False when the address has a key already. */
  createSignup: (sql: Statements, args: { readonly key: ApiKey; readonly mail: string }): boolean => {
    const { key, mail } = args
    const isFirst =
      sql.run(
        'INSERT OR IGNORE INTO signups (mail, audience, at) VALUES (?, ?, ?)',
        mail,
        key.audience,
        key.createdAt,
      ) === 1
    if (isFirst) recordWrites.createApiKey(sql, key)
    return isFirst
  },

  countUse: (
    sql: Statements,
    args: { readonly tenant: string; readonly month: string; readonly limit: number },
  ): number | null => {
    if (args.limit < 1) return null
    const row = sql.get(
      `INSERT INTO monthly_uses (tenant, month, count) VALUES (?, ?, 1)
       ON CONFLICT DO UPDATE SET count = count + 1 WHERE count < ?
       RETURNING count`,
      args.tenant,
      args.month,
      args.limit,
    )
    return row === undefined ? null : integer(row, 'count')
  },

  /** A real write. The file must still be there: SQLite goes on writing to an unlinked one. */
  probe: (sql: Statements, file: string): null => {
    sql.run('INSERT INTO probes (id, count) VALUES (1, 1) ON CONFLICT DO UPDATE SET count = count + 1')
    if (!existsSync(file)) throw new Error(`${file} is gone; restart the gateway to make a new ledger`)
    return null
  },
} as const

function baseline(row: SqlRow): BaselineRow {
  return {
    route: text(row, 'route'),
    artifactId: text(row, 'artifact_id'),
    type: text(row, 'type'),
    content: text(row, 'content'),
    digest: text(row, 'digest'),
    source: oneOf(BASELINE_SOURCES, row, 'source'),
    setBy: text(row, 'set_by'),
    setAt: integer(row, 'set_at'),
  }
}

function window(row: SqlRow): MonitoringWindowRow {
  return {
    windowId: text(row, 'window_id'),
    correlationId: text(row, 'correlation_id'),
    decisionId: text(row, 'decision_id'),
    tenant: text(row, 'tenant'),
    route: textOrNull(row, 'route'),
    observer: oneOf(OBSERVERS, row, 'observer'),
    openedAt: integer(row, 'opened_at'),
    closedAt: integerOrNull(row, 'closed_at'),
    outcome: textOrNull(row, 'outcome'),
  }
}

function apiKey(row: SqlRow): ApiKey {
  return {
    hash: text(row, 'hash'),
    audience: text(row, 'audience'),
    tenant: text(row, 'tenant'),
    name: text(row, 'name'),
    role: oneOf(ROLES, row, 'role'),
    plan: text(row, 'plan'),
    groups: textList(row, 'groups_of_key'),
    createdAt: integer(row, 'created_at'),
    revokedAt: integerOrNull(row, 'revoked_at'),
  }
}
