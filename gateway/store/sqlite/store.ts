/** The embedded store: SQLite behind the writer thread, with the store interface of the gateway. */
import { StartupError } from '../../errors/startup-error.ts'
import type { StoreEvents, Store } from '../store.ts'
import { timedChanges } from '../changes.ts'
import { storeOf } from '../sql/store.ts'
import { tablesOver, type Tables } from '../sql/operations.ts'
import { listByPages } from '../sql/pages.ts'
import { inSpan } from '../../telemetry/trace-context.ts'
import { startClient, type Client, type StoreFiles } from './client.ts'
import { sqliteOpeningFault } from './opening-fault.ts'

export interface SqliteStoreOptions extends StoreEvents {
  readonly file: string
  readonly calls: 'batched' | 'durable'
  readonly flushMilliseconds: number
  /** Held while the store is open, so that no second gateway serves from the same files; none by default. */
  readonly locks?: readonly string[]
}

/** Seconds after which a cached value is looked up again: the command line may have changed it. */
const LOOKED_UP_AGAIN = 1

/** Throws a StartupError that names the file when it cannot be opened for writing. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { file, locks = [] } = options
  const client = await openClient({ file, locks }, options)
  const tables = listedByPages(
    tablesOver((operation, values) => inSpan('store', operation, () => client.call(operation, values))),
  )
  return storeOf(tables, {
    description: `sqlite ${file}`,
    calls: options.calls,
    flushMilliseconds: options.flushMilliseconds,
    changes: timedChanges(LOOKED_UP_AGAIN),
    onFault: options.onFault,
    close: () => client.close(),
  })
}

/** Each page of a list is a call of its own: the thread records decisions between two of them. */
function listedByPages(tables: Tables): Tables {
  const { approvals, decisions } = tables
  return {
    ...tables,
    approvals: {
      ...approvals,
      list: (filter) =>
        listByPages(filter.limit, null, (limit, before) => approvals.page({ ...filter, limit }, before)),
    },
    decisions: {
      ...decisions,
      list: (filter) =>
        listByPages(filter.limit, filter.before ?? null, (limit, before) =>
          decisions.page({ ...filter, limit, ...(before !== null && { before }) }),
        ),
    },
  }
}

async function openClient(files: StoreFiles, events: StoreEvents): Promise<Client> {
  try {
    return await startClient(files, events)
  } catch (error) {
    throw new StartupError(sqliteOpeningFault(files.file, error), { cause: error })
  }
}
