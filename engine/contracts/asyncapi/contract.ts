/**
 * Reads an AsyncAPI document, 2.x or 3.x, into one model: what an application sends and receives on which channel. The
 * structure is checked.
 */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { canonicalJson } from '../../common/hash.ts'
import type { CompareOptions } from '../../model/format.ts'
import { fail, ok, type Result } from '../../common/result.ts'
import {
  isRecord,
  locatedItems,
  memberOf,
  pointerOf,
  textOrNull,
  type JsonRecord,
  type Located,
} from '../../schema/located.ts'
import { readDocument } from '../document.ts'
import { filesHandedIn } from '../further-files.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../model/limits.ts'
import { OpenApiDocuments } from '../documents.ts'
import type { MalformedPart } from '../malformed-parts.ts'
import { readInPlace } from '../misplaced-references.ts'
import { withPlainReferences } from '../plain-references.ts'
import type { Locate } from '../positions.ts'
import { unreadable, unreadableAt } from '../unreadable.ts'
import { malformedAsyncApiParts } from './parts.ts'
import { countedMessages, AsyncMessageReader, type AsyncMessage, type MessageCounts } from './messages.ts'
import { withPayloadDrafts } from './payload-drafts.ts'
import { partWithTraits, traitOrderOf, type TraitOrder } from './traits.ts'

/** From the view of the application that the document describes. */
export type AsyncAction = 'send' | 'receive'

export interface AsyncChannel {
  /** Its key among the channels: the address, with the id if another channel has the same one. */
  readonly address: string
  /** The name in the document, which is not on the wire. 2.x: the address. */
  readonly id: string
  /** The address as written. Null: it is not known before the application runs. */
  readonly stated: string | null
  readonly located: Located
  readonly parameters: Located | null
  readonly bindings: Located | null
  /** The messages of the channel, whichever operation uses them; 3.x only. */
  readonly messages: readonly AsyncMessage[]
  /** The servers of the channel, and where each is named. Null if it is on all of them. */
  readonly servers: ReadonlyMap<string, Located> | null
}

export interface AsyncOperation {
  readonly action: AsyncAction
  readonly address: string
  readonly located: Located
  /** The messages of all parts. */
  readonly messages: MessageCounts
  /** Operations of 3.x with this action and address, by id; 2.x has one. */
  readonly parts: readonly AsyncOperationPart[]
}

export interface AsyncOperationPart {
  readonly id: string
  readonly located: Located
  readonly bindings: Located | null
  readonly security: Located | null
  /** The reply, or null if there is none. */
  readonly reply: AsyncReply | null
}

export interface AsyncReply {
  readonly located: Located
  readonly messages: readonly AsyncMessage[]
  /** Address of the reply channel. Null if it is left open. */
  readonly channel: string | null
  /** The runtime expression that gives the reply address, or null. */
  readonly address: string | null
}

export interface AsyncServer {
  readonly name: string
  readonly located: Located
  readonly url: string
  /** The scheme of the URL, which is not part of `url`. Null if it states none. */
  readonly scheme: string | null
  readonly protocol: string
  readonly protocolVersion: string | null
  readonly variables: Located | null
  readonly bindings: Located | null
  readonly security: Located | null
}

export interface AsyncApi {
  readonly version: string
  readonly documents: OpenApiDocuments
  readonly malformed: ReadonlyMap<string, MalformedPart>
  readonly channels: ReadonlyMap<string, AsyncChannel>
  /** By action and address. */
  readonly operations: ReadonlyMap<string, AsyncOperation>
  readonly servers: ReadonlyMap<string, AsyncServer>
  readonly locate: Locate
}

const VERSION = /^[23]\.\d+\.\d+/

export function isAsyncApi(root: unknown): boolean {
  return isRecord(root) && typeof root['asyncapi'] === 'string'
}

