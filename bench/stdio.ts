/** What `preflight mcp` adds to a server over standard streams: time of a call, time of a start, memory. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { usageOf } from './child.ts'
import { mebibytes, milliseconds, table, type Section } from './report.ts'

const require = createRequire(import.meta.url)
const SERVER = [process.execPath, require.resolve('@modelcontextprotocol/server-everything/dist/index.js'), 'stdio']
const PREFLIGHT = join(import.meta.dirname, '..', 'gateway', 'preflight.js')
const WARM_CALLS = 100
const CALLS = 500
const STARTS = 5
/** The daemon gives back what loading took after two seconds. */
const IDLE_MILLISECONDS = 3000

interface Measured {
  readonly p50: number
  readonly startMs: number
  readonly rss: number
}

export async function stdioSection(): Promise<Section> {
  const home = mkdtempSync(join(tmpdir(), 'preflight-bench-'))
  const wrapped = [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    PREFLIGHT,
    'mcp',
    '--name',
    'bench',
    '--',
    ...SERVER,
  ]
  try {
    // The first one starts the daemon.
    await measured(wrapped, home)
    const judged = await measured(wrapped, home)
    const direct = await measured(SERVER, home)
    const daemon: { readonly pid: number } = JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8'))
    await sleep(IDLE_MILLISECONDS)
    const daemonRss = usageOf(daemon.pid)?.rss ?? 0
    process.kill(daemon.pid, 'SIGTERM')
    return {
      markdown: table(
        ['', 'direct', 'through preflight mcp'],
        [
          ['tools/call, p50 (ms)', milliseconds(direct.p50), milliseconds(judged.p50)],
          [`start of a session, median of ${STARTS} (ms)`, milliseconds(direct.startMs), milliseconds(judged.startMs)],
          ['memory of the process (MiB)', mebibytes(direct.rss), mebibytes(judged.rss)],
          ['memory of the daemon, shared (MiB)', '', mebibytes(daemonRss)],
        ],
      ),
      checks: [
        { threshold: 'stdio_added_p50_ms', measured: judged.p50 - direct.p50 },
        { threshold: 'stdio_added_start_ms', measured: judged.startMs - direct.startMs },
        { threshold: 'stdio_daemon_mib', measured: daemonRss / 2 ** 20 },
      ],
    }
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function measured(command: readonly string[], home: string): Promise<Measured> {
  const starts: number[] = []
  for (let start = 1; start < STARTS; start += 1) {
    const session = await begun(command, home)
    starts.push(session.startMs)
    await session.client.close()
  }
  const { client, startMs, pid } = await begun(command, home)
  starts.push(startMs)
  const times: number[] = []
  for (let call = 0; call < WARM_CALLS + CALLS; call += 1) {
    const startedAt = performance.now()
    await client.callTool({ name: 'echo', arguments: { message: 'x'.repeat(1000) } })
    if (call >= WARM_CALLS) times.push(performance.now() - startedAt)
  }
  const rss = usageOf(pid)?.rss ?? 0
  await client.close()
  return { p50: median(times), startMs: median(starts), rss }
}

async function begun([command = '', ...args]: readonly string[], home: string) {
  const { PATH = '', HOME = '' } = process.env
  const transport = new StdioClientTransport({
    command,
    args,
    env: { PATH, HOME, PREFLIGHT_HOME: home },
    stderr: 'ignore',
  })
  const client = new Client({ name: 'bench', version: '1.0.0' })
  const startedAt = performance.now()
  await client.connect(transport)
  return { client, startMs: performance.now() - startedAt, pid: transport.pid ?? 0 }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
