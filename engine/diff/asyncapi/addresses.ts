/**
 * Addresses of channels that differ only in the names of their parameters: `user/{id}` is `user/{userId}` on the wire.
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { canonicalJson } from '../../common/hash.ts'
import { lookupTable } from '../../common/lookup-table.ts'
import type { AsyncApi, AsyncChannel, AsyncReply, AsyncServer } from '../../contracts/asyncapi/contract.ts'
import { matchByKey, matchRest, type Matched } from '../match.ts'

/** The head, with its channels and operations under the addresses of the base. */
export function withBaseAddresses(base: AsyncApi, head: AsyncApi): AsyncApi {
  const matched = underNames(head, matchedKeys(base, head))
  return underNames(matched, renamedAddresses([...base.channels.keys()], [...matched.channels.keys()]))
}

function underNames(api: AsyncApi, names: ReadonlyMap<string, string>): AsyncApi {
  if (names.size === 0) return api
  const nameOf = (address: string): string => names.get(address) ?? address
  const operations = [...api.operations].map(([key, operation]) => {
    const { action } = operation
    const parts = operation.parts.map((part) => ({ ...part, reply: repliedAt(part.reply, nameOf) }))
    const address = nameOf(key.slice(action.length + 1))
    return [`${action} ${address}`, { ...operation, address, parts }] as const
  })
  const channels = [...api.channels].map(([address, channel]) => [nameOf(address), channel] as const)
  return { ...api, channels: new Map(channels), operations: new Map(operations) }
}

type Keyed = readonly [key: string, channel: AsyncChannel]

/** Ids are not on the wire. Channels of one address, and those without one, match by what they contain. */
function matchedKeys(base: AsyncApi, head: AsyncApi): ReadonlyMap<string, string> {
  const [bases, heads] = [base, head].map(({ channels }) => Map.groupBy(channels, ([, { stated }]) => stated))
  const names = new Map<string, string>()
  for (const [stated, channels] of heads ?? []) {
    const others = bases?.get(stated) ?? []
    const isSure = stated !== null && channels.length + others.length < 3
    if (isSure || others.length === 0) continue
    const { kept, added } = matchChannels(others, channels, stated)
    for (const [[before], [after]] of kept) if (before !== after) names.set(after, before)
    for (const [key, { id }] of added) if (base.channels.has(key)) names.set(key, freeKey(`${key} (${id})`, base, head))
  }
  return names
}

function matchChannels(base: readonly Keyed[], head: readonly Keyed[], stated: string | null): Matched<Keyed> {
  const content = ([, { located }]: Keyed): string => canonicalJson(located.value)
  const servers = ([, channel]: Keyed): string => [...(channel.servers?.keys() ?? [])].sort(byCodeUnit).join(' ')
  const named = matchRest(
    matchByKey(base, head, ([, { id }]) => id),
    content,
  )
  const placed = stated === null ? named : matchRest(named, servers)
  const isOne = placed.added.length === 1 && placed.removed.length === 1
  return stated !== null || isOne ? matchRest(placed, () => '') : placed
}

function freeKey(key: string, ...apis: readonly AsyncApi[]): string {
  return apis.some(({ channels }) => channels.has(key)) ? freeKey(`${key}'`, ...apis) : key
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
