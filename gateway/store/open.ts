/** Opens the store that the configuration names (docs/architecture.md, State). */
import { join, resolve } from 'node:path'
import type { StoreConfig } from './settings.ts'
import { openSqliteStore, type StoreEvents } from './sqlite/store.ts'
import type { Store } from './store.ts'

/** SQLite file of a configuration: `store.url: file:PATH`, or `ledger.db` in the data directory. */
export function ledgerFile(config: Pick<StoreConfig, 'data_dir' | 'store'>): string {
  const { url } = config.store
  return url === undefined ? join(resolve(config.data_dir), 'ledger.db') : resolve(url.replace(/^file:(?:\/\/)?/, ''))
}

/**
 * Opens the store next to a running gateway. Throws a StartupError with the remedy when the file cannot be opened for writing.
 */
export function openStore(config: StoreConfig): Promise<Store> {
  return openSqliteStore(settingsOf(config))
}

/**
 * Opens the store as the one gateway that serves from this data directory and this ledger.
 * Throws a StartupError, also when another gateway serves from either.
 */
export function openStoreToServe(config: StoreConfig, events: StoreEvents): Promise<Store> {
  return openSqliteStore({ ...settingsOf(config), ...events, locks: servingLocks(config) })
}

function settingsOf(config: StoreConfig) {
  const { calls, flush } = config.ledger
  return { file: ledgerFile(config), calls, flushMilliseconds: flush * 1000 }
}

/** Both the directory (keys, spool) and the ledger, which may be elsewhere, serve one gateway at a time. */
function servingLocks(config: StoreConfig): readonly string[] {
  return [join(resolve(config.data_dir), 'serving.lock'), `${ledgerFile(config)}.lock`]
}
