/** Receipts after they were issued: their states, the lists that publish those states, and the public keys to verify them with. */
import type { ReceiptState } from '../../engine/internal.ts'
import { recordIn } from '../json/unchecked-json.ts'

/** Who ended a receipt, when and why. */
export interface ReceiptEnd {
  readonly at: number
  readonly by: string
  readonly reason: string
}

export interface Receipts {
  /** For any tenant: a verifier has a token, not a key. Null when this store never issued it. */
  state(decisionId: string): Promise<ReceiptState | null>
  /** The owners of decisions, by decision id; unknown ones are left out. */
  tenants(decisionIds: readonly string[]): Promise<Readonly<Record<string, string>>>
  /** Marks the receipts used, all or none; true for exactly one caller, ever. */
  consume(decisionIds: readonly string[], at: number): Promise<boolean>
  /** Marks the receipt superseded by another decision than a newer one of its scope. */
  supersede(tenant: string, decisionId: string, end: ReceiptEnd): Promise<void>
  /** True when the decision exists for the tenant; revoking twice is no error. */
  revoke(tenant: string, decisionId: string, reason: string, by: string, at: number): Promise<boolean>
}

/** A list of receipt states, as it is published for verifiers (docs/reference/receipts.md#status-list). */
export interface StatusListRow {
  /** Its id: a UUID. */
  readonly list: string
  /** Its name in receipts. */
  readonly uri: string
  /** Number of places. */
  readonly size: number
  /** Milliseconds since the epoch. */
  readonly openedAt: number
}

interface StoredStatusList extends StatusListRow {
  /** Of the receipts that are not current any more. */
  readonly states: readonly (readonly [index: number, state: ReceiptState])[]
}

export interface StatusLists {
  open(row: StatusListRow): Promise<void>
  /** Null: no gateway of this store opened such a list, or all of its receipts were pruned. */
  byId(list: string): Promise<StoredStatusList | null>
}

interface IssuedPlace {
  /** JSON text. */
  readonly envelope: string
  readonly statusPlace: { readonly list: string; readonly index: number } | null
}

/** The columns are not part of the row's hash: the place in the claims of the token, which are, must be the same one. */
export function isPlaceOfToken({ envelope, statusPlace }: IssuedPlace): boolean {
  const { token } = recordIn(recordIn(JSON.parse(envelope))['receipt'])
  const payload = typeof token === 'string' ? (token.split('.')[1] ?? '') : ''
  const claims = payload === '' ? {} : recordIn(JSON.parse(Buffer.from(payload, 'base64url').toString()))
  const { idx, uri } = recordIn(recordIn(claims['status'])['status_list'])
  if (typeof idx !== 'number' || typeof uri !== 'string') return statusPlace === null
  return idx === statusPlace?.index && uri.endsWith(statusPlace.list)
}

/** A public receipt key of a gateway that shares the store, so that each verifies the receipts of the others. */
export interface ReceiptKeyRow {
  readonly kid: string
  /** Public key, base64url (RFC 8037 §2). */
  readonly x: string
  /** Times are seconds since the epoch. */
  readonly validFrom: number
  readonly retiredAt: number | null
  readonly revokedAt: number | null
}

export interface ReceiptKeys {
  list(): Promise<readonly ReceiptKeyRow[]>
  /** Adds keys, and the ends of those that are there. A revocation stays. */
  publish(rows: readonly ReceiptKeyRow[]): Promise<void>
  /** False when no gateway has such a key. The time of the first revocation stays. */
  revoke(kid: string, at: number): Promise<boolean>
}
