/** A hub as a process of its own, which can be killed and started again at the same address. */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { textAt } from '../json.ts'
import { TEST_KEY } from './gateway.ts'
import type { HubCluster } from './hub-scene.ts'

const COMMAND = fileURLToPath(new URL('../../gateway/preflight.js', import.meta.url))

export interface HubProcess {
  /** Of the hub listener; the same after a restart. */
  readonly url: string
  /** Address of its API since the last start. */
  api(): string
  admin(): string
  /** Resolves when it listens. */
  start(): Promise<void>
  /** SIGKILL: nothing is said to anybody. Resolves when the process is gone. */
  kill(): Promise<void>
}

/** @param settings further settings: its store, its TLS */
export async function startHubProcess(
  cluster: Pick<HubCluster, 'root' | 'folder' | 'hubConfig'>,
  settings: object,
  hub: object = {},
): Promise<HubProcess> {
  const folder = mkdtempSync(join(cluster.root, 'hub-'))
  const file = join(folder, 'config.json')
  const data = cluster.folder()
  const configure = (address: string): void =>
    writeFileSync(file, JSON.stringify({ ...cluster.hubConfig(address, data, hub), ...settings }))
  configure('127.0.0.1:0')
  let running: ChildProcess | null = null
  let addresses: unknown = null
  const start = async (): Promise<void> => {
    const child = spawn(process.execPath, [COMMAND, 'serve', '--config', file], {
      cwd: folder,
      env: { PATH: '/usr/bin:/bin', PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running = child
    let complaint = ''
    child.stderr.on('data', (bytes: Buffer) => (complaint = (complaint + bytes.toString()).slice(-4000)))
    const ended = once(child, 'exit').then(() => assert.fail(`the hub ended: ${complaint}`))
    const [line] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])
    ended.catch(() => {})
    addresses = JSON.parse(String(line))
  }
  await start()
  const url = textAt(addresses, 'hub')
  configure(new URL(url).host)
  return {
    url,
    api: () => textAt(addresses, 'api'),
    admin: () => textAt(addresses, 'admin'),
    start,
    async kill() {
      const child = running
      running = null
      if (child === null || child.exitCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** The value of a metric without labels. */
export async function metricOf({ admin }: Pick<HubProcess, 'admin'>, name: string): Promise<number> {
  const text = await (await fetch(`${admin()}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
}
