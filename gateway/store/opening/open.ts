/** Opens the store that the configuration names (docs/architecture.md, State). */
import { join, resolve } from 'node:path'
import { StartupError } from '../../errors/startup-error.ts'
import { keptId } from '../../runtime/kept-id.ts'
import { addressWords, isPostgresUrl, readPostgresUrl } from '../postgres/address.ts'
import type { StoreEvents, Store } from '../store.ts'
import type { StoreConfig, StorePlaces } from '../settings.ts'
import { CHAIN_PREFIX } from '../sql/journal.ts'
import { directoryFault } from '../sqlite/opening-fault.ts'
import { openSqliteStore } from '../sqlite/store.ts'
import type { ServingLocks } from '../sqlite/serving-lock.ts'

/**
 * SQLite file of a configuration: `store.url: file:PATH`, or `ledger.db` in the data directory. Null: the store is not a file.
 */
export function ledgerFile({ data_dir: directory, store: { url } }: StorePlaces): string | null {
  if (url === undefined) return join(resolve(directory), 'ledger.db')
  return url.startsWith('file:') ? resolve(url.replace(/^file:(?:\/\/)?/, '')) : null
}

/** For people; it never contains a password. */
export function storePlace(config: StorePlaces): string {
  const file = ledgerFile(config)
  if (file !== null) return file
  const read = readPostgresUrl(config.store.url ?? '')
  return read.ok ? addressWords(read.address) : 'store.url'
}

/** Where several gateways serve from one store. */
export function isSharedStore(config: StorePlaces): boolean {
  return isPostgresUrl(config.store.url ?? '')
}

/**
 * Opens the store next to a running gateway. Throws a StartupError with the remedy when it cannot be opened for writing.
 */
export function openStore(config: StoreConfig): Promise<Store> {
  const file = ledgerFile(config)
  return file === null ? openShared(config, {}, null) : openSqliteStore({ ...recordSettings(config), file })
}

interface ServingEvents extends StoreEvents {
  /** Called when announcements of other gateways stop or begin to arrive. */
  readonly onLive: (isLive: boolean, error?: unknown) => void
  /** Gets the time of a shared database, milliseconds since the epoch. */
  readonly onTime: (time: number) => void
}

/**
 * Opens the store as the one gateway that serves from this data directory, and from this ledger if it is a file.
 * Throws a StartupError, also when another gateway serves from either.
 */
export function openStoreToServe(config: StoreConfig, events: ServingEvents): Promise<Store> {
  const file = ledgerFile(config)
  if (file === null) return openSharedToServe(config, events)
  // Both the directory (keys, spool) and the ledger, which may be elsewhere, serve one gateway at a time.
  return openSqliteStore({ ...recordSettings(config), ...events, file, locks: [servingLock(config), `${file}.lock`] })
}

function servingLock({ data_dir: directory }: Pick<StoreConfig, 'data_dir'>): string {
  return join(resolve(directory), 'serving.lock')
}

/** Several gateways share the database. The receipt keys, the spool and the chain of a data directory are those of one. */
async function openSharedToServe(config: StoreConfig, events: ServingEvents): Promise<Store> {
  const { holdServingLocks } = await import('../sqlite/serving-lock.ts')
  let locks: ServingLocks
  try {
    locks = holdServingLocks([servingLock(config)], null)
  } catch (error) {
    throw new StartupError(directoryFault(config.data_dir, error), { cause: error })
  }
  try {
    return await openShared(config, events, locks)
  } catch (error) {
    locks.close()
    throw error
  }
}

function recordSettings({ ledger: { calls, flush } }: StoreConfig) {
  return { calls, flushMilliseconds: flush * 1000 }
}

/** Loaded only where it is configured: a sidecar stays small. */
async function openShared(config: StoreConfig, events: StoreEvents, locks: ServingLocks | null): Promise<Store> {
  const { url = '', listen_url: listenUrl = null, ...limits } = config.store
  if (!isPostgresUrl(url)) throw new StartupError(`store.url names no store that this version can open`)
  const { openPostgresStore } = await import('../postgres/store.ts')
  return openPostgresStore({
    ...recordSettings(config),
    ...events,
    url,
    listenUrl,
    writer: keptChain(config.data_dir),
    pool: limits.pool,
    connectTimeout: limits.connect_timeout * 1000,
    statementTimeout: limits.statement_timeout * 1000,
    lockTimeout: limits.lock_timeout * 1000,
    bound: limits.in_force_within,
    listens: locks !== null,
    locks,
  })
}

/** The chain that this data directory writes to in a shared store. A directory that is lost begins another one. */
function keptChain(dataDirectory: string): string {
  return keptId(dataDirectory, {
    file: 'ledger-chain.txt',
    prefix: CHAIN_PREFIX,
    subject: 'The id of the ledger chain',
    remedy: 'Restore it from a backup, or remove it: then this gateway begins a new chain.',
  })
}
