/** The processes that use this store: gateways, and sidecars of a hub. Each reports itself again and again. */

/** Times are milliseconds since the epoch. */
export interface FleetRow {
  /** Of the data directory of the process: the same after a restart. */
  readonly memberId: string
  readonly kind: 'gateway' | 'sidecar'
  /** `NAMESPACE/POD` or another name of a caller of the hub; the host of a gateway. */
  readonly name: string
  /** How a hub knows it; null: it is a gateway with its own access to the store. */
  readonly proof: 'token' | 'certificate' | 'key' | null
  readonly tenant: string
  readonly host: string
  /** Host of the hub that it reported to; null for gateways. */
  readonly hub: string | null
  readonly version: string
  readonly tier: string
  /** What its routes do; null: it has none. */
  readonly mode: 'enforce' | 'observe' | 'mixed' | null
  readonly configHash: string
  readonly policyName: string
  readonly policyHash: string
  readonly startedAt: number
  readonly seenAt: number
  /** Set by a process that stopped in order. */
  readonly stoppedAt: number | null
  /** Milliseconds by which it receives changes late; null: it receives none and checks each reuse. */
  readonly lag: number | null
}

interface FleetFilter {
  /** Only those of one tenant. */
  readonly tenant?: string
  readonly limit: number
}

export interface Fleet {
  /** Adds rows or replaces them by member; rows that were last seen before `forget` are removed. */
  report(rows: readonly FleetRow[], forget: number): Promise<void>
  /** Gateways first, then by tenant and name. */
  list(filter: FleetFilter): Promise<readonly FleetRow[]>
}
