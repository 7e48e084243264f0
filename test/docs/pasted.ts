/** Pages of the documentation, pasted into a shell in a copy of what a clone has, with free ports in the place of those that the pages name. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { marked, type Tokens } from 'marked'
import { freePort } from '../fakes/listening.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Ports that the pages and the examples name. */
const NAMED_PORTS = ['15080', '15081', '15090', '15180', '15181', '15190', '15143', '3001', '3002']
const PORTS = new RegExp(String.raw`\b(?:${NAMED_PORTS.join('|')})\b`, 'g')
const LIMIT_MS = 240_000

export interface PastedStep {
  readonly script: string
  /** Lines, or parts of lines, that it prints. */
  readonly prints: readonly string[]
}

export function stepsOf(file: string): readonly PastedStep[] {
  const blocks = marked
    .lexer(readFileSync(join(ROOT, file), 'utf8'))
    .filter((token): token is Tokens.Code => token.type === 'code')
  return blocks.flatMap(({ lang, text: script }, index) => {
    const next = blocks[index + 1]
    const prints = next?.lang === 'text' ? next.text.split('\n').filter((line) => line.trim() !== '') : []
    return lang === 'sh' ? [{ script, prints }] : []
  })
}

export interface Clone {
  /** Assignments of the shell that give a gateway free ports. */
  readonly listen: string
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  readonly withFreePorts: (script: string) => string
}

export async function cloned(t: TestContext): Promise<Clone> {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-task-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true })
  for (const name of ['node_modules', 'gateway', 'engine', 'policies', 'package.json'])
    symlinkSync(join(ROOT, name), join(folder, name))
  const free = new Map<string, string>()
  for (const port of NAMED_PORTS) free.set(port, String(await freePort()))
  const withFreePorts = (script: string): string => script.replaceAll(PORTS, (port) => free.get(port) ?? port)
  for (const file of readdirSync(join(folder, 'examples'), { recursive: true, encoding: 'utf8' })) {
    if (!/\.(?:js|yaml)$/.test(file)) continue
    const path = join(folder, 'examples', file)
    writeFileSync(path, withFreePorts(readFileSync(path, 'utf8')))
  }
  // Not for a configuration that states them itself: variables override it.
  const listen = Object.entries({ PROXY: '15080', API: '15081', ADMIN: '15090' })
    .map(([name, port]) => `PREFLIGHT_${name}_LISTEN=127.0.0.1:${free.get(port) ?? '0'}`)
    .join(' ')
  return {
    folder,
    listen,
    withFreePorts,
    environment: {
      PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(':'),
      HOME: folder,
      PREFLIGHT_HOME: join(folder, '.preflight'),
    },
  }
}

/** The marks tell which step printed what; the shell ends with its jobs. */
function scriptOf(steps: readonly PastedStep[]): string {
  const parts = steps.map(({ script }, index) => `echo "<step ${index}>"\n${script}`)
  return ['set -m', "trap 'kill -- $(jobs -p | sed s/^/-/) 2>/dev/null; wait' EXIT", ...parts].join('\n')
}

export async function printedBy(clone: Clone, steps: readonly PastedStep[]): Promise<readonly string[]> {
  const shell = spawn('bash', ['-c', clone.withFreePorts(scriptOf(steps))], {
    cwd: clone.folder,
    env: { ...clone.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const limit = setTimeout(() => process.kill(-(shell.pid ?? 0), 'SIGTERM'), LIMIT_MS)
  const [stdout, stderr] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'exit')])
  clearTimeout(limit)
  const printed = stdout.split(/<step \d+>\n/).slice(1)
  assert.doesNotMatch(stderr, /to see how it is used/)
  return printed.length === steps.length ? printed : assert.fail(`the shell stopped early:\n${stdout}\n${stderr}`)
}

/** The function of docs/tasks/README.md, which gets free ports. */
export function preflightFunction({ listen }: Clone): readonly PastedStep[] {
  const calls = `*hub.yaml*) stated_preflight "$@" ;; *) ${listen} stated_preflight "$@" ;;`
  const withPorts = `eval "stated_$(declare -f preflight)"; preflight() { case "$*" in ${calls} esac; }`
  return [...stepsOf('docs/tasks/README.md'), { script: withPorts, prints: [] }]
}
