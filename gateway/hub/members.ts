/**
 * Sidecars that report to this hub. Who one is comes from its credential, what it runs from its report. Reports of many sidecars
 * are stored in one write, once a second.
 */
import { hostname } from 'node:os'
import { LRUCache } from 'lru-cache'
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { FORGOTTEN_AFTER } from '../fleet/reports.ts'
import type { FleetRow } from '../store/fleet.ts'
import type { StorePart } from '../store/store.ts'
import type { HubIdentity } from './identity.ts'
import { tenantScope } from './tenant-scope.ts'

const name = () => Type.String({ minLength: 1, maxLength: 253 })
const hash = () => Type.String({ pattern: '^sha256:[0-9a-f]{64}$' })
const time = () => Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 })

/** What a sidecar says of itself. */
const Member = Type.Object(
  {
    memberId: Type.String({ pattern: '^mem_[0-9a-f]{32}$' }),
    host: name(),
    version: name(),
    tier: Type.Enum(['sidecar', 'gateway', 'verifier']),
    mode: Type.Union([Type.Enum(['enforce', 'observe', 'mixed']), Type.Null()]),
    configHash: hash(),
    policyName: name(),
    policyHash: hash(),
    startedAt: time(),
    stoppedAt: Type.Union([time(), Type.Null()]),
    lag: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
  },
  { additionalProperties: false },
)

export const HEARTBEAT = Type.Object({ member: Type.Optional(Member) }, { additionalProperties: false })

export interface SidecarMembers {
  seen(identity: HubIdentity, member: Static<typeof Member>): void
  /** Stores what waits. Never rejects. */
  close(): Promise<void>
}

/** Processes that one credential may report, so that it cannot fill the table. */
const PER_IDENTITY = 200
const KNOWN_IDENTITIES = 100_000
const FLUSH_MS = 1000

export function createMembers(store: StorePart<'fleet.report'>, now: () => number): SidecarMembers {
  const host = hostname()
  const known = new LRUCache<string, Set<string>>({ max: KNOWN_IDENTITIES })
  let waiting = new Map<string, FleetRow>()
  const flush = async (): Promise<void> => {
    const rows = [...waiting.values()]
    waiting = new Map()
    if (rows.length === 0) return
    try {
      await store.fleet.report(rows, now() - FORGOTTEN_AFTER)
    } catch {
      // The store counts its failures, and each sidecar reports again.
    }
  }
  const timer = setInterval(() => void flush(), FLUSH_MS).unref()
  return {
    seen({ id, name: callerName, proof, tenant }, member) {
      // A pod is one process; a certificate or a key may be that of several.
      const ownId = proof === 'token' ? id : member.memberId
      const processes = known.get(id) ?? new Set()
      if (!processes.has(ownId) && processes.size >= PER_IDENTITY) return
      known.set(id, processes.add(ownId))
      const memberId = tenantScope(tenant).stored(ownId)
      waiting.set(memberId, {
        ...member,
        memberId,
        kind: 'sidecar',
        name: callerName,
        proof,
        tenant,
        hub: host,
        seenAt: now(),
      })
    },
    async close() {
      clearInterval(timer)
      await flush()
    },
  }
}
