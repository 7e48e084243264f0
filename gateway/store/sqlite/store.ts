/** The embedded store: SQLite behind the writer thread, with the store interface of the gateway. */
import { StartupError } from '../../errors/startup-error.ts'
import { GENESIS_HASH } from '../chain.ts'
import type { InterceptionRow } from '../call.ts'
import type { Store } from '../store.ts'
import { batchedCallRecords, durableCallRecords } from './call-records.ts'
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

const CHAIN_PAGE = 1000

/** Throws a StartupError that names the file when it cannot be opened for writing. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { file, locks = [] } = options
  const client = await openClient({ file, locks }, options)
  // One text crosses between threads at half the cost of many small objects, and calls are many.
  const write = (rows: readonly InterceptionRow[]) => client.call('recordInterceptions', JSON.stringify(rows))
  const records =
    options.calls === 'durable' ? durableCallRecords(write) : batchedCallRecords(write, options.flushMilliseconds)
  return {
    description: `sqlite ${file}`,
    recordDecision: async (row) => {
      await client.call('recordDecision', row)
    },
    recordInterception: (row) => records.add(row),
    decisionById: (tenant, decisionId, audience = null) =>
      client.call('decisionById', { tenant, decisionId, audience }),
    decisionByFingerprint: (tenant, fingerprint, audience = null) =>
      client.call('decisionByFingerprint', { tenant, fingerprint, audience }),
    decisionByIdempotencyKey: (tenant, key, since, audience = null) =>
      client.call('decisionByIdempotencyKey', { tenant, key, since, audience }),
    history: (filter) => client.call('history', filter),
    keepInput: (input) => client.call('keepInput', input),
    keepContent: async (content, at, bound) => {
      await client.call('keepContent', { ...content, at, bound })
    },
    keptInput: (decisionId) => client.call('keptInput', decisionId),
    keptContent: (digest) => client.call('keptContent', digest),
    observationSalt: (fresh) => client.call('observationSalt', fresh),
    recordUses: async (uses) => {
      await client.call('recordUses', uses)
    },
    usesOf: (artifacts, since) => client.call('usesOf', { artifacts, since }),
    ledger: (filter) => client.call('ledger', filter),
    calls: (filter) => client.call('calls', filter),
    receiptState: (decisionId) => client.call('receiptState', decisionId),
    consumeReceipt: (decisionId, at) => client.call('consumeReceipt', { decisionId, at }),
    revokeReceipt: (tenant, decisionId, reason, by, at) =>
      client.call('revokeReceipt', { tenant, decisionId, reason, by, at }),
    openApproval: (opening) => client.call('openApproval', opening),
    approval: (tenant, approvalId) => client.call('approval', { tenant, approvalId }),
    approvals: (filter) => client.call('approvals', filter),
    decideApproval: (request) => client.call('decideApproval', request),
    openBreakGlass: async (row) => {
      await client.call('openBreakGlass', row)
    },
    breakGlasses: (filter) => client.call('breakGlasses', filter),
    closeBreakGlass: (id, by, at) => client.call('closeBreakGlass', { id, by, at }),
    useBreakGlass: (route, at) => client.call('useBreakGlass', { route, at }),
    bindings: (tenant) => client.call('bindings', tenant),
    recordBinding: async (row) => {
      await client.call('recordBinding', row)
    },
    openChallenge: async (row) => {
      await client.call('openChallenge', row)
    },
    challenge: (tenant, challengeId) => client.call('challenge', { tenant, challengeId }),
    baseline: (route, artifactId) => client.call('baseline', { route, artifactId }),
    baselineStamp: (route, artifactId) => client.call('baselineStamp', { route, artifactId }),
    baselineCandidate: (route) => client.call('baselineCandidate', route),
    baselineCandidates: () => client.call('baselineCandidates', null),
    setBaselineCandidate: async (row) => {
      await client.call('setBaselineCandidate', row)
    },
    dropBaselineCandidate: async (route) => {
      await client.call('dropBaselineCandidate', route)
    },
    announceCandidate: (route, digest, at) => client.call('announceCandidate', { route, digest, at }),
    baselines: () => client.call('baselines', null),
    setBaseline: async (row) => {
      await client.call('setBaseline', row)
    },
    openWindow: async (row) => {
      await client.call('openWindow', row)
    },
    closeWindow: (windowId, outcome, at) => client.call('closeWindow', { windowId, outcome, at }),
    openWindows: () => client.call('openWindows', null),
    apiKey: (hash) => client.call('apiKey', hash),
    apiKeys: () => client.call('apiKeys', null),
    createApiKey: async (key) => {
      await client.call('createApiKey', key)
    },
    revokeApiKey: (hash, at) => client.call('revokeApiKey', { hash, at }),
    createSignup: (key, mail) => client.call('createSignup', { key, mail }),
    countUse: (tenant, month, limit) => client.call('countUse', { tenant, month, limit }),
    usesInMonth: (tenant, month) => client.call('usesInMonth', { tenant, month }),
    probe: async () => {
      await client.call('probe', file)
    },
    endExpired: async (at) => {
      await client.call('endExpired', at)
    },
    verifyChain: () => verifyChain(client),
    inspectLedger: () => client.call('inspectLedger', null),
    ledgerHead: () => client.call('ledgerHead', null),
    journalHash: (chain, sequence) => client.call('journalHash', { chain, sequence }),
    newestCheckpoint: (chain) => client.call('newestCheckpoint', { chain }),
    recordCheckpoint: async (row) => {
      await client.call('recordCheckpoint', row)
    },
    acceptLedger: async (by, reason) => {
      await client.call('acceptLedger', { by, reason })
    },
    close: async () => {
      const lost = await records.close()
      if (lost > 0)
        options.onFault?.(new Error(`${lost} call records could not be written before the store was closed`))
      await client.close()
    },
  }
}

async function verifyChain(client: Client): Promise<number | null> {
  let from = { sequence: 0, hash: GENESIS_HASH }
  for (;;) {
    const page = await client.call('chainPage', { ...from, limit: CHAIN_PAGE })
    if (page.isLast) return page.broken
    from = page
  }
}

async function openClient(files: StoreFiles, events: StoreEvents): Promise<Client> {
  try {
    return await startClient(files, events)
  } catch (error) {
    throw new StartupError(openingFault(files.file, error), { cause: error })
  }
}
