/**
 * The destinations allowed to calls that name their own, by forward proxy, CONNECT or redirect. Host names are checked
 * when they are requested, addresses when they are connected to; both must be allowed. The operator chooses a route's
 * own upstream, so it is not checked.
 */
import { isIP, type LookupFunction } from 'node:net'
import type { EgressSettings } from './settings.ts'
import { canonicalAddress, specialRange } from '../network/address.ts'
import { authorityText, type Authority } from '../network/authority.ts'
import { coversAddress, coversAuthority, isAbout, readHostRule, type HostRule } from '../network/host-rule.ts'
import { guardedLookup } from '../network/lookup.ts'

/** Bounded: the label of a metric. */
type EgressReason = 'not_allowed' | 'denied' | 'metadata' | 'special_address' | 'own_listener'

export interface EgressDenial {
  readonly reason: EgressReason
  /** What is refused and what to change, in complete sentences. */
  readonly message: string
}

export interface Egress {
  /**
   * Null allows the destination, as far as it is written in the request.
   * @param isRouted a route of the configuration names this host
   */
  denialOf(authority: Authority, isRouted: boolean): EgressDenial | null
  /** @param address that the destination is at, for a connection that is open */
  addressDenialOf(authority: Authority, address: string): EgressDenial | null
  /** For the sockets of this destination: its name is resolved once, and every address is checked. */
  lookupFor(authority: Authority): LookupFunction
  /** True when the destination may only be tunnelled to, because its clients accept its own certificate only. */
  isTunnelOnly(authority: Authority): boolean
}

interface EgressDeps {
  readonly egress: EgressSettings
  /** True for an address and port of this gateway's own listeners. */
  readonly isOwn: (address: string, port: number) => boolean
}

/** Names under which clouds serve the credentials of the machine, whatever they resolve to. */
const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
  'metadata.packet.net',
  'metadata.platformequinix.com',
])

export function createEgress({ egress, isOwn }: EgressDeps): Egress {
  const allow = rulesOf(egress.allow)
  const deny = rulesOf(egress.deny)
  const tunnel = rulesOf(egress.tunnel)

  const addressDenial = (authority: Authority, address: string, isNamed: boolean): EgressDenial | null => {
    const { port } = authority
    const where = address === authority.host ? address : `${authority.host} is at ${address}, and that`
    if (isOwn(address, port)) return denial('own_listener', `${where} port ${port} is this gateway itself.`)
    if (deny.some((rule) => coversAddress(rule, address, port)))
      return denial('denied', `${where} is in egress.deny of the gateway's configuration.`)
    const range = specialRange(address)
    if (range === null || isNamed) return null
    if (allow.some((rule) => coversAddress(rule, address, port) && isAbout(rule, range))) return null
    return denial(
      range.kind === 'cloud metadata' ? 'metadata' : 'special_address',
      `${where} is a ${range.kind} address, which is refused unless egress.allow names it: ` +
        `add "${address}" (or a network no wider than /${range.prefix}) to egress.allow if that is meant.`,
    )
  }

  const addressDenialOf = (authority: Authority, address: string): EgressDenial | null => {
    const canonical = canonicalAddress(address)
    if (canonical === null) return denial('special_address', `${address} cannot be checked.`)
    return addressDenial(authority, canonical, false)
  }

  return {
    denialOf(authority, isRouted) {
      const text = authorityText(authority)
      if (deny.some((rule) => coversAuthority(rule, authority)))
        return denial('denied', `${text} is in egress.deny of the gateway's configuration.`)
      const isListed = allow.some((rule) => coversAuthority(rule, authority))
      if (METADATA_NAMES.has(authority.host) && !isListed)
        return denial(
          'metadata',
          `${authority.host} is a name of cloud metadata; add it to egress.allow if that is meant.`,
        )
      const byAddress = isIP(authority.host) === 0 ? null : addressDenial(authority, authority.host, isRouted)
      // Before the default: a request for the machine's credentials is reported as such, even if another rule would
      // refuse it.
      if (byAddress?.reason === 'metadata') return byAddress
      if (!isListed && !isRouted && egress.default === 'deny')
        return denial(
          'not_allowed',
          `${text} is not in egress.allow of the gateway's configuration, and no route names it. ` +
            `Add "${text}" to egress.allow, or a route with match.host "${authority.host}".`,
        )
      return byAddress
    },
    addressDenialOf,
    lookupFor(authority) {
      return guardedLookup((address) => {
        const refused = addressDenialOf(authority, address)
        return refused === null ? null : new EgressDenied(refused)
      })
    },
    isTunnelOnly: (authority) => tunnel.some((rule) => coversAuthority(rule, authority)),
  }
}

/** Thrown by look-ups: an allowed host name resolves to a denied address. */
export class EgressDenied extends Error {
  readonly denial: EgressDenial

  constructor(refused: EgressDenial) {
    super(refused.message)
    this.name = 'EgressDenied'
    this.denial = refused
  }
}

/** Entries were checked with the configuration; an invalid one matches nothing and never allows anything. */
function rulesOf(entries: readonly string[]): readonly HostRule[] {
  return entries.flatMap((entry) => {
    const read = readHostRule(entry)
    return read.ok ? [read.rule] : []
  })
}

function denial(reason: EgressReason, message: string): EgressDenial {
  return { reason, message }
}
