/**
 * Several servers as one, for the session of one client. A request goes to the server that its name says, and lists are joined.
 * What a server asks or reports reaches the client. Each server is judged on its own before its messages come here.
 */
import { isJsonObject } from '../json/strict-json.ts'
import { recordIn } from '../json/unchecked-json.ts'
import { GroupMember, type InitializeResult, type GroupServer } from './group-member.ts'
import { JsonText } from './json-edits.ts'
import { failureOf, readReceived, readSent, tokensOf, type IdText, type ReceivedMessage } from './messages.ts'
import { addressedIn, isAddressed, LISTS, prefixedElements, withPrefixedAddresses } from './prefixed-names.ts'
import { messageOf } from '../errors/startup-error.ts'
import type { LineServer } from './streamable-face.ts'

interface GroupOptions {
  readonly servers: readonly GroupServer[]
  readonly version: string
  /** A line for the client. @returns resolves when more may come */
  readonly send: (line: Buffer) => Promise<void> | undefined
  readonly note: (text: string) => void
}

type EditorRequest = ReturnType<typeof readSent>['requests'][number]

/** A request of the client that one server answers. */
interface RelayedRequest {
  readonly member: GroupMember
  readonly tokens: readonly IdText[]
}

/** A request of a server that the client answers. */
interface ServerRequest {
  readonly member: GroupMember
  /** As the server named it: JSON. */
  readonly id: IdText
  /** The token by which the server wants progress; undefined: it wants none. */
  readonly token: unknown
}

/** A server that does not answer its first request in this time is left out. */
const GREETING_MS = 30_000
/** Pages of one list: more than any server has. */
const MOST_PAGES = 200
const METHOD_NOT_FOUND = -32_601
const INVALID_PARAMS = -32_602
const INVALID_REQUEST = -32_600

/** Capabilities that this endpoint passes on. */
const PASSED = ['tools', 'prompts', 'resources', 'completions', 'logging'] as const

export class ServerGroup implements LineServer {
  readonly #options: GroupOptions
  readonly #members: ReadonlyMap<string, GroupMember>
  readonly #forwarded = new Map<IdText, RelayedRequest>()
  readonly #questions = new Map<IdText, ServerRequest>()
  readonly #greetings = new Map<GroupMember, InitializeResult>()
  #questionCount = 0

