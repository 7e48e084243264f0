/** A store over SQL tables: the queue of call records, and checks that go page by page, stand before the statements. */
import { batchedCallRecords, durableCallRecords } from './call-records.ts'
import { writeCallText } from './call-text.ts'
import type { InterceptionRow } from '../calls.ts'
import type { Changes } from '../changes.ts'
import { GENESIS_HASH } from './chain.ts'
import type { Store } from '../store.ts'
import type { Tables } from './operations.ts'

interface StoreSetup {
  readonly description: string
  readonly calls: 'batched' | 'durable'
  readonly flushMilliseconds: number
  readonly changes: Changes
  /** Something was lost outside a call. */
  readonly onFault: ((error: Error) => void) | undefined
  /** Closes the connection, after the last write. */
  readonly close: () => Promise<void>
}

const CHAIN_PAGE = 1000

export function storeOf(tables: Tables, setup: StoreSetup): Store {
  const write = (rows: readonly InterceptionRow[]) => tables.calls.write(writeCallText(rows))
  const records =
    setup.calls === 'durable' ? durableCallRecords(write) : batchedCallRecords(write, setup.flushMilliseconds)
  const { health, ...aggregates } = tables
  return {
    ...aggregates,
    description: setup.description,
    changes: setup.changes,
    calls: {
      record: (row) => records.add(row),
      recordAll: (rows) => write(rows),
      list: (filter) => tables.calls.list(filter),
    },
    ledger: { ...tables.ledger, verifyChain: () => verifyChain(tables) },
    probe: () => health.probe(),
    backUp: (file) => health.backUp(file),
    close: async () => {
      const lost = await records.close()
      if (lost > 0) setup.onFault?.(new Error(`${lost} call records could not be written before the store was closed`))
      await setup.close()
    },
  }
}

/** Each writer has a chain of its own; the first row that does not fit, in any of them. */
export async function verifyChain({ ledger }: Pick<Tables, 'ledger'>): Promise<number | null> {
  for (const chain of await ledger.decisionChains()) {
    const cut = await ledger.newestCut(chain)
    let from = { sequence: cut?.decision ?? 0, hash: cut?.decisionHash ?? GENESIS_HASH }
    for (;;) {
      const page = await ledger.chainPage(chain, from, CHAIN_PAGE)
      if (page.broken !== null) return page.broken
      if (page.isLast) break
      from = { sequence: page.sequence, hash: page.hash }
    }
  }
  return null
}
