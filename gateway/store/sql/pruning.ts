/**
 * Removes the beginning of the ledger. What is left verifies: the cut of a chain names its last removed entry, decision and call,
 * and is signed before anything is removed. Rows without an end of their own (baselines, keys, approvals) stay, and get a new
 * entry. Chains of several gateways are cut at the same place in the order of their entries.
 */
import type { ProposedCut, PruneLimits, SignedCut } from '../ledger.ts'
import { integer, text, storedTexts, type SqlRow, type SqlValue } from './columns.ts'
import { itemOf, locked, type Sql } from './operation.ts'
import { journal, journalCut, PROTECTED } from './journal.ts'

const PAGE = 1000
/** Kinds whose rows change and stay. */
const LASTING: ReadonlyMap<string, (typeof PROTECTED)[number]> = new Map(
  PROTECTED.filter(({ isFinal }) => !isFinal).map((table) => [table.kind, table]),
)

/** Kinds whose entries use up the bound: without one of them there is no cut. */
const COUNTED: ReadonlySet<string> = new Set(['decision', 'calls'])

/** Null: nothing was removed from this chain. */
export async function newestCut(sql: Sql, chain: string): Promise<SignedCut | null> {
  const row = await sql.get('SELECT * FROM ledger_cuts WHERE chain = ? ORDER BY at DESC, sequence DESC LIMIT 1', chain)
  return row === undefined ? null : cutOf(row)
}

export async function allCuts(sql: Sql): Promise<readonly SignedCut[]> {
  return (await sql.all('SELECT * FROM ledger_cuts ORDER BY chain')).map(cutOf)
}

/**
 * An expression: the sequence up to which decisions or calls of the row's chain are removed. Where there is one chain, its rows do
 * not name it.
 */
export function removedUpTo({ writer }: Pick<Sql, 'writer'>, column: 'decision' | 'call', row: string): string {
  const own = writer === null ? '' : ` WHERE k.chain = ${row}.chain`
  return `coalesce((SELECT max(k.${column}) FROM ledger_cuts k${own}), 0)`
}

/** How far the chains may be cut now; empty: no entry can go. */
export async function proposeCuts(sql: Sql, limits: PruneLimits): Promise<readonly ProposedCut[]> {
  const proposed: ProposedCut[] = []
  // Entries of other chains up to the same place go along: so the events of a removed decision go with it.
  let place = Number.POSITIVE_INFINITY
  for (const { chain, ordinal } of await chainsFromTheOldest(sql)) {
    if (ordinal > place) break
    const range = new PrunedRange(sql, chain, limits)
    const cut = await range.cut(place)
    if (cut === null) continue
    if (cut.entries === limits.entries) place = Math.min(place, range.place)
    proposed.push(cut)
  }
  return proposed
}

/** Chains that have entries, with the place of the first one among the entries of all chains. */
async function chainsFromTheOldest(sql: Sql): Promise<readonly { readonly chain: string; readonly ordinal: number }[]> {
  const rows = await sql.all(
    `SELECT c.chain, (SELECT coalesce(j.ordinal, 0) FROM ledger_journal j
       WHERE j.chain = c.chain AND j.sequence > coalesce((SELECT max(k.sequence) FROM ledger_cuts k WHERE k.chain = c.chain), 0)
       ORDER BY j.sequence LIMIT 1) AS ordinal
     FROM ledger_chains c`,
  )
  return rows
    .filter((row) => row['ordinal'] !== null)
    .map((row) => ({ chain: text(row, 'chain'), ordinal: integer(row, 'ordinal') }))
    .toSorted((a, b) => a.ordinal - b.ordinal)
}

/** The entries of one chain that may go, from the oldest on. */
class PrunedRange {
  readonly #sql: Sql
  readonly #chain: string
  readonly #limits: PruneLimits
  /** In a file the next decision and call continue from the newest rows of the chain that is written. */
  readonly #keepsNewest: boolean
  #last: SqlRow | null = null
  /** Of the last entry that may go, in the order of all chains. */
  place = 0
  #decision: { readonly sequence: number; readonly hash: string } | null = null
  #call: number | null = null

