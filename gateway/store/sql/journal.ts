/**
 * The journal: one hash chain over everything that the value of a receipt depends on. Each write of a protected row adds an
 * entry with the digest of that row in the same transaction. So a row that another program changes, removes or adds is found,
 * anywhere in the table. Calls are many: one entry covers all rows that were written together.
 */
import { randomUUID } from 'node:crypto'
import { sha256Hex } from '../../runtime/hash.ts'
import { GENESIS_HASH, cutEntry, entryHash, genesisOf, storedJson } from './chain.ts'
import { NO_ROW, type LedgerCut, type LedgerHead } from '../ledger.ts'
import { integer, text, type SqlRow, type SqlValue } from './columns.ts'
import { sortedListOf, type Sql } from './operation.ts'

type JournalKind =
  | 'opened'
  | 'accepted'
  | 'pruned'
  | 'calls'
  | 'decision'
  | 'receipt_event'
  | 'approval'
  | 'approval_step'
  | 'approval_delegation'
  | 'baseline'
  | 'api_key'
  | 'api_key_terms'
  | 'break_glass'
  | 'binding'
  | 'receipt_key'

/** A table that the chain covers. Names are literals of this program. */
export interface ProtectedTable {
  readonly kind: JournalKind
  readonly table: string
  /** Key columns of a row, all texts. */
  readonly key: readonly string[]
  /** The columns and expressions that the digest covers. */
  readonly covered: readonly string[]
  /** One more expression that the digest covers. */
  readonly last?: (sql: Sql) => string
  /** Rows are written once. */
  readonly isFinal: boolean
}

export const PROTECTED: readonly ProtectedTable[] = [
  // The hash of a decision covers its columns (chain.ts).
  { kind: 'decision', table: 'decisions', key: ['decision_id'], covered: ['sequence', 'hash'], isFinal: true },
  {
    kind: 'receipt_event',
    table: 'receipt_events',
    key: ['decision_id', 'state'],
    covered: ['at', 'by', 'reason'],
    isFinal: true,
  },
  {
    kind: 'approval',
    table: 'approvals',
    key: ['approval_id'],
    covered: [
      'key',
      'tenant',
      'decision_id',
      'route',
      'operation',
      'environment',
      'repository',
      'branch',
      'pull_request',
      'target_id',
      'input_fingerprint',
      'policy_hash',
      'summary',
      'risk_score',
      'reasons',
      'opened_at',
      'expires_at',
      'approvers',
      'settled_state',
      'settled_by',
      'settled_groups',
      'settled_comment',
      'settled_at',
      'valid_until',
      'ended_at',
    ],
    last: (sql) =>
      `(SELECT ${sortedListOf(sql, 'audience')} FROM approval_requesters r WHERE r.approval_id = approvals.approval_id)`,
    isFinal: false,
  },
  {
    kind: 'approval_step',
    table: 'approval_steps',
    key: ['step_id'],
    covered: ['approval_id', 'kind', 'by_whom', 'groups_of_step', 'text', 'at'],
    isFinal: false,
  },
  {
    kind: 'approval_delegation',
    table: 'approval_delegations',
    key: ['delegation_id'],
    covered: [
      'tenant',
      'by_whom',
      'groups_of_delegation',
      'to_whom',
      'approval_id',
      'reason',
      'at',
      'until',
      'ended_at',
      'ended_by',
    ],
    isFinal: false,
  },
  {
    kind: 'baseline',
    table: 'baselines',
    key: ['route', 'artifact_id'],
    covered: ['type', 'content', 'digest', 'source', 'set_by', 'set_at'],
    isFinal: false,
  },
  {
    kind: 'api_key',
    table: 'api_keys',
    key: ['hash'],
    covered: ['audience', 'tenant', 'name', 'role', 'plan', 'groups_of_key', 'created_at', 'revoked_at'],
    isFinal: false,
  },
  { kind: 'api_key_terms', table: 'api_key_terms', key: ['hash'], covered: ['expires_at', 'owner'], isFinal: false },
  {
    // Without the count of calls: each of those calls is a record of its own.
    kind: 'break_glass',
    table: 'break_glass',
    key: ['id'],
    covered: ['route', 'reason', 'opened_by', 'opened_at', 'expires_at', 'closed_by', 'closed_at', 'ended_at'],
    isFinal: false,
  },
  {
    kind: 'binding',
    table: 'bindings',
    key: ['tenant', 'platform', 'repository'],
    covered: ['proven_at', 'proven_by'],
    isFinal: false,
  },
  {
    kind: 'receipt_key',
    table: 'receipt_keys',
    key: ['kid'],
    covered: ['x', 'valid_from', 'retired_at', 'revoked_at'],
    isFinal: false,
  },
]

const BY_KIND: ReadonlyMap<JournalKind, ProtectedTable> = new Map(PROTECTED.map((table) => [table.kind, table]))

/** Rows of one entry when the calls of an older ledger are added. */
const ADOPTED_CALLS = 10_000

