/**
 * Certificates for agents, one for each host: signed when first needed, kept with their TLS context, renewed before they
 * expire.
 */
import { generateKeyPairSync } from 'node:crypto'
import type { SecureContext } from 'node:tls'
import { LRUCache } from 'lru-cache'
import { tls } from '../runtime/node-tls.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { LEAF_LIFE_MS, type Authorities, type SigningAuthority } from './authorities.ts'
import type { LeafRequest } from './certificates.ts'

export interface Leaves {
  /**
   * @param host a canonical name or address
   * Rejects with a StartupError when nothing can sign.
   */
  contextFor(host: string): Promise<SecureContext>
}

interface LeavesDeps {
  readonly authorities: Pick<Authorities, 'signing'>
  readonly metrics: Metrics
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

interface CachedLeaf {
  readonly authorityId: string
  /** Milliseconds since the epoch: from then on another one is used. */
  readonly until: number
  readonly context: Promise<SecureContext>
}

const MAX_CONTEXTS = 1000
/** Clocks of agents may be behind. */
const BACKDATED_MS = 3_600_000
/** A connection may last long after its handshake, and resume: no leaf is used in its last hours. */
const MARGIN_MS = 4 * 3_600_000
/** The expiry of the authority is logged from this time before it, with each leaf that it signs. */
const NOTICE_MS = 30 * 24 * 3_600_000

export function createLeaves({ authorities, metrics, logger, now }: LeavesDeps): Leaves {
  const contexts = new LRUCache<string, CachedLeaf>({ max: MAX_CONTEXTS })
  let keys: LeafKeys | null = null

  return {
    async contextFor(host) {
      const authority = await authorities.signing()
      const known = contexts.get(host)
      const isGood = known !== undefined && known.authorityId === authority.id && now() < known.until
      metrics.count('preflight_cache_requests_total', { cache: 'certificate', result: isGood ? 'hit' : 'miss' })
      if (isGood) return known.context
      metrics.set('preflight_interception_ca_end_seconds', {}, Math.floor(authority.notAfter / 1000))
      if (authority.notAfter - now() < NOTICE_MS)
        logger.warn(
          { event: 'interception.authority_expires', ends_at: new Date(authority.notAfter).toISOString() },
          'interception authority expires soon: create the next one with preflight ca rotate, and give it to the agents',
        )
      keys ??= makeLeafKeys()
      const notAfter = Math.min(now() + LEAF_LIFE_MS, authority.notAfter)
      const context = makeContext(authority, keys, { host, notBefore: now() - BACKDATED_MS, notAfter })
      const entry = { authorityId: authority.id, until: Math.max(now() + 1, notAfter - MARGIN_MS), context }
      contexts.set(host, entry)
      context.catch(() => {
        if (contexts.peek(host) === entry) contexts.delete(host)
      })
      return context
    },
  }
}

interface LeafKeys {
  /** SPKI, DER. */
  readonly publicKey: Buffer
  /** PEM. */
  readonly privateKey: string
}

/** One pair for all hosts, made at each start and written nowhere. */
function makeLeafKeys(): LeafKeys {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'der' }),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

async function makeContext(
  authority: SigningAuthority,
  keys: LeafKeys,
  validity: Omit<LeafRequest, 'publicKey'>,
): Promise<SecureContext> {
  const { makeLeaf } = await import('./certificates.ts')
  const leaf = await makeLeaf(authority, { ...validity, publicKey: keys.publicKey })
  return tls().createSecureContext({ cert: `${leaf}\n${authority.chain}`, key: keys.privateKey, minVersion: 'TLSv1.2' })
}
