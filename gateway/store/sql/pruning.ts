/**
 * Removes the beginning of the ledger. What is left verifies: a cut names the last removed entry, decision and call, and is
 * signed before anything is removed. Rows without an end of their own (baselines, keys, approvals) stay, and get a new entry.
 */
import type { LedgerCut, PruneLimits, SignedCut } from '../ledger.ts'
import { integer, text, textsOf, type SqlRow } from './columns.ts'
import { headOf, journal, journalCut, PROTECTED } from './journal.ts'
import type { Sql } from './operation.ts'

const PAGE = 1000
/** Kinds whose rows change and stay. */
const LASTING: ReadonlyMap<string, (typeof PROTECTED)[number]> = new Map(
  PROTECTED.filter(({ isFinal }) => !isFinal).map((table) => [table.kind, table]),
)

/** Null: nothing was removed from this ledger. */
export async function newestCut(sql: Sql): Promise<SignedCut | null> {
  // A ledger of many chains is not cut.
  if (sql.dialect !== 'sqlite') return null
  const row = await sql.get('SELECT * FROM ledger_cuts ORDER BY at DESC, sequence DESC LIMIT 1')
  return row === undefined ? null : cutOf(row)
}

/** How far the ledger may be cut now; null: no entry can go. */
export async function proposeCut(sql: Sql, limits: PruneLimits): Promise<LedgerCut | null> {
  if (sql.dialect !== 'sqlite') return null
  const head = await headOf(sql)
  if (head === null) return null
  const before = await newestCut(sql)
  const signed = await sql.get('SELECT max(sequence) AS newest FROM ledger_checkpoints WHERE chain = ?', head.chain)
  // The newest checkpoint keeps its entry, or the next start could not find it.
  const end = signed === undefined || signed['newest'] === null ? 0 : integer(signed, 'newest')
  const reach = new Reach(sql, limits, before)
  let sequence = before?.sequence ?? 0
  let taken = 0
  while (taken < limits.entries) {
    const rows = await sql.all(
      'SELECT * FROM ledger_journal WHERE chain = ? AND sequence > ? AND sequence < ? ORDER BY sequence LIMIT ?',
      head.chain,
      sequence,
      end,
      Math.min(PAGE, limits.entries - taken),
    )
    for (const row of rows) {
      if (!(await reach.includes(row))) return reach.cut(head.chain)
      sequence = integer(row, 'sequence')
      taken += 1
    }
    if (rows.length === 0) break
  }
  return reach.cut(head.chain)
}

/** The entries that may go, from the oldest on. */
class Reach {
  readonly #sql: Sql
  readonly #limits: PruneLimits
  readonly #before: SignedCut | null
  #last: SqlRow | null = null
  #decision: { readonly sequence: number; readonly hash: string } | null = null
  #call: number | null = null

  constructor(sql: Sql, limits: PruneLimits, before: SignedCut | null) {
    this.#sql = sql
    this.#limits = limits
    this.#before = before
  }

