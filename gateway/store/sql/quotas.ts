/** Statements on the monthly counts of tenants. */
import type { Quotas } from '../quotas.ts'
import { integer, text } from './columns.ts'
import { read, statement, type Operations } from './operation.ts'

export const quotas: Operations<Quotas> = {
  count: statement(async (sql, tenant, month, limit) => {
    if (limit < 1) return null
    const row = await sql.get(
      `INSERT INTO monthly_uses (tenant, month, count) VALUES (?, ?, 1)
       ON CONFLICT (tenant, month) DO UPDATE SET count = monthly_uses.count + 1 WHERE monthly_uses.count < ?
       RETURNING count`,
      tenant,
      month,
      Math.min(limit, Number.MAX_SAFE_INTEGER),
    )
    return row === undefined ? null : integer(row, 'count')
  }),

  used: read(async (sql, tenant, month) => {
    const row = await sql.get('SELECT count FROM monthly_uses WHERE tenant = ? AND month = ?', tenant, month)
    return row === undefined ? 0 : integer(row, 'count')
  }),

  ofMonth: read(async (sql, month) => {
    const rows = await sql.all('SELECT tenant, count FROM monthly_uses WHERE month = ?', month)
    return rows.map((row) => ({ tenant: text(row, 'tenant'), used: integer(row, 'count') }))
  }),
}
