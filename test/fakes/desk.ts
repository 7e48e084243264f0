/** `preflight mcp` as an editor runs it: the real program, with a home of its own that goes with the test. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { until } from './until.ts'

const ROOT = join(import.meta.dirname, '..', '..')
export const PREFLIGHT = join(ROOT, 'gateway', 'preflight.js')
export const LINE_SERVER = join(import.meta.dirname, 'line-server.ts')

export interface Desk {
  readonly home: string
  readonly environment: Readonly<Record<string, string>>
  /** Arguments of Node.js that run `preflight mcp`. */
  wrapped(options: readonly string[], command: readonly string[]): readonly string[]
  /** Process id of the daemon. */
  daemon(): Promise<number>
  /** Ends with the test, before the daemon: a client would start another one. */
  add(close: () => Promise<unknown>): void
}

/** The daemon is started here and not by the first server, so that it ends with the test. */
export function startDesk(t: TestContext, settings?: string): Desk {
  const home = mkdtempSync(join(tmpdir(), 'preflight-desk-'))
  if (settings !== undefined) writeFileSync(join(home, 'preflight.yaml'), settings)
  const environment = { ...plainEnvironment(), PREFLIGHT_HOME: home }
  const clients: (() => Promise<unknown>)[] = []
  t.after(async () => {
    for (const close of clients) await close()
    const hubs = join(home, 'hubs')
    const homes = existsSync(hubs) ? readdirSync(hubs).map((name) => join(hubs, name)) : []
    for (const pid of [home, ...homes].flatMap(daemonsOf)) await ended(pid)
    rmSync(home, { recursive: true, force: true })
  })
  return {
    home,
    environment,
    wrapped: (options, command) => [
      '--disable-warning=ExperimentalWarning',
      PREFLIGHT,
      'mcp',
      ...options,
      ...(command.length === 0 ? [] : ['--', ...command]),
    ],
    add: (close) => void clients.push(close),
    async daemon() {
      await until(() => daemonsOf(home).length > 0, 'a daemon runs')
      return daemonsOf(home)[0] ?? 0
    },
  }
}

async function stopped(client: ChildProcess): Promise<void> {
  if (client.exitCode !== null || client.signalCode !== null) return
  const closed = once(client, 'exit')
  client.kill('SIGKILL')
  await closed
}

function plainEnvironment(): Readonly<Record<string, string>> {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME }
}

/** Of this home only: each process names it in its environment. */
function daemonsOf(home: string): readonly number[] {
  try {
    const known: unknown = JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8'))
    const pid = typeof known === 'object' && known !== null && 'pid' in known ? Number(known.pid) : 0
    return isRunning(pid) ? [pid] : []
  } catch {
    return []
  }
}

function isRunning(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch {
    return false
  }
}

async function ended(pid: number): Promise<void> {
  process.kill(pid, 'SIGTERM')
  await until(() => !isRunning(pid), 'the daemon ends', 60_000)
}

/** A client that writes lines, for what no library writes. */
export interface LineClient {
  readonly process: ChildProcess
  /** Messages received, in order. */
  readonly messages: readonly Readonly<Record<string, unknown>>[]
  readonly stderr: () => string
  send(message: object | string): void
  /** Resolves with the answer to a request. */
  ask(id: string | number, method: string, params?: object): Promise<Readonly<Record<string, unknown>>>
  answer(id: string | number): Promise<Readonly<Record<string, unknown>>>
  readonly exit: Promise<number | null>
}

export function startLineClient(desk: Desk, options: readonly string[], command: readonly string[]): LineClient {
  const child = spawn(process.execPath, [...desk.wrapped(options, command)], {
    env: { ...desk.environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const messages: Readonly<Record<string, unknown>>[] = []
  const stderr = (): string => text
  let text = ''
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')))
  createInterface({ input: child.stdout }).on('line', (line) => void messages.push(JSON.parse(line)))
  const exit = once(child, 'close').then(([code]) => (typeof code === 'number' ? code : null))
  desk.add(() => stopped(child))
  const send = (message: object | string): void =>
    void child.stdin.write(
      `${typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message })}\n`,
    )
  const answer: LineClient['answer'] = async (id) => {
    const found = () => messages.find((one) => one['id'] === id && one['method'] === undefined)
    await until(() => found() !== undefined, `an answer to ${id}`, 30_000).catch((error: unknown) => {
      throw new Error(`${String(error)}; stderr: ${stderr()}`, { cause: error })
    })
    return found() ?? {}
  }
  return {
    process: child,
    messages,
    stderr,
    exit,
    send,
    answer,
    ask(id, method, params = {}) {
      send({ id, method, params })
      return answer(id)
    },
  }
}

/** Starts the session as every client does. */
export async function initialize(client: LineClient): Promise<void> {
  const clientInfo = { name: 'editor', version: '1.0.0' }
  await client.ask('init', 'initialize', { protocolVersion: '2025-06-18', capabilities: { sampling: {} }, clientInfo })
  client.send({ method: 'notifications/initialized' })
}

/** A client of the server `lines`, which offers the tools in the file, after its first exchange. */
export async function started(desk: Desk, file: string): Promise<LineClient> {
  const client = startLineClient(desk, ['--name', 'lines'], [process.execPath, LINE_SERVER, file])
  await initialize(client)
  return client
}