/** Reads one side. An empty side is null. The problem names the fault by pointer and position. */
export function readAsyncApi(text: string, side: 'base' | 'head', options: CompareOptions): Result<AsyncApi | null> {
  if (text === '') return ok(null)
  const limits = options.limits ?? DEFAULT_DOCUMENT_LIMITS
  const read = readDocument(text, limits)
  if (!read.ok) return read
  const { root, locate } = read.value
  const version = isRecord(root) ? root['asyncapi'] : null
  if (typeof version !== 'string' || !VERSION.test(version)) {
    const what = 'as AsyncAPI: its root needs a member `asyncapi` with a version 2.x or 3.x'
    return unreadableAt(locate, '', what)
  }
  const files = filesHandedIn(side, options, text)
  const plain = withPlainReferences(root, text, null, files.sharedAnchors)
  const { documents, malformed } = readInPlace({ root: plain, files }, (contents) => {
    const read = withPayloadDrafts(contents)
    const known = { isThroughReferences: true, evaluatesContained: read.evaluatesContained }
    const held = new OpenApiDocuments(read.root, 'json-schema-draft-7', read.files, known)
    const parts = malformedAsyncApiParts({ documents: held, version })
    return { documents: held, root: held.root, malformed: parts, resolve: held.resolve.bind(held) }
  })
  const reader = new AsyncApiReader(documents, version, locate)
  const parts = version.startsWith('2') ? reader.readVersion2() : reader.readVersion3()
  if (reader.fault !== null) return fail(reader.fault)
  return ok({ version, documents, malformed, locate, ...parts })
}

type AsyncApiParts = Pick<AsyncApi, 'channels' | 'operations' | 'servers'>

/** Walks a document once and keeps the first fault in document order. */
class AsyncApiReader {
  fault: ReturnType<typeof unreadable> | null = null
  readonly #documents: OpenApiDocuments
  readonly #locate: Locate
  readonly #root: Located
  readonly #traits: TraitOrder
  readonly #messages: AsyncMessageReader
  /** By the pointer of their channel: any number of operations may have all of them. */
  readonly #messagesOfChannels = new Map<string, readonly AsyncMessage[]>()
  #serversByContent: ReadonlyMap<unknown, readonly (readonly [string, Located])[]> | null = null

