/** An AsyncAPI document, 2.x or 3.x, as what an application sends and receives where: one model for both, read with its structure checked. */
import type { CompareOptions } from '../../compare.ts'
import { fail, ok, type Result } from '../../result.ts'
import { isRecord, memberOf, pointerOf, type JsonRecord, type Located } from '../../schema/located.ts'
import { readDocument } from '../document.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../limits.ts'
import { OpenApiDocuments } from '../openapi/documents.ts'
import type { Locate } from '../positions.ts'
import { ofSide, unreadable } from '../unreadable.ts'
import { itemsOf, readMessages, type AsyncMessage } from './messages.ts'

/** Of the application that the document describes. */
export type AsyncAction = 'send' | 'receive'

export interface AsyncChannel {
  readonly address: string
  readonly located: Located
  readonly parameters: Located | null
  readonly bindings: Located | null
}

export interface AsyncOperation {
  readonly action: AsyncAction
  readonly address: string
  readonly located: Located
  readonly messages: readonly AsyncMessage[]
  readonly bindings: Located | null
  readonly security: Located | null
  /** What answers it; null where nothing does. */
  readonly reply: { readonly located: Located; readonly messages: readonly AsyncMessage[] } | null
}

export interface AsyncServer {
  readonly name: string
  readonly located: Located
  readonly url: string
  readonly protocol: string
  readonly bindings: Located | null
  readonly security: Located | null
}

export interface AsyncApi {
  readonly version: string
  readonly documents: OpenApiDocuments
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

/** Reads one side; an empty one is null. The problem names what is not as AsyncAPI has it, by pointer and position. */
export function readAsyncApi(text: string, side: 'base' | 'head', options: CompareOptions): Result<AsyncApi | null> {
  if (text === '') return ok(null)
  const limits = options.limits ?? DEFAULT_DOCUMENT_LIMITS
  const read = readDocument(text, limits)
  if (!read.ok) return fail(ofSide(read.problem, side))
  const { root, locate } = read.value
  const version = isRecord(root) ? root['asyncapi'] : null
  if (typeof version !== 'string' || !VERSION.test(version)) {
    const what = 'as AsyncAPI: its root needs a member `asyncapi` with a version 2.x or 3.x'
    return fail(ofSide(unreadable(what, { pointer: '', position: locate('') }), side))
  }
  const files = options.files?.[side] ?? {}
  const documents = new OpenApiDocuments(root, 'json-schema-draft-7', (path) => {
    const content = Object.hasOwn(files, path) ? files[path] : undefined
    const file = content === undefined ? null : readDocument(content, limits)
    return file?.ok ? file.value.root : undefined
  })
  const reader = new AsyncApiReader(documents, locate)
  const parts = version.startsWith('2') ? reader.readVersion2() : reader.readVersion3()
  if (reader.fault !== null) return fail(ofSide(reader.fault, side))
  return ok({ version, documents, locate, ...parts })
}

type Parts = Pick<AsyncApi, 'channels' | 'operations' | 'servers'>

/** Walks a document once; the first fault in its order is kept. */
class AsyncApiReader {
  fault: ReturnType<typeof unreadable> | null = null
  readonly #documents: OpenApiDocuments
  readonly #locate: Locate
  readonly #root: Located
  readonly #contentType: string

