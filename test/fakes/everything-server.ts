/** Published MCP servers that listen themselves, as their own processes on free ports; among them the one that offers one of everything. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { TestContext } from 'node:test'
import { until } from './until.ts'
import { freePort } from './listening.ts'

const PROGRAM = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')

/** Resolves with the address of its MCP endpoint. */
export function startEverythingServer(t: TestContext): Promise<string> {
  return startPublishedServer(t, PROGRAM, ['streamableHttp'], 'PORT')
}

/** @param variable environment variable with the port of the program. Resolves with the address of its MCP endpoint. */
export async function startPublishedServer(
  t: TestContext,
  program: string,
  argv: readonly string[],
  variable: string,
): Promise<string> {
  const port = await freePort()
  const server = spawn(process.execPath, [program, ...argv], {
    env: { ...process.env, [variable]: String(port) },
    stdio: 'ignore',
  })
  t.after(async () => {
    const closed = once(server, 'close')
    server.kill('SIGKILL')
    await closed
  })
  const url = `http://127.0.0.1:${port}/mcp`
  await until(async () => {
    try {
      await (await fetch(url)).body?.cancel()
      return true
    } catch {
      return false
    }
  }, 'the server answers')
  return url
}
