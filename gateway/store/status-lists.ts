/** Lists of receipt states, as they are published for verifiers (docs/reference/receipts.md#status-list). */
import type { DecisionRow } from './decisions.ts'
import type { ReceiptState } from './receipts.ts'
import { recordIn } from '../json/unchecked-json.ts'

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

/** The columns are not part of the row's hash: the place in the claims of the token, which are, must be the same one. */
export function isPlaceOfToken({ envelope, statusPlace }: Pick<DecisionRow, 'envelope' | 'statusPlace'>): boolean {
  const { token } = recordIn(recordIn(JSON.parse(envelope))['receipt'])
  const payload = typeof token === 'string' ? (token.split('.')[1] ?? '') : ''
  const claims = payload === '' ? {} : recordIn(JSON.parse(Buffer.from(payload, 'base64url').toString()))
  const { idx, uri } = recordIn(recordIn(claims['status'])['status_list'])
  if (typeof idx !== 'number' || typeof uri !== 'string') return statusPlace === null
  return idx === statusPlace?.index && uri.endsWith(statusPlace.list)
}
