/** Operations on the records of single calls: written many at a time, read newest first. Each runs inside the writer thread. */
import type { SQLInputValue } from 'node:sqlite'
import type { Violation } from '../../validation/message.ts'
import {
  EFFECTS,
  type CallFilter,
  type CallPage,
  type CallEffect,
  type InterceptionRow,
  type StoredCall,
} from '../call.ts'
import { ACTIONS } from './decisions.ts'
import { CALL_COLUMNS, journalInsertedCalls, newestCall } from './journal.ts'
import { integer, oneOf, text, textOrNull, type SqlRow, type Statements } from './statements.ts'

/** Rows that one page reads: reading must not delay writes, and nearly all calls may belong to another tenant or route. */
const SCANNED_ROWS = 100_000

/** Effects whose rows always contain violations; their index is used for them. */
const VIOLATING: ReadonlySet<CallEffect | undefined> = new Set<CallEffect>(['refused', 'drifted'])

export const callReads = {
  calls: (sql: Statements, filter: CallFilter): CallPage => {
    const isIndexed = VIOLATING.has(filter.effect)
    const before = filter.before ?? newestCall(sql) + 1
    const floor = isIndexed ? 0 : Math.max(0, before - SCANNED_ROWS)
    const { where, values } = conditionsOf({ ...filter, before })
    const rows = sql
      .all(
        `SELECT * FROM interceptions WHERE ${where}${isIndexed ? ' AND violations IS NOT NULL' : ''} AND sequence >= ?
         ORDER BY sequence DESC LIMIT ?`,
        ...values,
        floor,
        filter.limit,
      )
      .map(storedCall)
    const last = rows.length === filter.limit ? rows.at(-1) : undefined
    return { rows, next: last?.sequence ?? (floor > 1 ? floor : null) }
  },
} as const

const INSERT_CALL = `INSERT INTO interceptions (${CALL_COLUMNS.join(', ')}) VALUES (${CALL_COLUMNS.map(() => '?').join(', ')})`

function columnsOf(row: InterceptionRow, sequence: number): readonly SQLInputValue[] {
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

export const callWrites = {
  /** @param json of the rows */
  recordInterceptions: (sql: Statements, json: string): null => {
    const rows: readonly InterceptionRow[] = JSON.parse(json)
    const first = newestCall(sql) + 1
    const calls = rows.map((row, index) => columnsOf(row, first + index))
    for (const call of calls) sql.run(INSERT_CALL, ...call)
    if (calls.length > 0) journalInsertedCalls(sql, first, calls)
    return null
  },
} as const

/** Which filter member narrows by which condition; the column names are ours, the values are bound. */
const CONDITIONS = [
  ['tenant', 'tenant = ?'],
  ['route', 'route = ?'],
  ['effect', 'effect = ?'],
  ['correlationId', 'correlation_id = ?'],
  [
    'audience',
    'decision_id IN (SELECT d.decision_id FROM decisions d WHERE d.decision_id = interceptions.decision_id AND d.audience = ?)',
  ],
  ['from', 'at >= ?'],
  ['to', 'at < ?'],
  ['before', 'sequence < ?'],
] as const satisfies readonly (readonly [keyof CallFilter, string])[]

function conditionsOf(filter: CallFilter): { readonly where: string; readonly values: readonly SQLInputValue[] } {
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
