/**
 * The report of this process to the fleet view: what it is, which settings and policy are in force, and how late it receives
 * changes. Sent to a shared store or a hub again and again; a process with a store of its own needs none.
 */
import { hostname } from 'node:os'
import { LOCAL_TENANT } from '../callers/api-keys.ts'
import { sha256Hex } from '../runtime/hash.ts'
import { keptId } from '../runtime/kept-id.ts'
import { packageVersion } from '../runtime/package-files.ts'
import type { SettingsOf } from '../settings/current.ts'
import type { FleetRow } from '../store/fleet.ts'
import type { Store, StorePart } from '../store/store.ts'

export interface FleetReports {
  /** The row of this process now; null: it is a sidecar, whose hub knows what it is. */
  own(): FleetRow | null
  /** The last report says that the process stopped. Never rejects. */
  close(): Promise<void>
}

/** The part of the configuration that the report reads; the hash covers the rest too. */
interface ReportedConfig {
  readonly tier: string
  readonly routes: readonly { readonly mode: 'enforce' | 'observe' }[]
}

interface FleetReportsDeps {
  readonly settings: () => Pick<SettingsOf<ReportedConfig>, 'config' | 'policy' | 'generation'>
  readonly dataDir: string
  readonly store: StorePart<'fleet.report'> & Pick<Store, 'changes'>
  /** `own`: nobody else uses this store. */
  readonly place: 'own' | 'shared' | 'hub'
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Milliseconds between two reports. */
export const REPORT_INTERVAL = 10_000
/** A process that was not seen for this long is forgotten, milliseconds. */
export const FORGOTTEN_AFTER = 24 * 3_600_000

export function startFleetReports({ settings, dataDir, store, place, now }: FleetReportsDeps): FleetReports {
  const startedAt = now()
  const memberId = place === 'own' ? `mem_${sha256Hex(dataDir).slice(0, 32)}` : keptMemberId(dataDir)
  const version = packageVersion()
  const host = hostname()
  let hashed: { readonly generation: number; readonly hash: string } | null = null
  const row = (stoppedAt: number | null): FleetRow => {
    const { config, policy, generation } = settings()
    if (hashed?.generation !== generation) hashed = { generation, hash: configHash(config) }
    const lag = store.changes.lag()
    return {
      memberId,
      kind: place === 'hub' ? 'sidecar' : 'gateway',
      name: host,
      proof: null,
      tenant: LOCAL_TENANT,
      host,
      hub: null,
      version,
      tier: config.tier,
      mode: policy.mode === 'observe' ? 'observe' : reportedMode(config.routes),
      configHash: hashed.hash,
      policyName: policy.name,
      policyHash: policy.hash,
      startedAt,
      seenAt: now(),
      stoppedAt,
      lag: lag === null ? null : Math.round(lag),
    }
  }
  const report = async (stoppedAt: number | null): Promise<void> => {
    try {
      await store.fleet.report([row(stoppedAt)], now() - FORGOTTEN_AFTER)
    } catch {
      // The store counts its failures, and the next report says the same.
    }
  }
  const timer = place === 'own' ? null : setInterval(() => void report(null), REPORT_INTERVAL).unref()
  if (timer !== null) void report(null)
  return {
    own: () => (place === 'hub' ? null : row(null)),
    async close() {
      if (timer === null) return
      clearInterval(timer)
      await report(now())
    },
  }
}

/** Host and directory may be equal in two containers, so the id is made. */
function keptMemberId(dataDirectory: string): string {
  return keptId(dataDirectory, {
    file: 'member-id.txt',
    prefix: 'mem_',
    subject: 'The id of this process in the fleet',
    remedy: 'Remove it: then this process gets another one.',
  })
}

function reportedMode(routes: ReportedConfig['routes']): FleetRow['mode'] {
  const [first, ...others] = new Set(routes.map(({ mode }) => mode))
  return first === undefined ? null : others.length === 0 ? first : 'mixed'
}

/** Where each process has values of its own. */
const PLACES: readonly string[] = ['data_dir', 'listen', 'store']
/** Sections with addresses and headers that hold credentials: a hash must not tell whether a guess of one is right. */
const CREDENTIAL_SECTIONS: readonly string[] = [
  'console',
  'decision_log',
  'monitoring',
  'notifications',
  'otel',
  'signer',
]
const CREDENTIALS: readonly string[] = ['client_secret', 'header', 'headers', 'password', 'secret', 'url']

/** Equal in two processes whose settings in force are equal, places and credentials aside. */
export function configHash(config: object): string {
  const sections = Object.entries(config)
    .filter(([name]) => !PLACES.includes(name))
    .map(([name, section]: [string, unknown]) => [
      name,
      CREDENTIAL_SECTIONS.includes(name) ? withoutCredentials(section) : section,
    ])
  return `sha256:${sha256Hex(JSON.stringify(sortedMembers(Object.fromEntries(sections))))}`
}

function withoutCredentials(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutCredentials)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([name]) => !CREDENTIALS.includes(name))
  return Object.fromEntries(members.map(([name, member]: [string, unknown]) => [name, withoutCredentials(member)]))
}

/** The order of members in a file says nothing. */
function sortedMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedMembers)
  if (typeof value !== 'object' || value === null) return value
  const members: [string, unknown][] = Object.entries(value)
  return Object.fromEntries(
    members.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sortedMembers(member)]),
  )
}
