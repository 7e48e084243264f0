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
import type { KeySet } from '../../engine/internal.ts'
import { receiptSignature, type ReceiptSigner } from '../keys/receipt-signer.ts'
import type { CheckpointRow, LedgerHead } from './ledger.ts'

const CHECKPOINT_TYPE = 'preflight-checkpoint+jwt'

interface Checkpoint extends LedgerHead {
  /** Seconds since the epoch. */
  readonly issuedAt: number
}

/**
 * A compact JWS (RFC 7515) with the receipt keys and its own type, so that it is never a receipt.
 * @throws GatewayError SIGNER_UNAVAILABLE
 */
export async function signCheckpoint(checkpoint: Checkpoint, signer: ReceiptSigner): Promise<string> {
  const { chain, sequence, hash, issuedAt } = checkpoint
  const header = encode({ alg: 'EdDSA', kid: signer.keyId, typ: CHECKPOINT_TYPE })
  const input = `${header}.${encode({ chain, hash, iat: issuedAt, seq: sequence })}`
  return `${input}.${await receiptSignature(signer, input)}`
}

type CheckpointReading =
  | { readonly ok: true; readonly checkpoint: Checkpoint }
  /**
   * `problem`: part of a sentence for people. `isForged`: a known key did not sign it, or it is not a checkpoint.
   * `claimed`: its content, whoever signed it; null when it has none.
   */
  | { readonly ok: false; readonly problem: string; readonly isForged: boolean; readonly claimed: Checkpoint | null }

/** A key that was retired or revoked since did sign it: its content still applies to the ledger. */
export function readCheckpoint(token: string, keys: KeySet): CheckpointReading {
  const [header = '', payload = '', signature = '', ...rest] = token.trim().split('.')
  const { kid, alg, typ } = decodedObject(header)
  const checkpoint = checkpointIn(decodedObject(payload))
  if (rest.length > 0 || alg !== 'EdDSA' || typ !== CHECKPOINT_TYPE || typeof kid !== 'string' || checkpoint === null)
    return { ok: false, problem: 'it is not a checkpoint', isForged: true, claimed: null }
  const key = keys.get(kid)
  if (key === undefined)
    return { ok: false, problem: `no receipt key has the id ${kid}`, isForged: false, claimed: checkpoint }
  return key.verify(`${header}.${payload}`, signature)
    ? { ok: true, checkpoint }
    : { ok: false, problem: 'its signature is wrong', isForged: true, claimed: checkpoint }
}

function checkpointIn({ chain, seq, hash, iat }: Partial<Record<string, unknown>>): Checkpoint | null {
  if (typeof chain !== 'string' || typeof seq !== 'number' || typeof hash !== 'string' || typeof iat !== 'number')
    return null
  return { chain, sequence: seq, hash, issuedAt: iat }
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function decodedObject(segment: string): Partial<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(segment, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    // Not JSON: the caller reports that it is not a checkpoint.
    return {}
  }
}

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
  await keepCheckpoint({ ...head, at, token }, file, store)
  metrics.count('preflight_ledger_checkpoints_total', { result: 'written' })
  metrics.set('preflight_ledger_checkpoint_timestamp_seconds', {}, Math.floor(at / 1000))
  metrics.set('preflight_ledger_checkpoint_sequence', {}, head.sequence)
  metrics.set('preflight_ledger_checkpoint_hash', {}, hashPrefix(head.hash))
  logger.info({ event: 'ledger.checkpoint', ...head, checkpoint: token }, 'ledger checkpoint')
  return head.hash
}

/**
 * The file first: it is never older than the ledger, so the next start can detect that it was removed or replaced by an older
 * copy.
 */
export async function keepCheckpoint(
  row: CheckpointRow,
  file: string,
  store: StorePart<'ledger.recordCheckpoint'>,
): Promise<void> {
  makePrivateDirectory(dirname(file))
  writePrivateFile(file, `${row.token}\n`)
  await store.ledger.recordCheckpoint(row)
}

/** The first 12 hex digits as a number: a metric can represent it exactly. */
function hashPrefix(hash: string): number {
  return Number.parseInt(hash.slice('sha256:'.length, 'sha256:'.length + 12), 16)
}
