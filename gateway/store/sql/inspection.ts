/**
 * The check of a whole ledger: every chain is recomputed, every protected row is compared with its entry, and every entry with
 * its row. Writes nothing.
 */
import { CHANGE_KINDS, type Change } from '../changes.ts'
import { chainHash, cutEntry, entryHash, genesisOf, journalEntry, type JournalEntry } from './chain.ts'
import { isPlaceOfToken } from '../receipts.ts'
import {
  MOST_FAULTS,
  NO_ROW,
  type CheckpointRow,
  type Ledger,
  type LedgerHead,
  type LedgerReport,
  type SignedCut,
} from '../ledger.ts'
import { integer, text, textList, storedTexts, type SqlRow } from './columns.ts'
import { isIn, read, snapshot, statement, write, type Operations, type Sql } from './operation.ts'
import { stored } from './decisions.ts'
import {
  coveredColumnsOf,
  digestOfColumns,
  ledgerHead,
  headOfChain,
  journalAcceptance,
  PROTECTED,
  type ProtectedTable,
} from './journal.ts'
import { beginnings, chainsOf, exportedEntries, columnsByKey, PageRows, type Columns } from './page-rows.ts'
import { bytesInUse } from './health.ts'
import { forgetTime, keepTime, latestTime } from './latest-time.ts'
import { allCuts, newestCut, proposeCuts, recordCuts, removeBehindCuts, removedUpTo } from './pruning.ts'

const PAGE = 1000

/** Signed heads that are kept: each is one row, and the newest is the most useful. */
const KEPT_CHECKPOINTS = 10_000

/** The ledger as the statements have it: a long check of the decisions goes page by page. */
export interface LedgerTables extends Omit<Ledger, 'verifyChain'> {
  /** Chains that decisions may be in. */
  decisionChains(): Promise<readonly string[]>
  chainPage(chain: string, from: ChainPosition, limit: number): Promise<ChainPage>
}

interface ChainPosition {
  readonly sequence: number
  readonly hash: string
}

interface ChainPage extends ChainPosition {
  /** The first sequence that does not fit. */
  readonly broken: number | null
  readonly isLast: boolean
}

export const ledger: Operations<LedgerTables> = {
  head: read((sql) => ledgerHead(sql)),
  changesBehind: read((sql, sequence) => changesBehind(sql, sequence)),

  entryHash: read((sql, chain, sequence) => entryHashAt(sql, chain, sequence)),

  newestCheckpoint: read(async (sql, chain) => {
    const row = await sql.get('SELECT * FROM ledger_checkpoints WHERE chain = ? ORDER BY sequence DESC LIMIT 1', chain)
    if (row === undefined) return null
    const checkpoint = checkpointOf(row)
    const accepted = await sql.get(
      "SELECT 1 AS n FROM ledger_journal WHERE chain = ? AND sequence > ? AND kind = 'accepted' LIMIT 1",
      chain,
      checkpoint.sequence,
    )
    return { ...checkpoint, isAcceptedSince: accepted !== undefined }
  }),

  /** At one moment, so that simultaneous writes of a gateway are no fault. It takes long: for the command line. */
  inspect: snapshot((sql) => new LedgerInspection(sql).report()),

  decisionChains: read((sql) => chainsOf(sql)),

  /** One page of the chain check, so that a long ledger does not delay the writes between pages. */
  chainPage: read(async (sql, chain, from, limit) => {
    let { sequence, hash } = from
    const own = sql.writer === null ? '' : 'chain = ? AND '
    const rows = await sql.all(
      `SELECT *, NULL AS states FROM decisions WHERE ${own}sequence > ? ORDER BY sequence LIMIT ?`,
      ...(sql.writer === null ? [] : [chain]),
      sequence,
      limit,
    )
    for (const row of rows) {
      const decision = stored(row)
      // Other writers take sequences too; that no row is missing, the hash of the one before tells.
      sequence = sql.writer === null ? sequence + 1 : decision.sequence
      const isWhole =
        decision.sequence === sequence &&
        decision.previousHash === hash &&
        decision.hash === chainHash(hash, sequence, decision) &&
        isPlaceOfToken(decision)
      if (!isWhole) return { sequence, hash, broken: sequence, isLast: true }
      hash = decision.hash
    }
    return { sequence, hash, broken: null, isLast: rows.length < limit }
  }),

  recordCheckpoint: write(async (sql, row) => {
    await sql.run(
      'INSERT INTO ledger_checkpoints (chain, sequence, hash, at, token) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
      row.chain,
      row.sequence,
      row.hash,
      row.at,
      row.token,
    )
    await sql.run(
      `DELETE FROM ledger_checkpoints WHERE chain = ? AND sequence <
         (SELECT sequence FROM ledger_checkpoints WHERE chain = ? ORDER BY sequence DESC LIMIT 1 OFFSET ?)`,
      row.chain,
      row.chain,
      KEPT_CHECKPOINTS,
    )
  }),

  keepTime: statement((sql, at) => keepTime(sql, at)),
  latestTime: read((sql) => latestTime(sql)),
  accept: write(async (sql, by, reason, at) => {
    await forgetTime(sql, at)
    await journalAcceptance(sql, by, reason)
  }),
  beginnings: snapshot((sql) => beginnings(sql)),
  entries: snapshot((sql, behind, limit) => exportedEntries(sql, behind, limit)),
  checkpoints: read(async (sql, chain) =>
    (await sql.all('SELECT * FROM ledger_checkpoints WHERE chain = ? ORDER BY sequence', chain)).map(checkpointOf),
  ),
  newestCut: read((sql, chain) => newestCut(sql, chain)),
  proposeCuts: snapshot((sql, limits) => proposeCuts(sql, limits)),
  recordCuts: write((sql, cuts) => recordCuts(sql, cuts)),
  removeBehindCuts: write((sql, limit) => removeBehindCuts(sql, limit)),
  usedBytes: read((sql) => bytesInUse(sql)),
}

