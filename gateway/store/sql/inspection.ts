/**
 * The check of a whole ledger: every chain is recomputed, every protected row is compared with its entry, and every entry with
 * its row. Writes nothing.
 */
import { CHANGE_KINDS, type Change } from '../changes.ts'
import { chainHash } from '../chain.ts'
import { isPlaceOfToken } from '../status-lists.ts'
import {
  MOST_FAULTS,
  type CheckpointRow,
  type Ledger,
  type LedgerHead,
  type LedgerReport,
  type SignedCut,
} from '../ledger.ts'
import { integer, text, textList, textsOf, type SqlRow } from './columns.ts'
import { stored } from './decisions.ts'
import { cutEntry, entryHash, genesisOf, type JournalEntry } from './entry.ts'
import {
  callsBetween,
  headOf,
  headOfChain,
  journalAcceptance,
  PROTECTED,
  protectedRow,
  type ProtectedTable,
} from './journal.ts'
import { read, snapshot, write, type Operations, type Sql } from './operation.ts'
import { exportedEntries } from './export.ts'
import { bytesInUse } from './size.ts'
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
  head: read((sql) => headOf(sql)),
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

  decisionChains: read(async (sql) =>
    (await sql.all('SELECT chain FROM ledger_chains ORDER BY opened_at, chain')).map((row) => text(row, 'chain')),
  ),

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

  accept: write((sql, by, reason) => journalAcceptance(sql, by, reason)),
  entries: snapshot((sql, chain, behind, limit) => exportedEntries(sql, chain, behind, limit)),
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
  const head = await headOf(sql)
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
  /** Chains whose cut has its entry. */
  readonly #journalledCuts = new Set<string>()

  constructor(sql: Sql) {
    this.#sql = sql
  }

  async report(): Promise<LedgerReport> {
    const chains = await this.#sql.all('SELECT chain FROM ledger_chains ORDER BY opened_at, chain')
    if (chains.length === 0) this.#fault('The ledger has no chain: it was removed.')
    this.#cuts = new Map((await allCuts(this.#sql)).map((cut) => [cut.chain, cut]))
    const heads: LedgerHead[] = []
    for (const row of chains) heads.push(await this.#walk(text(row, 'chain')))
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
    const checkpoints = await this.#checkpoints()
    return { heads, faults: this.#faults, checkpoints, cuts: [...this.#cuts.values()] }
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
      for (const row of rows) {
        const entry = entryOf(row)
        const isWhole = entry.sequence === sequence + 1 && text(row, 'hash') === entryHash(hash, entry)
        if (!isWhole) {
          this.#fault(`The chain ${chain} is broken at entry ${sequence + 1}: it was changed, removed or moved.`)
          return headOfChain(this.#sql, chain)
        }
        await this.#take(entry)
        hash = text(row, 'hash')
        sequence = entry.sequence
      }
      if (rows.length < PAGE) return { chain, sequence, hash }
    }
  }

  async #take({ chain, kind, key, digest, ordinal }: JournalEntry): Promise<void> {
    const names = textsOf(JSON.parse(key))
    if (kind === 'calls') return this.#takeCalls(chain, Number(names[0]), Number(names[1]), digest)
    if (kind === 'pruned') return this.#takeCut(chain, names, digest)
    const walked = this.#walked.get(kind)
    if (walked === undefined) return
    walked.entries += 1
    if (!walked.table.isFinal) this.#keepNewest(walked, key, digest, ordinal ?? 0)
    else await this.#compareRow(walked.table, names, digest)
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

  async #takeCalls(chain: string, from: number, to: number, digest: string): Promise<void> {
    const found = await callsBetween(this.#sql, chain, from, to)
    // Sequences of one of many writers have gaps.
    this.#calls += this.#sql.writer === null ? to - from + 1 : found.count
    if (found.digest !== digest)
      this.#fault(`Of the call records ${from} to ${to} at least one was changed, removed or added.`)
  }

  async #compareRow(table: ProtectedTable, key: readonly string[], digest: string): Promise<void> {
    // What happened to the receipt of a removed decision goes with it.
    if (table.kind === 'receipt_event' && (await this.#isOfRemoved(key[0] ?? ''))) {
      this.#removedEvents += 1
      return
    }
    const row = await protectedRow(this.#sql, table, key)
    if (row === undefined) this.#fault(`The ${wordsOf(table)} ${key.join(' ')} is missing: it was removed.`)
    else if (row.digest !== digest) this.#fault(`The ${wordsOf(table)} ${key.join(' ')} was changed.`)
  }

  async #isOfRemoved(decisionId: string): Promise<boolean> {
    if (this.#cuts.size === 0) return false
    const row = await this.#sql.get(
      `SELECT d.sequence, ${removedUpTo(this.#sql, 'decision', 'd')} AS bound FROM decisions d WHERE d.decision_id = ?`,
      decisionId,
    )
    return row === undefined || integer(row, 'sequence') <= integer(row, 'bound')
  }

  /** Every entry has its row, and every row its entry. */
  async #compare({ table, entries, newest }: Walked): Promise<void> {
    for (const [key, { digest }] of newest) await this.#compareRow(table, textsOf(JSON.parse(key)), digest)
    const rows = integer((await this.#sql.get(this.#countOf(table))) ?? {}, 'n')
    const removed = table.kind === 'receipt_event' ? this.#removedEvents : 0
    const known = table.isFinal ? entries - removed : newest.size
    if (rows > known) this.#fault(`${rows - known} rows of ${table.table} have no entry: another program added them.`)
    else if (rows < known) this.#fault(`${known - rows} rows of ${table.table} are missing: they were removed.`)
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

  async #checkpoints(): Promise<readonly CheckpointRow[]> {
    const rows = (await this.#sql.all('SELECT * FROM ledger_checkpoints ORDER BY chain, sequence')).map(checkpointOf)
    for (const { chain, sequence, hash } of rows) {
      if (sequence <= (this.#cuts.get(chain)?.sequence ?? 0)) continue
      const found = await entryHashAt(this.#sql, chain, sequence)
      if (found === null)
        this.#fault(`The checkpoint at entry ${sequence} is past the end of the chain ${chain}: the end was cut off.`)
      else if (found !== hash) this.#fault(`Entry ${sequence} of the chain ${chain} is not the one that was signed.`)
    }
    return rows
  }
}

function wordsOf({ kind }: ProtectedTable): string {
  return kind.replaceAll('_', ' ')
}

function entryOf(row: SqlRow): JournalEntry {
  return {
    chain: text(row, 'chain'),
    sequence: integer(row, 'sequence'),
    kind: text(row, 'kind'),
    key: text(row, 'key'),
    digest: text(row, 'digest'),
    ordinal: typeof row['ordinal'] === 'number' ? row['ordinal'] : null,
  }
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
