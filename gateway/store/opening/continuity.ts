/**
 * Checks that the ledger is the one that this gateway wrote, with the keys and the last checkpoint next to it. A ledger that is
 * new, empty, truncated or an older copy would make used and revoked receipts valid again. So the start stops until a person
 * accepts it.
 */
import { existsSync } from 'node:fs'
import type { StorePlaces } from '../settings.ts'
import { keyFile } from '../../keys/key-file.ts'
import type { KeyRing } from '../../keys/key-ring.ts'
import { readPrivateFile, type PrivateFileKind } from '../../runtime/private-file.ts'
import { StartupError } from '../../errors/startup-error.ts'
import { ledgerFile, storePlace } from './open.ts'
import type { HeldCheckpoint, LedgerHead } from '../ledger.ts'
import type { LedgerReads } from '../sqlite/reader.ts'
import { readCheckpoint, checkpointFile } from '../checkpoints.ts'
import { statsOf } from '../../runtime/regular-file.ts'
import { isoInstant } from '../../runtime/iso-instant.ts'

const CONSEQUENCE =
  'Used or revoked receipts would be valid again, and approvals, baselines and API keys would be lost.'
const REMEDY =
  'Restore the ledger and its checkpoint file from the newest backup. To accept this ledger instead: preflight ledger accept --reason TEXT'

const CHECKPOINT: PrivateFileKind = { subject: 'The checkpoint of the ledger', remedy: REMEDY }

/** Missing or empty. A database is never a fresh file. */
export function isFreshLedger(config: StorePlaces): boolean {
  const file = ledgerFile(config)
  return file !== null && (statsOf(file)?.size ?? 0) === 0
}

/** Called before the store is opened, which would make a new one. Throws a StartupError. */
export function requireKnownLedger(config: StorePlaces): void {
  const keys = keyFile(config.data_dir)
  const file = ledgerFile(config)
  if (file === null || !isFreshLedger(config) || !existsSync(keys)) return
  const state = existsSync(file) ? 'is empty (0 bytes)' : 'is missing'
  throw new StartupError(
    `The ledger ${file} ${state}, and the receipt keys ${keys} are older. ${CONSEQUENCE} ${REMEDY}`,
  )
}

/** Called once the store is open: it must contain the entry that was signed last. Throws a StartupError. */
export async function requireContinuity(
  config: StorePlaces,
  store: LedgerReads,
  keys: Pick<KeyRing, 'keySet'>,
): Promise<void> {
  const problem = await continuityProblem(config, store, keys)
  if (problem !== null) throw new StartupError(`${problem} ${CONSEQUENCE} ${REMEDY}`)
}

/** A sentence on why the ledger is not the signed one; null: it is, or nothing was signed. */
export async function continuityProblem(
  config: StorePlaces,
  store: LedgerReads,
  keys: Pick<KeyRing, 'keySet'>,
): Promise<string | null> {
  const ledger = storePlace(config)
  const head = await store.ledger.head()
  if (head === null || head.sequence === 0) return `The ledger ${ledger} has no chain: it was removed.`
  const held = await store.ledger.newestCheckpoint(head.chain)
  if (held !== null && (await store.ledger.entryHash(held.chain, held.sequence)) !== held.hash)
    return `The ledger ${ledger} does not contain entry ${held.sequence}, which was signed at ${isoInstant(held.at)}: its end was cut off.`
  const file = checkpointFile(config.data_dir)
  const token = readPrivateFile(file, CHECKPOINT)
  if (token === null) return removedFile(file, ledger, held)
  const read = readCheckpoint(token, keys.keySet())
  if (!read.ok && read.isForged) return `The checkpoint ${file} cannot be checked: ${read.problem}.`
  // After the keys were replaced the signature cannot be checked; the ledger must contain the named entry all the same.
  const checkpoint = read.ok ? read.checkpoint : read.claimed
  if (checkpoint === null) return null
  const found = await store.ledger.entryHash(checkpoint.chain, checkpoint.sequence)
  if (found === checkpoint.hash) return olderFile(file, checkpoint, held)
  const at = isoInstant(checkpoint.issuedAt * 1000)
  if (head.chain !== checkpoint.chain) return `The ledger ${ledger} is another one than was signed at ${at} (${file}).`
  const how =
    found === null
      ? `ends at entry ${head.sequence}, before entry ${checkpoint.sequence}`
      : `has another entry ${checkpoint.sequence} than the one`
  return `The ledger ${ledger} ${how} that was signed at ${at}: its end was cut off, or it is an older copy.`
}

/** The file is written before the ledger records a checkpoint, so no crash leaves the ledger with one and no file. */
function removedFile(file: string, ledger: string, held: HeldCheckpoint | null): string | null {
  if (held === null || held.isAcceptedSince) return null
  return (
    `The ledger ${ledger} was signed up to entry ${held.sequence} at ${isoInstant(held.at)}, and ${file} is missing. ` +
    'Without that file it is unknown whether the end of the ledger was cut off.'
  )
}

function olderFile(file: string, { chain, sequence }: LedgerHead, held: HeldCheckpoint | null): string | null {
  if (held === null || held.isAcceptedSince || held.chain !== chain || sequence >= held.sequence) return null
  return (
    `The checkpoint ${file} is of entry ${sequence}, and the ledger was signed up to entry ${held.sequence} at ${isoInstant(held.at)}: ` +
    'the file is an older copy, and it is unknown whether the end of the ledger was cut off.'
  )
}
