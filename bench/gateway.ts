/** The gateway as a user starts it: `serve` with a configuration file, a fresh data directory and free ports, in its own process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { createInterface } from 'node:readline'
import packageJson from '../package.json' with { type: 'json' }

export interface GatewayProcess {
  readonly pid: number
  /** Origins of the listeners. */
  readonly addresses: Readonly<Record<'proxy' | 'api' | 'admin', string>>
  /** From spawn to the ready line, milliseconds. */
  readonly startMilliseconds: number
  readonly apiKey: string
  /** Holds its configuration, and its state in `state/`. */
  readonly folder: string
  /** SIGTERM, the exit code, and the data directory is gone. */
  stop(): Promise<number | null>
}

const ENTRY = join(import.meta.dirname, '../gateway/preflight.js')
const API_KEY = 'pf_test_bench_and_demo_only_0123456789'

function originOf(address: unknown): string {
  if (typeof address !== 'string') throw new TypeError('the ready line lacks an address')
  return address.startsWith('http') ? address : `http://${address}`
}

function readReady(line: string): GatewayProcess['addresses'] | null {
  if (!line.startsWith('{')) return null
  const event: unknown = JSON.parse(line)
  if (typeof event !== 'object' || event === null || !('event' in event) || event.event !== 'ready') return null
  const address = (name: string) => originOf(Object.entries(event).find(([member]) => member === name)?.[1])
  return { proxy: address('proxy'), api: address('api'), admin: address('admin') }
}

export interface ProcessOptions {
  /** Another build of the program than the sources here. */
  readonly entry?: string
  /** Options of Node before the program. */
  readonly nodeOptions?: readonly string[]
  /** Gets each line of its log. */
  readonly onLog?: (line: string) => void
}

/** How `npm start` runs the gateway: `exec env NAME=VALUE … node --FLAG … PROGRAM serve`. */
export function startScript(): {
  readonly environment: Readonly<Record<string, string>>
  readonly flags: readonly string[]
} {
  const [, variables, flags] = /^exec env((?: \w+=\w+)+) node((?: --[\w=-]+)*) /.exec(packageJson.scripts.start) ?? []
  if (variables === undefined || flags === undefined)
    throw new Error('the script start of package.json has another form')
  return { environment: Object.fromEntries(wordsOf(variables).map((one) => one.split('='))), flags: wordsOf(flags) }
}

function wordsOf(text: string): readonly string[] {
  return text.split(' ').filter((word) => word !== '')
}

/**
 * Starts it with a configuration (an object; JSON is YAML) and files beside it; throws with its log when it will not start.
 */
export async function startGatewayProcess(
  config: unknown,
  files: Readonly<Record<string, string>> = {},
  { entry = ENTRY, nodeOptions = [], onLog = () => {} }: ProcessOptions = {},
): Promise<GatewayProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'preflight-'))
  await writeFile(join(folder, 'preflight.yaml'), JSON.stringify(config))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const started = performance.now()
  const { environment, flags } = startScript()
  const args = [...flags, ...nodeOptions, entry, 'serve', '--config', join(folder, 'preflight.yaml')]
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...environment,
      PREFLIGHT_DATA_DIR: join(folder, 'state'),
      PREFLIGHT_PROXY_LISTEN: '127.0.0.1:0',
      PREFLIGHT_API_LISTEN: '127.0.0.1:0',
      PREFLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
      PREFLIGHT_BOOTSTRAP_KEY: API_KEY,
    },
  })
  const exited = once(child, 'exit')
  const log: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (log.length < 200) log.push(line)
    onLog(line)
  })
  const ready = new Promise<GatewayProcess['addresses']>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const addresses = readReady(line)
      if (addresses !== null) resolve(addresses)
    })
    exited.then(() => reject(new Error(`the gateway ended before it was ready:\n${log.join('\n')}`)), reject)
  })
  const addresses = await ready
  const stop = async (): Promise<number | null> => {
    child.kill('SIGTERM')
    await exited
    await rm(folder, { recursive: true, force: true })
    return child.exitCode
  }
  const { pid = 0 } = child
  return { pid, addresses, apiKey: API_KEY, folder, startMilliseconds: performance.now() - started, stop }
}
