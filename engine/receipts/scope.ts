/** Does the intended attempt lie within what was signed? One row a member of the context. */
import { misspelled, spelledNames } from '../common/suggestion.ts'
import type { ReceiptClaims } from './claims.ts'
import type { IntendedContext, ReceiptMismatch, ReceiptReason } from './verification.ts'

interface ScopeMember {
  readonly member: keyof IntendedContext
  readonly claim: keyof ReceiptClaims
  readonly mismatch: ReceiptReason
  /** What leaving the member out means: never enough (`required`), not enough when it was signed (`bound`), fine (`compared`). */
  readonly when_absent: 'required' | 'bound' | 'compared'
  /** A signed null fits any stated value (docs/reference/receipts.md#binding-to-an-operation: both audiences non-null). */
  readonly fits_null?: true
}

/** In the order of precedence of their reasons. */
const MEMBERS: readonly ScopeMember[] = [
  { member: 'tenant', claim: 'tnt', mismatch: 'tenant_mismatch', when_absent: 'compared' },
  { member: 'audience', claim: 'sub', mismatch: 'audience_mismatch', when_absent: 'compared', fits_null: true },
  { member: 'operation', claim: 'op', mismatch: 'operation_mismatch', when_absent: 'required' },
  { member: 'environment', claim: 'env', mismatch: 'environment_mismatch', when_absent: 'bound' },
  { member: 'target_id', claim: 'tgt', mismatch: 'target_mismatch', when_absent: 'bound' },
  { member: 'repository', claim: 'repo', mismatch: 'place_mismatch', when_absent: 'bound' },
  { member: 'branch', claim: 'br', mismatch: 'place_mismatch', when_absent: 'bound' },
  { member: 'pull_request', claim: 'pr', mismatch: 'place_mismatch', when_absent: 'bound' },
  { member: 'base', claim: 'base', mismatch: 'source_mismatch', when_absent: 'compared' },
  { member: 'head', claim: 'head', mismatch: 'source_mismatch', when_absent: 'compared' },
  { member: 'fingerprint', claim: 'fp', mismatch: 'fingerprint_mismatch', when_absent: 'compared' },
  { member: 'input_fingerprint', claim: 'ifp', mismatch: 'fingerprint_mismatch', when_absent: 'compared' },
  { member: 'artifact_digest', claim: 'ad', mismatch: 'fingerprint_mismatch', when_absent: 'compared' },
]

export interface ScopeVerdict {
  readonly reason: ReceiptReason | null
  readonly mismatches: readonly ReceiptMismatch[]
}

/** Who checks, besides the context of the attempt. */
export interface ScopeTerms {
  /** Tenants whose receipts are taken; absent: those of every tenant. */
  readonly tenants?: readonly string[]
  /** Members that the attempt would name if it had them: left out, they do not fit a receipt that is bound to one. */
  readonly bound?: readonly (keyof IntendedContext)[]
}

export function compareScope(
  claims: ReceiptClaims,
  context: IntendedContext,
  { tenants, bound = [] }: ScopeTerms = {},
): ScopeVerdict {
  const mismatches: ReceiptMismatch[] = []
  let mismatched: ReceiptReason | null = null
  const tenant = claims.tnt ?? null
  if (tenants !== undefined && (tenant === null || !tenants.includes(tenant))) {
    mismatches.push({ member: 'tenant', expected: tenant, stated: tenants.join(', ') })
    mismatched = 'tenant_mismatch'
  }
  let isIncomplete = false
  for (const { member, claim, mismatch, when_absent: whenAbsent, fits_null: fitsNull } of MEMBERS) {
    const signed = claims[claim]
    const expected = typeof signed === 'string' ? signed : null
    const stated = context[member] ?? null
    const isBound = whenAbsent === 'bound' || bound.includes(member)
    const isAbsent = stated === null && (whenAbsent === 'required' || (isBound && expected !== null))
    const isDifferent = stated !== null && stated !== expected && !(fitsNull && expected === null)
    if (!isAbsent && !isDifferent) continue
    mismatches.push({ member, expected, stated })
    if (isDifferent) mismatched ??= mismatch
    else isIncomplete = true
  }
  for (const { member, claim } of misspelledMembers(context)) {
    const signed = claims[claim]
    if (!mismatches.some((one) => one.member === member))
      mismatches.push({ member, expected: typeof signed === 'string' ? signed : null, stated: null })
    isIncomplete = true
  }
  // docs/reference/receipts.md#binding-to-an-operation: absence fails as hard as a difference.
  if (claims.fbe === true && (context.fingerprint ?? context.input_fingerprint ?? null) === null) {
    mismatches.push({ member: 'fingerprint', expected: claims.fp, stated: null })
    isIncomplete = true
  }
  return { reason: mismatched ?? (isIncomplete ? 'context_incomplete' : null), mismatches }
}

const NAMES: ReadonlySet<string> = new Set(MEMBERS.map(({ member }) => member))
const SPELLED = spelledNames(NAMES)

/** What the caller states under another name would not be compared: the attempt might lie outside of it. */
function misspelledMembers(context: IntendedContext): readonly ScopeMember[] {
  return Object.keys(context)
    .filter((name) => !NAMES.has(name))
    .flatMap((name) => MEMBERS.filter(({ member }) => member === misspelled(name, SPELLED)))
}