  async includes(row: SqlRow): Promise<boolean> {
    const key = textsOf(JSON.parse(text(row, 'key')))
    const kind = text(row, 'kind')
    if (kind === 'decision' && !(await this.#isOldDecision(key[0] ?? ''))) return false
    if (kind === 'calls' && !(await this.#areOldCalls(Number(key[0]), Number(key[1])))) return false
    this.#last = row
    return true
  }

  cut(chain: string): LedgerCut | null {
    // Entries of rows that stay are worth no cut.
    if (this.#last === null || (this.#decision === null && this.#call === null)) return null
    const before = this.#before
    return {
      chain,
      sequence: integer(this.#last, 'sequence'),
      hash: text(this.#last, 'hash'),
      decision: this.#decision?.sequence ?? before?.decision ?? 0,
      decisionHash: this.#decision?.hash ?? before?.decisionHash ?? null,
      call: this.#call ?? before?.call ?? 0,
    }
  }

  /** The newest decision stays: the next one continues its chain. */
  async #isOldDecision(id: string): Promise<boolean> {
    const row = await this.#sql.get(
      `SELECT sequence, hash, evaluated_at, expires_at, (SELECT max(sequence) FROM decisions) AS newest
       FROM decisions WHERE decision_id = ?`,
      id,
    )
    // A row that is missing is for `ledger verify` to report, and nothing is removed past it.
    if (row === undefined || integer(row, 'sequence') === integer(row, 'newest')) return false
    const isOver = integer(row, 'expires_at') < this.#limits.now && integer(row, 'evaluated_at') < this.#limits.before
    if (isOver) this.#decision = { sequence: integer(row, 'sequence'), hash: text(row, 'hash') }
    return isOver
  }

  async #areOldCalls(from: number, to: number): Promise<boolean> {
    const row = await this.#sql.get(
      `SELECT max(at) AS at, (SELECT max(sequence) FROM interceptions) AS newest
       FROM interceptions WHERE sequence BETWEEN ? AND ?`,
      from,
      to,
    )
    if (row === undefined || row['at'] === null || to >= integer(row, 'newest')) return false
    const isOver = integer(row, 'at') < this.#limits.before
    if (isOver) this.#call = to
    return isOver
  }
}

/** From now on the ledger begins behind the cut. The rows before it are removed later, in portions. */
export async function recordCut(sql: Sql, cut: SignedCut): Promise<void> {
  const before = await newestCut(sql)
  for (const [kind, key] of await lastingRows(sql, cut.chain, before?.sequence ?? 0, cut.sequence))
    await journal(sql, kind, ...key)
  await journalCut(sql, cut)
  await sql.run('DELETE FROM ledger_cuts')
  await sql.run(
    `INSERT INTO ledger_cuts (chain, sequence, hash, decision, decision_hash, call, at, token)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    cut.chain,
    cut.sequence,
    cut.hash,
    cut.decision,
    cut.decisionHash,
    cut.call,
    cut.at,
    cut.token,
  )
  await sql.run(
    'DELETE FROM supersession_heads WHERE decision_id IN (SELECT decision_id FROM decisions WHERE sequence <= ?)',
    cut.decision,
  )
  await sql.run('DELETE FROM ledger_checkpoints WHERE chain = ? AND sequence <= ?', cut.chain, cut.sequence)
}

/** Rows whose entry is before the cut, and that are still there. */
async function lastingRows(
  sql: Sql,
  chain: string,
  from: number,
  to: number,
): Promise<readonly (readonly [kind: (typeof PROTECTED)[number]['kind'], key: readonly string[]])[]> {
  const entries = await sql.all(
    `SELECT DISTINCT kind, key FROM ledger_journal
     WHERE chain = ? AND sequence > ? AND sequence <= ? AND kind NOT IN ('decision', 'receipt_event', 'calls')`,
    chain,
    from,
    to,
  )
  const found: (readonly [(typeof PROTECTED)[number]['kind'], readonly string[]])[] = []
  for (const entry of entries) {
    const table = LASTING.get(text(entry, 'kind'))
    if (table === undefined) continue
    const key = textsOf(JSON.parse(text(entry, 'key')))
    const condition = table.key.map((column) => `${column} = ?`).join(' AND ')
    const row = await sql.get(`SELECT 1 AS n FROM ${table.table} WHERE ${condition}`, ...key)
    if (row !== undefined) found.push([table.kind, key])
  }
  return found
}

/** Statements that remove a portion of the rows before the cut, in an order that no reference prevents. */
const REMOVALS: readonly ((sql: Sql, cut: SignedCut, limit: number) => Promise<number>)[] = [
  (sql, { decision }, limit) =>
    sql.run(
      `DELETE FROM receipt_events WHERE decision_id IN
         (SELECT e.decision_id FROM receipt_events e JOIN decisions d ON d.decision_id = e.decision_id
          WHERE d.sequence <= ? LIMIT ?)`,
      decision,
      limit,
    ),
  (sql, { decision }, limit) =>
    sql.run(
      `DELETE FROM decision_inputs WHERE decision_id IN
         (SELECT i.decision_id FROM decision_inputs i JOIN decisions d ON d.decision_id = i.decision_id
          WHERE d.sequence <= ? LIMIT ?)`,
      decision,
      limit,
    ),
  (sql, { decision }, limit) =>
    sql.run(
      'DELETE FROM decisions WHERE sequence IN (SELECT sequence FROM decisions WHERE sequence <= ? ORDER BY sequence LIMIT ?)',
      decision,
      limit,
    ),
  (sql, { call }, limit) =>
    sql.run(
      `DELETE FROM interceptions WHERE sequence IN
         (SELECT sequence FROM interceptions WHERE sequence <= ? ORDER BY sequence LIMIT ?)`,
      call,
      limit,
    ),
  (sql, { chain, sequence }, limit) =>
    sql.run(
      `DELETE FROM ledger_journal WHERE chain = ? AND sequence IN
         (SELECT sequence FROM ledger_journal WHERE chain = ? AND sequence <= ? ORDER BY sequence LIMIT ?)`,
      chain,
      chain,
      sequence,
      limit,
    ),
  (sql, { at }, limit) =>
    sql.run(
      `DELETE FROM status_lists WHERE list IN
         (SELECT s.list FROM status_lists s WHERE s.opened_at < ? AND NOT EXISTS
            (SELECT 1 FROM decisions d WHERE d.status_list = s.list) LIMIT ?)`,
      at - STATUS_LIST_LIFE,
      limit,
    ),
]

/** A list without decisions may still be filled by its gateway for a day. */
const STATUS_LIST_LIFE = 2 * 86_400_000

/** Removes at most `limit` rows of one table; 0: nothing is left to remove. */
export async function removeBehindCut(sql: Sql, limit: number): Promise<number> {
  const cut = await newestCut(sql)
  if (cut === null) return 0
  for (const remove of REMOVALS) {
    const removed = await remove(sql, cut, limit)
    if (removed > 0) return removed
  }
  return 0
}

function cutOf(row: SqlRow): SignedCut {
  const decisionHash = row['decision_hash']
  return {
    chain: text(row, 'chain'),
    sequence: integer(row, 'sequence'),
    hash: text(row, 'hash'),
    decision: integer(row, 'decision'),
    decisionHash: typeof decisionHash === 'string' ? decisionHash : null,
    call: integer(row, 'call'),
    at: integer(row, 'at'),
    token: text(row, 'token'),
  }
}
