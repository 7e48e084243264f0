/** Servers of AsyncAPI: their addresses, protocols, variables, bindings and security. */
import type { AsyncServer } from '../../contracts/asyncapi/contract.ts'
import { isSameServerAddress } from './addresses.ts'
import { compareBindings } from './bindings.ts'
import { compareAsyncSecurity } from './security.ts'
import { compareVariables } from './server-places.ts'
import { walkInto, type AsyncWalk } from './walk.ts'

export function compareServers(walk: AsyncWalk): void {
  const { added, removed, kept } = walk.servers
  for (const { name, located, url } of added) {
    walk.add({ rule: 'asyncapi-server-added', subject: name, name, side: 'head', located, after: url })
  }
  for (const { name, located, url } of removed) {
    walk.add({ rule: 'asyncapi-server-removed', subject: name, name, side: 'base', located, before: url })
  }
  for (const [before, after] of kept) compareServer(before, after, walk)
}

function compareServer(before: AsyncServer, after: AsyncServer, walk: AsyncWalk): void {
  const { name } = after
  const shared = { subject: name, name, side: 'head', located: after.located } as const
  if (before.name !== name) walk.add({ ...shared, rule: 'asyncapi-server-renamed', before: before.name, after: name })
  // Variable names are not part of an address.
  if (!isSameServerAddress(before, after)) {
    walk.add({ ...shared, rule: 'asyncapi-server-address-changed', before: before.url, after: after.url })
  } else if (isSameProtocol(before, after) && isOtherScheme(before.scheme, after.scheme)) {
    // Clients take the scheme of the URL, as that of encrypted connections, also where the protocol has one name.
    const addresses = { before: `${before.scheme}://${before.url}`, after: `${after.scheme}://${after.url}` }
    walk.add({ ...shared, rule: 'asyncapi-server-address-changed', ...addresses })
  }
  if (!isSameProtocol(before, after)) {
    walk.add({ ...shared, rule: 'asyncapi-server-protocol-changed', before: before.protocol, after: after.protocol })
  } else if (before.protocolVersion !== null && before.protocolVersion !== after.protocolVersion) {
    const versions = { before: before.protocolVersion, after: after.protocolVersion }
    walk.add({ ...shared, rule: 'asyncapi-server-protocol-version-changed', ...versions })
  }
  const where = `server ${name}`
  const server = walkInto(walk, { where, endpoint: where })
  compareVariables(server, before, after, where)
  const bindings = { before: before.bindings, after: after.bindings, of: where, action: 'receive' } as const
  compareBindings(server, { ...bindings, endpoint: where })
  compareAsyncSecurity(server, before, after, where)
}

/** Protocols are schemes, which have no case (RFC 3986 §3.1). */
function isSameProtocol(before: AsyncServer, after: AsyncServer): boolean {
  return before.protocol.toLowerCase() === after.protocol.toLowerCase()
}

/** 3.x states no scheme. */
function isOtherScheme(before: string | null, after: string | null): boolean {
  return before !== null && after !== null && before !== after
}