  constructor(options: GroupOptions) {
    this.#options = options
    this.#members = new Map(
      options.servers.map((server): [string, GroupMember] => {
        const member: GroupMember = new GroupMember(server, {
          onMessage: (text, message) => this.#receive(member, text, message),
          onEnd: (reason) => this.#ended(member, reason),
        })
        return [server.name, member]
      }),
    )
  }

  note(text: string): void {
    this.#options.note(text)
  }

  close(): void {
    for (const member of this.#members.values()) member.close()
  }

  /** A line of the client. */
  write(line: Buffer): Promise<void> | undefined {
    const text = line.toString('utf8')
    const { requests, cancelled } = readSent(text)
    if (/^\s*\[/.test(text))
      return requests.length === 0
        ? this.#each(text)
        : this.#failAll(requests, 'batches are not taken at this endpoint; send one message each')
    const [request] = requests
    if (request !== undefined) return this.#request(text, request)
    const [target] = cancelled
    if (target !== undefined) return this.#cancel(target, text)
    const [message] = readReceived(text) ?? []
    if (message === undefined) return undefined
    if (message.answers !== null) return this.#answerOf(text, message.answers)
    return this.#notify(text, message)
  }

  /** Notifications and answers that came together: each is for a server of its own. */
  async #each(batch: string): Promise<void> {
    for (const { value } of readReceived(batch) ?? []) await this.write(Buffer.from(JSON.stringify(value)))
  }

  /** Its answer, if there still is one, is not forwarded. */
  #cancel(id: IdText, text: string): Promise<void> | undefined {
    const forwarded = this.#forwarded.get(id)
    this.#forwarded.delete(id)
    return forwarded?.member.send(text).catch(ignored)
  }

  async #request(text: string, request: EditorRequest): Promise<void> {
    const { id, method, params } = request
    try {
      if (isAddressed(method)) return await this.#forward(text, request)
      const result = await this.#resultOf(method, recordIn(params))
      await this.#send(`{"jsonrpc":"2.0","id":${id},"result":${result}}`)
    } catch (error) {
      if (error instanceof RequestError) await this.#send(rejection(id, error))
      else await this.#send(failureOf(id, messageOf(error)))
    }
  }

  /** @returns JSON */
  async #resultOf(method: string, params: Readonly<Record<string, unknown>>): Promise<string> {
    if (method === 'initialize') return JSON.stringify(await this.#initialize(params))
    if (method === 'ping') return '{}'
    if (LISTS.has(method)) return this.#list(method)
    if (method !== 'logging/setLevel') throw new RequestError(METHOD_NOT_FOUND, `this endpoint has no ${method}`)
    await Promise.all(this.#with('logging').map((member) => member.ask(method, params)))
    return '{}'
  }

  async #initialize(params: Readonly<Record<string, unknown>>): Promise<object> {
    const reasons: string[] = []
    await Promise.all(
      [...this.#members.values()].map(async (member) => {
        const greeting = member.greet(params).then((one) => void this.#greetings.set(member, one))
        try {
          await inTime(greeting, `${member.name}: the server did not answer in ${GREETING_MS / 1000} seconds`)
        } catch (error) {
          reasons.push(messageOf(error))
          void greeting.then(() => this.#changed(), ignored)
        }
      }),
    )
    for (const reason of reasons) this.note(reason)
    if (this.#greetings.size === 0) throw new Error(`no server can be used: ${reasons.join('; ')}`)
    return this.#greetingOf(reasons)
  }

  #greetingOf(reasons: readonly string[]): object {
    const greetings = [...this.#members.values()].flatMap((member) => {
      const greeting = this.#greetings.get(member)
      return greeting === undefined ? [] : [{ name: member.name, ...greeting }]
    })
    const instructions = [
      ...greetings.flatMap(({ name, instructions: own }) => (own === null ? [] : [`# Server ${name}\n\n${own}`])),
      ...(reasons.length === 0 ? [] : [`# Servers that cannot be used\n\n${reasons.join('\n')}`]),
    ]
    return {
      // Dates in this form have the order of their texts. The oldest one is known to every server.
      protocolVersion: greetings.map(({ protocolVersion }) => protocolVersion).toSorted()[0],
      capabilities: Object.fromEntries(
        PASSED.flatMap((name) => {
          const own = greetings.map(({ capabilities }) => capabilities[name]).filter(isJsonObject)
          return own.length === 0 && name !== 'tools' ? [] : [[name, joinedCapability(name, own)]]
        }),
      ),
      serverInfo: { name: 'preflight', title: 'Preflight Gateway', version: this.#options.version },
      ...(instructions.length === 0 ? {} : { instructions: instructions.join('\n\n') }),
    }
  }

  #with(capability: string): readonly GroupMember[] {
    return [...this.#greetings].flatMap(([member, { capabilities }]) =>
      capabilities[capability] === undefined ? [] : [member],
    )
  }

  /** A server that cannot list now is left out: the others go on. @returns JSON */
  async #list(method: string): Promise<string> {
    const member = LISTS.get(method)?.member ?? ''
    const lists = await Promise.all(
      this.#with(method.split('/', 1)[0] ?? '').map(async (server) => {
        try {
          return await allElements(server, method)
        } catch (error) {
          this.note(messageOf(error))
          return []
        }
      }),
    )
    return `{${JSON.stringify(member)}:[${lists.flat().join(',')}]}`
  }

  async #forward(text: string, { id, method, params }: EditorRequest): Promise<void> {
    const addressed = addressedIn(text, method, params)
    const member = addressed === null ? undefined : this.#members.get(addressed.server)
    if (addressed === null || member === undefined) {
      const names = [...this.#members.keys()].join(', ')
      throw new RequestError(
        INVALID_PARAMS,
        `names begin with that of their server and "__", or "+" in addresses: ${names}`,
      )
    }
    if (this.#forwarded.has(id)) throw new RequestError(INVALID_REQUEST, 'a request with this id is under way')
    this.#forwarded.set(id, { member, tokens: tokensOf(id, params) })
    try {
      await member.send(addressed.text)
    } catch (error) {
      this.#forwarded.delete(id)
      throw error
    }
  }

  /** What one server writes must end no other one. */
  #receive(member: GroupMember, text: string, message: ReceivedMessage): Promise<void> | undefined {
    try {
      return this.#fromServer(member, text, message)
    } catch (error) {
      const reason = error instanceof RangeError ? 'it is nested too deeply' : messageOf(error)
      this.note(`${member.name}: a message of the server is not forwarded: ${reason}`)
      const { answers } = message
      if (answers === null) return undefined
      return this.#send(failureOf(answers, `the answer of the server ${member.name} cannot be read: ${reason}`))
    }
  }

  #fromServer(member: GroupMember, text: string, message: ReceivedMessage): Promise<void> | undefined {
    const { answers, value, belongsTo } = message
    if (answers !== null) {
      // A server answers what it was asked, and nothing that another one was asked.
      if (this.#forwarded.get(answers)?.member !== member) return undefined
      this.#forwarded.delete(answers)
      return this.#send(withPrefixedAddresses(member.name, text, 'result'))
    }
    // It names no request.
    if (message.isAnswer) return undefined
    if (value['id'] !== undefined) return this.#ask(member, text, value)
    if (value['method'] === 'notifications/cancelled') return this.#takeBack(member, text, value)
    if (value['method'] === 'notifications/progress' && !this.#hasToken(member, belongsTo)) return undefined
    return this.#send(withPrefixedAddresses(member.name, text, 'params'))
  }

  #hasToken(member: GroupMember, token: IdText | null): boolean {
    return [...this.#forwarded.values()].some(
      (one) => one.member === member && token !== null && one.tokens.includes(token),
    )
  }

  /** Two servers may use one id: the client gets another one, and another token. */
  #ask(member: GroupMember, text: string, { id, params }: ReceivedMessage['value']): Promise<void> | undefined {
    const name = `preflight-${member.name}-${(this.#questionCount += 1)}`
    const meta = recordIn(recordIn(params)['_meta'])
    this.#questions.set(JSON.stringify(name), { member, id: JSON.stringify(id), token: meta['progressToken'] })
    const edits = [
      { at: ['id'], value: name },
      { at: ['params', '_meta', 'progressToken'], value: name },
    ]
    return this.#send(new JsonText(text).with(edits))
  }

  #takeBack(member: GroupMember, text: string, { params }: ReceivedMessage['value']): Promise<void> | undefined {
    const target = isJsonObject(params) ? JSON.stringify(params['requestId']) : ''
    const [name] = [...this.#questions].find(([, one]) => one.member === member && one.id === target) ?? []
    if (name === undefined) return undefined
    this.#questions.delete(name)
    return this.#send(new JsonText(text).with([{ at: ['params', 'requestId'], value: JSON.parse(name) }]))
  }

  #answerOf(text: string, answers: IdText): Promise<void> | undefined {
    const question = this.#questions.get(answers)
    if (question === undefined) return undefined
    this.#questions.delete(answers)
    return question.member
      .send(new JsonText(text).with([{ at: ['id'], value: JSON.parse(question.id) }]))
      .catch(ignored)
  }

  #notify(text: string, { value, belongsTo }: ReceivedMessage): Promise<void> | undefined {
    const { method } = value
    // Each server gets it right after its greeting.
    if (method === 'notifications/initialized') return undefined
    if (method === 'notifications/progress') {
      const question = belongsTo === null ? undefined : this.#questions.get(belongsTo)
      if (question === undefined || question.token === undefined) return undefined
      const edits = [{ at: ['params', 'progressToken'], value: question.token }]
      return question.member.send(new JsonText(text).with(edits)).catch(ignored)
    }
    void Promise.all([...this.#greetings.keys()].map((member) => member.send(text).catch(ignored)))
    return undefined
  }

  #ended(member: GroupMember, reason: string): void {
    for (const [id, one] of this.#forwarded) {
      if (one.member !== member) continue
      this.#forwarded.delete(id)
      void this.#send(failureOf(id, reason))
    }
    for (const [name, question] of this.#questions) if (question.member === member) this.#questions.delete(name)
  }

  /** A server answered late: its tools are there now. */
  #changed(): void {
    for (const kind of ['tools', 'prompts', 'resources'])
      void this.#send(`{"jsonrpc":"2.0","method":"notifications/${kind}/list_changed"}`)
  }

  async #failAll(requests: readonly EditorRequest[], reason: string): Promise<void> {
    for (const { id } of requests) await this.#send(failureOf(id, reason))
  }

  #send(text: string): Promise<void> | undefined {
    return this.#options.send(Buffer.from(text))
  }
}

