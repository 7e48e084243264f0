/** The servers of the whole interface, of a path and of one operation, and the variables in their addresses. */
import { itemsAt, membersAt, pathItemsOf, type PathItem } from '../../contracts/openapi/contract.ts'
import { comparableEscapes } from '../../common/percent-decoding.ts'
import { isRecord, memberOf, textAt, type Located } from '../../schema/located.ts'
import { textsOf } from '../../schema/subschemas.ts'
import { changedTexts, matchByKey, matchRest } from '../match.ts'
import type { OpenApiFacts } from '../../rules/openapi/changes.ts'
import type { Sides } from '../sides.ts'
import { reportAdded, reportChanged, reportRemoved } from './delta.ts'
import { movedPrefix, type MovedPrefix } from './moved-prefix.ts'
import type { OperationSide, Walk } from './walk.ts'

interface ServerUrl {
  /** As the contract writes it, with variables in braces. */
  readonly url: string
  /** In Swagger 2.0 its host or base path, which have no variables. Null for a server that is not named. */
  readonly located: Located | null
}

type Contract = Walk['base']

/** A list of servers, and the part of the contract that uses them. */
interface ServerList {
  readonly owner: Located
  readonly servers: readonly ServerUrl[]
}

/**
 * The list for the whole interface. If a side has only operations with servers of their own, each operation is compared.
 * @param moved is no part of the servers
 */
export function compareInterfaceServers(walk: Walk, paths: Sides<readonly PathItem[]>, moved: MovedPrefix): void {
  if (!usesInterfaceServers(walk.base, paths.base) || !usesInterfaceServers(walk.head, paths.head)) return
  const { base, head } = interfaceLists(walk)
  compareServerLists(walk, withoutPathEnd(base, moved.base), withoutPathEnd(head, moved.head))
}

/** Whether an operation has no servers of its own. Without operations the list stands for those to come. */
function usesInterfaceServers(contract: Contract, items: readonly PathItem[]): boolean {
  const sides = items.flatMap((item) => [...item.operations.values()].map((operation) => ({ item, operation })))
  return sides.length === 0 || sides.some((side) => ownServers(contract, side, null) === null)
}

function interfaceLists({ base, head }: Walk): Sides<ServerList> {
  const host = impliedHost([base, urlSchemesOf(base)], [head, urlSchemesOf(head)])
  return { base: interfaceServers(base, host), head: interfaceServers(head, host) }
}

function withoutPathEnd(list: ServerList, end: string): ServerList {
  if (end === '') return list
  const servers = list.servers.map(({ url, located }) => {
    const plain = comparableEscapes(url.endsWith('/') ? url.slice(0, -1) : url)
    return { url: plain.slice(0, plain.length - end.length), located }
  })
  return { ...list, servers }
}

/** The part of the servers that moved into the paths, or out of them. */
export function prefixMovedBetween(walk: Walk, paths: Sides<readonly PathItem[]>): MovedPrefix {
  const lists = interfaceLists(walk)
  const [base = [], head = []] = [lists.base, lists.head].map((list) =>
    statedServers(list).map(({ url }) => comparableAddress(url, false)),
  )
  return movedPrefix({ base, head }, paths)
}

/**
 * Servers of an operation replace those of its path, and those replace the servers of the interface. Compares the list
 * in force on both sides.
 */
export function compareOperationServers(walk: Walk, before: OperationSide, after: OperationSide): void {
  const { base, head } = walk
  const host = impliedHost([base, urlSchemesOf(base, before)], [head, urlSchemesOf(head, after)])
  const [baseOwn, headOwn] = [ownServers(base, before, host), ownServers(head, after, host)]
  // Both use those of the interface, which are reported once.
  if (baseOwn === null && headOwn === null) return
  compareServerLists(walk, baseOwn ?? inherited(base, before, host), headOwn ?? inherited(head, after, host))
}

function inherited(
  contract: Contract,
  { operation: { located: owner } }: OperationSide,
  host: string | null,
): ServerList {
  return { ...interfaceServers(contract, host), owner }
}

function ownServers(contract: Contract, side: OperationSide, host: string | null): ServerList | null {
  const { item, operation } = side
  const owner = operation.located
  if (contract.isSwagger) {
    const isOwn = textsOf(operation.value.schemes).length > 0
    return isOwn ? { owner, servers: swaggerServers(contract, urlSchemesOf(contract, side), host) } : null
  }
  const own = serversAt(owner)
  const servers = own.length > 0 ? own : serversAt(item.serversOwner)
  return servers.length > 0 ? { owner, servers } : null
}