  constructor(documents: OpenApiDocuments, version: string, locate: Locate) {
    this.#documents = documents
    this.#locate = locate
    this.#root = documents.root
    const stated = isRecord(this.#root.value) ? this.#root.value['defaultContentType'] : null
    const contentType = typeof stated === 'string' ? stated : 'application/json'
    this.#traits = traitOrderOf(version)
    this.#messages = new AsyncMessageReader(documents, { contentType, traits: this.#traits })
  }

  /** `publish` means that others publish and the application receives (AsyncAPI 2.6, Channel Item Object). */
  readVersion2(): AsyncApiParts {
    const channels = new Map<string, AsyncChannel>()
    const operations = new Map<string, AsyncOperation>()
    for (const [address, channel] of this.#members(this.#root, 'channels', true)) {
      channels.set(address, this.#channel({ address, id: address, stated: address }, channel))
      for (const [member, action] of [
        ['publish', 'receive'],
        ['subscribe', 'send'],
      ] as const) {
        const operation = this.#follow(memberOf(channel, member))
        if (operation === null) continue
        const messages = this.#messages.read(memberOf(operation, 'message'))
        const parts = [this.#partOf('', operation, null)]
        operations.set(`${action} ${address}`, {
          action,
          address,
          located: operation,
          messages: countedMessages([messages]),
          parts,
        })
      }
    }
    return { channels, operations, servers: this.#servers() }
  }

  readVersion3(): AsyncApiParts {
    const channels = new Map<string, AsyncChannel>()
    const addresses = new Map<unknown, string>()
    const places = new Map<string, { readonly key: string; readonly messages: Map<string, AsyncMessage> }>()
    for (const [id, channel] of this.#inOrder('channels')) {
      const stated = textOrNull(memberOf(channel, 'address')?.value)
      const address = stated ?? `(${id})`
      // Several channels may have the same address on different servers.
      const own = channels.has(address) ? `${address} (${id})` : address
      const read = this.#channel({ address: own, id, stated }, channel)
      const place = stated === null ? own : placeOf(read)
      const known = places.get(place)
      // Of one name they have one message: else which of two it is would not be known.
      const isApart = known === undefined || read.messages.some((one) => (known.messages.get(one.name) ?? one) !== one)
      const held = isApart ? { key: own, messages: new Map<string, AsyncMessage>() } : known
      for (const message of read.messages) held.messages.set(message.name, message)
      places.set(place, held)
      if (isApart) channels.set(own, read)
      addresses.set(channel.value, held.key)
    }
    // Channels in one place of the wire are one.
    for (const { key, messages } of places.values()) {
      const channel = channels.get(key)
      if (channel !== undefined && messages.size > channel.messages.length)
        channels.set(key, { ...channel, messages: [...messages.values()] })
    }
    const sameActions = new Map<string, SameAction>()
    for (const [id, operation] of this.#inOrder('operations')) {
      const action = memberOf(operation, 'action')?.value
      if (action !== 'send' && action !== 'receive') {
        this.#note(operation, 'the action of an operation is neither send nor receive')
        continue
      }
      const channel = this.#follow(memberOf(operation, 'channel'))
      const address = channel === null ? undefined : addresses.get(channel.value)
      if (channel === null || address === undefined) {
        this.#note(operation, 'the channel of an operation is none of the document')
        continue
      }
      const key = `${action} ${address}`
      const part = this.#partOf(id, operation, this.#replyOf(operation, addresses))
      const messages = this.#messagesOf(operation, channel)
      const known = sameActions.get(key)
      if (known === undefined)
        sameActions.set(key, { action, address, located: operation, lists: [messages], parts: [part] })
      else {
        known.lists.push(messages)
        known.parts.push(part)
      }
    }
    const operations = new Map(
      [...sameActions].map(
        ([key, { lists, ...operation }]) => [key, { ...operation, messages: countedMessages(lists) }] as const,
      ),
    )
    return { channels, operations, servers: this.#servers() }
  }

  /** Sorted by id, so that document order has no effect. */
  #inOrder(member: string): readonly (readonly [string, Located])[] {
    return this.#members(this.#root, member, false).toSorted(([one], [other]) => byCodeUnit(one, other))
  }

  #partOf(id: string, operation: Located, reply: AsyncReply | null): AsyncOperationPart {
    const bindings = this.#ofTraits(operation, 'bindings')
    return { id, located: operation, bindings, security: this.#ofTraits(operation, 'security'), reply }
  }

  #replyOf(operation: Located, addresses: ReadonlyMap<unknown, string>): AsyncReply | null {
    const reply = this.#follow(memberOf(operation, 'reply'))
    if (reply === null) return null
    const channel = this.#follow(memberOf(reply, 'channel'))
    const address = this.#follow(memberOf(reply, 'address'))
    const location = isRecord(address?.value) ? address.value['location'] : undefined
    return {
      located: reply,
      messages: this.#messagesOf(reply, channel),
      channel: channel === null ? null : (addresses.get(channel.value) ?? null),
      address: typeof location === 'string' ? location : null,
    }
  }

  /** The messages that an operation names, or all of its channel (AsyncAPI 3.0, Operation Object). */
  #messagesOf(owner: Located, channel: Located | null): readonly AsyncMessage[] {
    const named = memberOf(owner, 'messages')
    if (named !== null) return this.#messages.read(named)
    return channel === null ? [] : this.#messagesOfChannel(channel)
  }

  #messagesOfChannel(channel: Located): readonly AsyncMessage[] {
    const pointer = pointerOf(channel.at, channel.document)
    const known = this.#messagesOfChannels.get(pointer)
    if (known !== undefined) return known
    const messages = this.#messages.read(memberOf(channel, 'messages'))
    this.#messagesOfChannels.set(pointer, messages)
    return messages
  }

  #channel(names: Pick<AsyncChannel, 'address' | 'id' | 'stated'>, channel: Located): AsyncChannel {
    return {
      ...names,
      located: channel,
      parameters: memberOf(channel, 'parameters'),
      bindings: this.#part(channel, 'bindings'),
      messages: this.#messagesOfChannel(channel),
      servers: this.#serverNames(memberOf(channel, 'servers')),
    }
  }

