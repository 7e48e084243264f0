/** The requests of MCP that are judged, and what each of them asks for: a tool, a prompt, a resource, or more than MCP knows. */
import type { IncomingHttpHeaders } from 'node:http'
import type { DecisionScope } from '../../../engine/internal.ts'
import { sha256Hex } from '../../runtime/hash.ts'
import type { JudgedResource } from '../../calls/judged-resource.ts'
import { fold, trimmed } from '../../routing/path-reading.ts'
import { countingNames, otherSpelling } from '../../json/folded-names.ts'
import type { Message, MessageId, Params } from './json-rpc.ts'
import type { ManifestListName } from './manifest-text.ts'
import { isJsonObject } from '../../json/strict-json.ts'
import { decodedName } from './name-header.ts'

/** The reserved member of `params._meta` by which a 2026-07-28 request names its protocol version. */
const VERSION_CLAIM = 'io.modelcontextprotocol/protocolVersion'

interface JudgedMethod {
  /** Member of `params` that names what is asked for; the Mcp-Name header repeats it. Null: the method does. */
  readonly member: 'name' | 'uri' | null
  /** Lists that say what it is; the first one holds its name, where it must be listed. */
  readonly lists: readonly ManifestListName[]
  /** What neither side lists cannot be judged. Addresses of resources may come from elsewhere: the server as a whole is judged then. */
  readonly mustBeListed: boolean
  /** Null: all that the server offers. */
  readonly scope: (name: string) => DecisionScope | null
  readonly target: (route: string, name: string) => string
}

/** Longest target_id that a preflight takes. */
const MAX_TARGET = 200

const JUDGED_METHODS = {
  'tools/call': {
    member: 'name',
    lists: ['tools'],
    mustBeListed: true,
    scope: (tool) => ({ tool }),
    target: (route, name) => `${route}/${name}`,
  },
  // Names of routes hold no #, so that no tool has the target of a prompt.
  'prompts/get': {
    member: 'name',
    lists: ['prompts'],
    mustBeListed: true,
    scope: (prompt) => ({ prompt }),
    target: (route, name) => `${route}#prompt/${name}`,
  },
  'resources/read': {
    member: 'uri',
    lists: ['resources', 'resourceTemplates'],
    mustBeListed: false,
    scope: (resource) => ({ resource }),
    target: (route, uri) => {
      const target = `${route}#resource/${uri}`
      return target.length <= MAX_TARGET ? target : `${route}#resource/sha256:${sha256Hex(uri)}`
    },
  },
} as const satisfies Readonly<Record<string, JudgedMethod>>

const METHODS: ReadonlyMap<string, JudgedMethod> = new Map(Object.entries(JUDGED_METHODS))

/** What clients send otherwise, in any version: it starts and ends things, lists them, and asks how they stand. */
const PASSING_METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'server/discover',
  'subscriptions/listen',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'logging/setLevel',
  'tasks/get',
  'tasks/result',
  'tasks/list',
  'tasks/update',
  'tasks/cancel',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
  'notifications/tasks/status',
])

/** A method of the server's own may do whatever a tool does, and no list describes it. */
const OWN_METHOD: JudgedMethod = {
  member: null,
  lists: ['tools'],
  mustBeListed: false,
  scope: () => null,
  target: (route) => route,
}

/** Null: it passes. */
function rowOf(method: string): JudgedMethod | null {
  return METHODS.get(method) ?? (PASSING_METHODS.has(method) ? null : OWN_METHOD)
}

/** Also for a spelling that some servers read as a judged method. */
export function isJudgedMethod(method: string): boolean {
  return rowOf(method) !== null
}

/** One thing that a message asks for. */
export interface JudgedMcpRequest extends JudgedResource {
  /** Null: a notification, which is not answered. */
  readonly id: MessageId | null
  readonly method: string
  /** Of the tool or prompt; the address of a resource; a method of the server's own. */
  readonly item: string
  readonly params: Params
}

