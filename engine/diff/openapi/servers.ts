/** The servers of the whole interface, of a path and of one operation, and the variables in their addresses. */
import { itemsAt, membersAt, textAt } from '../../contracts/openapi/contract.ts'
import { isRecord, memberOf, type Located } from '../../schema/located.ts'
import { textsOf } from '../../schema/subschemas.ts'
import { changedTexts, matchByKey, matchRest } from '../match.ts'
import type { OpenApiFacts } from '../../rules/openapi/changes.ts'
import { reportAdded, reportChanged, reportRemoved } from './delta.ts'
import type { OperationSide, Walk } from './walk.ts'

interface ServerUrl {
  /** As the contract writes it, with variables in braces. */
  readonly url: string
  /** In Swagger 2.0 its host or base path, which have no variables. Null for a server that is not named. */
  readonly located: Located | null
}

/** A list of servers, and the part of the contract that uses them. */
interface ServerList {
  readonly owner: Located
  readonly servers: readonly ServerUrl[]
}

/** The list for the whole interface. */
export function compareInterfaceServers(walk: Walk): void {
  compareServerLists(walk, serversOf(walk.base), serversOf(walk.head))
}

/**
 * Servers of an operation replace those of its path, and those replace the servers of the interface. Compares the list
 * in force on both sides.
 */
export function compareOperationServers(walk: Walk, before: OperationSide, after: OperationSide): void {
  const [base, head] = [ownServers(before), ownServers(after)]
  // Both use those of the interface, which are reported once.
  if (base === null && head === null) return
  compareServerLists(walk, base ?? inherited(walk.base, before), head ?? inherited(walk.head, after))
}

function inherited(contract: Walk['base'], { operation: { located: owner } }: OperationSide): ServerList {
  return { owner, servers: serversOf(contract).servers }
}

function ownServers({ item, operation: { located: owner } }: OperationSide): ServerList | null {
  const own = serversAt(owner)
  const servers = own.length > 0 ? own : serversAt(item.located)
  return servers.length > 0 ? { owner, servers } : null
}

/** The server where none is named (OpenAPI 3.1.0 §4.8.1): the location of the contract. */
const DEFAULT_SERVER: ServerUrl = { url: '/', located: null }

function compareServerLists(walk: Walk, base: ServerList, head: ServerList): void {
  // The location of the contract may be any host, so a first list changes nothing if one of its addresses has no path.
  if (base.servers.length === 0 && (head.servers.length === 0 || head.servers.some(hasNoPath))) return
  const [before, after] = [statedServers(base), statedServers(head)]
  const change = walk.operation === null ? 'server' : 'operation-server'
  const isSchemeOpen = [...before, ...after].some(({ url }) => url.startsWith('//'))
  const exact = matchByKey(before, after, ({ url }) => comparableAddress(url, isSchemeOpen))
  // Variable names are not part of an address.
  const { added, removed, kept } = matchRest(exact, ({ url }) =>
    comparableAddress(url, isSchemeOpen).replaceAll(VARIABLE, '{}'),
  )
  for (const server of removed) {
    const { url: name, located } = server
    if (isServerCovered(server, after, isSchemeOpen)) continue
    reportRemoved(walk, change, { name, action: 'removed' }, { located: located ?? base.owner, before: name })
  }
  for (const server of added) {
    const { url: name, located } = server
    if (isServerCovered(server, before, isSchemeOpen)) continue
    reportAdded(walk, change, { name, action: 'added' }, { located: located ?? head.owner, after: name })
  }
  for (const [one, other] of kept) compareServerVariables(walk, one, other)
}

function statedServers({ servers }: ServerList): readonly ServerUrl[] {
  return servers.length === 0 ? [DEFAULT_SERVER] : servers
}

function hasNoPath({ url }: ServerUrl): boolean {
  return /^(?:[^/]*\/\/[^/]*)?\/?$/.test(url)
}

const VARIABLE = /\{([^{}]*)\}/g

/** Whether each address of a server is one of several servers. Variables take their listed values. */
function isServerCovered(server: ServerUrl, others: readonly ServerUrl[], isSchemeOpen: boolean): boolean {
  const own = possibleAddresses(server, isSchemeOpen)
  const all = new Set(others.flatMap((other) => possibleAddresses(other, isSchemeOpen) ?? []))
  return own?.every((address) => all.has(address)) ?? false
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
function compareServerVariables(walk: Walk, before: ServerUrl, after: ServerUrl): void {
  if (before.located === null || after.located === null) return
  const base = new Map(membersAt(before.located, 'variables'))
  const head = new Map(membersAt(after.located, 'variables'))
  const names = variableNames(after.url)
  for (const [index, baseName] of variableNames(before.url).entries()) {
    const name = names[index] ?? baseName
    const [before, located] = [base.get(baseName)?.value, head.get(name)]
    if (located === undefined) continue
    const { value: after } = located
    if (!isRecord(before) || !isRecord(after)) continue
    const emit = (part: OpenApiFacts['server-variable']['part'], from: unknown, to: unknown): void =>
      reportChanged(walk, 'server-variable', { name, part }, { located, before: from, after: to })
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
 * The part that equal addresses share. Letter case of scheme and host, a default port and a final slash have no meaning
 * (RFC 3986 §6.2), nor does a scheme if the other side names none.
 */
function comparableAddress(url: string, isSchemeOpen: boolean): string {
  const address = withPlainOrigin(url.endsWith('/') ? url.slice(0, -1) : url)
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

/** The servers of the whole interface. In Swagger 2.0 they are made of schemes, host and base path. */
function serversOf({ root, isSwagger }: Walk['base']): ServerList {
  if (!isSwagger) return { owner: root, servers: serversAt(root) }
  const value = isRecord(root.value) ? root.value : {}
  const [host, path] = [textAt(value, 'host'), textAt(value, 'basePath') ?? '']
  const schemes = textsOf(value.schemes).map((scheme) => `${scheme}:`)
  const urls =
    host === null
      ? [path].filter((url) => url !== '')
      : (schemes.length === 0 ? [''] : schemes).map((scheme) => `${scheme}//${host}${path}`)
  const located = memberOf(root, host === null ? 'basePath' : 'host')
  return { owner: root, servers: urls.map((url) => ({ url, located })) }
}

/** Each address once. */
function serversAt(owner: Located): readonly ServerUrl[] {
  if (memberOf(owner, 'servers') === null) return []
  const servers = new Map<string, ServerUrl>()
  for (const located of itemsAt(owner, 'servers')) {
    const url = isRecord(located.value) ? textAt(located.value, 'url') : null
    if (url !== null && !servers.has(url)) servers.set(url, { url, located })
  }
  return [...servers.values()]
}
