/**
 * Where calls may go that name their destination themselves: by forward proxy, CONNECT or redirect. Host names are judged when
 * they are asked for, addresses when they are connected to; both must be let through. A route's own upstream is the operator's word.
 */
import { isIP, type LookupFunction } from 'node:net'
import type { EgressSettings } from './settings.ts'
import { canonicalAddress, specialRange } from '../network/address.ts'
import { authorityText, type Authority } from '../network/authority.ts'
import { coversAddress, coversAuthority, isAbout, readHostRule, type HostRule } from '../network/host-rule.ts'
import { guardedLookup } from '../network/lookup.ts'

/** Bounded: labels a metric. */
type EgressReason = 'not_allowed' | 'denied' | 'metadata' | 'special_address' | 'own_listener'

export interface EgressDenial {
  readonly reason: EgressReason
  /** What is refused and what to change, in whole sentences. */
  readonly message: string
}

export interface Egress {
  /**
   * Null lets the destination through, as far as it is written in the request.
   * @param isRouted a route of the configuration names this host
   */
  denialOf(authority: Authority, isRouted: boolean): EgressDenial | null
  /** For the sockets of this destination: its name is resolved once, and every address is judged. */
  lookupFor(authority: Authority): LookupFunction
  /** What was asked for is only to be tunnelled to: its clients hold on to its own certificate. */
  isTunnelOnly(authority: Authority): boolean
}

interface EgressDeps {
  readonly egress: EgressSettings
  /** True for an address and port at which this gateway itself listens. */
  readonly isOwn: (address: string, port: number) => boolean
}

/** Names under which clouds hand out credentials of the machine, wherever they resolve to. */
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
      `${where} is a ${range.kind} address, which is not reached unless it is named itself: ` +
        `add "${address}" (or a network no wider than /${range.prefix}) to egress.allow if that is meant.`,
    )
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
      // Before the default: who asks for the credentials of the machine is to be seen, whatever else would refuse it.
      if (byAddress?.reason === 'metadata') return byAddress
      if (!isListed && !isRouted && egress.default === 'deny')
        return denial(
          'not_allowed',
          `${text} is not in egress.allow of the gateway's configuration, and no route names it. ` +
            `Add "${text}" to egress.allow, or a route with match.host "${authority.host}".`,
        )
      return byAddress
    },
    lookupFor(authority) {
      return guardedLookup((address) => {
        const canonical = canonicalAddress(address)
        if (canonical === null) return new EgressDenied(denial('special_address', `${address} cannot be checked.`))
        const refused = addressDenial(authority, canonical, false)
        return refused === null ? null : new EgressDenied(refused)
      })
    },
    isTunnelOnly: (authority) => tunnel.some((rule) => coversAuthority(rule, authority)),
  }
}

/** Thrown by look-ups: a name that may be asked for is at an address that may not be connected to. */
export class EgressDenied extends Error {
  readonly denial: EgressDenial

  constructor(refused: EgressDenial) {
    super(refused.message)
    this.name = 'EgressDenied'
    this.denial = refused
  }
}

/** Entries were checked with the configuration; one that is none matches nothing and never lets anything through. */
function rulesOf(entries: readonly string[]): readonly HostRule[] {
  return entries.flatMap((entry) => {
    const read = readHostRule(entry)
    return read.ok ? [read.rule] : []
  })
}

function denial(reason: EgressReason, message: string): EgressDenial {
  return { reason, message }
}
