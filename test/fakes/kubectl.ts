/** kubectl as its user has it: a kubeconfig that names the gateway as the server, and commands with their files. */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'

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
  const binary = findKubectl()
  if (binary === null) {
    assert.notEqual(process.env['CI'], 'true', 'CI has no kubectl: .ci/run must set PREFLIGHT_KUBECTL')
    t.skip('kubectl is not installed; `.ci/helm FOLDER kubectl` fetches one, PREFLIGHT_KUBECTL names it')
    return null
  }
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

/** PREFLIGHT_KUBECTL, or the first on the PATH. */
function findKubectl(): string | null {
  const named = process.env['PREFLIGHT_KUBECTL'] ?? ''
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'kubectl'))
  return [...(named === '' ? [] : [named]), ...onPath].find(isExecutable) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function kubeconfig(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'agent',
    clusters: [{ name: 'cluster', cluster: { server } }],
    users: [{ name: 'agent', user: { token: 'agent-token' } }],
    contexts: [{ name: 'agent', context: { cluster: 'cluster', user: 'agent', namespace: 'shop' } }],
  })
}