/** Those of the messages that are judged. Names that are missing were refused before (`requestProblem`). */
export function judgedRequests(route: string, messages: readonly Message[]): readonly JudgedMcpRequest[] {
  const resources: JudgedMcpRequest[] = []
  for (const message of messages) {
    if (message.kind === 'response') continue
    const { method, params } = message
    const row = rowOf(method)
    if (row === null) continue
    const { member, scope, target } = row
    const item = member === null ? method : params[member]
    if (typeof item !== 'string') continue
    resources.push({
      id: message.kind === 'request' ? message.id : null,
      method,
      item,
      params,
      name: member === null ? method : `${method} ${item}`,
      target: target(route, item),
      scope: scope(item),
    })
  }
  return resources
}

export function judgedMethod({ method }: JudgedMcpRequest): JudgedMethod {
  return rowOf(method) ?? OWN_METHOD
}

/** Longer than any name or address that a server could list. */
const LONGEST_ITEM = 8192
/** Each is judged and recorded by itself; a batch of more is not what somebody does, but wears the gateway out. */
const MOST_JUDGED = 100

const MEMBERS = countingNames(['name', 'uri', 'arguments', '_meta'])

/** What would let a call reach another thing than the one judged, or leave nothing to judge. */
export function messagesProblem(messages: readonly Message[]): string | null {
  const ids = messages.length > 1 ? new Set<MessageId>() : null
  let judged = 0
  for (const message of messages) {
    if (message.kind === 'response') continue
    // Each would be answered for the client that it names, and the batch is judged by what one of them is offered.
    if (messages.length > 1 && isModern(message.params))
      return 'A message that names its protocol version (2026-07-28) is sent alone, not in a batch.'
    if (message.kind === 'request') {
      if (ids?.has(message.id) === true) return `The batch uses the id ${JSON.stringify(message.id)} twice.`
      ids?.add(message.id)
    }
    const row = rowOf(message.method)
    if (row === null) continue
    judged += 1
    if (judged > MOST_JUDGED) return `A batch holds ${MOST_JUDGED} calls at most.`
    const { member, lists } = row
    if (member === null) {
      const meant = fold(trimmed(message.method))
      if (METHODS.has(meant)) return `${JSON.stringify(message.method)} is ${meant} to some servers. Write it as that.`
      continue
    }
    const item = message.params[member]
    if (typeof item === 'string' && item.length > LONGEST_ITEM)
      return `params.${member} is longer than ${LONGEST_ITEM} characters.`
    if (typeof item !== 'string')
      return `${message.method} needs params.${member}, which says what is asked for of the ${lists[0]}.`
    const other = otherSpelling(message.params, MEMBERS)
    if (other !== null)
      return `params.${other} differs from another name in letter case only, and some servers take it for that one. Write it in lower case.`
  }
  return null
}

/** 2026-07-28 repeats method and name in headers for intermediaries: a server that trusts them must not see another call. */
export function headerProblem(headers: IncomingHttpHeaders, messages: readonly Message[]): string | null {
  const method = headers['mcp-method']
  const name = headers['mcp-name']
  if (method === undefined && name === undefined) return null
  const [message, ...others] = messages
  if (message === undefined || others.length > 0 || message.kind === 'response') {
    return 'Mcp-Method and Mcp-Name belong to a request with a single message.'
  }
  if (method !== undefined && method !== message.method)
    return 'The Mcp-Method header and the method in the body differ.'
  const member = METHODS.get(message.method)?.member ?? null
  if (name === undefined || member === null) return null
  return decodedName(String(name)) === message.params[member]
    ? null
    : `The Mcp-Name header and params.${member} in the body differ.`
}

/** Whether a request speaks 2026-07-28: such requests name their version themselves. */
export function isModern(params: Params): boolean {
  const meta = params['_meta']
  return isJsonObject(meta) && Object.hasOwn(meta, VERSION_CLAIM)
}
