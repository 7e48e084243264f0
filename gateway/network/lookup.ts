/** Names resolved once, for the connection at hand: every address is checked, and what was checked is what is connected to (no rebinding). */
import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { canonicalAddress, specialRange } from './address.ts'

export class RefusedAddressError extends Error {
  constructor(host: string, address: string, reason: string) {
    super(`${host} is at ${address}, which ${reason}`)
    this.name = 'RefusedAddressError'
  }
}

/** A look-up for sockets. Null permits an address; one refused address among several refuses the host. */
export function guardedLookup(refusalOf: (address: string) => Error | null): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '')
      for (const { address } of addresses) {
        const refusal = refusalOf(address)
        if (refusal !== null) return callback(refusal, '')
      }
      const [first] = addresses
      if (options.all === true) return callback(null, addresses)
      return first === undefined
        ? callback(new Error(`${host} has no address`), '')
        : callback(null, first.address, first.family)
    })
  }
}

/** In words, why an address is not simply public. */
export function whyNotPublic(address: string): string | null {
  const canonical = canonicalAddress(address)
  if (canonical === null) return 'is not an address that can be checked'
  const range = specialRange(canonical)
  return range === null ? null : `is not a public address (${range.kind})`
}