/** Adds the entry of a row that was just written. Runs inside the transaction of that write. */
export async function journal(sql: Sql, kind: JournalKind, ...key: readonly string[]): Promise<void> {
  const table = BY_KIND.get(kind)
  if (table === undefined) throw new TypeError(`the journal knows no table of the kind ${kind}`)
  const row = await protectedRow(sql, table, key)
  if (row === undefined) throw new TypeError(`the journal finds no ${kind} ${key.join(' ')}`)
  await appendEntry(sql, kind, row.key, row.digest)
}

/** Adds the entry of a row that was just removed. Runs inside the transaction of that removal. */
export function journalRemoval(sql: Sql, kind: JournalKind, ...key: readonly string[]): Promise<void> {
  return appendEntry(sql, kind, key, NO_ROW)
}

/**
 * Adds one entry for calls that were just inserted, from their values: reading thousands of rows back costs more than writing them.
 *
 * @param from sequence of the first one; the others follow without a gap
 * @param calls the column values of each row, in the order of `CALL_COLUMNS`
 */
export async function journalInsertedCalls(
  sql: Sql,
  from: number,
  calls: readonly (readonly SqlValue[])[],
): Promise<void> {
  await appendEntry(sql, 'calls', [String(from), String(from + calls.length - 1)], digestOfRows(calls))
}

/** A person accepted this ledger in place of another one. */
export async function journalAcceptance(sql: Sql, by: string, reason: string): Promise<void> {
  await appendEntry(sql, 'accepted', [by], sha256Hex(reason))
}

/** The beginning of a chain is removed up to a signed entry. */
export async function journalCut(sql: Sql, cut: LedgerCut): Promise<void> {
  const { key, digest } = cutEntry(sql, cut)
  await appendEntry(sql, 'pruned', key, digest)
}

/** Beginning of the id of a chain. */
export const CHAIN_PREFIX = 'chn_'

/** A chain id that no other writer has. */
export function newChain(): string {
  return `${CHAIN_PREFIX}${randomUUID().replaceAll('-', '')}`
}

/** Opens the chain of this gateway in a store that many write to, or wrote to. */
export async function joinLedger(sql: Sql, chain: string, now: number): Promise<void> {
  const added =
    sql.dialect === 'sqlite'
      ? await sql.run('INSERT INTO ledger_chains (chain, opened_at) VALUES (?, ?)', chain, now)
      : await sql.run(
          `INSERT INTO ledger_chains (chain, opened_at, sequence, hash, decision_hash) VALUES (?, ?, 0, ?, ?)
           ON CONFLICT DO NOTHING`,
          chain,
          now,
          genesisOf(chain),
          GENESIS_HASH,
        )
  if (added === 1) await appendEntry(sql, 'opened', [chain], sha256Hex(String(now)))
}

/** Opens the chain of a ledger that has none, and adds the existing rows, which a version without a journal wrote. */
export async function openChain(sql: Sql, now: number): Promise<void> {
  const chain = newChain()
  await sql.run('INSERT INTO ledger_chains (chain, opened_at) VALUES (?, ?)', chain, now)
  await appendEntry(sql, 'opened', [chain], sha256Hex(String(now)))
  for (const table of PROTECTED)
    for (const key of await sql.all(
      `SELECT ${table.key.join(', ')} FROM ${table.table} ORDER BY ${table.key.join(', ')}`,
    ))
      await journal(sql, table.kind, ...table.key.map((column) => text(key, column)))
  const newest = await newestCall(sql)
  for (let from = 1; from <= newest; from += ADOPTED_CALLS) {
    const to = Math.min(newest, from + ADOPTED_CALLS - 1)
    const { digest } = await callsBetween(sql, chain, from, to)
    await appendEntry(sql, 'calls', [String(from), String(to)], digest)
  }
}

/** Sequence of the newest call record; 0: there is none. */
export async function newestCall(sql: Sql): Promise<number> {
  const row = await sql.get('SELECT coalesce(max(sequence), 0) AS newest FROM interceptions')
  return row === undefined ? 0 : integer(row, 'newest')
}

/** Null: the chain is missing. */
export async function ledgerHead(sql: Sql): Promise<LedgerHead | null> {
  if (sql.writer !== null) return headOfChain(sql, sql.writer)
  const row = await sql.get('SELECT chain FROM ledger_chains ORDER BY opened_at, chain LIMIT 1')
  return row === undefined ? null : headOfChain(sql, text(row, 'chain'))
}

export async function headOfChain(sql: Sql, chain: string): Promise<LedgerHead> {
  const row =
    (await sql.get(
      'SELECT sequence, hash FROM ledger_journal WHERE chain = ? ORDER BY sequence DESC LIMIT 1',
      chain,
    )) ??
    // All of its entries are old enough to be gone.
    (await sql.get('SELECT sequence, hash FROM ledger_cuts WHERE chain = ?', chain))
  return row === undefined
    ? { chain, sequence: 0, hash: genesisOf(chain) }
    : { chain, sequence: integer(row, 'sequence'), hash: text(row, 'hash') }
}