  constructor(sql: Sql, chain: string, limits: PruneLimits) {
    this.#sql = sql
    this.#chain = chain
    this.#limits = limits
    this.#keepsNewest = sql.dialect === 'sqlite' && (sql.writer === null || sql.writer === chain)
  }

  /** @param place entries after it stay, in the order of all chains */
  async cut(place: number): Promise<ProposedCut | null> {
    const before = await newestCut(this.#sql, this.#chain)
    const end = await this.#end()
    let sequence = before?.sequence ?? 0
    let taken = 0
    walking: while (taken < this.#limits.entries) {
      const rows = await this.#sql.all(
        'SELECT * FROM ledger_journal WHERE chain = ? AND sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?',
        this.#chain,
        sequence,
        end,
        PAGE,
      )
      for (const row of rows) {
        if (taken === this.#limits.entries || Number(row['ordinal']) > place || !(await this.#includes(row)))
          break walking
        sequence = integer(row, 'sequence')
        // Entries of rows that stay are written again, so they do not count.
        if (COUNTED.has(text(row, 'kind'))) taken += 1
      }
      if (rows.length === 0) break
    }
    return this.#proposal(before, taken)
  }

  /** The newest entry that was signed; a file keeps it. What was not signed yet stays. */
  async #end(): Promise<number> {
    const signed = await this.#sql.get(
      'SELECT max(sequence) AS newest FROM ledger_checkpoints WHERE chain = ?',
      this.#chain,
    )
    if (signed === undefined || signed['newest'] === null) return 0
    return integer(signed, 'newest') - (this.#keepsNewest ? 1 : 0)
  }

