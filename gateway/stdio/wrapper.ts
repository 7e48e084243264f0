/**
 * `preflight mcp -- COMMAND`: starts the server, and carries the messages of client and server through the daemon, which
 * judges them. Nothing goes from one to the other directly, also while no daemon answers.
 */
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { drained } from './drained.ts'
import { FRAME, FrameReader, MAX_MESSAGE, PROTOCOL, writeFrame, type FrameKind, type Hello } from './frames.ts'
import { asOneLine, LineReader } from './lines.ts'
import { messageOf } from '../errors/startup-error.ts'
import { failureOf, readSent, reusedIds, reuseFailures, type IdText } from './messages.ts'

/** A server, whatever carries its lines. */
export interface WrappedProgram {
  readonly stdout: Readable
  readonly stdin: Writable
  /** Resolves when it has ended and all its lines were read. Never rejects. */
  readonly ended: Promise<ProgramEnd>
  kill(signal: NodeJS.Signals): void
}

export interface ProgramEnd {
  readonly exitCode: number
  /** As a sentence. */
  readonly message: string
}

interface WrapperOptions {
  readonly name: string
  readonly command: string
  readonly version: string
  /** Null: the server is reached at `url`. */
  readonly program: WrappedProgram | null
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly stdin: Readable
  readonly stdout: Writable
  readonly note: (text: string) => void
  readonly connect: () => Promise<Socket>
}

/** Exit code when the calls cannot be judged. */
const UNDECIDED = 3
/** Between two connections that a daemon did not answer. */
const RECONNECT_MS = 100
/** A server that is asked to end has this time, then gets a signal. */
const GRACE_MS = 5000
/** Time for the last answers after a server has ended. */
const LAST_ANSWERS_MS = 5000

/** Resolves with the exit code: that of the server, or 3 when no daemon answers. */
export function runWrapper(options: WrapperOptions): Promise<number> {
  return new Wrapper(options).run()
}

class Wrapper {
  readonly #options: WrapperOptions
  readonly #id = randomUUID()
  /** Requests of the client that were handed to the daemon. */
  readonly #pending = new Set<IdText>()
  readonly #ended: Promise<number>
  #resolve: (exitCode: number) => void = () => {}
  #socket: Socket | null = null
  /** Sent once there is a connection. */
  #waiting: (readonly [FrameKind, Buffer])[] = []
  #isClientDone = false
  #isEnded = false
  /** The client has begun a session. */
  #hasBegun = false
  #wasWelcomed = false
  #end: ProgramEnd | null = null

