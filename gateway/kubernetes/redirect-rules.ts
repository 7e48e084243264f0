/**
 * The packet filter rules that send an agent's connections to the gateway in its pod, as input of iptables-restore. What is
 * neither redirected nor allowed is rejected. Writes texts; runs nothing.
 */
import { lookupTable } from '../../engine/base.ts'
import type { AddressFamily } from '../network/address.ts'

export interface Redirect {
  /** The user of the gateway, whose connections are left alone. */
  readonly user: number
  /** Port of `listen.transparent`. */
  readonly port: number
  /** Ports that are redirected: `80`, `8000:8010`. */
  readonly ports: readonly string[]
  /** Destinations that are redirected; empty: all. */
  readonly includeCidrs: readonly string[]
  /** Ports and destinations that are left alone. */
  readonly excludePorts: readonly string[]
  readonly excludeCidrs: readonly string[]
  /** What happens to IPv6 on the redirected ports. */
  readonly ipv6: 'reject' | 'redirect'
}

/** The chains that hold the rules, and the chain that each is called from. */
export const CHAINS = [
  { table: 'nat', chain: 'PREFLIGHT_REDIRECT' },
  { table: 'filter', chain: 'PREFLIGHT_OUTPUT' },
] as const

/** iptables matches at most 15 ports in one rule, and a range counts as two. */
const PORTS_IN_A_RULE = 7

const LOOPBACK: Readonly<Record<AddressFamily, string>> = lookupTable({ ipv4: '127.0.0.0/8', ipv6: '::1/128' })

/** @param resolvers addresses that names are looked up at: DNS is left alone */
export function redirectRules(redirect: Redirect, family: AddressFamily, resolvers: readonly string[]): string {
  const isRedirected = family === 'ipv4' || redirect.ipv6 === 'redirect'
  const nat = isRedirected ? redirectChain(redirect, family) : []
  return [
    '*nat',
    ':PREFLIGHT_REDIRECT - [0:0]',
    ...nat,
    'COMMIT',
    ...filterTable(redirect, family, resolvers),
    '',
  ].join('\n')
}

function redirectChain(redirect: Redirect, family: AddressFamily): readonly string[] {
  const to = `-j REDIRECT --to-ports ${redirect.port}`
  const included = ofFamily(redirect.includeCidrs, family)
  const destinations = redirect.includeCidrs.length === 0 ? [''] : included.map((cidr) => `-d ${cidr} `)
  return [
    ...exceptionRules(redirect, family),
    ...destinations.flatMap((destination) =>
      portMatches(redirect.ports).map((ports) => `${destination}${ports} ${to}`),
    ),
  ].map((rule) => `-A PREFLIGHT_REDIRECT ${rule}`)
}

function filterTable(redirect: Redirect, family: AddressFamily, resolvers: readonly string[]): readonly string[] {
  const rules = [
    ...exceptionRules(redirect, family),
    '-m conntrack --ctstate ESTABLISHED,RELATED -j RETURN',
    ...ofFamily(resolvers, family).flatMap((resolver) =>
      ['udp', 'tcp'].map((protocol) => `-d ${resolver} -p ${protocol} --dport 53 -j RETURN`),
    ),
    // The kernel sends neighbour discovery without a user; without it the gateway has no IPv6 either.
    ...(family === 'ipv6'
      ? ['router-solicitation', 'neighbour-solicitation', 'neighbour-advertisement'].map(
          (type) => `-p ipv6-icmp -m icmp6 --icmpv6-type ${type} -j RETURN`,
        )
      : []),
    // A reset ends the client's attempt immediately; other protocols get an ICMP error.
    '-p tcp -j REJECT --reject-with tcp-reset',
    '-j REJECT',
  ]
  return ['*filter', ':PREFLIGHT_OUTPUT - [0:0]', ...rules.map((rule) => `-A PREFLIGHT_OUTPUT ${rule}`), 'COMMIT']
}

/** What neither table touches. A redirected packet has the loopback address, and still its first interface. */
function exceptionRules({ user, excludeCidrs, excludePorts }: Redirect, family: AddressFamily): readonly string[] {
  return [
    `-m owner --uid-owner ${user} -j RETURN`,
    '-o lo -j RETURN',
    `-d ${LOOPBACK[family]} -j RETURN`,
    ...ofFamily(excludeCidrs, family).map((cidr) => `-d ${cidr} -j RETURN`),
    ...portMatches(excludePorts).map((ports) => `${ports} -j RETURN`),
  ]
}

function portMatches(ports: readonly string[]): readonly string[] {
  const groups: string[][] = []
  ports.forEach((port, index) => {
    if (index % PORTS_IN_A_RULE === 0) groups.push([])
    groups.at(-1)?.push(port)
  })
  return groups.map((group) => `-p tcp -m multiport --dports ${group.join(',')}`)
}

function ofFamily(addresses: readonly string[], family: AddressFamily): readonly string[] {
  return addresses.filter((address) => address.includes(':') === (family === 'ipv6'))
}

/** `nameserver` lines of resolv.conf(5), without a zone. */
export function resolversIn(text: string): readonly string[] {
  return [...text.matchAll(/^nameserver\s+([0-9A-Fa-f:.]+)/gm)].map(([, address = '']) => address)
}
