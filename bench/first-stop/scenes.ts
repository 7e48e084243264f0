/**
 * The three shortest ways from a clone to a first stopped call, with the commands that a user types and the servers of
 * examples/. Each scene throws when nothing was stopped.
 */
import { execFile, spawn, type ExecFileException } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { parse } from 'yaml'
import { startGatewayProcess } from '../gateway.ts'

export interface Place {
  /** The clone, with its packages. */
  readonly root: string
  /** Empty; home and working directory of the user. */
  readonly folder: string
}

interface Scene {
  readonly title: string
  /** Resolves with what the caller reads of the stop. */
  readonly run: (place: Place) => Promise<string>
}

export const SCENES: readonly Scene[] = [
  { title: "an editor's stdio server", run: stdioScene },
  { title: 'an HTTP API', run: apiScene },
  { title: 'a pull request', run: pullRequestScene },
]

/** In a folder of its own, which is gone afterwards. */
export async function runScene({ run }: Scene, root: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'preflight-first-stop-'))
  try {
    return await run({ root, folder })
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function stdioScene(place: Place): Promise<string> {
  const file = join(place.folder, '.cursor', 'mcp.json')
  const args = [join(place.root, 'examples/tools/server.js'), '--stdio']
  await put(file, JSON.stringify({ mcpServers: { orders: { command: process.execPath, args } } }))
  await preflight(place, ['init', '--editor', 'cursor', '--write'])
  try {
    const [command = '', ...wrapped] = await commandIn(file)
    await called(place, command, wrapped)
    const answer = await called(place, command, [...wrapped, '--changed'])
    return stopped(answer, /Preflight stopped[^\n]*/)
  } finally {
    await endDaemon(place)
  }
}

async function commandIn(file: string): Promise<readonly string[]> {
  const written: { mcpServers: { orders: { command: string; args: string[] } } } = JSON.parse(
    await readFile(file, 'utf8'),
  )
  const { command, args } = written.mcpServers.orders
  return [command, ...args]
}

/** A session of an editor with one call; the answer as JSON. */
async function called({ folder }: Place, command: string, args: readonly string[]): Promise<string> {
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: surroundings(folder),
    cwd: folder,
    stderr: 'ignore',
  })
  const client = new Client({ name: 'first-stop', version: '1.0.0' })
  await client.connect(transport)
  try {
    return JSON.stringify(await client.callTool({ name: 'get_order', arguments: { id: '1' } }))
  } finally {
    await client.close()
  }
}

const DAEMON_POLLS = 100

async function endDaemon({ folder }: Place): Promise<void> {
  const { pid }: { readonly pid?: number } = JSON.parse(
    await readFile(join(folder, '.preflight', 'daemon.json'), 'utf8').catch(() => '{}'),
  )
  if (pid === undefined) return
  for (let poll = 0; poll < DAEMON_POLLS; poll += 1) {
    try {
      process.kill(pid, poll === 0 ? 'SIGTERM' : 0)
    } catch {
      return
    }
    await sleep(100)
  }
}

async function apiScene({ root }: Place): Promise<string> {
  const example = join(root, 'examples/shop')
  const server = spawn(process.execPath, [join(example, 'server.js')], {
    env: { PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = once(server, 'exit')
  try {
    const [line]: readonly unknown[] = await once(server.stdout, 'data')
    const upstream = /http:\S+/.exec(String(line))?.[0] ?? ''
    const text = await readFile(join(example, 'preflight.yaml'), 'utf8')
    const config: unknown = parse(text.replace(/http:\S+/, upstream))
    const files = { 'before.yaml': '', 'after.yaml': '' }
    for (const name of ['before.yaml', 'after.yaml'] as const) files[name] = await readFile(join(example, name), 'utf8')
    const gateway = await startGatewayProcess(config, files, { entry: join(root, 'gateway/preflight.js') })
    try {
      const answer = await fetch(`${gateway.addresses.proxy}/shop/orders`)
      return stopped(`HTTP ${answer.status} ${await answer.text()}`, /HTTP 403 .*PREFLIGHT_STOP/)
    } finally {
      await gateway.stop()
    }
  } finally {
    server.kill()
    await gone
  }
}

async function pullRequestScene(place: Place): Promise<string> {
  const contract = join(place.folder, 'api', 'openapi.yaml')
  const git = (...argv: readonly string[]): Promise<string> =>
    printedBy('git', ['-c', 'user.name=first', '-c', 'user.email=first@stop.example', ...argv], place.folder)
  await git('init', '-q', '-b', 'main')
  for (const version of ['before', 'after']) {
    await mkdir(dirname(contract), { recursive: true })
    await copyFile(join(place.root, 'examples/shop', `${version}.yaml`), contract)
    await git('add', 'api')
    await git('commit', '-q', '-m', version)
    if (version === 'before') await git('switch', '-q', '-c', 'change')
  }
  return stopped(await preflight(place, ['ci', '--base', 'main']), /^exit code 1\n[^]*BREAKING \(\d+\)/)
}

function preflight({ root, folder }: Place, argv: readonly string[]): Promise<string> {
  const program = ['--disable-warning=ExperimentalWarning', join(root, 'gateway/preflight.js')]
  return printedBy(process.execPath, [...program, ...argv], folder)
}

/** What a command printed; before it the exit code if it is not 0. */
function printedBy(program: string, argv: readonly string[], folder: string): Promise<string> {
  return new Promise((resolve) => {
    const ended = (error: ExecFileException | null, stdout: string, stderr: string): void =>
      resolve(error === null ? stdout : `exit code ${error.code ?? 'unknown'}\n${stdout}${stderr}`)
    execFile(program, argv, { cwd: folder, env: surroundings(folder), encoding: 'utf8' }, ended)
  })
}

function surroundings(folder: string): Record<string, string> {
  const { PATH = '' } = process.env
  return { PATH, HOME: folder, PREFLIGHT_HOME: join(folder, '.preflight') }
}

async function put(file: string, content: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
}

function stopped(answer: string, stop: RegExp): string {
  const [found] = stop.exec(answer) ?? []
  if (found === undefined) throw new Error(`nothing was stopped:\n${answer}`)
  return found
}
