/** kubectl as its user has it: a kubeconfig that names the gateway as the server, and commands with their files. */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { fetchedTool } from './programs.ts'

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Kubectl {
  /** @param manifest given as `-f FILE` where the command says `FILE` */
  readonly run: (command: string, manifest?: unknown) => Promise<Ran>
  /** One that goes on until it is killed. */
  readonly start: (command: string) => ChildProcess
}

/** Null: the test was skipped, since there is none; in CI that is a failure. */
export function kubectlOrSkip(t: TestContext, server: string): Kubectl | null {
  const binary = fetchedTool(t, 'kubectl')
  if (binary === null) return null
  const folder = mkdtempSync(join(tmpdir(), 'preflight-kubectl-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const config = join(folder, 'config')
  writeFileSync(config, kubeconfig(server))
  const start = (command: string, file: string): ChildProcess => {
    const args = command.split(' ').map((word) => (word === 'FILE' ? file : word))
    const environment = { PATH: process.env['PATH'] ?? '', HOME: folder, KUBECONFIG: config }
    return spawn(binary, [...args, '--request-timeout=20s'], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  }
  return {
    start: (command) => start(command, ''),
    async run(command, manifest) {
      const file = join(folder, 'manifest.json')
      if (manifest !== undefined) writeFileSync(file, JSON.stringify(manifest))
      const child = start(command, file)
      const code = new Promise<number | null>((resolve) => child.once('close', resolve))
      assert.ok(child.stdout !== null && child.stderr !== null)
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
      return { code: await code, stdout, stderr }
    },
  }
}

/** JSON, as kubectl and helm read it too. */
export function kubeconfig(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'agent',
    clusters: [{ name: 'cluster', cluster: { server } }],
    users: [{ name: 'agent', user: { token: 'agent-token' } }],
    contexts: [{ name: 'agent', context: { cluster: 'cluster', user: 'agent', namespace: 'shop' } }],
  })
}
