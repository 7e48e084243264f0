/** Statements on the records of single calls: written many at a time, read newest first. */
import {
  EFFECTS,
  type CallEffect,
  type CallFilter,
  type Calls,
  type InterceptionRow,
  type StoredCall,
} from '../calls.ts'
import type { Violation } from '../../validation/message.ts'
import { readCallText } from './call-text.ts'
import { integer, oneOf, text, nullableText, type SqlRow, type SqlValue } from './columns.ts'
import { ACTIONS } from './decisions.ts'
import { CALL_COLUMNS, journalInsertedCalls, newestCall } from './journal.ts'
import { read, write, type Operations, type Sql } from './operation.ts'

/** Rows that one page reads: reading must not delay writes, and nearly all calls may belong to another tenant or route. */
const SCANNED_ROWS = 100_000

/** Effects whose rows always contain violations; their index is used for them. */
const VIOLATING: ReadonlySet<CallEffect | undefined> = new Set<CallEffect>(['refused', 'drifted'])

/** Calls as the statements have them: the queue in front of them is call-records.ts. */
export interface CallTable extends Pick<Calls, 'list'> {
  /** @param text of the rows (call-text.ts) */
  write(text: string): Promise<void>
}

export const calls: Operations<CallTable> = {
  list: read(async (sql, filter) => {
    const isViolating = VIOLATING.has(filter.effect)
    const before = filter.before ?? (await newestCall(sql)) + 1
    const floor = isViolating ? 0 : Math.max(0, before - SCANNED_ROWS)
    const recent = await select(sql, { ...filter, before }, isViolating ? VIOLATES : '', floor)
    // A trace that is sampled in part is read page by page, as one that is not sampled.
    const isIndexed = filter.traceId !== undefined && recent.every((row) => row.isTraceSampled)
    const older = floor > 0 && isIndexed ? await sampledBefore(sql, floor, filter) : []
    const rows = [...recent, ...older].slice(0, filter.limit)
    const last = rows.length === filter.limit ? rows.at(-1) : undefined
    const isComplete = isIndexed && rows.length > 0
    return { rows, next: last?.sequence ?? (floor > 1 && !isComplete ? floor : null) }
  }),

  write: write(async (sql, text) => {
    const rows = readCallText(text)
    const first = (await newestCall(sql)) + 1
    const values = rows.map((row, index) => columnsOf(row, first + index))
    const inserted = values.map((call, index) => [...call, ...traceColumns(rows[index]), sql.writer])
    const singles = inserted.length % ROWS_AT_ONCE
    for (const call of inserted.slice(0, singles)) await sql.run(INSERT_CALL, ...call)
    for (let at = singles; at < inserted.length; at += ROWS_AT_ONCE)
      await sql.run(INSERT_CALLS, ...inserted.slice(at, at + ROWS_AT_ONCE).flat())
    if (values.length > 0) await journalInsertedCalls(sql, first, values)
  }),
}

/** Conditions whose rows have an index. */
const VIOLATES = ' AND violations IS NOT NULL'
const SAMPLED = ' AND trace_is_sampled = 1'

/** Only sampled traces have an index: with the ids of all traces, each call would change another page of the index. */
function sampledBefore(sql: Sql, floor: number, filter: CallFilter): Promise<readonly StoredCall[]> {
  return select(sql, { ...filter, before: floor }, SAMPLED, 0)
}

async function select(sql: Sql, filter: CallFilter, indexed: string, floor: number): Promise<readonly StoredCall[]> {
  const { where, values } = callConditions(filter)
  const found = await sql.all(
    `SELECT * FROM interceptions WHERE ${where}${indexed} AND sequence >= ? ORDER BY sequence DESC LIMIT ?`,
    ...values,
    floor,
    filter.limit,
  )
  return found.map(storedCall)
}

