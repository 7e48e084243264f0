/** What commands on the data directory need of the settings in force, for the file by which they find the gateway. */
import { resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import type { ServedSettings } from '../listen/local-access.ts'
import { ledgerFile } from '../store/opening/open.ts'

/** Null where the ledger is not a file: the address of a database may hold a password, which is kept in no other file. */
export function servedSettings(config: Config): ServedSettings | null {
  const { data_dir: dataDir, ledger, break_glass: breakGlass, approvals, routes } = config
  const file = ledgerFile(config)
  if (file === null) return null
  return {
    sections: {
      data_dir: resolve(dataDir),
      // A command may run in another working directory.
      store: { url: `file:${file}` },
      ledger,
      break_glass: breakGlass,
      approvals,
    },
    routes: routes.map(({ name }) => name),
  }
}
