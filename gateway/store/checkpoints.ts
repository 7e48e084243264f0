/**
 * Checkpoints of the ledger: its head is signed at intervals and stored in the ledger, in a file next to the keys, in the log
 * and as a metric. A ledger that was truncated or replaced does not contain the signed entry.
 */
import { dirname, join, resolve } from 'node:path'
import type { KeyRing } from '../keys/key-ring.ts'
import { makePrivateDirectory, writePrivateFile } from '../runtime/private-file.ts'
import type { StorePart } from './store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { signCheckpoint } from './checkpoint-token.ts'

export interface Checkpoints {
  /** Signs the head now, unless it is already signed. Never rejects. */
  write(): Promise<void>
  /** Signs the head once more and stops. */
  close(): Promise<void>
}

interface CheckpointsDeps {
  readonly store: StorePart<'ledger.head' | 'ledger.recordCheckpoint'>
  readonly keys: Pick<KeyRing, 'signer'>
  readonly file: string
  /** Milliseconds between two checks of the head. */
  readonly interval: number
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** The newest checkpoint of the ledger that this data directory serves. */
export function checkpointFile(dataDirectory: string): string {
  return join(resolve(dataDirectory), 'ledger-checkpoint.jwt')
}

export function startCheckpoints(deps: CheckpointsDeps): Checkpoints {
  let signed: string | null = null
  let running: Promise<void> = Promise.resolve()
  const write = async (): Promise<void> => {
    try {
      signed = await signHead(signed, deps)
    } catch (error) {
      deps.metrics.count('preflight_ledger_checkpoints_total', { result: 'failed' })
      deps.logger.error({ event: 'ledger.checkpoint_failed', err: error }, 'head of the ledger could not be signed')
    }
  }
  // One at a time: a slow signer must not sign the same head twice.
  const enqueue = (): Promise<void> => (running = running.then(write))
  const timer = setInterval(() => void enqueue(), deps.interval)
  timer.unref()
  void enqueue()
  return {
    write: enqueue,
    close: () => {
      clearInterval(timer)
      return enqueue()
    },
  }
}

/** @returns the hash of the head that is signed now */
async function signHead(signed: string | null, deps: CheckpointsDeps): Promise<string | null> {
  const { store, keys, file, metrics, logger, now } = deps
  const head = await store.ledger.head()
  if (head === null) throw new Error('the chain of the ledger is gone')
  const at = now()
  metrics.set('preflight_ledger_entries', {}, head.sequence)
  if (head.hash === signed) {
    metrics.set('preflight_ledger_checkpoint_timestamp_seconds', {}, Math.floor(at / 1000))
    return signed
  }
  const token = await signCheckpoint({ ...head, issuedAt: Math.floor(at / 1000) }, keys.signer())
  // The file first: it is never older than the ledger, so the next start can detect that it was removed or replaced by an older
  // copy.
  makePrivateDirectory(dirname(file))
  writePrivateFile(file, `${token}\n`)
  await store.ledger.recordCheckpoint({ ...head, at, token })
  metrics.count('preflight_ledger_checkpoints_total', { result: 'written' })
  metrics.set('preflight_ledger_checkpoint_timestamp_seconds', {}, Math.floor(at / 1000))
  metrics.set('preflight_ledger_checkpoint_sequence', {}, head.sequence)
  metrics.set('preflight_ledger_checkpoint_hash', {}, hashPrefix(head.hash))
  logger.info({ event: 'ledger.checkpoint', ...head, checkpoint: token }, 'ledger checkpoint')
  return head.hash
}

/** The first 12 hex digits as a number: a metric can represent it exactly. */
function hashPrefix(hash: string): number {
  return Number.parseInt(hash.slice('sha256:'.length, 'sha256:'.length + 12), 16)
}
