/**
 * What administrators do with the whole ledger of a gateway (docs/reference/api.md#get-apiv1ledgerexport): export it as lines that
 * verify without the store, and remove its beginning. The chain holds the rows of every tenant: a part of it proves nothing.
 */
import { Type } from '../../../engine/base.ts'
import { isOperatorTenant } from '../../callers/rights.ts'
import { GatewayError } from '../../errors/errors.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import { exportLines } from '../../store/ledger-export.ts'
import { pruneLedger } from '../../store/retention.ts'
import { callerOf, defineRoute, json } from '../route.ts'
import { CorrelationId, instant } from '../schemas/shapes.ts'

const NDJSON = 'application/x-ndjson'
/** Entries that one request removes: it ends in seconds, however large the ledger is. */
const ENTRIES_OF_A_REQUEST = 10_000

export const exportWholeLedger = defineRoute({
  method: 'GET',
  paths: ['/api/v1/ledger/export'],
  operationId: 'exportLedger',
  tag: 'decisions',
  summary: 'The whole ledger of this gateway, of all tenants, as lines of JSON that verify without the store',
  access: 'administer',
  answers: {
    200: {
      description: 'One entry a line; the first and the last say what it is.',
      content: { [NDJSON]: Type.String() },
    },
  },
  async handle(exchange, { store, now }) {
    requireWholeLedger(callerOf(exchange))
    return { kind: 'lines', mediaType: NDJSON, lines: exportLines(store, now()) }
  },
})

export const PruneAnswer = Type.Object(
  {
    rows: Type.Integer({ description: 'Number of removed rows, of all tables.' }),
    beginnings: Type.Array(
      Type.Object({ chain: Type.String(), sequence: Type.Integer({ description: 'The first entry that is left.' }) }),
      { description: 'Of the chains that were cut.' },
    ),
    is_complete: Type.Boolean({ description: 'False: more can be removed. Send the same request again.' }),
    correlation_id: CorrelationId,
  },
  { title: 'LedgerPruneAnswer' },
)

export const pruneWholeLedger = defineRoute({
  method: 'POST',
  paths: ['/api/v1/ledger/prune'],
  operationId: 'pruneLedger',
  tag: 'decisions',
  summary: 'Remove decisions and calls of all tenants before a time; the rest still verifies',
  access: 'administer',
  body: Type.Object({ before: instant('What is older is removed.') }, { title: 'LedgerPruneRequest' }),
  answers: {
    200: { description: 'What was removed.', content: { 'application/json': PruneAnswer } },
  },
  errors: ['SIGNER_UNAVAILABLE'],
  async handle(exchange, { store, keys, metrics, logger, now }) {
    const caller = callerOf(exchange)
    requireWholeLedger(caller)
    const { body, correlationId } = exchange
    const deps = { store, signer: () => keys.signer(), now }
    const { cuts, rows, isComplete } = await pruneLedger(Date.parse(body.before), deps, ENTRIES_OF_A_REQUEST)
    metrics.count('preflight_ledger_pruned_rows_total', {}, rows)
    logger.info(
      { event: 'ledger.pruned', by: caller.audience, before: body.before, rows, correlation_id: correlationId },
      'old rows of the ledger were removed by an administrator',
    )
    const beginnings = cuts.map(({ chain, sequence }) => ({ chain, sequence: sequence + 1 }))
    return json({ rows, beginnings, is_complete: isComplete, correlation_id: correlationId })
  },
})

/** @throws GatewayError FORBIDDEN for an administrator of another tenant */
function requireWholeLedger(caller: ApiKey): void {
  if (!isOperatorTenant(caller))
    throw new GatewayError(
      'FORBIDDEN',
      'The ledger holds the rows of all tenants: this needs an administrator of the operator’s tenant.',
    )
}
