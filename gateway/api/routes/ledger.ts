/** GET /api/v1/ledger: the caller's tenant's decisions, newest first, page by page or as one export (wire.md §2). */
import type { Static } from 'typebox'
import { DECISIONS, Type } from '../../../engine/index.ts'
import { GatewayError } from '../../errors.ts'
import type { LedgerFilter, Store, StoredDecision } from '../../store/store.ts'
import type { ApiDeps } from '../deps.ts'
import { callerOf, defineRoute, json, type Answer, type Exchange } from '../route.ts'
import { CorrelationId, Decision, ExecutionAction, nullable } from '../schemas/shapes.ts'

const LONGEST_PAGE = 500
const NDJSON = 'application/x-ndjson'

const filter = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 300, description }))
const instant = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }))

const LedgerQuery = Type.Object({
  repository: filter('Exactly this repository.'),
  decision: Type.Optional(Type.Enum(DECISIONS)),
  operation: filter('Exactly this operation.'),
  environment: filter('Exactly this environment.'),
  route: filter('Intercepted on this route.'),
  from: instant('Evaluated at or after this instant.'),
  to: instant('Evaluated before this instant.'),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LONGEST_PAGE, default: 50 })),
  cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$', description: '`next_cursor` of the page before.' })),
})
type Query = Static<typeof LedgerQuery>

const LedgerEntry = Type.Object(
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
    evaluated_at: Type.String({ format: 'date-time' }),
    expires_at: Type.String({ format: 'date-time' }),
    receipt_state: Type.String(),
    previous_hash: Type.String(),
    hash: Type.String({ description: 'Covers the row and the hash before it.' }),
  },
  { title: 'LedgerEntry' },
)

const LedgerPage = Type.Object(
  {
    entries: Type.Array(LedgerEntry),
    next_cursor: nullable(Type.String()),
    correlation_id: CorrelationId,
  },
  { title: 'LedgerPage' },
)

export const ledger = defineRoute({
  method: 'GET',
  paths: ['/api/v1/ledger'],
  operationId: 'listLedger',
  tag: 'decisions',
  summary: 'The ledger of decisions, newest first',
  access: 'key',
  query: LedgerQuery,
  answers: {
    200: {
      description: 'One page; with Accept: application/x-ndjson every fitting entry, one a line.',
      content: { 'application/json': LedgerPage, [NDJSON]: Type.String() },
    },
  },
  handle: runLedger,
})

async function runLedger(exchange: Exchange<unknown, Query>, deps: ApiDeps): Promise<Answer> {
  const wanted = filterOf(exchange.query, callerOf(exchange).tenant)
  if (exchange.mediaType === NDJSON) {
    return { kind: 'lines', mediaType: NDJSON, lines: exportLines(wanted, deps.store) }
  }
  const rows = await deps.store.ledger(wanted)
  const last = rows.length === wanted.limit ? rows.at(-1) : undefined
  return json({
    entries: rows.map(entryOf),
    next_cursor: last === undefined ? null : String(last.sequence),
    correlation_id: exchange.correlationId,
  })
}

/** Page after page as the client takes them: an export of any length holds one page in memory. */
async function* exportLines(wanted: LedgerFilter, store: Pick<Store, 'ledger'>): AsyncGenerator<string> {
  let before = wanted.before
  for (;;) {
    const rows = await store.ledger({ ...wanted, limit: LONGEST_PAGE, ...(before !== undefined && { before }) })
    for (const row of rows) yield `${JSON.stringify(entryOf(row))}\n`
    const last = rows.at(-1)
    if (last === undefined || rows.length < LONGEST_PAGE) return
    before = last.sequence
  }
}

function filterOf(query: Query, tenant: string): LedgerFilter {
  const { repository, decision, operation, environment, route, from, to, cursor } = query
  if (from !== undefined && to !== undefined && Date.parse(from) >= Date.parse(to)) {
    throw new GatewayError('INVALID_INPUT', undefined, { details: [{ pointer: 'from', message: 'must be before to' }] })
  }
  return {
    tenant,
    limit: query.limit ?? 50,
    ...(repository !== undefined && { repository }),
    ...(decision !== undefined && { decision }),
    ...(operation !== undefined && { operation }),
    ...(environment !== undefined && { environment }),
    ...(route !== undefined && { route }),
    ...(from !== undefined && { from: Date.parse(from) }),
    ...(to !== undefined && { to: Date.parse(to) }),
    ...(cursor !== undefined && { before: Number(cursor) }),
  }
}

function entryOf(row: StoredDecision): object {
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
    previous_hash: row.previousHash,
    hash: row.hash,
  }
}
