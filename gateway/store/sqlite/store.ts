/** The embedded store: SQLite behind the writer thread, with the store interface of the gateway. */
import { StartupError } from '../../errors/startup-error.ts'
import { storeOf } from '../sql/store.ts'
import { tablesOver } from '../sql/operations.ts'
import type { Store } from '../store.ts'
import { startClient, type Client, type StoreEvents, type StoreFiles } from './client.ts'
import { openingFault } from './opening-fault.ts'

export type { StoreEvents } from './client.ts'

export interface SqliteStoreOptions extends StoreEvents {
  readonly file: string
  readonly calls: 'batched' | 'durable'
  readonly flushMilliseconds: number
  /** Held while the store is open, so that no second gateway serves from the same files; none by default. */
  readonly locks?: readonly string[]
}

/** Throws a StartupError that names the file when it cannot be opened for writing. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { file, locks = [] } = options
  const client = await openClient({ file, locks }, options)
  const tables = tablesOver((operation, values) => client.call(operation, values))
  return storeOf(tables, {
    description: `sqlite ${file}`,
    calls: options.calls,
    flushMilliseconds: options.flushMilliseconds,
    onFault: options.onFault,
    close: () => client.close(),
  })
}

async function openClient(files: StoreFiles, events: StoreEvents): Promise<Client> {
  try {
    return await startClient(files, events)
  } catch (error) {
    throw new StartupError(openingFault(files.file, error), { cause: error })
  }
}
