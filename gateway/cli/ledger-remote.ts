/** The ledger of a running gateway, read page by page over its API. */
import type { Static, TSchema } from 'typebox'
import { Type } from '../../engine/base.ts'
import { CallRecord } from '../api/call-view.ts'
import { getDecision, StoredDecisionAnswer } from '../api/routes/decisions.ts'
import { ledger, LedgerEntry } from '../api/routes/ledger.ts'
import { nullable } from '../api/schemas/shapes.ts'
import { GatewayError } from '../errors/errors.ts'
import type { CallFilter } from '../store/calls.ts'
import type { LedgerFilter } from '../store/decisions.ts'
import type { GatewayClient } from './gateway-client.ts'
import { isoInstantIfAny } from '../runtime/iso-instant.ts'

/** What a table of decisions shows. */
export type DecisionEntry = Pick<
  Static<typeof LedgerEntry>,
  'sequence' | 'evaluated_at' | 'decision' | 'operation' | 'route' | 'repository' | 'receipt_state' | 'decision_id'
>
export type CallEntry = Pick<
  Static<typeof CallRecord>,
  'sequence' | 'at' | 'effect' | 'route' | 'call' | 'correlation_id' | 'decision_id'
> & { readonly violations: readonly { readonly where: string; readonly message: string }[] | null }

const LONGEST_PAGE = 500

export function remoteDecisions(filter: LedgerFilter, gateway: GatewayClient): Promise<readonly DecisionEntry[]> {
  const { decision, operation, environment, repository } = filter
  return pages(gateway, LedgerEntry, filter, { decision, operation, environment, repository })
}

export function remoteCalls(filter: CallFilter, gateway: GatewayClient): Promise<readonly CallEntry[]> {
  return pages(gateway, CallRecord, filter, {
    records: 'calls',
    effect: filter.effect,
    correlation_id: filter.correlationId,
  })
}

/** Null: there is none of this id for the key. */
export async function remoteDecision(id: string, gateway: GatewayClient) {
  try {
    return await gateway.ask(getDecision, StoredDecisionAnswer, { params: { decision_id: id } })
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'NOT_FOUND') return null
    throw error
  }
}

async function pages<Row extends TSchema>(
  gateway: GatewayClient,
  row: Row,
  { route, traceId, from, to, limit }: Pick<LedgerFilter, 'route' | 'traceId' | 'from' | 'to' | 'limit'>,
  filters: Readonly<Record<string, string | undefined>>,
): Promise<readonly Static<Row>[]> {
  const Page = Type.Object({ items: Type.Array(row), next_cursor: nullable(Type.String()) })
  const found: Static<Row>[] = []
  const times = { from: isoInstantIfAny(from), to: isoInstantIfAny(to) }
  for (let cursor: string | undefined; found.length < limit;) {
    const size = Math.min(limit - found.length, LONGEST_PAGE)
    const page = await gateway.ask(ledger, Page, {
      query: { ...filters, ...times, route, trace_id: traceId, limit: size, cursor },
    })
    found.push(...page.items)
    if (page.next_cursor === null) break
    cursor = page.next_cursor
  }
  return found
}
