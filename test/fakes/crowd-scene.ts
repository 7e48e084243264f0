/** Two hubs over TLS on one PostgreSQL, and simulated sidecars whose agents call all the time. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPostgresStore } from '../../gateway/store/postgres/store.ts'
import type { StoreSettings } from '../../gateway/store/settings.ts'
import { testAuthority } from './certificates.ts'
import { startHubProcess, type HubProcess } from './hub-process.ts'
import { keyAt, postTo, startHubCluster } from './hub-scene.ts'
import { startPostgres, type PostgresServer } from './postgres-server.ts'
import { SidecarCrowd } from './simulated-sidecars.ts'
import { postgresOptions } from './stores.ts'

const TENANT = 'team-a'

interface CrowdOptions {
  readonly sidecars: number
  /** Mean milliseconds between two calls of an agent. */
  readonly every: number
  readonly access?: Partial<StoreSettings['hub']>
}

/** Rows that the ledger should have and has not. */
interface MissingRows {
  readonly decisions: readonly string[]
  readonly calls: readonly string[]
  /** What the check of the ledger found. */
  readonly faults: readonly unknown[]
}

export interface CrowdScene {
  readonly server: PostgresServer
  readonly hubs: readonly [HubProcess, HubProcess]
  readonly crowd: SidecarCrowd
  /** Revokes the newest decision of some sidecars at this hub, and has the crowd watch them. Resolves with their number. */
  revokeSome(hub: HubProcess, sidecars: number): Promise<number>
  /** Ends the calls first. */
  missingRows(): Promise<MissingRows>
  close(): Promise<void>
}

export async function startCrowd({ sidecars, every, access = {} }: CrowdOptions): Promise<CrowdScene> {
  const [cluster, server, authority] = [await startHubCluster(), await startPostgres(), await testAuthority()]
  const { cert, key } = await authority.leaf('127.0.0.1')
  const [certificate, keyFile] = [join(cluster.root, 'hub.crt'), join(cluster.root, 'hub.key')]
  writeFileSync(certificate, cert)
  writeFileSync(keyFile, key, { mode: 0o600 })
  const url = await server.database()
  const settings = { store: { url }, tls: { listeners: { hub: { certificate, key: keyFile } } } }
  const hubs = [await startHubProcess(cluster, settings), await startHubProcess(cluster, settings)] as const
  const credentials = await Promise.all(
    Array.from({ length: sidecars }, async (_, n) => {
      const file = join(cluster.root, `token-of-${n}`)
      writeFileSync(file, await cluster.token(TENANT, { life: '1h' }))
      return file
    }),
  )
  const urls = hubs.map((hub) => hub.url).join(',')
  const own = { ca_file: authority.file, ...access }
  const crowd = new SidecarCrowd(
    credentials.map((file) => ({ url: urls, access: { token_file: file, ...own } })),
    every,
  )
  const approver = await keyAt(hubs[0].api(), 'approver', TENANT)
  return {
    server,
    hubs,
    crowd,
    async revokeSome(hub, count) {
      const ids = crowd.sidecars.slice(0, count).flatMap(({ issued }) => issued.at(-1) ?? [])
      for (const id of ids) {
        const answer = await postTo(hub.api(), '/api/v1/receipts/revoke', approver, { decision_id: id, reason: 'test' })
        if (answer.status === 200) crowd.revoked(id)
      }
      return ids.length
    },
    async missingRows() {
      await crowd.close()
      const { pathname } = new URL(url)
      const column = async (sql: string): Promise<ReadonlySet<unknown>> =>
        new Set((await server.sql(sql, pathname.slice(1))).map(({ id }) => id))
      const decided = await column('SELECT decision_id AS id FROM decisions')
      const recorded = await column('SELECT correlation_id AS id FROM interceptions')
      const store = await openPostgresStore(postgresOptions(url))
      const { faults } = await store.ledger.inspect()
      await store.close()
      const issued = crowd.sidecars.flatMap((sidecar) => sidecar.issued)
      const forwarded = crowd.sidecars.flatMap((sidecar) => sidecar.forwarded)
      return {
        decisions: issued.filter((id) => !decided.has(id)),
        calls: forwarded.filter((id) => !recorded.has(id)),
        faults,
      }
    },
    async close() {
      await crowd.close()
      await Promise.all(hubs.map((hub) => hub.kill()))
      await cluster.close()
      await server.stop()
    },
  }
}