  constructor(documents: OpenApiDocuments, locate: Locate) {
    this.#documents = documents
    this.#locate = locate
    this.#root = documents.root
    const stated = isRecord(this.#root.value) ? this.#root.value['defaultContentType'] : null
    this.#contentType = typeof stated === 'string' ? stated : 'application/json'
  }

  /** `publish` is what others publish, so that the application receives it (AsyncAPI 2.6, Channel Item Object). */
  readVersion2(): Parts {
    const channels = new Map<string, AsyncChannel>()
    const operations = new Map<string, AsyncOperation>()
    for (const [address, channel] of this.#members(this.#root, 'channels', true)) {
      channels.set(address, this.#channel(address, channel))
      for (const [member, action] of [
        ['publish', 'receive'],
        ['subscribe', 'send'],
      ] as const) {
        const operation = this.#follow(memberOf(channel, member))
        if (operation === null) continue
        const messages = readMessages(memberOf(operation, 'message'), this.#documents, this.#contentType)
        const parts = {
          bindings: this.#ofTraits(operation, 'bindings'),
          security: this.#ofTraits(operation, 'security'),
        }
        operations.set(`${action} ${address}`, { action, address, located: operation, messages, reply: null, ...parts })
      }
    }
    return { channels, operations, servers: this.#servers() }
  }

  readVersion3(): Parts {
    const channels = new Map<string, AsyncChannel>()
    const addresses = new Map<unknown, string>()
    for (const [id, channel] of this.#members(this.#root, 'channels', false)) {
      const stated = memberOf(channel, 'address')?.value
      const address = typeof stated === 'string' ? stated : `(${id})`
      channels.set(address, this.#channel(address, channel))
      addresses.set(channel.value, address)
    }
    const operations = new Map<string, AsyncOperation>()
    for (const [, operation] of this.#members(this.#root, 'operations', false)) {
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
      const reply = this.#follow(memberOf(operation, 'reply'))
      const replies = reply === null ? null : this.#messagesOf(reply, this.#follow(memberOf(reply, 'channel')))
      const key = `${action} ${address}`
      const messages = this.#messagesOf(operation, channel)
      const known = operations.get(key)
      operations.set(key, {
        action,
        address,
        located: known?.located ?? operation,
        messages: known === undefined ? messages : [...known.messages, ...messages],
        reply: reply === null || replies === null ? (known?.reply ?? null) : { located: reply, messages: replies },
        bindings: known?.bindings ?? this.#ofTraits(operation, 'bindings'),
        security: known?.security ?? this.#ofTraits(operation, 'security'),
      })
    }
    return { channels, operations, servers: this.#servers() }
  }

  /** The messages that an operation names, or all of its channel (AsyncAPI 3.0, Operation Object). */
  #messagesOf(owner: Located, channel: Located | null): readonly AsyncMessage[] {
    const named = memberOf(owner, 'messages')
    const held = named ?? (channel === null ? null : memberOf(channel, 'messages'))
    return readMessages(held, this.#documents, this.#contentType)
  }

  #channel(address: string, channel: Located): AsyncChannel {
    return {
      address,
      located: channel,
      parameters: memberOf(channel, 'parameters'),
      bindings: this.#part(channel, 'bindings'),
    }
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
        protocol,
        security,
        bindings: this.#part(located, 'bindings'),
      })
    }
    return servers
  }

  /** The objects that a member holds by name, references followed. */
  #members(owner: Located, member: string, isRequired: boolean): readonly (readonly [string, Located])[] {
    const holder = this.#follow(memberOf(owner, member))
    if (holder === null) {
      if (isRequired) this.#note(owner, `it has no ${member}`)
      return []
    }
    if (!isRecord(holder.value)) {
      this.#note(holder, `${member} is no object`)
      return []
    }
    return Object.keys(holder.value).flatMap((name) => {
      const held = memberOf(holder, name)
      const found = this.#follow(held)
      if (found !== null && isRecord(found.value)) return [[name, found] as const]
      if (held !== null && found !== null) this.#note(held, `an item of ${member} is no object`)
      return []
    })
  }

  #part(owner: Located, member: string): Located | null {
    return this.#follow(memberOf(owner, member))
  }

  /** What an operation says, or the first of its traits where it says nothing. */
  #ofTraits(operation: Located, member: string): Located | null {
    const traits = itemsOf(memberOf(operation, 'traits')).map((trait) => this.#follow(trait))
    const holders = [operation, ...traits].map((holder) => (holder === null ? null : this.#part(holder, member)))
    return holders.find((found) => found !== null) ?? null
  }

  #follow(located: Located | null): Located | null {
    return located === null ? null : this.#documents.follow(located)
  }

  #note({ at }: Located, what: string): void {
    const pointer = pointerOf(at)
    this.fault ??= unreadable(`as AsyncAPI: ${what}`, { pointer, position: this.#locate(pointer) })
  }
}

/** 2.x wrote one URL, 3.x its parts; the protocol is told apart from both. */
function urlOf({ url, host, pathname }: JsonRecord): string {
  if (typeof url === 'string') return url.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').replace(/\/$/, '')
  const path = typeof pathname === 'string' ? pathname : ''
  return `${typeof host === 'string' ? host : ''}${path}`.replace(/\/$/, '')
}
