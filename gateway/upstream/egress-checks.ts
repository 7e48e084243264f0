/** Checks of destinations that the schema cannot make: entries that name nothing, and invalid hosts. */
import { isIP } from 'node:net'
import { canonicalHost } from '../network/authority.ts'
import { EGRESS_ROUTE } from './egress-record.ts'
import { readHostRule } from '../network/host-rule.ts'
import type { Route } from '../routing/route.ts'
import type { EgressConfig } from './settings.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'
import { mistakeAt } from '../settings/mistake-collector.ts'

export function checkEgressLists({ egress }: EgressConfig): readonly LocatedMistake[] {
  return (['allow', 'deny', 'tunnel'] as const).flatMap((list) =>
    egress[list].flatMap((entry, index) => {
      const read = readHostRule(entry)
      const fix = 'write HOST, *.SUFFIX, HOST:PORT, ADDRESS or NETWORK/BITS'
      return read.ok ? [] : [mistakeAt(`/egress/${list}/${index}`, `${JSON.stringify(entry)}: ${read.problem}`, fix)]
    }),
  )
}

export function checkRouteHosts({ routes }: { readonly routes: readonly Route[] }): readonly LocatedMistake[] {
  return routes.flatMap(({ match: { host } }, index) => {
    if (host === undefined) return []
    const isSuffix = host.startsWith('*.')
    const name = isSuffix ? host.slice(2) : host
    const read = canonicalHost(isIP(name) === 6 ? `[${name}]` : name)
    const pointer = `/routes/${index}/match/host`
    if (!read.ok)
      return [
        mistakeAt(
          pointer,
          read.problem,
          'write a host without port, or *.SUFFIX; internationalised names in their ASCII form',
        ),
      ]
    if (isSuffix && isIP(read.host) !== 0)
      return [mistakeAt(pointer, `"${host}" names no host: nothing is below an address`, `write ${read.host}`)]
    // Requests are compared by the usual form of an address.
    return name.replace(/^\[|\]$/g, '').toLowerCase() === read.host
      ? []
      : [mistakeAt(pointer, `"${host}" is an unusual form of an address`, `write ${read.host}`)]
  })
}

export function checkReservedName({ routes }: { readonly routes: readonly Route[] }): readonly LocatedMistake[] {
  return routes.flatMap(({ name }, index) =>
    name === EGRESS_ROUTE
      ? [
          mistakeAt(
            `/routes/${index}/name`,
            `calls without a route are recorded as "${EGRESS_ROUTE}"`,
            'give the route another name',
          ),
        ]
      : [],
  )
}
