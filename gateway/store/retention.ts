/**
 * Removes the beginning of the ledger by age, by size, or on demand. The entry before the cut is signed first, so the rest of the
 * ledger verifies without what is gone. Keys of sign-ins that ended are removed too.
 */
import type { ReceiptSigner } from '../keys/receipt-signer.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { signCheckpoint } from './checkpoints.ts'
import type { SignedCut } from './ledger.ts'
import type { LedgerSettings } from './settings.ts'
import type { StorePart } from './store.ts'

type PrunedStore = StorePart<
  'ledger.proposeCuts' | 'ledger.recordCuts' | 'ledger.removeBehindCuts' | 'ledger.usedBytes'
>

interface PruneDeps {
  readonly store: PrunedStore
  readonly signer: () => ReceiptSigner
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

interface Pruned {
  /** The last cut of each chain that was cut; empty: nothing could go. */
  readonly cuts: readonly SignedCut[]
  /** Rows of all tables. */
  readonly rows: number
  /** False: it stopped at the maximum number of entries, and more may go. */
  readonly isComplete: boolean
}

/** Entries of one cut: bounds how long the store works on one. */
const CUT_ENTRIES = 100_000
/** Rows that one write removes: decisions wait for no more than that. */
const PORTION = 2000

/**
 * Removes everything that may go before a time.
 * @param most entries to remove; default: all
 */
export async function pruneLedger(before: number, deps: PruneDeps, most = Number.POSITIVE_INFINITY): Promise<Pruned> {
  const { store, signer, now } = deps
  // What an earlier run has cut and not removed.
  let rows = await removeAll(store)
  const made = new Map<string, SignedCut>()
  let isComplete = false
  for (let left = most; left > 0;) {
    const at = now()
    const proposed = await store.ledger.proposeCuts({ before, now: at, entries: Math.min(left, CUT_ENTRIES) })
    isComplete = proposed.length === 0
    if (isComplete) break
    const signed: SignedCut[] = []
    for (const { entries, ...cut } of proposed) {
      left -= entries
      signed.push({ ...cut, at, token: await signCheckpoint({ ...cut, issuedAt: Math.floor(at / 1000) }, signer()) })
    }
    await store.ledger.recordCuts(signed)
    for (const cut of signed) made.set(cut.chain, cut)
    rows += await removeAll(store)
  }
  return { cuts: [...made.values()], rows, isComplete }
}

async function removeAll({ ledger }: PrunedStore): Promise<number> {
  let rows = 0
  for (;;) {
    const removed = await ledger.removeBehindCuts(PORTION)
    if (removed === 0) return rows
    rows += removed
  }
}

/** Removes the oldest entries until the store uses no more than `size` bytes. @returns the removed rows */
async function pruneTo(size: number, deps: PruneDeps): Promise<number> {
  let rows = 0
  for (;;) {
    if ((await deps.store.ledger.usedBytes()) <= size) return rows
    const pruned = await pruneLedger(deps.now(), deps, SIZE_STEP)
    rows += pruned.rows
    if (pruned.cuts.length === 0) return rows
  }
}

export interface Retention {
  /** Removes what is due now. Never rejects. */
  run(): Promise<void>
  close(): Promise<void>
}

interface RetentionDeps extends PruneDeps {
  readonly store: PrunedStore & StorePart<'apiKeys.removeEndedSignIns'>
  readonly settings: () => LedgerSettings['retention']
  readonly metrics: Metrics
  readonly logger: Logger
}

const DAY = 86_400_000
/** Entries that are removed in one step while the store is too large: not many more rows go than have to. */
const SIZE_STEP = 500
/** How long the key of a sign-in at the command line is kept after it ended, and how often that is checked. */
const SIGN_IN_KEPT = 30 * DAY
const SIGN_IN_CHECK = DAY
const SIGN_INS_AT_ONCE = 500

export function startRetention(deps: RetentionDeps): Retention {
  const { settings, store, metrics, logger, now } = deps
  let running: Promise<void> = Promise.resolve()
  let signInsCheckedAt = Number.NEGATIVE_INFINITY
  const removeSignIns = async (): Promise<void> => {
    const at = now()
    if (at - signInsCheckedAt < SIGN_IN_CHECK) return
    let keys = 0
    try {
      for (let removed = SIGN_INS_AT_ONCE; removed === SIGN_INS_AT_ONCE; keys += removed)
        removed = await store.apiKeys.removeEndedSignIns(at - SIGN_IN_KEPT, SIGN_INS_AT_ONCE)
      signInsCheckedAt = at
      if (keys > 0) logger.info({ event: 'keys.sign_ins_removed', keys }, 'keys of sign-ins that ended were removed')
    } catch (error) {
      logger.error({ event: 'keys.sign_ins_not_removed', err: error }, 'keys of ended sign-ins could not be removed')
    }
  }
  const prune = async (): Promise<void> => {
    const { age, size } = settings()
    try {
      let rows = 0
      if (age !== undefined) rows += (await pruneLedger(now() - age * DAY, deps)).rows
      if (size !== undefined) rows += await pruneTo(size, deps)
      metrics.set('preflight_ledger_bytes', {}, await store.ledger.usedBytes())
      if (rows === 0) return
      metrics.count('preflight_ledger_pruned_rows_total', {}, rows)
      logger.info({ event: 'ledger.pruned', rows }, 'old rows of the ledger were removed')
    } catch (error) {
      logger.error({ event: 'ledger.prune_failed', err: error }, 'old rows of the ledger could not be removed')
    }
  }
  const enqueue = (): Promise<void> => (running = running.then(prune).then(removeSignIns))
  const timer = setInterval(() => void enqueue(), settings().interval * 1000)
  timer.unref()
  return {
    run: enqueue,
    close: () => {
      clearInterval(timer)
      return running
    },
  }
}