/** Rows of one statement: it costs little more than a single row does. Two statements, whatever the length of a batch, are kept. */
export const ROWS_AT_ONCE = 32
const CALL_VALUES = `(${CALL_COLUMNS.map(() => '?').join(', ')}, ?, ?, ?)`
const INSERT_CALL = `INSERT INTO interceptions (${CALL_COLUMNS.join(', ')}, trace_id, trace_is_sampled, chain) VALUES ${CALL_VALUES}`
const INSERT_CALLS = INSERT_CALL + `, ${CALL_VALUES}`.repeat(ROWS_AT_ONCE - 1)

/** The values of a call record in the order of `CALL_COLUMNS`. */
function columnsOf(row: InterceptionRow, sequence: number): readonly SqlValue[] {
  return [
    sequence,
    row.correlationId,
    row.tenant,
    row.decisionId,
    row.route,
    row.protocol,
    row.action,
    row.executionAction,
    row.enforced ? 1 : 0,
    row.effect,
    row.breakGlassId,
    row.violations === null ? null : JSON.stringify(row.violations),
    row.at,
  ]
}

/** A call by its columns, without a sequence. */
export function callColumns(row: InterceptionRow): Readonly<Record<string, SqlValue>> {
  const [, ...values] = columnsOf(row, 0)
  const covered = CALL_COLUMNS.slice(1).map((column, index) => [column, values[index] ?? null] as const)
  const [traceId, isSampled] = traceColumns(row)
  return {
    ...Object.fromEntries(covered),
    trace_id: traceId,
    trace_is_sampled: isSampled,
  }
}

type CallTrace = Pick<InterceptionRow, 'traceId' | 'isTraceSampled'>

/** The trace of a call, and whether it is indexed: of a batch of an older sidecar, which does not say, every trace is. */
function traceColumns({ traceId, isTraceSampled }: CallTrace = { traceId: null }): readonly [string | null, number] {
  return [traceId ?? null, isTraceSampled === false ? 0 : 1]
}

/** Which filter member narrows by which condition; the column names are ours, the values are bound. */
const CONDITIONS = [
  ['tenant', 'tenant = ?'],
  ['route', 'route = ?'],
  ['effect', 'effect = ?'],
  ['correlationId', 'correlation_id = ?'],
  ['traceId', 'trace_id = ?'],
  [
    'audience',
    'decision_id IN (SELECT d.decision_id FROM decisions d WHERE d.decision_id = interceptions.decision_id AND d.audience = ?)',
  ],
  ['from', 'at >= ?'],
  ['to', 'at < ?'],
  ['before', 'sequence < ?'],
] as const satisfies readonly (readonly [keyof CallFilter, string])[]

function callConditions(filter: CallFilter): { readonly where: string; readonly values: readonly SqlValue[] } {
  const stated = CONDITIONS.flatMap(([member, condition]) => {
    const value = filter[member]
    return value === undefined ? [] : [{ condition, value }]
  })
  return {
    where: stated.map(({ condition }) => condition).join(' AND '),
    values: stated.map(({ value }) => value),
  }
}

function storedCall(row: SqlRow): StoredCall {
  return {
    sequence: integer(row, 'sequence'),
    correlationId: text(row, 'correlation_id'),
    traceId: nullableText(row, 'trace_id'),
    isTraceSampled: row['trace_id'] !== null && row['trace_is_sampled'] === 1,
    tenant: text(row, 'tenant'),
    decisionId: nullableText(row, 'decision_id'),
    route: text(row, 'route'),
    protocol: text(row, 'protocol'),
    action: text(row, 'action'),
    executionAction: oneOf(ACTIONS, row, 'execution_action'),
    enforced: integer(row, 'enforced') === 1,
    effect: row['effect'] === null ? null : oneOf(EFFECTS, row, 'effect'),
    breakGlassId: nullableText(row, 'break_glass_id'),
    violations: storedViolations(nullableText(row, 'violations')),
    at: integer(row, 'at'),
  }
}

function storedViolations(json: string | null): readonly Violation[] | null {
  if (json === null) return null
  const violations: readonly Violation[] = JSON.parse(json)
  return violations
}
