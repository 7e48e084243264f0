/** Servers of AsyncAPI: their addresses, protocols, variables, bindings and security. */
import { byCodeUnit } from '../../change-set.ts'
import { shapeOf } from './addresses.ts'
import { compareBindings } from './bindings.ts'
import { compareSecurity } from './security.ts'
import { compareVariables } from './server-places.ts'
import type { AsyncWalk, SayAsync } from './walk.ts'

export function compareServers(walk: AsyncWalk, say: SayAsync): void {
  const { base, head } = walk
  for (const name of [...new Set([...base.servers.keys(), ...head.servers.keys()])].sort(byCodeUnit)) {
    const [was, is] = [base.servers.get(name), head.servers.get(name)]
    if (was === undefined && is !== undefined) {
      say({ rule: 'asyncapi-server-added', subject: name, name, side: 'head', located: is.located, after: is.url })
    } else if (was !== undefined && is === undefined) {
      say({ rule: 'asyncapi-server-removed', subject: name, name, side: 'base', located: was.located, before: was.url })
    } else if (was !== undefined && is !== undefined) {
      const shared = { subject: name, name, side: 'head', located: is.located } as const
      // The names of variables are no part of an address.
      if (shapeOf(was.url) !== shapeOf(is.url)) {
        say({ ...shared, rule: 'asyncapi-server-address-changed', before: was.url, after: is.url })
      }
      if (was.protocol !== is.protocol) {
        say({ ...shared, rule: 'asyncapi-server-protocol-changed', before: was.protocol, after: is.protocol })
      } else if (was.protocolVersion !== null && was.protocolVersion !== is.protocolVersion) {
        const versions = { before: was.protocolVersion, after: is.protocolVersion }
        say({ ...shared, rule: 'asyncapi-server-protocol-version-changed', ...versions })
      }
      const where = `server ${name}`
      const within: SayAsync = (change) => say({ ...change, where, endpoint: where })
      compareVariables(was, is, where, within)
      const bindings = { was: was.bindings, is: is.bindings, of: where, action: 'receive', endpoint: where } as const
      compareBindings(walk, bindings, within)
      compareSecurity(walk, was.security, is.security, { was: was.located, is: is.located }, where, within)
    }
  }
}
