/** Servers of AsyncAPI: their addresses, protocols, variables, bindings and security. */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { shapeOf } from './addresses.ts'
import { compareBindings } from './bindings.ts'
import { compareSecurity } from './security.ts'
import { compareVariables } from './server-places.ts'
import type { AsyncWalk, AddAsyncChange } from './walk.ts'

export function compareServers(walk: AsyncWalk, add: AddAsyncChange): void {
  const { base, head } = walk
  for (const name of [...new Set([...base.servers.keys(), ...head.servers.keys()])].sort(byCodeUnit)) {
    const [before, after] = [base.servers.get(name), head.servers.get(name)]
    if (before === undefined && after !== undefined) {
      add({
        rule: 'asyncapi-server-added',
        subject: name,
        name,
        side: 'head',
        located: after.located,
        after: after.url,
      })
    } else if (before !== undefined && after === undefined) {
      add({
        rule: 'asyncapi-server-removed',
        subject: name,
        name,
        side: 'base',
        located: before.located,
        before: before.url,
      })
    } else if (before !== undefined && after !== undefined) {
      const shared = { subject: name, name, side: 'head', located: after.located } as const
      // Variable names are not part of an address.
      if (shapeOf(before.url) !== shapeOf(after.url)) {
        add({ ...shared, rule: 'asyncapi-server-address-changed', before: before.url, after: after.url })
      }
      if (before.protocol !== after.protocol) {
        add({ ...shared, rule: 'asyncapi-server-protocol-changed', before: before.protocol, after: after.protocol })
      } else if (before.protocolVersion !== null && before.protocolVersion !== after.protocolVersion) {
        const versions = { before: before.protocolVersion, after: after.protocolVersion }
        add({ ...shared, rule: 'asyncapi-server-protocol-version-changed', ...versions })
      }
      const where = `server ${name}`
      const within: AddAsyncChange = (change) => add({ ...change, where, endpoint: where })
      compareVariables(before, after, where, within)
      const bindings = {
        before: before.bindings,
        after: after.bindings,
        of: where,
        action: 'receive',
        endpoint: where,
      } as const
      compareBindings(walk, bindings, within)
      compareSecurity(
        walk,
        before.security,
        after.security,
        { before: before.located, after: after.located },
        where,
        within,
      )
    }
  }
}