/** The server where none is named (OpenAPI 3.1.0 §4.8.1): the location of the contract. */
const DEFAULT_SERVER: ServerUrl = { url: '/', located: null }

function compareServerLists(walk: Walk, base: ServerList, head: ServerList): void {
  if (base.servers.length === 0 && (head.servers.length === 0 || maybeSameLocation(walk, head))) return
  const [before, after] = [statedServers(base), statedServers(head)]
  const change = walk.operation === null ? 'server' : 'operation-server'
  const isSchemeOpen = [...before, ...after].some(({ url }) => url.startsWith('//'))
  const exact = matchByKey(before, after, ({ url }) => comparableAddress(url, isSchemeOpen))
  // Variable names are not part of an address.
  const { added, removed, kept } = matchRest(exact, ({ url }) =>
    comparableAddress(url, isSchemeOpen).replaceAll(VARIABLE, '{}'),
  )
  const isListed = coverage(after, isSchemeOpen)
  for (const server of removed) {
    const { url: name, located } = server
    if (isListed(server)) continue
    reportRemoved(walk, change, { name, action: 'removed' }, { located: located ?? base.owner, before: name })
  }
  const wasListed = coverage(before, isSchemeOpen)
  for (const server of added) {
    const { url: name, located } = server
    if (wasListed(server)) continue
    reportAdded(walk, change, { name, action: 'added' }, { located: located ?? head.owner, after: name })
  }
  for (const [one, other] of kept) compareServerVariables(walk, one, other)
}

/**
 * The location of the contract may be any host, so a first list changes nothing if one of its addresses has no path. If
 * other operations stay at that location, an operation with a host of its own has left it.
 */
function maybeSameLocation(walk: Walk, { servers }: ServerList): boolean {
  const isStayedAt = walk.operation !== null && isCalledAtItsLocation(walk.head)
  return servers.some((server) => hasNoPath(server) && !(isStayedAt && server.url.includes('//')))
}

const calledAtLocation = new WeakMap<Contract, boolean>()

/** Whether operations of a contract are called at its location, since no server is named. */
function isCalledAtItsLocation(contract: Contract): boolean {
  const isCalled =
    calledAtLocation.get(contract) ??
    (interfaceServers(contract, null).servers.length === 0 &&
      usesInterfaceServers(contract, pathItemsOf(contract, 'paths')))
  calledAtLocation.set(contract, isCalled)
  return isCalled
}

function statedServers({ servers }: ServerList): readonly ServerUrl[] {
  return servers.length === 0 ? [DEFAULT_SERVER] : servers
}

function hasNoPath({ url }: ServerUrl): boolean {
  return /^(?:[^/]*\/\/[^/]*)?\/?$/.test(url)
}

const VARIABLE = /\{([^{}]*)\}/g

/** Whether each address of a server is one of several servers. Variables take their listed values. */
function coverage(servers: readonly ServerUrl[], isSchemeOpen: boolean): (server: ServerUrl) => boolean {
  let all: ReadonlySet<string> | null = null
  return (server) => {
    all ??= new Set(servers.flatMap((one) => possibleAddresses(one, isSchemeOpen) ?? []))
    const addresses = all
    return possibleAddresses(server, isSchemeOpen)?.every((address) => addresses.has(address)) ?? false
  }
}

/** More addresses of one server than these are not listed. */
const MOST_ADDRESSES = 256

/** Null if a variable takes any value, or if there are too many. */
function possibleAddresses({ url, located }: ServerUrl, isSchemeOpen: boolean): readonly string[] | null {
  const variables = new Map(located === null ? [] : membersAt(located, 'variables'))
  let urls: readonly string[] = [url]
  for (const name of variableNames(url)) {
    const stated = variables.get(name)?.value
    const values = isRecord(stated) ? textsOf(stated.enum) : []
    if (values.length === 0 || urls.length * values.length > MOST_ADDRESSES) return null
    urls = urls.flatMap((one) => values.map((value) => one.replaceAll(`{${name}}`, () => value)))
  }
  return urls.map((one) => comparableAddress(one, isSchemeOpen))
}