/** Entries that one look reads. */
const CHANGES_PAGE = 2000

async function changesBehind(
  sql: Sql,
  sequence: number | null,
): Promise<{ readonly sequence: number; readonly changes: readonly Change[] }> {
  const head = await ledgerHead(sql)
  if (sequence === null || head === null) return { sequence: head?.sequence ?? 0, changes: [] }
  const rows = await sql.all(
    'SELECT sequence, kind, key FROM ledger_journal WHERE chain = ? AND sequence > ? ORDER BY sequence LIMIT ?',
    head.chain,
    sequence,
    CHANGES_PAGE,
  )
  const changes = rows.flatMap((row) => {
    const kind = CHANGE_KINDS.find((known) => known === text(row, 'kind'))
    return kind === undefined ? [] : [{ kind, key: textList(row, 'key') }]
  })
  return { sequence: rows.length === 0 ? sequence : integer(rows.at(-1) ?? {}, 'sequence'), changes }
}

async function entryHashAt(sql: Sql, chain: string, sequence: number): Promise<string | null> {
  const row =
    (await sql.get('SELECT hash FROM ledger_journal WHERE chain = ? AND sequence = ?', chain, sequence)) ??
    // The last entry that was removed is known too.
    (await sql.get('SELECT hash FROM ledger_cuts WHERE chain = ? AND sequence = ?', chain, sequence))
  return row === undefined ? null : text(row, 'hash')
}

/** Entries per table, as far as they have been read. */
interface Walked {
  readonly table: ProtectedTable
  entries: number
  /** For rows that may change: key → newest digest, by the order of all chains. */
  readonly newest: Map<string, { readonly digest: string; readonly ordinal: number }>
}

