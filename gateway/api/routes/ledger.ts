/**
 * GET /api/v1/ledger: the caller's tenant's decisions, or the records of its calls, newest first, page by page or as one
 * export (docs/reference/api.md#get-apiv1ledger).
 */
import type { Static } from 'typebox'
import { DECISIONS, Type } from '../../../engine/base.ts'
import { GatewayError } from '../../errors/errors.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import type { StorePart } from '../../store/store.ts'
import type { StoredDecision } from '../../store/decisions.ts'
import { CallRecord, callEntry, Effect } from '../call-view.ts'
import type { ApiDeps } from '../deps.ts'
import {
  CorrelationId,
  Decision,
  ExecutionAction,
  ID_PATTERN,
  instant,
  listAnswer,
  listMembers,
  nullable,
  TRACE_ID_PATTERN,
} from '../schemas/shapes.ts'
import { callerOf, defineRoute, json, type RouteAnswer, type RouteExchange } from '../route.ts'
import { ownAudience } from '../visibility.ts'
import { isJsonObject } from '../../json/strict-json.ts'

const LONGEST_PAGE = 500
const NDJSON = 'application/x-ndjson'

const filter = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 300, description }))

const LedgerQuery = Type.Object({
  records: Type.Optional(
    Type.Enum(['decisions', 'calls'], {
      default: 'decisions',
      description: 'Decisions, each of which may serve many calls; or the record of each call.',
    }),
  ),
  repository: filter('Decisions about exactly this repository.'),
  repo: filter('Alias of repository.'),
  decision: Type.Optional(Type.Enum(DECISIONS, { description: 'Decisions of exactly this class.' })),
  operation: filter('Decisions about exactly this operation.'),
  environment: filter('Decisions about exactly this environment.'),
  effect: Type.Optional(Effect),
  correlation_id: Type.Optional(Type.String({ pattern: ID_PATTERN, description: 'Calls under this correlation id.' })),
  route: filter('Intercepted on this route.'),
  trace_id: Type.Optional(Type.String({ pattern: TRACE_ID_PATTERN, description: 'Of this W3C trace.' })),
  from: Type.Optional(instant('Evaluated, or called, at or after this instant.')),
  to: Type.Optional(instant('Evaluated, or called, before this instant.')),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LONGEST_PAGE, default: 50 })),
  cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$', description: '`next_cursor` of the previous page.' })),
})
export type LedgerExport = Static<typeof LedgerQuery>
type Query = LedgerExport

export const LedgerEntry = Type.Object(
  {
    sequence: Type.Integer({ minimum: 1, description: 'Position in the ledger.' }),
    decision_id: Type.String(),
    decision: Decision,
    execution_action: ExecutionAction,
    operation: nullable(Type.String()),
    environment: nullable(Type.String()),
    repository: nullable(Type.String()),
    route: nullable(Type.String()),
    fingerprint: Type.String(),
    input_fingerprint: Type.String(),
    evaluated_at: instant(),
    expires_at: instant(),
    receipt_state: Type.String(),
    trace_id: nullable(Type.String({ description: 'The W3C trace of the request that was decided.' })),
    warnings: Type.Array(Type.String(), {
      description: 'Codes of the warnings of the decision, each once: `APPROVED_EXCEPTION`, `BREAK_ACCEPTED` …',
    }),
    previous_hash: Type.String(),
    hash: Type.String({ description: 'Covers the row and the previous hash.' }),
  },
  { title: 'LedgerEntry' },
)

const LedgerPage = Type.Object(
  {
    ...listMembers('entries', Type.Union([Type.Array(LedgerEntry), Type.Array(CallRecord)])),
    next_cursor: nullable(
      Type.String({
        description:
          'Null: this is the last page. A page of calls may hold fewer than `limit`, or none, and not be the last.',
      }),
    ),
    correlation_id: CorrelationId,
  },
  { title: 'LedgerPage' },
)

export const ledger = defineRoute({
  method: 'GET',
  paths: ['/api/v1/ledger'],
  operationId: 'listLedger',
  tag: 'decisions',
  summary: 'The ledger of decisions, or the records of calls, newest first',
  access: 'key',
  query: LedgerQuery,
  answers: {
    200: {
      description: 'One page; with Accept: application/x-ndjson every matching entry, one per line.',
      content: { 'application/json': LedgerPage, [NDJSON]: Type.String() },
    },
  },
  handle: runLedger,
})

async function runLedger(exchange: RouteExchange<unknown, Query>, deps: ApiDeps): Promise<RouteAnswer> {
  const { mediaType, correlationId } = exchange
  const query = withRepository(exchange.query)
  const page = pagesOf(query, callerOf(exchange), deps.store)
  const before = query.cursor === undefined ? undefined : Number(query.cursor)
  if (mediaType === NDJSON) return { kind: 'lines', mediaType: NDJSON, lines: linesOfPages(page, before) }
  const { entries, next } = await page(query.limit ?? 50, before)
  return json({
    ...listAnswer('entries', entries),
    next_cursor: next === null ? null : String(next),
    correlation_id: correlationId,
  })
}

