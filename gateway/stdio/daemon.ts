/**
 * The daemon of `preflight mcp`: one gateway for all wrapped servers of a user, so that they share one ledger, one set of
 * baselines and one policy. It listens on a socket that only this user can reach, and ends when nobody is connected. Daemon and
 * connections are one file: neither is used without the other.
 */
import { rmSync, unwatchFile, watchFile } from 'node:fs'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { isJsonObject } from '../json/strict-json.ts'
import { openPool, type UndiciPoolType } from '../network/undici.ts'
import { releaseFreeMemory } from '../runtime/free-memory.ts'
import type { Environment } from '../settings/environment.ts'
import { ClientSession } from './client-session.ts'
import { drained } from './drained.ts'
import { FRAME, FrameReader, MAX_MESSAGE, PROTOCOL, writeFrame, type FrameKind, type Hello } from './frames.ts'
import { failureOf, type IdText } from './messages.ts'
import { makeHome, type DeskHome, hubOf } from './home.ts'
import { openServerBridge, type AttachedServer, type ServerBridge } from './server-bridge.ts'
import { tryConnect } from './daemon-connection.ts'
import { HELD_ELSEWHERE } from '../store/sqlite/opening-fault.ts'
import { identityOf, type FileIdentity } from '../store/sqlite/opened-files.ts'
import { holdServingLocks, type ServingLocks } from '../store/sqlite/serving-lock.ts'
import { ledgerFile } from '../store/opening/open.ts'
import { recordIn } from '../json/unchecked-json.ts'
import { messageOf } from '../errors/startup-error.ts'
import { dataFolder, keepServer, userSettings, writeDeskConfig, nameProblem } from './server-list.ts'

/** The part of a gateway that the daemon works with. */
export interface DeskGateway {
  readonly addresses: { readonly proxy: string }
  warmUp(): Promise<void>
  reload(): void
  /** What prevents the last configuration from being in force; empty: it is in force. */
  problems(): readonly string[]
  /** Why the server of a call was not reached; null: it was, or that is not known any more. */
  upstreamFault(correlationId: string): string | null
  close(): Promise<void>
}

interface DaemonOptions {
  readonly home: DeskHome
  /** Starts a gateway with this configuration file. */
  readonly startGateway: (file: string, environment: Environment) => Promise<DeskGateway>
  readonly environment: Environment
  readonly now: () => number
  /** Milliseconds without a connection after which the daemon ends. */
  readonly idleMs: number
}

interface Daemon {
  /** Resolves when the daemon has ended. */
  readonly ended: Promise<void>
  /** Settings of the user that changed are in force. */
  reload(): void
  close(): Promise<void>
}

/** Variables that the daemon takes over; others of the first client would decide for all later ones. */
const TAKEN_OVER = ['PREFLIGHT_LOG_LEVEL'] as const

/** After the last server that began, its first calls have loaded what judges calls. */
const REST_MS = 2000

/** Between two looks at the settings of the user, the lock and the socket. Editors replace files: only polling sees that. */
const WATCH_MS = 1000

/**
 * Rejects when the configuration cannot be used, and with the code HELD_ELSEWHERE when another daemon serves this user. That one
 * reads the same configuration, so nothing is written before the lock is held. Its lock file may have been removed meanwhile: then
 * its open ledger tells that it runs.
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { home } = options
  makeHome(home)
  const lock = holdServingLocks([home.lock], deskLedger(home))
  const bridge = await openServerBridge()
  try {
    await requireUnserved(home)
    writeDeskConfig(home, bridge.address)
    const environment = Object.fromEntries(TAKEN_OVER.map((name) => [name, options.environment[name]]))
    const gateway = await options.startGateway(home.config, environment)
    const running = new RunningDaemon(options, gateway, bridge, lock)
    await running.listen()
    void gateway.warmUp().then(() => running.rest())
    return running
  } catch (error) {
    await bridge.close()
    lock.close()
    throw error
  }
}

/** Where a hub or a database keeps the ledger, only its socket tells that a daemon runs whose lock file was removed. */
async function requireUnserved({ socket: path }: DeskHome): Promise<void> {
  const socket = await tryConnect(path)
  if (socket === null) return
  socket.destroy()
  throw Object.assign(new Error(`another daemon listens at ${path}`), { code: HELD_ELSEWHERE })
}

/** The file that keeps the ledger; null: a hub or a database does. */
function deskLedger(home: DeskHome): string | null {
  if (hubOf(home) !== null) return null
  const { url } = recordIn(userSettings(home.settings)['store'])
  return ledgerFile({ data_dir: dataFolder(home), store: typeof url === 'string' ? { url } : {} })
}

class RunningDaemon implements Daemon {
  readonly ended: Promise<void>
  readonly #options: DaemonOptions
  readonly #gateway: DeskGateway
  readonly #bridge: ServerBridge
  readonly #lock: ServingLocks
  readonly #pool: UndiciPoolType
  readonly #server: Server
  readonly #connections = new Set<WrapperConnection>()
  #idle: NodeJS.Timeout | null = null
  #watch: NodeJS.Timeout | null = null
  /** Of the socket; null: the system has no file for it. */
  #identity: FileIdentity = null
  /** At the last look. */
  #wasReplaced = false
  #rest: NodeJS.Timeout | null = null
  #closing: Promise<void> | null = null
  #resolveEnded: () => void = () => {}
  readonly #settings: string
  readonly #onSettings = (): void => this.reload()