  constructor(options: WrapperOptions) {
    this.#options = options
    this.#ended = new Promise((resolve) => {
      this.#resolve = (exitCode) => {
        this.#isEnded = true
        this.#socket?.destroy()
        resolve(exitCode)
      }
    })
  }

  run(): Promise<number> {
    const { stdin, program } = this.#options
    this.#read(stdin, (line) => this.#fromClient(line), 'the client')
    stdin.on('end', () => this.#clientEnded())
    stdin.on('error', () => this.#clientEnded())
    if (program !== null) {
      this.#read(program.stdout, (line) => this.#toDaemon(FRAME.server, line), 'the server')
      void program.ended.then((end) => this.#programEnded(end))
    }
    void this.#connect()
    return this.#ended
  }

  #read(stream: Readable, take: (line: Buffer) => void, who: string): void {
    const lines = new LineReader(MAX_MESSAGE, take)
    stream.on('data', (chunk: Buffer) => {
      try {
        lines.push(chunk)
      } catch (error) {
        this.#stop(`${who}: ${messageOf(error)}`)
      }
      if (this.#socket?.writableNeedDrain === true) {
        stream.pause()
        void drained(this.#socket).then(() => stream.resume())
      }
    })
    stream.on('end', () => lines.end())
  }

  #fromClient(line: Buffer): void {
    const message = readSent(line.toString('utf8'))
    const reused = reusedIds(message, (id) => this.#pending.has(id))
    if (reused.length > 0) {
      for (const text of reuseFailures(message, reused)) this.#write(this.#options.stdout, Buffer.from(text))
      return
    }
    const { requests, cancelled } = message
    for (const id of cancelled) this.#pending.delete(id)
    for (const { id, method } of requests) {
      this.#pending.add(id)
      this.#hasBegun ||= method === 'initialize'
    }
    this.#toDaemon(FRAME.client, line)
  }

  #toDaemon(kind: FrameKind, payload: Buffer = Buffer.alloc(0)): void {
    if (this.#socket === null) this.#waiting.push([kind, payload])
    else writeFrame(this.#socket, kind, payload)
  }

  async #connect(): Promise<void> {
    const { connect, name, command, version, url, headers } = this.#options
    let socket: Socket
    try {
      socket = await connect()
    } catch (error) {
      return this.#stop(messageOf(error))
    }
    const hello: Hello = {
      protocol: PROTOCOL,
      version,
      id: this.#id,
      name,
      command,
      isResumed: this.#hasBegun && this.#wasWelcomed,
      ...(url === undefined ? {} : { url }),
      ...(headers === undefined ? {} : { headers }),
    }
    const reader = new FrameReader((kind, payload) => this.#take(socket, kind, payload))
    socket.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk)
      } catch (error) {
        this.#options.note(messageOf(error))
        socket.destroy()
      }
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#daemonLost(socket))
    writeFrame(socket, FRAME.hello, JSON.stringify(hello))
  }

  #take(socket: Socket, kind: FrameKind, payload: Buffer): void {
    if (kind === FRAME.welcome) return this.#welcomed(socket)
    if (kind === FRAME.refused) return this.#stop(payload.toString('utf8'))
    if (kind === FRAME.note) return this.#options.note(payload.toString('utf8'))
    if (kind === FRAME.done) return this.#answered()
    if (kind === FRAME.server) return this.#write(this.#options.program?.stdin ?? null, payload)
    if (kind === FRAME.client) return this.#write(this.#options.stdout, payload)
    if (kind !== FRAME.reply) return
    const cut = payload.indexOf(0x0a)
    this.#pending.delete(payload.subarray(0, cut).toString('utf8'))
    this.#write(this.#options.stdout, payload.subarray(cut + 1))
  }

  #welcomed(socket: Socket): void {
    this.#socket = socket
    this.#wasWelcomed = true
    for (const [kind, payload] of this.#waiting) writeFrame(socket, kind, payload)
    this.#waiting = []
    if (this.#end !== null) this.#toDaemon(FRAME.exited, Buffer.from(this.#end.message))
    else if (this.#isClientDone) this.#toDaemon(FRAME.end)
  }

  #write(stream: Writable | null, line: Buffer): void {
    if (stream === null || stream.destroyed || stream.writableEnded) return
    stream.cork()
    stream.write(asOneLine(line))
    const isFree = stream.write('\n')
    stream.uncork()
    if (isFree || this.#socket === null) return
    const socket = this.#socket
    socket.pause()
    void drained(stream).then(() => socket.resume())
  }

  /** The outcome of calls under way is unknown: they may have been forwarded. */
  #daemonLost(socket: Socket): void {
    if (this.#isEnded) return
    // A daemon that ends may still accept a connection.
    if (this.#socket === socket) this.#socket = null
    else return void setTimeout(() => void this.#connect(), RECONNECT_MS)
    const reason =
      'the daemon of preflight ended while this request was under way; whether it was carried out is unknown'
    for (const id of this.#pending) this.#write(this.#options.stdout, Buffer.from(failureOf(id, reason)))
    this.#pending.clear()
    if (this.#end !== null) return this.#resolve(this.#end.exitCode)
    void this.#connect()
  }

  #clientEnded(): void {
    if (this.#isClientDone) return
    this.#isClientDone = true
    if (this.#socket !== null) this.#toDaemon(FRAME.end)
  }

  /** Every request of the client has its answer. */
  #answered(): void {
    const { program } = this.#options
    if (this.#end !== null || program === null) return this.#resolve(this.#end?.exitCode ?? 0)
    program.stdin.end()
    setTimeout(() => program.kill('SIGTERM'), GRACE_MS).unref()
    setTimeout(() => program.kill('SIGKILL'), 2 * GRACE_MS).unref()
  }

  #programEnded(end: ProgramEnd): void {
    this.#end = end
    if (this.#isClientDone && this.#pending.size === 0) return this.#resolve(end.exitCode)
    if (!this.#isClientDone) this.#options.note(end.message)
    if (this.#socket !== null) this.#toDaemon(FRAME.exited, Buffer.from(end.message))
    setTimeout(() => this.#resolve(end.exitCode), LAST_ANSWERS_MS).unref()
  }

  /** Calls cannot be judged: the server must not be used. */
  #stop(reason: string): void {
    this.#options.note(reason)
    for (const id of this.#pending) this.#write(this.#options.stdout, Buffer.from(failureOf(id, reason)))
    this.#pending.clear()
    this.#options.program?.kill('SIGTERM')
    this.#resolve(UNDECIDED)
  }
}
