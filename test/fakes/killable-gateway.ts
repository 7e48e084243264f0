/** A gateway as its own process on a data directory that outlives it: killed and started again, or run next to others on one store. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { TEST_KEY } from './gateway.ts'

export const PREFLIGHT = fileURLToPath(new URL('../../gateway/preflight.js', import.meta.url))

export interface KillableGateway {
  readonly pid: number
  readonly addresses: Readonly<Record<'proxy' | 'api' | 'admin', string>>
  /** Lines of its log. */
  readonly log: readonly string[]
  /** Resolves when the process is gone. */
  end(signal: NodeJS.Signals): Promise<void>
}

export interface KillableOptions {
  /** Options of Node before the program. */
  readonly nodeOptions?: readonly string[]
  /** Milliseconds that its clock is ahead of the others. */
  readonly clockAhead?: number
}

const SKEWED_CLOCK = new URL('./skewed-clock.ts', import.meta.url).href

/** @param folder holds its configuration and its data; throws with its log when it does not start */
export async function startKillable(
  folder: string,
  config: object,
  { nodeOptions = [], clockAhead = 0 }: KillableOptions = {},
): Promise<KillableGateway> {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'preflight.yaml')
  writeFileSync(file, JSON.stringify({ rate: { per_minute: 10_000_000 }, ...config }))
  const skew = clockAhead === 0 ? [] : ['--import', SKEWED_CLOCK]
  const child = spawn(process.execPath, [...nodeOptions, ...skew, PREFLIGHT, 'serve', '--config', file], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: '/usr/bin:/bin',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      TEST_CLOCK_AHEAD: String(clockAhead),
      PREFLIGHT_DATA_DIR: join(folder, 'state'),
      PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY,
      PREFLIGHT_PROXY_LISTEN: '127.0.0.1:0',
      PREFLIGHT_API_LISTEN: '127.0.0.1:0',
      PREFLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
    },
  })
  const exited = once(child, 'exit')
  const log: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => {
    log.push(line)
    if (log.length > 500) log.shift()
  })
  const ready = once(createInterface({ input: child.stdout }), 'line')
  const ended = exited.then(() =>
    Promise.reject(new Error(`the gateway ended before it was ready:\n${log.join('\n')}`)),
  )
  ended.catch(() => {})
  const [line] = await Promise.race([ready, ended])
  const { proxy = '', api = '', admin = '' }: Readonly<Record<string, string>> = JSON.parse(String(line))
  return {
    pid: child.pid ?? 0,
    addresses: { proxy, api, admin },
    log,
    end: async (signal) => {
      child.kill(signal)
      await exited
    },
  }
}
