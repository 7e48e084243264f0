/**
 * The heads of all chains as this process has seen them. A database without one of them is an older backup, a replica without the
 * last commits, or a former primary. Used and revoked receipts would be valid again, so it is not used.
 */
import type { ClientBase } from 'pg'
import type { LedgerHead } from '../ledger.ts'

/** The remedy is for people: a start compares the ledger with its signed checkpoint. */
class OlderDatabaseError extends Error {
  constructor(chain: string, sequence: number) {
    super(
      `the database does not contain entry ${sequence} of the chain ${chain}, which this gateway has seen there: ` +
        'it is an older copy, or a replica without the last commits. Bring the newer one back. ' +
        'To accept this one, restart the gateways (docs/operations.md, Failover)',
    )
    this.name = 'OlderDatabaseError'
  }
}

interface FoundHead {
  readonly chain: string
  /** Null: there is no such chain. */
  readonly newest: number | null
  /** Of the entry that was seen; null: it is not there. */
  readonly hash: string | null
  /** The newest entry that was pruned; 0: none was. */
  readonly cut: number
}

export interface KnownHeads {
  /** Rises when connections have to be checked again: those of a pooler outlive the database behind it. */
  readonly generation: number
  checkAgain(): void
  /** Notes the heads of all chains. */
  note(connection: ClientBase): Promise<void>
  /** @throws OlderDatabaseError */
  require(connection: ClientBase): Promise<void>
}

const FOUND = `
  SELECT s.chain, (SELECT c.sequence FROM ledger_chains c WHERE c.chain = s.chain) AS newest,
    (SELECT j.hash FROM ledger_journal j WHERE j.chain = s.chain AND j.sequence = s.sequence) AS hash,
    coalesce((SELECT max(k.sequence) FROM ledger_cuts k WHERE k.chain = s.chain), 0) AS cut
  FROM json_to_recordset($1) AS s (chain text, sequence bigint)`

export function knownHeads(): KnownHeads {
  const seen = new Map<string, Pick<LedgerHead, 'sequence' | 'hash'>>()
  let generation = 0
  return {
    get generation() {
      return generation
    },
    checkAgain: () => {
      generation += 1
    },
    note: async (connection) => {
      const { rows } = await connection.query<LedgerHead>('SELECT chain, sequence, hash FROM ledger_chains')
      // A statement of an earlier moment may be answered later.
      for (const { chain, sequence, hash } of rows)
        if (sequence > (seen.get(chain)?.sequence ?? 0)) seen.set(chain, { sequence, hash })
    },
    require: async (connection) => {
      if (seen.size === 0) return
      // Heads that are noted while the database answers may be newer than what it answers from.
      const asked = new Map(seen)
      const known = [...asked].map(([chain, { sequence }]) => ({ chain, sequence }))
      const { rows } = await connection.query<FoundHead>(FOUND, [JSON.stringify(known)])
      for (const { chain, newest, hash, cut } of rows) {
        const head = asked.get(chain)
        if (head === undefined) continue
        const isThere = hash === null ? head.sequence <= cut : hash === head.hash
        if (newest === null || newest < head.sequence || !isThere) throw new OlderDatabaseError(chain, head.sequence)
      }
    },
  }
}
