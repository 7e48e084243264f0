/** Opens the store that the configuration names (design.md, State). */
import { join, resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { openSqliteStore, type StoreEvents } from './sqlite/store.ts'
import type { Store } from './store.ts'

/** SQLite file of a configuration: `store.url: file:PATH`, or `ledger.db` in the data directory. */
export function ledgerFile(config: Pick<Config, 'data_dir' | 'store'>): string {
  const { url } = config.store
  return url === undefined ? join(resolve(config.data_dir), 'ledger.db') : resolve(url.replace(/^file:(?:\/\/)?/, ''))
}

/** Throws a StartupError with what to do when the file cannot be opened for writing. */
export function openStore(config: Pick<Config, 'data_dir' | 'store' | 'ledger'>, events?: StoreEvents): Promise<Store> {
  const { calls, flush } = config.ledger
  return openSqliteStore({ file: ledgerFile(config), calls, flushMilliseconds: flush * 1000, ...events })
}