/** @throws GatewayError INVALID_INPUT when both names are stated, and differ */
function withRepository({ repo, ...query }: Query): Query {
  if (repo === undefined) return query
  if (query.repository !== undefined && query.repository !== repo) throw invalidQuery('repo', 'differs from repository')
  return { ...query, repository: repo }
}

interface EntryPage {
  readonly entries: readonly object[]
  /** `before` of the next page; null: this is the last page. */
  readonly next: number | null
}
type Pages = (limit: number, before: number | undefined) => Promise<EntryPage>

/** Reads the next page only when the client has taken the last one: an export of any length holds one page in memory. */
async function* linesOfPages(page: Pages, from: number | undefined): AsyncGenerator<string> {
  let before = from
  for (;;) {
    const { entries, next } = await page(LONGEST_PAGE, before)
    for (const entry of entries) yield `${JSON.stringify(entry)}\n`
    if (next === null) return
    before = next
  }
}

/** Filters that only one kind of record has. */
const FILTERS = {
  decisions: ['repository', 'decision', 'operation', 'environment'],
  calls: ['effect', 'correlation_id'],
} as const

/** Every matching entry, as lines of JSON. @throws GatewayError INVALID_INPUT */
export function ledgerLines(
  query: LedgerExport,
  caller: LedgerReader,
  store: StorePart<'decisions.list' | 'calls.list'>,
): AsyncIterable<string> {
  return linesOfPages(pagesOf(query, caller, store), undefined)
}

type LedgerReader = Pick<ApiKey, 'tenant' | 'role' | 'audience'>

function pagesOf(query: Query, caller: LedgerReader, store: StorePart<'decisions.list' | 'calls.list'>): Pages {
  const audience = ownAudience(caller)
  const { records = 'decisions', from, to } = query
  const foreign = FILTERS[records === 'calls' ? 'decisions' : 'calls'].find((name) => query[name] !== undefined)
  if (foreign !== undefined) throw invalidQuery(foreign, `is not a filter of ${records}; see records`)
  if (from !== undefined && to !== undefined && Date.parse(from) >= Date.parse(to))
    throw invalidQuery('from', 'must be before to')
  const common = {
    tenant: caller.tenant,
    ...(audience !== null && { audience }),
    ...statedMembers(query, ['route']),
    ...(query.trace_id !== undefined && { traceId: query.trace_id }),
    ...(from !== undefined && { from: Date.parse(from) }),
    ...(to !== undefined && { to: Date.parse(to) }),
  }
  if (records === 'calls')
    return async (limit, before) => {
      const { correlation_id: correlationId } = query
      const page = await store.calls.list({
        ...common,
        ...statedMembers(query, ['effect']),
        ...(correlationId !== undefined && { correlationId }),
        limit,
        ...beforeOf(before),
      })
      return { entries: page.rows.map(callEntry), next: page.next }
    }
  return async (limit, before) => {
    const rows = await store.decisions.list({
      ...common,
      ...statedMembers(query, FILTERS.decisions),
      limit,
      ...beforeOf(before),
    })
    const last = rows.length === limit ? rows.at(-1) : undefined
    return { entries: rows.map(ledgerEntry), next: last?.sequence ?? null }
  }
}

/** The members that the query contains. */
function statedMembers<Name extends keyof Query>(query: Query, names: readonly Name[]): Partial<Pick<Query, Name>> {
  const members: Partial<Pick<Query, Name>> = {}
  for (const name of names) if (query[name] !== undefined) members[name] = query[name]
  return members
}

function beforeOf(before: number | undefined): { readonly before?: number } {
  return before === undefined ? {} : { before }
}

function invalidQuery(pointer: string, message: string): GatewayError {
  return new GatewayError('INVALID_INPUT', undefined, { details: [{ pointer, message }] })
}

function ledgerEntry(row: StoredDecision): object {
  return {
    sequence: row.sequence,
    decision_id: row.decisionId,
    decision: row.decision,
    execution_action: row.executionAction,
    operation: row.operation,
    environment: row.environment,
    repository: row.repository,
    route: row.route,
    fingerprint: row.fingerprint,
    input_fingerprint: row.inputFingerprint,
    evaluated_at: new Date(row.evaluatedAt).toISOString(),
    expires_at: new Date(row.expiresAt).toISOString(),
    receipt_state: row.receiptState,
    trace_id: row.traceId,
    warnings: warningCodes(row.envelope),
    previous_hash: row.previousHash,
    hash: row.hash,
  }
}

/** @param envelope as it was issued, JSON text */
function warningCodes(envelope: string): readonly string[] {
  const parsed: unknown = JSON.parse(envelope)
  const warnings: unknown = isJsonObject(parsed) ? parsed['warnings'] : null
  const listed: readonly unknown[] = Array.isArray(warnings) ? warnings : []
  const codes = listed.flatMap((warning) =>
    isJsonObject(warning) && typeof warning['code'] === 'string' ? [warning['code']] : [],
  )
  return [...new Set(codes)]
}
