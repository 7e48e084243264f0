/**
 * This gateway's own listeners, to which no call may be sent: it would loop, or reach the admin listener from outside.
 */
import { networkInterfaces } from 'node:os'
import { canonicalAddress, specialRange } from '../network/address.ts'

/** @param ports on which the gateway listens; read at each connection, since port 0 is known only once it is bound */
export function ownListeners(ports: () => ReadonlySet<number>): (address: string, port: number) => boolean {
  return (address, port) => {
    if (!ports().has(port)) return false
    const kind = specialRange(address)?.kind
    return kind === 'loopback' || kind === 'unspecified' || isOfThisMachine(address)
  }
}

function isOfThisMachine(address: string): boolean {
  return Object.values(networkInterfaces()).some((interfaces) =>
    interfaces?.some((one) => canonicalAddress(one.address.replace(/%.*$/, '')) === address),
  )
}