  constructor(options: DaemonOptions, gateway: DeskGateway, bridge: ServerBridge, lock: ServingLocks) {
    this.#options = options
    this.#lock = lock
    this.#settings = hubOf(options.home)?.settings ?? options.home.settings
    this.#gateway = gateway
    this.#bridge = bridge
    this.#pool = openPool(gateway.addresses.proxy, { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 600_000 })
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve
    })
    this.#server = createServer((socket) => this.#accept(socket))
  }

  async listen(): Promise<void> {
    const { socket } = this.#options.home
    // The lock of the gateway's data directory is held: a socket that is there belongs to nobody.
    if (process.platform !== 'win32') rmSync(socket, { force: true })
    this.#server.listen(socket)
    await once(this.#server, 'listening')
    if (process.platform !== 'win32') this.#identity = identityOf(socket)
    this.#watch = setInterval(() => this.#endIfReplaced(), WATCH_MS).unref()
    watchFile(this.#settings, { interval: WATCH_MS, persistent: false }, this.#onSettings)
    this.#waitForUse()
  }

  /** Gives back what loading took, once servers have not begun for a while: their start is not delayed. */
  rest(): void {
    if (this.#rest !== null) clearTimeout(this.#rest)
    this.#rest = setTimeout(releaseFreeMemory, REST_MS).unref()
  }

  reload(): void {
    if (!this.#serves()) return
    const { home } = this.#options
    try {
      writeDeskConfig(home, this.#bridge.address)
    } catch {
      // The next server that starts reports it to its client.
      return
    }
    this.#gateway.reload()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    for (const timer of [this.#idle, this.#rest, this.#watch]) if (timer !== null) clearTimeout(timer)
    unwatchFile(this.#settings, this.#onSettings)
    const closed = this.#closeServer()
    for (const connection of this.#connections) connection.destroy()
    await closed
    await this.#pool.destroy()
    await this.#gateway.close()
    await this.#bridge.close()
    this.#lock.close()
    this.#resolveEnded()
  }

  /** Closing removes the file at the path of the socket, which may be that of the next daemon by now. */
  async #closeServer(): Promise<void> {
    if (!this.#hasSocket()) return void this.#server.unref()
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }

  #hasSocket(): boolean {
    return this.#identity === null || identityOf(this.#options.home.socket) === this.#identity
  }

  /**
   * Whether this daemon still serves: two would write one configuration. A lock that was only removed is held again. One that
   * starts beside this daemon has the lock for a moment, until it finds the socket.
   */
  #serves(): boolean {
    if (this.#closing !== null || !this.#hasSocket()) return false
    try {
      this.#lock.require()
      return true
    } catch {
      return false
    }
  }

  /** Nobody finds a daemon without its socket, and the next one serves. */
  #endIfReplaced(): void {
    const isServing = this.#serves()
    if (!isServing && (!this.#hasSocket() || this.#wasReplaced)) void this.close()
    this.#wasReplaced = !isServing
  }

  #accept(socket: Socket): void {
    if (this.#idle !== null) clearTimeout(this.#idle)
    const connection = new WrapperConnection(socket, (hello) => this.#admit(hello))
    this.#connections.add(connection)
    socket.on('close', () => {
      this.#connections.delete(connection)
      this.#waitForUse()
    })
  }

  #waitForUse(): void {
    if (this.#connections.size > 0 || this.#closing !== null) return
    this.#idle = setTimeout(() => void this.close(), this.#options.idleMs)
    this.#idle.unref()
  }

  /** What prevents the settings with the servers of now from being in force. */
  #problemsWithServers(): readonly string[] {
    if (writeDeskConfig(this.#options.home, this.#bridge.address)) this.#gateway.reload()
    return this.#gateway.problems()
  }

  /** @param problems with this server, which is not on the list any more */
  #refusal({ url }: Hello, problems: readonly string[]): string {
    const without = this.#problemsWithServers()
    return without.length === 0 && url !== undefined
      ? `the address or the settings of this server have mistakes:\n${problems.join('\n')}`
      : `the settings in ${this.#settings} have mistakes:\n${problems.join('\n')}`
  }

  /** What a connection works with, or why it is refused; null: it shall find the daemon that serves now. */
  #admit(hello: Hello): AdmittedWrapper | string | null {
    if (!this.#serves()) {
      void this.close()
      return null
    }
    const problem = nameProblem(hello.name)
    if (problem !== null) return problem
    const { home, now } = this.#options
    try {
      const forget = keepServer(home, hello, now)
      // A server that is new, or settings that changed a moment ago: its first call is judged by them.
      const problems = this.#problemsWithServers()
      if (problems.length > 0) {
        // A server that cannot be used must not keep the others from starting.
        forget()
        return this.#refusal(hello, problems)
      }
    } catch (error) {
      return messageOf(error)
    }
    this.rest()
    const faultOf = (correlationId: string) => this.#gateway.upstreamFault(correlationId)
    return { pool: this.#pool, bridge: this.#bridge, path: `/${hello.name}`, faultOf }
  }
}

interface AdmittedWrapper {
  readonly pool: UndiciPoolType
  readonly bridge: ServerBridge
  readonly path: string
  readonly faultOf: DeskGateway['upstreamFault']
}

/** One `preflight mcp`: the client's lines and the server's lines, in both directions. */
class WrapperConnection {
  readonly #socket: Socket
  readonly #admit: (hello: Hello) => AdmittedWrapper | string | null
  #session: ClientSession | null = null
  #server: AttachedServer | null = null

  constructor(socket: Socket, admit: (hello: Hello) => AdmittedWrapper | string | null) {
    this.#socket = socket
    this.#admit = admit
    const reader = new FrameReader((kind, payload) => this.#take(kind, payload))
    socket.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk)
      } catch {
        socket.destroy()
      }
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#gone())
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #take(kind: FrameKind, payload: Buffer): void {
    if (this.#session === null) {
      if (kind === FRAME.hello) return this.#greet(payload)
      return void this.#socket.destroy()
    }
    if (kind === FRAME.client) return this.#session.receive(payload)
    if (kind === FRAME.end) return void this.#finish(this.#session)
    if (kind === FRAME.exited) {
      this.#server?.fail(payload.toString('utf8'))
      return void this.#finish(this.#session)
    }
    if (kind !== FRAME.server) return
    const full = this.#server?.receive(payload)
    if (full instanceof Promise) this.#pauseUntil(full)
  }

  #greet(payload: Buffer): void {
    const hello = parsedHello(payload)
    if (hello === null) return this.#refuse('another version of preflight is running; end it, then start again')
    const admitted = this.#admit(hello)
    if (admitted === null) return this.destroy()
    if (typeof admitted === 'string') return this.#refuse(admitted)
    const isProgram = hello.url === undefined
    if (isProgram)
      this.#server = admitted.bridge.attach(hello.id, {
        write: (line) => this.#write(FRAME.server, line),
        note: (text) => void this.#write(FRAME.note, Buffer.from(text)),
      })
    this.#session = new ClientSession({
      id: hello.id,
      pool: admitted.pool,
      path: admitted.path,
      headers: hello.headers ?? {},
      isProgram,
      isResumed: hello.isResumed,
      server: hello.url ?? hello.name,
      faultOf: admitted.faultOf,
      send: (text, answers) => this.#toClient(Buffer.from(text), answers),
    })
    writeFrame(this.#socket, FRAME.welcome)
  }

  #refuse(reason: string): void {
    writeFrame(this.#socket, FRAME.refused, reason)
    this.#socket.end()
  }

  async #finish(session: ClientSession): Promise<void> {
    await session.idle()
    writeFrame(this.#socket, FRAME.done)
  }

  /** A server over HTTP is not bound to the length of a line. */
  #toClient(message: Buffer, answers: IdText | null): Promise<void> | undefined {
    const isTooLong = message.length > MAX_MESSAGE
    if (answers === null)
      return isTooLong
        ? this.#write(FRAME.note, Buffer.from(`a message of the server is not forwarded: it ${TOO_LONG}`))
        : this.#write(FRAME.client, message)
    const reply = isTooLong ? Buffer.from(failureOf(answers, `the answer of the server ${TOO_LONG}`)) : message
    return this.#write(FRAME.reply, Buffer.concat([Buffer.from(`${answers}\n`), reply]))
  }

  #write(kind: FrameKind, payload: Buffer): Promise<void> | undefined {
    return writeFrame(this.#socket, kind, payload) || this.#socket.destroyed ? undefined : drained(this.#socket)
  }

  #pauseUntil(free: Promise<void>): void {
    this.#socket.pause()
    void free.finally(() => this.#socket.resume())
  }

  #gone(): void {
    this.#session?.close()
    this.#server?.fail('the client disconnected')
    this.#server?.detach()
  }
}

const TOO_LONG = `is longer than ${MAX_MESSAGE} bytes`

/** Null: it was not written by this version of the protocol. */
function parsedHello(payload: Buffer): Hello | null {
  try {
    const value: unknown = JSON.parse(payload.toString('utf8'))
    if (!isJsonObject(value) || value['protocol'] !== PROTOCOL) return null
    const { version, id, name, command, isResumed, url, headers } = value
    if (typeof id !== 'string' || typeof name !== 'string' || typeof command !== 'string') return null
    const fields = isJsonObject(headers) ? Object.entries(headers).map(([key, one]) => [key, String(one)]) : []
    return {
      protocol: PROTOCOL,
      version: String(version),
      id,
      name,
      command,
      isResumed: isResumed === true,
      ...(typeof url === 'string' ? { url } : {}),
      headers: Object.fromEntries(fields),
    }
  } catch {
    return null
  }
}
