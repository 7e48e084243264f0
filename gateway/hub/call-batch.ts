/**
 * A batch of call records of a sidecar. A record that cannot be stored is refused alone, so that it does not hold up the others: a
 * sidecar repeats a batch until it is answered.
 */
import { Type } from '../../engine/base.ts'
import type { InterceptionRow } from '../store/calls.ts'
import type { StorePart } from '../store/store.ts'
import { bodyOf, checked, departureFrom, isOfForm } from './forms.ts'
import type { HubIdentity } from './identity.ts'
import { CALL, CALL_BATCH } from './method-values.ts'
import { isOwned, tenantScope } from './tenant-scope.ts'

/** A record that was not stored, by its place in the batch. */
interface RefusedRecord {
  readonly index: number
  readonly message: string
}

interface BatchAnswer {
  /** Records that are durable. */
  readonly value: number
  readonly refused: readonly RefusedRecord[]
}

const Batch = Type.Unsafe<{ readonly values: readonly [readonly unknown[]] }>(bodyOf(CALL_BATCH))

/** @throws GatewayError INVALID_INPUT when the body is no batch */
export async function recordCalls(
  body: unknown,
  { tenant }: HubIdentity,
  store: StorePart<'calls.recordAll'>,
): Promise<BatchAnswer> {
  const [records] = checked(Batch, body).values
  const scope = tenantScope(tenant)
  const refused: RefusedRecord[] = []
  const own: InterceptionRow[] = []
  for (const [index, record] of records.entries()) {
    const departure = departureFrom(CALL, record)
    if (!isOfForm(CALL, record, departure))
      refused.push({ index, message: `${departure?.pointer ?? ''} ${departure?.message ?? ''}`.trim() })
    else if (!isOwned(scope, record.tenant)) refused.push({ index, message: '/tenant is not that of the caller' })
    else {
      const { traceId = null, isTraceSampled = false, route } = record
      own.push({ ...record, traceId, isTraceSampled, tenant, route: scope.stored(route) })
    }
  }
  // Whoever gets the answer forgets the records, so they may not wait in this process.
  if (own.length > 0) await store.calls.recordAll(own)
  return { value: own.length, refused }
}