/** A caller fills in an address with the allowed values of its variables, or with their defaults. */
function compareServerVariables(walk: Walk, { url: baseUrl, located: one }: ServerUrl, head: ServerUrl): void {
  const { located: other } = head
  if (one === null || other === null) return
  const [baseVariables, headVariables] = [one, other].map((owner) => new Map(membersAt(owner, 'variables')))
  const names = variableNames(head.url)
  for (const [index, baseName] of variableNames(baseUrl).entries()) {
    const name = names[index] ?? baseName
    const [before, located] = [baseVariables?.get(baseName)?.value, headVariables?.get(name) ?? null]
    if (!isRecord(before)) continue
    // Nobody knows what to fill in for a variable without a definition.
    const after = isRecord(located?.value) ? located.value : { default: null }
    const emit = (part: OpenApiFacts['server-variable']['part'], from: unknown, to: unknown): void =>
      reportChanged(walk, 'server-variable', { name, part }, { located: located ?? other, before: from, after: to })
    if (before.default !== after.default) emit('default', before.default, after.default)
    const [baseValues, headValues] = [textsOf(before.enum), textsOf(after.enum)]
    const { added, removed } = changedTexts(baseValues, headValues)
    const isOpened = baseValues.length > 0 && headValues.length === 0
    const isClosed = baseValues.length === 0 && headValues.length > 0
    if (isClosed || (removed.length > 0 && !isOpened)) emit('narrowed', valuesText(baseValues), valuesText(headValues))
    if (isOpened || (added.length > 0 && !isClosed)) emit('widened', valuesText(baseValues), valuesText(headValues))
  }
}

/** A variable may occur in an address more than once. */
function variableNames(url: string): readonly string[] {
  return [...new Set([...url.matchAll(VARIABLE)].map(([, name = '']) => name))]
}

function valuesText(values: readonly string[]): string {
  return values.length === 0 ? 'any value' : values.join(', ')
}

/**
 * The part that equal addresses share. Letter case of scheme and host and a default port have no meaning (RFC 3986
 * §6.2). Nor have a final slash, a leading `./`, and a scheme if the other side names none.
 */
function comparableAddress(url: string, isSchemeOpen: boolean): string {
  const address = withPlainOrigin(comparableEscapes(url.replace(/^\.\//, '').replace(/\/$/, '')))
  return isSchemeOpen ? address.replace(/^\w+:(?=\/\/)/, '') : address
}

/** Names of variables keep their case. */
function withPlainOrigin(url: string): string {
  return url.replace(/^([a-z][a-z\d+.-]*:)?\/\/[^/?#]*/i, (origin) =>
    origin
      .replaceAll(/[^{}]+(?![^{]*\})/g, (text) => text.toLowerCase())
      .replace(/^(http:\/\/.*):80$|^(https:\/\/.*):443$/, '$1$2'),
  )
}

function interfaceServers(contract: Contract, host: string | null): ServerList {
  const { root: owner, isSwagger } = contract
  return { owner, servers: isSwagger ? swaggerServers(contract, urlSchemesOf(contract), host) : serversAt(owner) }
}

/** In Swagger 2.0 servers are made of schemes, host and base path. */
function swaggerServers(
  contract: Contract,
  schemes: readonly string[],
  impliedHost: string | null,
): readonly ServerUrl[] {
  const host = swaggerHost(contract) ?? impliedHost
  const path = (isRecord(contract.root.value) ? textAt(contract.root.value, 'basePath') : null) ?? ''
  const urls =
    host === null
      ? [path].filter((url) => url !== '')
      : (schemes.length === 0 ? [''] : schemes.map((scheme) => `${scheme}:`)).map(
          (scheme) => `${scheme}//${host}${path}`,
        )
  const located = memberOf(contract.root, 'host') ?? memberOf(contract.root, 'basePath')
  return urls.map((url) => ({ url, located }))
}

/** The schemes of Swagger 2.0 in force for an operation, or for the whole interface. */
function urlSchemesOf({ root }: Contract, side?: OperationSide): readonly string[] {
  const own = textsOf(side?.operation.value.schemes)
  return own.length === 0 && isRecord(root.value) ? textsOf(root.value.schemes) : own
}

function swaggerHost({ root }: Contract): string | null {
  return isRecord(root.value) ? textAt(root.value, 'host') : null
}

/** The host of the contract, where both sides state schemes and neither names a host. Null: it is named, or unknown. */
function impliedHost(...sides: readonly (readonly [Contract, readonly string[]])[]): string | null {
  const isImplied = ([contract, schemes]: (typeof sides)[number]): boolean =>
    contract.isSwagger && swaggerHost(contract) === null && schemes.length > 0
  return sides.every(isImplied) ? '{host}' : null
}

/** Each address once. */
function serversAt(owner: Located): readonly ServerUrl[] {
  if (memberOf(owner, 'servers') === null) return []
  const servers = new Map<string, ServerUrl>()
  for (const located of itemsAt(owner, 'servers')) {
    const url = textAt(located.value, 'url')
    if (url !== null && !servers.has(url)) servers.set(url, { url, located })
  }
  return [...servers.values()]
}
