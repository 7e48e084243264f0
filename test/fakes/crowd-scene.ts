/** Two hubs over TLS on one PostgreSQL, and simulated sidecars whose agents call all the time. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPostgresStore } from '../../gateway/store/postgres/store.ts'
import type { StoreSettings } from '../../gateway/store/settings.ts'
import { testAuthority } from './certificates.ts'
import { startCuttingProxy, type CuttingProxy } from './cutting-proxy.ts'
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
  /** Share of the calls that need a new decision. Default: 0.2. */
  readonly newCalls?: number
  readonly access?: Partial<StoreSettings['hub']>
  /** The connections lead through `edges`. */
  readonly canBeCut?: boolean
}

/** A connection of the scene that can be cut. */
export interface CrowdEdge {
  readonly name: string
  readonly network: CuttingProxy
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
  /** From the sidecars to each hub, and from each hub to the database: its statements, and its announcements. */
  readonly edges: readonly CrowdEdge[]
  /** Revokes the newest decision of some sidecars at this hub, and has the crowd watch them. Resolves with the number of those that are. */
  revokeSome(hub: HubProcess, sidecars: number): Promise<number>
  /** Ends the calls first. */
  missingRows(): Promise<MissingRows>
  close(): Promise<void>
}

export async function startCrowd(options: CrowdOptions): Promise<CrowdScene> {
  const { sidecars, every, newCalls = 0.2, access = {}, canBeCut = false } = options
  const [cluster, server, authority] = [await startHubCluster(), await startPostgres(), await testAuthority()]
  const { cert, key } = await authority.leaf('127.0.0.1')
  const [certificate, keyFile] = [join(cluster.root, 'hub.crt'), join(cluster.root, 'hub.key')]
  writeFileSync(certificate, cert)
  writeFileSync(keyFile, key, { mode: 0o600 })
  const url = await server.database()
  const edges: CrowdEdge[] = []
  const through = async (name: string, address: string): Promise<string> => {
    if (!canBeCut) return address
    const own = new URL(address)
    const network = await startCuttingProxy(Number(own.port))
    edges.push({ name, network })
    own.port = String(network.port)
    return own.href.replace(/\/$/, '')
  }
  const startHub = async (name: string): Promise<HubProcess> => {
    const store = {
      url: await through(`the statements of ${name}`, url),
      listen_url: await through(`the announcements to ${name}`, url),
    }
    return startHubProcess(cluster, { store, tls: { listeners: { hub: { certificate, key: keyFile } } } })
  }
  const hubs = [await startHub('hub 1'), await startHub('hub 2')] as const
  const credentials = await Promise.all(
    Array.from({ length: sidecars }, async (_, n) => {
      const file = join(cluster.root, `token-of-${n}`)
      writeFileSync(file, await cluster.token(TENANT, { life: '1h' }))
      return file
    }),
  )
  const urls = await Promise.all(hubs.map((hub, index) => through(`the sidecars of hub ${index + 1}`, hub.url)))
  const own = { ca_file: authority.file, ...access }
  const crowd = new SidecarCrowd(
    credentials.map((file) => ({ url: urls.join(','), access: { token_file: file, ...own } })),
    every,
    newCalls,
  )
  const approver = await keyAt(hubs[0].api(), 'approver', TENANT)
  return {
    server,
    hubs,
    crowd,
    edges,
    async revokeSome(hub, count) {
      let revoked = 0
      const ids = crowd.sidecars.slice(0, count).flatMap(({ issued }) => issued.at(-1) ?? [])
      for (const id of ids) {
        const body = { decision_id: id, reason: 'test' }
        const answer = await postTo(hub.api(), '/api/v1/receipts/revoke', approver, body)
        if (answer.status !== 200) continue
        crowd.revoked(id)
        revoked += 1
      }
      return revoked
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
      await Promise.all(edges.map(({ network }) => network.close()))
      await cluster.close()
      await server.stop()
    },
  }
}
