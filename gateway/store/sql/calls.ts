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
import { integer, oneOf, text, textOrNull, type SqlRow, type SqlValue } from './columns.ts'
import { ACTIONS } from './decisions.ts'
import { CALL_COLUMNS, journalInsertedCalls, newestCall } from './journal.ts'
import { read, write, type Operations } from './operation.ts'

/** Rows that one page reads: reading must not delay writes, and nearly all calls may belong to another tenant or route. */
const SCANNED_ROWS = 100_000

/** Effects whose rows always contain violations; their index is used for them. */
const VIOLATING: ReadonlySet<CallEffect | undefined> = new Set<CallEffect>(['refused', 'drifted'])

/** Calls as the statements have them: the queue in front of them is call-records.ts. */
export interface CallTable extends Pick<Calls, 'list'> {
  /** @param json of the rows: one text crosses between threads at half the cost of many small objects, and calls are many. */
  write(json: string): Promise<void>
}

export const calls: Operations<CallTable> = {
  list: read(async (sql, filter) => {
    const isViolating = VIOLATING.has(filter.effect)
    const isIndexed = isViolating || filter.traceId !== undefined
    const before = filter.before ?? (await newestCall(sql)) + 1
    const floor = isIndexed ? 0 : Math.max(0, before - SCANNED_ROWS)
    const { where, values } = conditionsOf({ ...filter, before })
    const found = await sql.all(
      `SELECT * FROM interceptions WHERE ${where}${isViolating ? ' AND violations IS NOT NULL' : ''} AND sequence >= ?
       ORDER BY sequence DESC LIMIT ?`,
      ...values,
      floor,
      filter.limit,
    )
    const rows = found.map(storedCall)
    const last = rows.length === filter.limit ? rows.at(-1) : undefined
    return { rows, next: last?.sequence ?? (floor > 1 ? floor : null) }
  }),

  write: write(async (sql, json) => {
    const rows: readonly InterceptionRow[] = JSON.parse(json)
    const first = (await newestCall(sql)) + 1
    const values = rows.map((row, index) => columnsOf(row, first + index))
    for (const [index, call] of values.entries())
      await sql.run(INSERT_CALL, ...call, rows[index]?.traceId ?? null, sql.writer)
    if (values.length > 0) await journalInsertedCalls(sql, first, values)
  }),
}

const INSERT_CALL = `INSERT INTO interceptions (${CALL_COLUMNS.join(', ')}, trace_id, chain) VALUES (${CALL_COLUMNS.map(() => '?').join(', ')}, ?, ?)`

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
  // A batch of an older sidecar names no trace.
  return { ...Object.fromEntries(covered), trace_id: row.traceId ?? null }
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

function conditionsOf(filter: CallFilter): { readonly where: string; readonly values: readonly SqlValue[] } {
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
    traceId: textOrNull(row, 'trace_id'),
    tenant: text(row, 'tenant'),
    decisionId: textOrNull(row, 'decision_id'),
    route: text(row, 'route'),
    protocol: text(row, 'protocol'),
    action: text(row, 'action'),
    executionAction: oneOf(ACTIONS, row, 'execution_action'),
    enforced: integer(row, 'enforced') === 1,
    effect: row['effect'] === null ? null : oneOf(EFFECTS, row, 'effect'),
    breakGlassId: textOrNull(row, 'break_glass_id'),
    violations: violationsOf(textOrNull(row, 'violations')),
    at: integer(row, 'at'),
  }
}

function violationsOf(json: string | null): readonly Violation[] | null {
  if (json === null) return null
  const violations: readonly Violation[] = JSON.parse(json)
  return violations
}
