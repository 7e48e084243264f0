/**
 * Receipt keys among the gateways of one store: each publishes its public keys there and verifies with those of all. A key that
 * was revoked anywhere is revoked in the key file of its gateway too, and the next one signs.
 */
import type { KeyRing } from '../keys/key-ring.ts'
import type { Logger } from '../telemetry/log.ts'
import { STALE } from './changes.ts'
import type { ReceiptKeyRow } from './receipts.ts'
import type { Store, StorePart } from './store.ts'

interface KeyExchange {
  /** Publishes the keys of this gateway and takes those of the others. Never rejects. */
  sync(): Promise<void>
  close(): void
}

interface KeyExchangeDeps {
  readonly store: StorePart<'receiptKeys.list' | 'receiptKeys.publish'> & Pick<Store, 'changes'>
  readonly keys: Pick<KeyRing, 'own' | 'join' | 'revoke' | 'replenish'>
  /** Called when keys were revoked or replaced. */
  readonly keysChanged: () => void
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export function startKeyExchange({ store, keys, keysChanged, logger, now }: KeyExchangeDeps): KeyExchange {
  const { changes } = store
  let mark = STALE
  let known = ''
  const exchange = async (): Promise<void> => {
    const begin = changes.begin(now())
    await store.receiptKeys.publish(publicRows(keys.own()))
    const rows = await store.receiptKeys.list()
    const revoked = new Set(rows.filter(({ revokedAt }) => revokedAt !== null).map(({ kid }) => kid))
    const ended = keys.own().filter(({ kid, revoked_at }) => revoked_at === null && revoked.has(kid))
    for (const { kid } of ended) {
      keys.revoke(kid)
      logger.warn({ event: 'keys.revoked_elsewhere', key_id: kid }, 'a receipt key of this gateway was revoked')
    }
    if (ended.length > 0) {
      await keys.replenish()
      await store.receiptKeys.publish(publicRows(keys.own()))
    }
    keys.join(rows)
    mark = changes.mark(begin, now())
    const seen = JSON.stringify(rows)
    if (known !== '' && seen !== known) keysChanged()
    known = seen
  }
  let running: Promise<void> = Promise.resolve()
  const sync = (): Promise<void> =>
    (running = running.then(exchange).catch((error: unknown) => {
      // What was announced is not known here, and a key that ended here is not known elsewhere: it is tried again.
      mark = STALE
      logger.error({ event: 'keys.exchange_failed', err: error }, 'receipt keys of other gateways could not be read')
    }))
  changes.subscribe(({ kind }) => {
    if (kind === 'receipt_key') void sync()
  })
  // Without announcements the keys are looked up again.
  const timer = setInterval(() => {
    if (!changes.isFresh(mark, now())) void sync()
  }, changes.bound * 1000)
  timer.unref()
  return { sync, close: () => clearInterval(timer) }
}

/** What others need of the keys of this gateway. */
export function publicRows(keys: ReturnType<KeyRing['own']>): readonly ReceiptKeyRow[] {
  return keys.map(({ kid, x, valid_from, retired_at, revoked_at }) => ({
    kid,
    x,
    validFrom: valid_from,
    retiredAt: retired_at,
    revokedAt: revoked_at,
  }))
}
