/** The claims of a receipt and how they come from an envelope (docs/reference/receipts.md#claims). Claim names are pinned in test/pins/claims.tsv. */
import type { Static, TSchema } from 'typebox'
import { EXECUTION_ACTIONS } from '../model/decision.ts'
import type { EnvelopeDraft } from '../decide/envelope-schema.ts'
import { instantSeconds } from '../decide/text.ts'
import type { Digest } from '../common/hash.ts'
import { Type } from '../common/type-builder.ts'
import type { StatusReference } from './status-list.ts'

export const RECEIPT_FORMAT_VERSION = 'preflight-receipt.v1'
export const RECEIPT_TYPE = 'preflight-receipt+jwt'

const seconds = (description: string) => Type.Integer({ minimum: 0, description })
const digest = (description: string) => Type.String({ pattern: '^sha256:[0-9a-f]{64}$', description })
const words = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description })

/** Open: a later version may add claims, and a verifier ignores those that it does not know (RFC 7519 §4). */
export const ReceiptClaims = Type.Object(
  {
    iss: Type.String({ description: 'Who issued the receipt.' }),
    jti: Type.String({ description: 'decision_id' }),
    iat: seconds('evaluated_at'),
    nbf: seconds('evaluated_at'),
    exp: seconds('expires_at'),
    fp: digest('fingerprint'),
    ifp: digest('input_fingerprint'),
    bh: digest('decision_body_hash'),
    act: Type.Enum(EXECUTION_ACTIONS, { description: 'execution_action' }),
    op: words('operation'),
    env: words('environment'),
    tgt: words('target_id'),
    repo: words('repository'),
    br: words('branch'),
    pr: words('pull_request'),
    base: words('base'),
    head: words('head'),
    srcmode: Type.Enum(['declared', 'unbound'], { description: 'srcmode' }),
    ad: words('artifact_digest'),
    sub: words('audience'),
    prev: words('SHA-256 of the token before this one in its chain.'),
    ph: words('policy_hash'),
    fbe: Type.Optional(
      Type.Literal(true, { description: 'fingerprint_binding_expected; absent when it is not expected.' }),
    ),
    tnt: Type.Optional(words('Tenant; absent from receipts of versions that did not sign it.')),
    status: Type.Optional(
      Type.Object(
        {
          status_list: Type.Object(
            {
              idx: Type.Integer({ minimum: 0, maximum: 8_388_607, description: 'Index of the receipt in the list.' }),
              uri: Type.String({ minLength: 1, maxLength: 500, description: 'Name and address of the list.' }),
            },
            { description: 'Place of the receipt in a status list (IETF Token Status List).' },
          ),
        },
        { description: 'Where the state of the receipt is published; absent when no list has it.' },
      ),
    ),
  },
  { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'receipt-claims.json', title: 'Claims of a receipt' },
)
export type ReceiptClaims = Readonly<Static<typeof ReceiptClaims>>

export const receiptClaimsSchema: TSchema = ReceiptClaims

export interface ReceiptIssue {
  /** `iss` claim: who signs, e.g. the public address of the gateway. */
  readonly issuer: string
  /** `tnt` claim: whose decision it is. */
  readonly tenant: string | null
  /** SHA-256 of the token that this one follows, `digestText(token, sha256)`; null for the first. */
  readonly previous: Digest | null
  /** `status` claim: the place of the receipt in a status list; null: it has none. */
  readonly status: StatusReference | null
}

export function receiptClaims(
  draft: EnvelopeDraft,
  bodyHash: Digest,
  { issuer, tenant, previous, status }: ReceiptIssue,
): ReceiptClaims {
  const issuedAt = instantSeconds(draft.evaluated_at)
  return {
    iss: issuer,
    jti: draft.decision_id,
    iat: issuedAt,
    nbf: issuedAt,
    exp: instantSeconds(draft.expires_at),
    fp: draft.fingerprint,
    ifp: draft.input_fingerprint,
    bh: bodyHash,
    act: draft.execution_action,
    tnt: tenant,
    op: draft.operation ?? null,
    env: draft.environment ?? null,
    tgt: draft.target_id ?? null,
    repo: draft.repository ?? null,
    br: draft.branch ?? null,
    pr: draft.pull_request ?? null,
    base: draft.base ?? null,
    head: draft.head ?? null,
    srcmode: draft.srcmode ?? 'unbound',
    ad: draft.artifact_digest ?? null,
    sub: draft.audience ?? null,
    prev: previous,
    ph: draft.policy_hash ?? null,
    ...(draft.fingerprint_binding_expected === true && { fbe: true as const }),
    ...(status !== null && { status: { status_list: status } }),
  }
}
