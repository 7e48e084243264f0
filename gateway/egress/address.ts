/** Which addresses a document may be fetched from: public ones only. What is checked is what is connected to (no second look-up). */
import { lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Private, loopback, link-local (cloud metadata), shared, benchmark, documentation, multicast, reserved (IANA special-purpose registries). */
const REFUSED: readonly (readonly [network: string, prefix: number, family: 'ipv4' | 'ipv6'])[] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.0.2.0', 24, 'ipv4'],
  ['192.88.99.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['198.51.100.0', 24, 'ipv4'],
  ['203.0.113.0', 24, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  // Of IPv6 only global unicast is let through, and of that not the parts that carry an IPv4 address or documentation.
  ['::', 3, 'ipv6'],
  ['4000::', 2, 'ipv6'],
  ['8000::', 1, 'ipv6'],
  ['2001::', 23, 'ipv6'],
  ['2001:db8::', 32, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['3fff::', 20, 'ipv6'],
]

// One list a family: a BlockList also holds IPv4 addresses against IPv6 networks, in their mapped form.
const refused = { ipv4: new BlockList(), ipv6: new BlockList() }
for (const [network, prefix, family] of REFUSED) refused[family].addSubnet(network, prefix, family)

/** True for an address that anybody on the internet can reach; false for a name. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 0) return false
  return family === 4 ? !refused.ipv4.check(address, 'ipv4') : !refused.ipv6.check(address, 'ipv6')
}

export class RefusedAddressError extends Error {
  constructor(host: string, address: string) {
    super(`${host} is at ${address}, which is not a public address`)
    this.name = 'RefusedAddressError'
  }
}

/** A look-up for sockets that answers permitted addresses only; one refused address among several refuses the host. */
export function guardedLookup(isPermitted: (address: string) => boolean): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '')
      const bad = addresses.find(({ address }) => !isPermitted(address))
      if (bad !== undefined) return callback(new RefusedAddressError(host, bad.address), '')
      const [first] = addresses
      if (options.all === true) return callback(null, addresses)
      return first === undefined
        ? callback(new Error(`${host} has no address`), '')
        : callback(null, first.address, first.family)
    })
  }
}
