/** Statements on the public receipt keys of the gateways that share a store. */
import type { ReceiptKeyRow, ReceiptKeys } from '../receipt-keys.ts'
import { integer, integerOrNull, text, type SqlRow } from './columns.ts'
import { journal } from './journal.ts'
import { read, write, type Operations } from './operation.ts'

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
