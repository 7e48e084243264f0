/** What commands on the data directory need of the settings in force, for the file by which they find the gateway. */
import { resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import type { ServedSettings } from '../listen/local-access.ts'
import { ledgerFile } from '../store/opening/open.ts'

/** Null where the ledger is not a file: the address of a database may hold a password, which is kept in no other file. */
export function servedSettings(config: Config): ServedSettings | null {
  const { data_dir: dataDir, store, ledger, break_glass: breakGlass, approvals, routes } = config
  if (ledgerFile(config) === null) return null
  const { url } = store
  return {
    sections: {
      data_dir: resolve(dataDir),
      store: url === undefined ? {} : { url },
      ledger,
      break_glass: breakGlass,
      approvals,
    },
    routes: routes.map(({ name }) => name),
  }
}