  async #includes(row: SqlRow): Promise<boolean> {
    const key = storedTexts(JSON.parse(text(row, 'key')))
    const kind = text(row, 'kind')
    if (kind === 'decision' && !(await this.#isOldDecision(key[0] ?? ''))) return false
    if (kind === 'calls' && !(await this.#areOldCalls(Number(key[0]), Number(key[1])))) return false
    this.#last = row
    this.place = Number(row['ordinal'])
    return true
  }

  #proposal(before: SignedCut | null, entries: number): ProposedCut | null {
    // Entries of rows that stay are worth no cut.
    if (this.#last === null || (this.#decision === null && this.#call === null)) return null
    return {
      chain: this.#chain,
      sequence: integer(this.#last, 'sequence'),
      hash: text(this.#last, 'hash'),
      decision: this.#decision?.sequence ?? before?.decision ?? 0,
      decisionHash: this.#decision?.hash ?? before?.decisionHash ?? null,
      call: this.#call ?? before?.call ?? 0,
      entries,
    }
  }

  async #isOldDecision(id: string): Promise<boolean> {
    const row = await this.#sql.get(
      'SELECT sequence, hash, evaluated_at, expires_at FROM decisions WHERE decision_id = ?',
      id,
    )
    // A row that is missing is for `ledger verify` to report, and nothing is removed past it.
    if (row === undefined || (await this.#isNewest('decisions', integer(row, 'sequence')))) return false
    const isOver = integer(row, 'expires_at') < this.#limits.now && integer(row, 'evaluated_at') < this.#limits.before
    if (isOver) this.#decision = { sequence: integer(row, 'sequence'), hash: text(row, 'hash') }
    return isOver
  }

  async #areOldCalls(from: number, to: number): Promise<boolean> {
    const { text: own, values } = ofChain(this.#sql, this.#chain)
    const row = await this.#sql.get(
      `SELECT max(at) AS at FROM interceptions WHERE ${own}sequence BETWEEN ? AND ?`,
      ...values,
      from,
      to,
    )
    if (row === undefined || row['at'] === null || (await this.#isNewest('interceptions', to))) return false
    const isOver = integer(row, 'at') < this.#limits.before
    if (isOver) this.#call = to
    return isOver
  }

  async #isNewest(table: 'decisions' | 'interceptions', sequence: number): Promise<boolean> {
    if (!this.#keepsNewest) return false
    const { text: own, values } = ofChain(this.#sql, this.#chain)
    const later = await this.#sql.get(
      `SELECT 1 AS n FROM ${table} WHERE ${own}sequence > ? LIMIT 1`,
      ...values,
      sequence,
    )
    return later === undefined
  }
}

/** Rows of a chain; where there is one chain, they do not name it. */
function ofChain({ writer }: Pick<Sql, 'writer'>, chain: string): { text: string; values: readonly SqlValue[] } {
  return writer === null ? { text: '', values: [] } : { text: 'chain = ? AND ', values: [chain] }
}

/** From now on the chains begin behind their cuts. The rows before them are removed later, in portions. */
export async function recordCuts(sql: Sql, cuts: readonly SignedCut[]): Promise<void> {
  if (sql.dialect === 'postgres') await sql.get(`SELECT pg_advisory_xact_lock(${PRUNING_LOCK})`)
  const news: { readonly cut: SignedCut; readonly from: number }[] = []
  for (const cut of cuts) {
    const before = await newestCut(sql, cut.chain)
    // Another gateway may have cut it meanwhile.
    if (before === null || before.sequence < cut.sequence) news.push({ cut, from: before?.sequence ?? 0 })
  }
  const lasting: LastingRow[] = []
  for (const { cut, from } of news) lasting.push(...(await lastingRows(sql, cut.chain, from, cut.sequence)))
  for (const { cut } of news) await replaceCut(sql, cut)
  for (const [kind, key] of [...lasting, ...(await keptEvents(sql, news))]) await journal(sql, kind, ...key)
  // The entry of a cut may be in another chain, which is cut now.
  const moved = sql.writer === null ? [] : await cutsBehind(sql, news)
  for (const cut of [...news.map((change) => change.cut), ...moved]) await journalCut(sql, cut)
}

/** Any number: one gateway cuts at a time. */
const PRUNING_LOCK = '8102655286468409450'

async function replaceCut(sql: Sql, cut: SignedCut): Promise<void> {
  await sql.run('DELETE FROM ledger_cuts WHERE chain = ?', cut.chain)
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
  const { text: own, values } = ofChain(sql, cut.chain)
  await sql.run(
    `DELETE FROM supersession_heads WHERE decision_id IN (SELECT decision_id FROM decisions WHERE ${own}sequence <= ?)`,
    ...values,
    cut.decision,
  )
  await sql.run('DELETE FROM ledger_checkpoints WHERE chain = ? AND sequence <= ?', cut.chain, cut.sequence)
}

type LastingRow = readonly [kind: (typeof PROTECTED)[number]['kind'], key: readonly string[]]
type NewCuts = readonly { readonly cut: SignedCut; readonly from: number }[]

/** Rows whose entry is before the cut, and that are still there. */
async function lastingRows(sql: Sql, chain: string, from: number, to: number): Promise<readonly LastingRow[]> {
  const entries = await sql.all(
    `SELECT DISTINCT kind, key FROM ledger_journal
     WHERE chain = ? AND sequence > ? AND sequence <= ? AND kind NOT IN ('decision', 'receipt_event', 'calls', 'pruned')`,
    chain,
    from,
    to,
  )
  const found: LastingRow[] = []
  for (const entry of entries) {
    const table = LASTING.get(text(entry, 'kind'))
    if (table === undefined) continue
    const key = storedTexts(JSON.parse(text(entry, 'key')))
    const condition = table.key.map((column) => `${column} = ?`).join(' AND ')
    // Whoever changes it now adds an entry after this one.
    const row = await sql.get(`SELECT 1 AS n FROM ${table.table} WHERE ${condition}${locked(sql)}`, ...key)
    if (row !== undefined) found.push([table.kind, key])
  }
  return found
}

/** Events behind a cut whose decision is in a chain that could not be cut as far. */
async function keptEvents(sql: Sql, cuts: NewCuts): Promise<readonly LastingRow[]> {
  if (sql.writer === null) return []
  const found: LastingRow[] = []
  for (const { cut, from } of cuts) {
    const rows = await sql.all(
      `SELECT e.decision_id, e.state FROM ledger_journal j
         JOIN receipt_events e ON e.decision_id = ${itemOf(sql, 'j.key', 0)} AND e.state = ${itemOf(sql, 'j.key', 1)}
         JOIN decisions d ON d.decision_id = e.decision_id
       WHERE j.chain = ? AND j.sequence > ? AND j.sequence <= ? AND j.kind = 'receipt_event'
         AND d.sequence > ${removedUpTo(sql, 'decision', 'd')}`,
      cut.chain,
      from,
      cut.sequence,
    )
    for (const row of rows) found.push(['receipt_event', [text(row, 'decision_id'), text(row, 'state')]])
  }
  return found
}

/** Cuts of other chains whose entry goes now. */
async function cutsBehind(sql: Sql, cuts: NewCuts): Promise<readonly SignedCut[]> {
  const chains = new Set<string>()
  for (const { cut, from } of cuts)
    for (const row of await sql.all(
      "SELECT key FROM ledger_journal WHERE chain = ? AND sequence > ? AND sequence <= ? AND kind = 'pruned'",
      cut.chain,
      from,
      cut.sequence,
    ))
      chains.add(storedTexts(JSON.parse(text(row, 'key')))[3] ?? cut.chain)
  const renewed = new Set(cuts.map(({ cut }) => cut.chain))
  return (await allCuts(sql)).filter(({ chain }) => chains.has(chain) && !renewed.has(chain))
}

type RemovedRows = (sql: Sql, cut: SignedCut, limit: number) => Promise<number>

/** Statements that remove a portion of the rows before a cut, in an order that no reference prevents. */
const REMOVALS: readonly RemovedRows[] = [
  (sql, { chain, decision }, limit) => {
    const { text: own, values } = ofChain(sql, chain)
    return sql.run(
      `DELETE FROM receipt_events WHERE decision_id IN
         (SELECT e.decision_id FROM decisions d JOIN receipt_events e ON e.decision_id = d.decision_id
          WHERE ${own}d.sequence <= ? ORDER BY d.sequence LIMIT ?)`,
      ...values,
      decision,
      limit,
    )
  },
  (sql, { chain, decision }, limit) => {
    const { text: own, values } = ofChain(sql, chain)
    return sql.run(
      `DELETE FROM decision_inputs WHERE decision_id IN
         (SELECT i.decision_id FROM decisions d JOIN decision_inputs i ON i.decision_id = d.decision_id
          WHERE ${own}d.sequence <= ? ORDER BY d.sequence LIMIT ?)`,
      ...values,
      decision,
      limit,
    )
  },
  (sql, { chain, decision }, limit) => {
    const { text: own, values } = ofChain(sql, chain)
    return sql.run(
      `DELETE FROM decisions WHERE sequence IN
         (SELECT sequence FROM decisions WHERE ${own}sequence <= ? ORDER BY sequence LIMIT ?)`,
      ...values,
      decision,
      limit,
    )
  },
  (sql, { chain, call }, limit) => {
    const { text: own, values } = ofChain(sql, chain)
    return sql.run(
      `DELETE FROM interceptions WHERE sequence IN
         (SELECT sequence FROM interceptions WHERE ${own}sequence <= ? ORDER BY sequence LIMIT ?)`,
      ...values,
      call,
      limit,
    )
  },
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

/** Removes at most `limit` rows of one table, or the calls of a whole month; 0: nothing is left to remove. */
export async function removeBehindCuts(sql: Sql, limit: number): Promise<number> {
  const cuts = (await sql.all('SELECT * FROM ledger_cuts WHERE removed_at IS NULL ORDER BY chain')).map(cutOf)
  if (cuts.length === 0) return 0
  if (sql.dialect === 'postgres') {
    const dropped = integer((await sql.get('SELECT preflight_drop_partitions() AS rows')) ?? {}, 'rows')
    if (dropped > 0) return dropped
  }
  for (const cut of cuts) {
    for (const remove of REMOVALS) {
      const removed = await remove(sql, cut, limit)
      if (removed > 0) return removed
    }
    await sql.run(
      'UPDATE ledger_cuts SET removed_at = ? WHERE chain = ? AND sequence = ?',
      cut.at,
      cut.chain,
      cut.sequence,
    )
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
