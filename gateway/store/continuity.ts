/**
 * Is the ledger the one that this gateway wrote? Keys and the last checkpoint lie beside it: a ledger that is new, empty, cut or an
 * older copy makes used and revoked receipts current again, so the start stops until a person accepts it.
 */
import { existsSync } from 'node:fs'
import type { StoreConfig } from './settings.ts'
import { keyFile } from '../keys/key-file.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import { readPrivateFile, type PrivateFileKind } from '../runtime/private-file.ts'
import { StartupError } from '../errors/startup-error.ts'
import { ledgerFile } from './open.ts'
import type { Store } from './store.ts'
import { readCheckpoint } from './checkpoint-token.ts'
import { checkpointFile } from './checkpoints.ts'
import { statsOf } from '../runtime/regular-file.ts'

type Places = Pick<StoreConfig, 'data_dir' | 'store'>

const CONSEQUENCE =
  'Receipts that were used or revoked would be current again, and approvals, baselines and API keys are gone with it.'
const REMEDY =
  'Restore the ledger from its newest backup. To go on with this one all the same: preflight ledger accept --reason TEXT'

const CHECKPOINT: PrivateFileKind = { subject: 'The checkpoint of the ledger', remedy: REMEDY }

/** Missing, or without a byte. */
export function isFreshLedger(config: Places): boolean {
  return (statsOf(ledgerFile(config))?.size ?? 0) === 0
}

/** Before the store is opened, which would make a new one. Throws a StartupError. */
export function requireKnownLedger(config: Places): void {
  const keys = keyFile(config.data_dir)
  if (!isFreshLedger(config) || !existsSync(keys)) return
  const file = ledgerFile(config)
  const state = existsSync(file) ? 'is empty (0 bytes)' : 'is not there'
  throw new StartupError(
    `The ledger ${file} ${state}, and the receipt keys ${keys} are older. ${CONSEQUENCE} ${REMEDY}`,
  )
}

/** Once the store is open: it holds what was signed last. Throws a StartupError. */
export async function requireContinuity(
  config: Places,
  store: Pick<Store, 'ledgerHead' | 'journalHash'>,
  keys: Pick<KeyRing, 'keySet'>,
): Promise<void> {
  const problem = await continuityProblem(config, store, keys)
  if (problem !== null) throw new StartupError(`${problem} ${CONSEQUENCE} ${REMEDY}`)
}

/** A sentence on why the ledger is not the one that was signed; null: it is, or nothing was signed. */
export async function continuityProblem(
  config: Places,
  store: Pick<Store, 'ledgerHead' | 'journalHash'>,
  keys: Pick<KeyRing, 'keySet'>,
): Promise<string | null> {
  const ledger = ledgerFile(config)
  const head = await store.ledgerHead()
  if (head === null || head.sequence === 0) return `The ledger ${ledger} has no chain: it was removed.`
  const file = checkpointFile(config.data_dir)
  const token = readPrivateFile(file, CHECKPOINT)
  if (token === null) return null
  const read = readCheckpoint(token, keys.keySet())
  if (!read.ok && read.isForged) return `The checkpoint ${file} cannot be checked: ${read.problem}.`
  // After the keys were replaced nobody can check who signed; the ledger must hold what it names all the same.
  const checkpoint = read.ok ? read.checkpoint : read.claimed
  if (checkpoint === null) return null
  const { chain, sequence, hash } = checkpoint
  const at = new Date(checkpoint.issuedAt * 1000).toISOString()
  const found = await store.journalHash(chain, sequence)
  if (found === hash) return null
  if (head.chain !== chain) return `The ledger ${ledger} is another one than was signed at ${at} (${file}).`
  const how =
    found === null
      ? `ends at entry ${head.sequence}, before entry ${sequence}`
      : `has another entry ${sequence} than the one`
  return `The ledger ${ledger} ${how} that was signed at ${at}: its end was cut off, or it is an older copy.`
}