interface ProtectedRow {
  /** The key as stored: some keys are found in any letter case. */
  readonly key: readonly string[]
  readonly digest: string
}

async function protectedRow(
  sql: Sql,
  table: ProtectedTable,
  key: readonly string[],
): Promise<ProtectedRow | undefined> {
  const row = await coveredRow(sql, table, key)
  return row === undefined ? undefined : { key: table.key.map((column) => text(row, column)), digest: digestOfRow(row) }
}

/** The columns that the digest of an entry covers; null: there is no such row. */
export async function coveredColumnsOf(
  sql: Sql,
  kind: string,
  key: readonly string[],
): Promise<readonly unknown[] | null> {
  const table = PROTECTED.find((known) => known.kind === kind)
  const row = table === undefined ? undefined : await coveredRow(sql, table, key)
  return row === undefined ? null : Object.values(row)
}

async function coveredRow(sql: Sql, table: ProtectedTable, key: readonly string[]): Promise<SqlRow | undefined> {
  const condition = table.key.map((column) => `${column} = ?`).join(' AND ')
  return sql.get(`SELECT ${protectedColumns(sql, table)} FROM ${table.table} WHERE ${condition}`, ...key)
}

/** Columns of a statement: the key, then what the digest covers. */
export function protectedColumns(sql: Sql, { key, covered, last }: ProtectedTable): string {
  return [...key, ...covered, ...(last === undefined ? [] : [`${last(sql)} AS last`])].join(', ')
}

function digestOfRow(row: SqlRow): string {
  return digestOfColumns(Object.values(row))
}

/** Digest of the columns of one row, or of the rows of calls. */
export function digestOfColumns(columns: readonly unknown[]): string {
  return sha256Hex(JSON.stringify(columns))
}

/** The columns of a call record, in the order in which the digest has them. */
export const CALL_COLUMNS = [
  'sequence',
  'correlation_id',
  'tenant',
  'decision_id',
  'route',
  'protocol',
  'action',
  'execution_action',
  'enforced',
  'effect',
  'break_glass_id',
  'violations',
  'at',
] as const

/** The calls of a chain between two sequences: how many there are, and their digest. Missing rows are not included. */
async function callsBetween(
  sql: Sql,
  chain: string,
  from: number,
  to: number,
): Promise<{ readonly count: number; readonly digest: string }> {
  const rows = await coveredCalls(sql, chain, from, to)
  return { count: rows.length, digest: digestOfRows(rows) }
}

/** The columns of the calls of a chain between two sequences. */
export async function coveredCalls(
  sql: Sql,
  chain: string,
  from: number,
  to: number,
): Promise<readonly (readonly unknown[])[]> {
  const own = sql.writer === null ? '' : 'chain = ? AND '
  const rows = await sql.all(
    `SELECT ${CALL_COLUMNS.join(', ')} FROM interceptions WHERE ${own}sequence BETWEEN ? AND ? ORDER BY sequence`,
    ...(sql.writer === null ? [] : [chain]),
    from,
    to,
  )
  return rows.map((row) => Object.values(row))
}

function digestOfRows(rows: readonly (readonly unknown[])[]): string {
  return sha256Hex(storedJson(rows))
}

async function appendEntry(sql: Sql, kind: JournalKind, key: readonly string[], digest: string): Promise<void> {
  if (sql.dialect === 'postgres') {
    // The database knows the head of the chain, and orders entries of different chains.
    await sql.get('SELECT preflight_append(?, ?, ?, ?)', sql.writer, kind, JSON.stringify(key), digest)
    return
  }
  const head = await ledgerHead(sql)
  if (head === null) throw new TypeError('the chain of the ledger is gone: run `preflight ledger verify`')
  const ordinal = sql.writer === null ? null : await nextOrdinal(sql, head)
  const entry = { chain: head.chain, sequence: head.sequence + 1, kind, key: JSON.stringify(key), digest, ordinal }
  await sql.run(
    'INSERT INTO ledger_journal (chain, sequence, kind, key, digest, hash, ordinal) VALUES (?, ?, ?, ?, ?, ?, ?)',
    entry.chain,
    entry.sequence,
    kind,
    entry.key,
    digest,
    entryHash(head.hash, entry),
    ordinal,
  )
}

/** In a file only one chain grows, and its first entry came after those of all others. */
async function nextOrdinal(sql: Sql, { chain, sequence }: LedgerHead): Promise<number> {
  const row = await sql.get('SELECT ordinal FROM ledger_journal WHERE chain = ? AND sequence = ?', chain, sequence)
  if (row !== undefined) return integer(row, 'ordinal') + 1
  const newest = await sql.get('SELECT coalesce(max(ordinal), 0) AS newest FROM ledger_journal')
  return integer(newest ?? {}, 'newest') + 1
}