class LedgerInspection {
  readonly #sql: Sql
  readonly #faults: string[] = []
  readonly #walked = new Map<string, Walked>(
    PROTECTED.map((table) => [table.kind, { table, entries: 0, newest: new Map() }]),
  )
  #calls = 0
  /** Events of decisions that were removed. */
  #removedEvents = 0
  #cuts: ReadonlyMap<string, SignedCut> = new Map()
  #checkpoints: readonly CheckpointRow[] = []
  /** Hashes of entries that a checkpoint is about, by chain and sequence; null: not read. */
  readonly #signedHashes = new Map<string, string | null>()
  /** Chains whose cut has its entry. */
  readonly #journalledCuts = new Set<string>()

  constructor(sql: Sql) {
    this.#sql = sql
  }

  async report(): Promise<LedgerReport> {
    const chains = await chainsOf(this.#sql)
    if (chains.length === 0) this.#fault('The ledger has no chain: it was removed.')
    this.#cuts = new Map((await allCuts(this.#sql)).map((cut) => [cut.chain, cut]))
    const heads: LedgerHead[] = []
    await this.#readCheckpoints()
    for (const chain of chains) heads.push(await this.#walk(chain))
    const stray = await this.#sql.get(
      'SELECT chain FROM ledger_journal WHERE chain NOT IN (SELECT chain FROM ledger_chains) LIMIT 1',
    )
    if (stray !== undefined) this.#fault(`The chain ${text(stray, 'chain')} has entries and is not registered.`)
    for (const chain of this.#cuts.keys())
      if (!this.#journalledCuts.has(chain))
        this.#fault(`The place where the chain ${chain} begins has no entry: it was changed.`)
    for (const walked of this.#walked.values()) await this.#compare(walked)
    await this.#compareCalls()
    await this.#compareHeads()
    await this.#compareCheckpoints()
    return { heads, faults: this.#faults, checkpoints: this.#checkpoints, cuts: [...this.#cuts.values()] }
  }

  #fault(message: string): void {
    if (this.#faults.length < MOST_FAULTS) this.#faults.push(message)
  }

  async #walk(chain: string): Promise<LedgerHead> {
    const cut = this.#cuts.get(chain)
    let hash = cut?.hash ?? genesisOf(chain)
    let sequence = cut?.sequence ?? 0
    for (;;) {
      const rows = await this.#sql.all(
        'SELECT * FROM ledger_journal WHERE chain = ? AND sequence > ? ORDER BY sequence LIMIT ?',
        chain,
        sequence,
        PAGE,
      )
      const entries = rows.map(journalEntry)
      const page = await PageRows.read(this.#sql, chain, entries.filter(isProtectedEntry), 'digested')
      const removed = await this.#removedIn(entries)
      for (const entry of entries) {
        const isWhole = entry.sequence === sequence + 1 && entry.hash === entryHash(hash, entry)
        if (!isWhole) {
          this.#fault(`The chain ${chain} is broken at entry ${sequence + 1}: it was changed, removed or moved.`)
          return headOfChain(this.#sql, chain)
        }
        await this.#take(entry, page, removed)
        ;({ hash, sequence } = entry)
        if (this.#signedHashes.has(`${chain} ${sequence}`)) this.#signedHashes.set(`${chain} ${sequence}`, hash)
      }
      if (rows.length < PAGE) return { chain, sequence, hash }
    }
  }

  /** @param removed decisions that are removed */
  async #take(
    { chain, kind, key, digest, ordinal }: JournalEntry,
    page: PageRows,
    removed: ReadonlySet<string>,
  ): Promise<void> {
    const names = storedTexts(JSON.parse(key))
    if (kind === 'calls') return this.#takeCalls(Number(names[0]), Number(names[1]), page.calls(key), digest)
    if (kind === 'pruned') return this.#takeCut(chain, names, digest)
    const walked = this.#walked.get(kind)
    if (walked === undefined) return
    walked.entries += 1
    if (!walked.table.isFinal) this.#keepNewest(walked, key, digest, ordinal ?? 0)
    // What happened to the receipt of a removed decision goes with it.
    else if (kind === 'receipt_event' && removed.has(names[0] ?? '')) this.#removedEvents += 1
    else this.#compareColumns(walked.table, names, await page.columns(kind, key), digest)
  }

  #takeCut(chain: string, names: readonly string[], digest: string): void {
    const [sequence, decision, call, named = chain] = names
    const cut = this.#cuts.get(named)
    if (cut === undefined) return
    const entry = cutEntry(this.#sql, cut)
    const isSame = entry.digest === digest && entry.key.slice(0, 3).join(' ') === [sequence, decision, call].join(' ')
    if (isSame) this.#journalledCuts.add(named)
  }

  /** Chains are read one after the other; a row may have entries in several. */
  #keepNewest({ newest }: Walked, key: string, digest: string, ordinal: number): void {
    if (ordinal >= (newest.get(key)?.ordinal ?? 0)) newest.set(key, { digest, ordinal })
  }

  #takeCalls(from: number, to: number, found: readonly Columns[], digest: string): void {
    // Sequences of one of many writers have gaps.
    this.#calls += this.#sql.writer === null ? to - from + 1 : found.length
    if (digestOfColumns(found) !== digest)
      this.#fault(`Of the call records ${from} to ${to} at least one was changed, removed or added.`)
  }

  #compareColumns(table: ProtectedTable, key: readonly string[], columns: Columns | null, digest: string): void {
    if (columns === null && digest === NO_ROW) return
    if (columns === null) this.#fault(`The ${tableWords(table)} ${key.join(' ')} is missing: it was removed.`)
    else if (digestOfColumns(columns) !== digest) this.#fault(`The ${tableWords(table)} ${key.join(' ')} was changed.`)
  }

  /** Of the decisions that events of a page are about, those that are removed. */
  async #removedIn(entries: readonly JournalEntry[]): Promise<ReadonlySet<string>> {
    const events = this.#cuts.size === 0 ? [] : entries.filter(({ kind }) => kind === 'receipt_event')
    const ids = new Set(events.map(({ key }) => storedTexts(JSON.parse(key))[0] ?? ''))
    if (ids.size === 0) return ids
    const kept = await this.#sql.all(
      `SELECT d.decision_id FROM decisions d
       WHERE ${isIn(this.#sql, 'd.decision_id')} AND d.sequence > ${removedUpTo(this.#sql, 'decision', 'd')}`,
      JSON.stringify([...ids]),
    )
    for (const row of kept) ids.delete(text(row, 'decision_id'))
    return ids
  }

  /** Every entry has its row, and every row its entry. */
  async #compare({ table, entries, newest }: Walked): Promise<void> {
    const keys = [...newest.keys()].map((key) => storedTexts(JSON.parse(key)))
    const known = await columnsByKey(this.#sql, table, keys)
    for (const [key, { digest }] of newest) {
      const names = storedTexts(JSON.parse(key))
      const columns = known.get(key) ?? (await coveredColumnsOf(this.#sql, table.kind, names))
      this.#compareColumns(table, names, columns, digest)
    }
    const rows = integer((await this.#sql.get(this.#countOf(table))) ?? {}, 'n')
    const removed = table.kind === 'receipt_event' ? this.#removedEvents : 0
    const kept = [...newest.values()].filter(({ digest }) => digest !== NO_ROW)
    const wanted = table.isFinal ? entries - removed : kept.length
    if (rows > wanted) this.#fault(`${rows - wanted} rows of ${table.table} have no entry: another program added them.`)
    else if (rows < wanted) this.#fault(`${wanted - rows} rows of ${table.table} are missing: they were removed.`)
  }

  /** Rows behind the cut are on their way out, and count no more. */
  #countOf({ kind, table }: ProtectedTable): string {
    const isKept = `d.sequence > ${removedUpTo(this.#sql, 'decision', 'd')}`
    if (kind === 'decision') return `SELECT count(*) AS n FROM decisions d WHERE ${isKept}`
    if (kind === 'receipt_event')
      return `SELECT count(*) AS n FROM receipt_events e JOIN decisions d ON d.decision_id = e.decision_id
              WHERE ${isKept}`
    return `SELECT count(*) AS n FROM ${table}`
  }

  async #compareCalls(): Promise<void> {
    const counted = await this.#sql.get(
      `SELECT count(*) AS n FROM interceptions i WHERE i.sequence > ${removedUpTo(this.#sql, 'call', 'i')}`,
    )
    const rows = integer(counted ?? {}, 'n')
    if (rows === this.#calls) return
    const difference =
      rows < this.#calls ? 'missing: they were removed' : 'without an entry: another program added them'
    this.#fault(`${Math.abs(rows - this.#calls)} call records are ${difference}.`)
  }

  /** Which decision is in force for a scope follows from the decisions; a wrong pointer would leave an old receipt valid. */
  async #compareHeads(): Promise<void> {
    const rows = await this.#sql.all(
      `SELECT d.decision_id FROM
         (SELECT max(sequence) AS newest FROM decisions GROUP BY tenant, supersession_key) m
         JOIN decisions d ON d.sequence = m.newest
         LEFT JOIN supersession_heads h ON h.tenant = d.tenant AND h.supersession_key = d.supersession_key
       WHERE d.sequence > ${removedUpTo(this.#sql, 'decision', 'd')}
         AND h.decision_id IS DISTINCT FROM d.decision_id LIMIT ?`,
      MOST_FAULTS,
    )
    for (const row of rows)
      this.#fault(`The decision ${text(row, 'decision_id')} is the newest of its scope and is not recorded as such.`)
  }

  async #readCheckpoints(): Promise<void> {
    const rows = await this.#sql.all('SELECT * FROM ledger_checkpoints ORDER BY chain, sequence')
    this.#checkpoints = rows.map(checkpointOf)
    for (const { chain, sequence } of this.#checkpoints) this.#signedHashes.set(`${chain} ${sequence}`, null)
  }

  async #compareCheckpoints(): Promise<void> {
    for (const { chain, sequence, hash } of this.#checkpoints) {
      if (sequence <= (this.#cuts.get(chain)?.sequence ?? 0)) continue
      // The walk of a chain ends where it is broken.
      const walked = this.#signedHashes.get(`${chain} ${sequence}`) ?? null
      const found = walked ?? (await entryHashAt(this.#sql, chain, sequence))
      if (found === null)
        this.#fault(`The checkpoint at entry ${sequence} is past the end of the chain ${chain}: the end was cut off.`)
      else if (found !== hash) this.#fault(`Entry ${sequence} of the chain ${chain} is not the one that was signed.`)
    }
  }
}

function tableWords({ kind }: ProtectedTable): string {
  return kind.replaceAll('_', ' ')
}

/** Whether the entry is compared with its row where it is read. Of a row that changes only the newest entry is. */
function isProtectedEntry({ kind }: JournalEntry): boolean {
  return kind === 'calls' || PROTECTED.some((table) => table.kind === kind && table.isFinal)
}

function checkpointOf(row: SqlRow): CheckpointRow {
  return {
    chain: text(row, 'chain'),
    sequence: integer(row, 'sequence'),
    hash: text(row, 'hash'),
    at: integer(row, 'at'),
    token: text(row, 'token'),
  }
}