class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

function rejection(id: IdText, { code, message }: RequestError): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message })}}`
}

/** All pages, as the client reads them. */
async function allElements(server: GroupMember, method: string): Promise<readonly string[]> {
  const elements: string[] = []
  let cursor: unknown = undefined
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const text = await server.ask(method, cursor === undefined ? {} : { cursor })
    elements.push(...prefixedElements(server.name, text, method))
    const { result }: { readonly result?: unknown } = JSON.parse(text)
    cursor = isJsonObject(result) ? result['nextCursor'] : undefined
    if (cursor === undefined || cursor === null) return elements
  }
  throw new Error(`${server.name}: ${method} has more than ${MOST_PAGES} pages`)
}

function joinedCapability(name: (typeof PASSED)[number], own: readonly Readonly<Record<string, unknown>>[]): object {
  const members = name === 'resources' ? ['subscribe', 'listChanged'] : ['listChanged']
  const present = members.filter((member) => member === 'listChanged' || own.some((one) => one[member] === true))
  return name === 'logging' || name === 'completions' ? {} : Object.fromEntries(present.map((member) => [member, true]))
}

async function inTime(work: Promise<void>, reason: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(reason)), GREETING_MS)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** What cannot be delivered any more has nobody who waits for it. */
function ignored(): void {}
