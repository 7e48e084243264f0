/** Calls to a platform that cannot be compared with anything: they need a receipt for exactly this request. */
import type { ScmRoute } from './settings.ts'
import type { JudgedAction, ResourceCheck } from '../common/action.ts'
import type { JudgedResource } from '../../calls/judged-resource.ts'
import type { Call } from '../../calls/call.ts'
import { requestDigest, withContent } from '../common/request-digest.ts'
import { httpRefusal } from '../common/refusal.ts'
import type { ReceiptOperation } from './endpoints.ts'
import { UnreadableIntent } from './intent.ts'
import { overridesMethodInBody } from './request.ts'

interface ReceiptedCall {
  /** As targets begin. */
  readonly name: string
  readonly operation: ReceiptOperation
  /** Of the path, behind the root of the API. */
  readonly segments: readonly string[]
  /** For people: why it takes one. */
  readonly because: string
}

/** Of a claim (docs/reference/receipts.md#claims). */
const MAX_TARGET = 200

/** An administrator of GitLab acts for the user that this names. */
const ACTING_FIELDS = ['sudo'] as const

/**
 * The receipt names method, path and content, so that it serves this request and no other.
 * @throws UnreadableIntent where no receipt can name it
 */
export function receipted(call: Call<ScmRoute>, { name, operation, segments, because }: ReceiptedCall): JudgedAction {
  if (overridesMethodInBody(call))
    throw new UnreadableIntent('its body names another method, so no receipt for this one covers it.')
  const path = `${call.method} /${segments.map(encodeURIComponent).join('/')}`
  const target = withContent(`${name}:${path}`, requestDigest(call, ACTING_FIELDS))
  if (target.length > MAX_TARGET) throw new UnreadableIntent('its path is too long for a receipt to name it.')
  const resource: JudgedResource = { name: path, target, scope: null, operation }
  return receiptAction(`${path} (${because})`, [{ resource, basis: { kind: 'receipt' } }])
}

/** @param checks at least one */
export function receiptAction(name: string, checks: readonly ResourceCheck[]): JudgedAction {
  return {
    kind: 'judge',
    name,
    gather: () => Promise.resolve(checks),
    watch: () => null,
    refuse: httpRefusal,
  }
}
