/**
 * Addresses of channels that differ only in the names of their parameters: `user/{id}` is `user/{userId}` on the wire.
 */
import { lookupTable } from '../../common/lookup-table.ts'
import type { AsyncApi, AsyncReply, AsyncServer } from '../../contracts/asyncapi/contract.ts'

/** The head, with its channels and operations under the addresses of the base. */
export function withBaseAddresses(base: AsyncApi, head: AsyncApi): AsyncApi {
  const names = renamedAddresses([...base.channels.keys()], [...head.channels.keys()])
  if (names.size === 0) return head
  const nameOf = (address: string): string => names.get(address) ?? address
  const operations = [...head.operations.values()].map((operation) => {
    const { action, address } = operation
    const parts = operation.parts.map((part) => ({ ...part, reply: repliedAt(part.reply, nameOf) }))
    return [`${action} ${nameOf(address)}`, { ...operation, parts }] as const
  })
  const channels = [...head.channels].map(([address, channel]) => [nameOf(address), channel] as const)
  return { ...head, channels: new Map(channels), operations: new Map(operations) }
}

function repliedAt(reply: AsyncReply | null, nameOf: (address: string) => string): AsyncReply | null {
  return reply === null || reply.channel === null ? reply : { ...reply, channel: nameOf(reply.channel) }
}

/** The parameter names of an address, in order. */
export function parameterNames(address: string): readonly string[] {
  return [...address.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name)
}

function renamedAddresses(before: readonly string[], after: readonly string[]): ReadonlyMap<string, string> {
  const removedByShape = Map.groupBy(
    before.filter((address) => !after.includes(address)),
    withoutParameterNames,
  )
  const addedByShape = Map.groupBy(
    after.filter((address) => !before.includes(address)),
    withoutParameterNames,
  )
  const renamed = new Map<string, string>()
  for (const [shape, [address, ...others]] of addedByShape) {
    const [base, ...olders] = removedByShape.get(shape) ?? []
    // When several addresses have the same shape, none is matched.
    if (address !== undefined && base !== undefined && others.length + olders.length === 0) renamed.set(address, base)
  }
  return renamed
}

/** The address without the names of its parameters or variables. */
function withoutParameterNames(address: string): string {
  return address.replaceAll(/\{[^{}]*\}/g, '{}')
}

/** A server address as it is compared: host names have no case (RFC 3986 §3.2.2), and names of variables no meaning. */
export function plainServerAddress(url: string): string {
  return withoutParameterNames(url).replace(AUTHORITY, (authority) => {
    const host = authority.lastIndexOf('@') + 1
    return authority.slice(0, host) + authority.slice(host).toLowerCase()
  })
}

const AUTHORITY = /^[^/?#]*/

/** Whether clients connect to the same address. A port that is left out is that of the protocol. */
export function isSameServerAddress(before: AsyncServer, after: AsyncServer): boolean {
  if (plainServerAddress(before.url) === plainServerAddress(after.url)) return true
  const [base, head] = [before, after].map(addressWithPort)
  return base !== undefined && base === head
}

/** Ports by URL scheme, or protocol, that the specifications of the protocols state. */
const PORTS = lookupTable({
  http: '80',
  https: '443',
  ws: '80',
  wss: '443',
  mqtt: '1883',
  mqtts: '8883',
  'secure-mqtt': '8883',
  amqp: '5672',
  amqps: '5671',
})

function addressWithPort({ url, scheme, protocol }: AsyncServer): string {
  const port = PORTS[scheme ?? protocol.toLowerCase()]
  return plainServerAddress(url).replace(AUTHORITY, (authority) => {
    // A variable may stand for the port too.
    if (port === undefined || authority.includes('{')) return authority
    return /:\d+$/.test(authority) ? authority : `${authority.replace(/:$/, '')}:${port}`
  })
}
