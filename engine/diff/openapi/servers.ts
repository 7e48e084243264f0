/** The servers of the whole interface, of a path and of one operation, and the variables in their addresses. */
import { itemsAt, membersAt, textAt } from '../../contracts/openapi/contract.ts'
import type { Operation as OperationName } from '../../model/finding.ts'
import { isRecord, memberOf, type Located } from '../../schema/located.ts'
import { textsOf } from '../../schema/subschemas.ts'
import { changedTexts, matchByKey, matchRest } from '../match.ts'
import type { OpenApiFacts } from '../../rules/openapi/changes.ts'
import { reportAdded, reportChanged, reportRemoved } from './delta-text.ts'
import type { OperationSide, Walk } from './walk.ts'

interface ServerUrl {
  /** As the contract writes it, with variables in braces. */
  readonly url: string
  /** Null in Swagger 2.0, whose addresses have no variables. */
  readonly located: Located | null
}

/** A list of servers, and the part of the contract that uses them. */
interface ServerList {
  readonly owner: Located
  readonly servers: readonly ServerUrl[]
}

/** The list for the whole interface. */
export function compareInterfaceServers(walk: Walk): void {
  compareServers(walk, serversOf(walk.base), serversOf(walk.head), null)
}

/**
 * Servers of an operation replace those of its path, and those replace the servers of the interface. Compares the list
 * in force on both sides.
 */
export function compareOperationServers(
  walk: Walk,
  before: OperationSide,
  after: OperationSide,
  operation: OperationName,
): void {
  const [base, head] = [ownServers(before), ownServers(after)]
  // Both use those of the interface, which are reported once.
  if (base === null && head === null) return
  compareServers(walk, base ?? inherited(walk.base, before), head ?? inherited(walk.head, after), operation)
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

function compareServers(walk: Walk, before: ServerList, head: ServerList, operation: OperationName | null): void {
  // Naming servers for the first time removes no server that callers knew.
  if (before.servers.length === 0) return
  const after = head.servers.length === 0 ? { ...head, servers: [DEFAULT_SERVER] } : head
  const change = operation === null ? 'server' : 'operation-server'
  const isSchemeOpen = [...before.servers, ...after.servers].some(({ url }) => url.startsWith('//'))
  const exact = matchByKey(before.servers, after.servers, ({ url }) => addressOf(url, isSchemeOpen))
  // Variable names are not part of an address.
  const { added, removed, kept } = matchRest(exact, ({ url }) =>
    addressOf(url, isSchemeOpen).replaceAll(/\{[^{}]*\}/g, '{}'),
  )
  for (const { url: name } of removed) {
    reportRemoved(walk, change, operation, before.owner, name, { name, action: 'removed' })
  }
  for (const { url: name } of added) {
    reportAdded(walk, change, operation, after.owner, name, { name, action: 'added' })
  }
  for (const [base, head] of kept) {
    compareVariables(walk, base, head, operation)
  }
}

/** A caller fills in an address with the allowed values of its variables, or with their defaults. */
function compareVariables(walk: Walk, before: ServerUrl, after: ServerUrl, operation: OperationName | null): void {
  if (before.located === null || after.located === null) return
  const base = new Map(membersAt(before.located, 'variables'))
  const head = new Map(membersAt(after.located, 'variables'))
  const names = variableNames(after.url)
  for (const [index, oldName] of variableNames(before.url).entries()) {
    const name = names[index] ?? oldName
    const [before, located] = [base.get(oldName)?.value, head.get(name)]
    if (located === undefined) continue
    const { value: after } = located
    if (!isRecord(before) || !isRecord(after)) continue
    const emit = (part: OpenApiFacts['server-variable']['part'], from: unknown, to: unknown): void =>
      reportChanged(walk, 'server-variable', operation, located, [from, to], { name, part })
    if (before.default !== after.default) emit('default', before.default, after.default)
    const [values, nowValues] = [textsOf(before.enum), textsOf(after.enum)]
    const { added, removed } = changedTexts(values, nowValues)
    const isOpened = values.length > 0 && nowValues.length === 0
    const isClosed = values.length === 0 && nowValues.length > 0
    if (isClosed || (removed.length > 0 && !isOpened)) emit('narrowed', listed(values), listed(nowValues))
    if (isOpened || (added.length > 0 && !isClosed)) emit('widened', listed(values), listed(nowValues))
  }
}

/** A variable may occur in an address more than once. */
function variableNames(url: string): readonly string[] {
  return [...new Set([...url.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name))]
}

function listed(values: readonly string[]): string {
  return values.length === 0 ? 'any value' : values.join(', ')
}

/**
 * The part that equal addresses share. A final slash has no meaning, nor does a scheme if the other side names none.
 */
function addressOf(url: string, isSchemeOpen: boolean): string {
  const address = url.endsWith('/') ? url.slice(0, -1) : url
  return isSchemeOpen ? address.replace(/^\w+:(?=\/\/)/, '') : address
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
  return { owner: root, servers: urls.map((url) => ({ url, located: null })) }
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