  /** 2.x names servers, 3.x refers to them, perhaps to what several of them refer to. An empty list means all servers. */
  #serverNames(list: Located | null): ReadonlyMap<string, Located> | null {
    const named = locatedItems(list).flatMap((item) => {
      const { value } = item
      if (typeof value === 'string') return [[value, item] as const]
      const names = this.#namesOfServers().get(this.#follow(item)?.value) ?? []
      return names.map(([name]) => [name, item] as const)
    })
    return named.length === 0 && locatedItems(list).length === 0 ? null : new Map(named)
  }

  #namesOfServers(): ReadonlyMap<unknown, readonly (readonly [string, Located])[]> {
    this.#serversByContent ??= Map.groupBy(this.#members(this.#root, 'servers', false), ([, { value }]) => value)
    return this.#serversByContent
  }

  #servers(): ReadonlyMap<string, AsyncServer> {
    const servers = new Map<string, AsyncServer>()
    for (const [name, located] of this.#members(this.#root, 'servers', false)) {
      const server: JsonRecord = isRecord(located.value) ? located.value : {}
      const protocol = typeof server['protocol'] === 'string' ? server['protocol'] : ''
      const security = memberOf(located, 'security')
      servers.set(name, {
        name,
        located,
        url: urlOf(server),
        scheme: schemeOf(server),
        protocol,
        protocolVersion: typeof server['protocolVersion'] === 'string' ? server['protocolVersion'] : null,
        variables: this.#part(located, 'variables'),
        security,
        bindings: this.#part(located, 'bindings'),
      })
    }
    return servers
  }

  /** The objects of a member by name, with references followed. */
  #members(owner: Located, member: string, isRequired: boolean): readonly (readonly [string, Located])[] {
    const holder = this.#follow(memberOf(owner, member))
    if (holder === null) {
      if (isRequired) this.#note(owner, `it has no ${member}`)
      return []
    }
    if (!isRecord(holder.value)) {
      this.#note(holder, `${member} is not an object`)
      return []
    }
    return Object.keys(holder.value).flatMap((name) => {
      const held = memberOf(holder, name)
      const found = this.#follow(held)
      if (found !== null && isRecord(found.value)) return [[name, found] as const]
      if (held !== null && found !== null) this.#note(held, `an item of ${member} is not an object`)
      return []
    })
  }

  #part(owner: Located, member: string): Located | null {
    return this.#follow(memberOf(owner, member))
  }

  /** A member of an operation merged with those of its traits. */
  #ofTraits(operation: Located, member: string): Located | null {
    return this.#follow(partWithTraits(operation, member, this.#traits, this.#documents))
  }

  #follow(located: Located | null): Located | null {
    return located === null ? null : this.#documents.follow(located)
  }

  #note({ at }: Located, what: string): void {
    const pointer = pointerOf(at)
    this.fault ??= unreadable(`as AsyncAPI: ${what}`, { pointer, position: this.#locate(pointer) })
  }
}

/** What a channel is on the wire: its address on its servers, and how it is used there. */
function placeOf({ stated, servers, bindings, parameters }: AsyncChannel): string {
  const names = servers === null ? null : [...servers.keys()].sort(byCodeUnit)
  const parts = [bindings, parameters].map((part) => part && [part.document, part.value])
  return canonicalJson([stated, names, ...parts])
}

/** Operations with one action and address, with the messages of each. */
interface SameAction extends Pick<AsyncOperation, 'action' | 'address' | 'located'> {
  readonly lists: (readonly AsyncMessage[])[]
  readonly parts: AsyncOperationPart[]
}

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i

function schemeOf({ url }: JsonRecord): string | null {
  return typeof url === 'string' ? (SCHEME.exec(url)?.[1]?.toLowerCase() ?? null) : null
}

/** 2.x has one URL, 3.x its parts. The protocol is compared separately. */
function urlOf({ url, host, pathname }: JsonRecord): string {
  if (typeof url === 'string') return url.replace(SCHEME, '').replace(/\/$/, '')
  const path = typeof pathname === 'string' ? pathname : ''
  return `${typeof host === 'string' ? host : ''}${path}`.replace(/\/$/, '')
}
