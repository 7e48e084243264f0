/** The real MCP server of the demo: @modelcontextprotocol/server-everything from the npm registry, over Streamable HTTP, in its own process. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

export interface EverythingServer {
  readonly url: string
  readonly version: string
  stop(): Promise<void>
}

/** The server takes its port from the environment only, so one that is free now is named. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port of the loopback interface is free')
  return address.port
}

async function untilListening(child: ChildProcess): Promise<void> {
  const lines: string[] = []
  await new Promise<void>((resolve, reject) => {
    const read = (line: string): void => {
      lines.push(line)
      if (/listening on port/i.test(line)) resolve()
    }
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', read)
    }
    child.once('exit', () => reject(new Error(`server-everything ended at once:\n${lines.join('\n')}`)))
    child.once('error', reject)
  })
}

export async function startEverything(): Promise<EverythingServer> {
  const manifestPath = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')
  const { default: manifest }: { default: { readonly version: string } } = await import(manifestPath, {
    with: { type: 'json' },
  })
  const port = await freePort()
  const entry = join(dirname(manifestPath), 'dist/index.js')
  const child = spawn(process.execPath, [entry, 'streamableHttp'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PORT: String(port) },
  })
  await untilListening(child)
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  return { url: `http://127.0.0.1:${port}/mcp`, version: manifest.version, stop }
}
