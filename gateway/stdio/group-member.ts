/**
 * One server of a group: started with the first message, started again after it ended, and greeted with the words of the client
 * each time.
 */
import { PassThrough } from 'node:stream'
import { isJsonObject } from '../json/strict-json.ts'
import { textIn, recordIn } from '../json/unchecked-json.ts'
import { drained } from './drained.ts'
import { LineReader, LONGEST_WRITTEN_LINE } from './lines.ts'
import { readReceived, type IdText, type ReceivedMessage } from './messages.ts'

export interface GroupServer {
  readonly name: string
  /** Runs the server behind the gateway until its input ends. Resolves when it has ended, with what it reported last. */
  run(streams: { readonly stdin: PassThrough; readonly stdout: PassThrough }): Promise<string | null>
}

/** What a server answered to `initialize`. */
export interface InitializeResult {
  readonly protocolVersion: string
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly instructions: string | null
}

interface MemberEvents {
  /** A message for the client. @returns resolves when more may come */
  onMessage(text: string, message: ReceivedMessage): Promise<void> | undefined
  /** The server has ended: what was asked of it gets no answer. */
  onEnd(reason: string): void
}

/** Ids of requests of the group itself; the client has ids of its own. */
const OWN_ID = 'preflight-group-'

interface RunningProgram {
  readonly stdin: PassThrough
  readonly greeted: Promise<InitializeResult>
}

export class GroupMember {
  readonly name: string
  readonly #server: GroupServer
  readonly #events: MemberEvents
  readonly #asked = new Map<IdText, (message: ReceivedMessage & { readonly text: string }) => void>()
  #running: RunningProgram | null = null
  #greeting: object = {}
  #count = 0
  #isClosed = false

  constructor(server: GroupServer, events: MemberEvents) {
    this.name = server.name
    this.#server = server
    this.#events = events
  }

  /** @param params of the client's `initialize`. Rejects when the server does not start. */
  greet(params: object): Promise<InitializeResult> {
    this.#greeting = params
    return this.#started().greeted
  }

  /** Resolves when the server has the line, and more may follow. Rejects when it does not start. */
  async send(text: string): Promise<void> {
    const { greeted, stdin } = this.#started()
    await greeted
    if (!stdin.write(`${text}\n`) && !stdin.destroyed) await drained(stdin)
  }

  /** The text of the answer. Rejects when the server ends before, or answers with an error. */
  async ask(method: string, params: object): Promise<string> {
    const { greeted, stdin } = this.#started()
    await greeted
    return this.#askOf(stdin, method, params)
  }

  close(): void {
    this.#isClosed = true
    this.#running?.stdin.end()
  }

  #started(): RunningProgram {
    if (this.#isClosed) throw new Error('the session has ended')
    this.#running ??= this.#start()
    return this.#running
  }

  #start(): RunningProgram {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()]
    const lines = new LineReader(LONGEST_WRITTEN_LINE, (line) => {
      const full = this.#take(line.toString('utf8'))
      if (full === undefined) return
      stdout.pause()
      void full.finally(() => stdout.resume())
    })
    stdout.on('data', (chunk: Buffer) => lines.push(chunk))
    const ended = this.#server.run({ stdin, stdout })
    const greeted = this.#greetOver(stdin)
    greeted.catch(() => {})
    const running = { stdin, greeted }
    void ended.then((reason) => this.#ended(running, reason ?? `the server ${this.name} ended`))
    return running
  }

  async #greetOver(stdin: PassThrough): Promise<InitializeResult> {
    const text = await this.#askOf(stdin, 'initialize', this.#greeting)
    stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    const { result }: { readonly result?: unknown } = JSON.parse(text)
    const { protocolVersion, capabilities, instructions } = recordIn(result)
    return {
      protocolVersion: textIn(protocolVersion) ?? '',
      capabilities: recordIn(capabilities),
      instructions: textIn(instructions),
    }
  }

  #askOf(stdin: PassThrough, method: string, params: object): Promise<string> {
    const id = `${OWN_ID}${(this.#count += 1)}`
    return new Promise((resolve, reject) => {
      this.#asked.set(JSON.stringify(id), ({ text, value }) => {
        if (value['error'] === undefined) resolve(text)
        else reject(new Error(`${this.name}: ${rpcErrorText(value['error'])}`))
      })
      stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    })
  }

  #take(text: string): Promise<void> | undefined {
    const [message, ...more] = readReceived(text) ?? []
    if (message === undefined || more.length > 0) return undefined
    const { answers } = message
    const waiting = answers === null ? undefined : this.#asked.get(answers)
    if (answers === null || waiting === undefined) return this.#events.onMessage(text, message)
    this.#asked.delete(answers)
    waiting({ ...message, text })
    return undefined
  }

  #ended(running: RunningProgram, reason: string): void {
    if (this.#running !== running) return
    this.#running = null
    const asked = [...this.#asked]
    this.#asked.clear()
    for (const [answers, waiting] of asked)
      waiting({ answers, isAnswer: true, belongsTo: null, value: { error: { message: reason } }, text: '' })
    this.#events.onEnd(reason)
  }
}

function rpcErrorText(error: unknown): string {
  return isJsonObject(error) && typeof error['message'] === 'string' ? error['message'] : 'an error without a message'
}
