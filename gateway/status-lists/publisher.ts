/**
 * Serves status lists as signed tokens (docs/reference/receipts.md#status-list). Anybody may ask, so the work is bounded: a
 * list is read and signed once for all who ask within a moment, and one list at a time.
 */
import { LRUCache } from 'lru-cache'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import { engine } from '../loading/lazy-engine.ts'
import { receiptSignature, type ReceiptSigner } from '../keys/receipt-signer.ts'
import { sha256Hex } from '../runtime/hash.ts'
import type { StorePart } from '../store/store.ts'
import type { StatusListConfig } from './settings.ts'

interface PublishedStatusList {
  readonly token: string
  /** Strong entity tag of the token, with its quotes. */
  readonly etag: string
  /** Seconds that a cache may use it. */
  readonly maxAge: number
}

export interface StatusPublisher {
  /** Null: there is no such list. Rejects with STORE_UNAVAILABLE or SIGNER_UNAVAILABLE. */
  list(id: string): Promise<PublishedStatusList | null>
  /** The state of a receipt changed here: lists are read again when they are asked for. */
  changed(): void
}

interface PublisherDeps {
  readonly store: StorePart<'statusLists.byId'>
  readonly signer: () => ReceiptSigner
  readonly config: () => StatusListConfig
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Lists whose token is kept. */
const KEPT = 200
/** Milliseconds after which a list is read again: changes by other gateways show within this time. */
const FRESH_FOR = 1000

interface KeptList {
  readonly published: PublishedStatusList | null
  readonly compressed: string
  readonly keyId: string
  readonly signedAt: number
  readonly readAt: number
  /** Counts the changes that the entries include. */
  readonly version: number
}

const compress = promisify(deflate)

export function createStatusPublisher(deps: PublisherDeps): StatusPublisher {
  const kept = new LRUCache<string, KeptList>({ max: KEPT })
  const running = new Map<string, Promise<KeptList>>()
  let version = 0
  let last: Promise<unknown> = Promise.resolve()
  const refresh = (id: string): Promise<KeptList> => {
    const started = running.get(id)
    if (started !== undefined) return started
    // One after the other: many unknown ids must not keep the store from decisions.
    const next = last
      .catch(() => undefined)
      .then(() => readKeptList(id, kept.get(id) ?? null, version, deps))
      .finally(() => running.delete(id))
    running.set(id, next)
    last = next.then((found) => kept.set(id, found))
    return next
  }
  return {
    list: async (id) => {
      const found = kept.get(id)
      const isFresh = found !== undefined && found.version === version && deps.now() - found.readAt < FRESH_FOR
      return (isFresh ? found : await refresh(id)).published
    },
    changed: () => {
      version += 1
    },
  }
}

async function readKeptList(
  id: string,
  before: KeptList | null,
  version: number,
  deps: PublisherDeps,
): Promise<KeptList> {
  const readAt = deps.now()
  const row = await deps.store.statusLists.byId(id)
  if (row === null) return { published: null, compressed: '', keyId: '', signedAt: 0, readAt, version }
  const { ttl, lifetime } = deps.config().status_list
  const entries = engine().packStatuses(row.size, row.states)
  const compressed = (await compress(entries, { level: 9 })).toString('base64url')
  const signer = deps.signer()
  // A token whose entries still hold is served again: caches then answer 304 without a new body.
  const isHalfway = before !== null && readAt - before.signedAt < (lifetime * 1000) / 2
  if (isHalfway && before.compressed === compressed && before.keyId === signer.keyId)
    return { ...before, readAt, version }
  const issuedAt = Math.floor(readAt / 1000)
  const list = { uri: row.uri, issuedAt, expiresAt: issuedAt + Math.ceil(lifetime), ttl: Math.ceil(ttl), compressed }
  const input = engine().statusListSigningInput(list, signer.keyId)
  const token = `${input}.${await receiptSignature(signer, input)}`
  const published = { token, etag: `"${sha256Hex(token).slice(0, 32)}"`, maxAge: Math.ceil(ttl) }
  return { published, compressed, keyId: signer.keyId, signedAt: readAt, readAt, version }
}
