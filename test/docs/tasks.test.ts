/**
 * The pages of docs/tasks, run as they are printed: the `sh` blocks of a page in one shell, in a copy of what a clone has. Each
 * line of a `text` block is in the output of the block before it. Ports are replaced by free ones.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { marked, type Tokens } from 'marked'

const ROOT = join(import.meta.dirname, '../..')
const TASKS = join(ROOT, 'docs/tasks')
const PAGES = readdirSync(TASKS).filter((name) => name.endsWith('.md') && name !== 'README.md')
/** Ports that the pages and the examples name. */
const NAMED_PORTS = ['15080', '15081', '15090', '15180', '15181', '15190', '15143', '3001', '3002']
const PORTS = new RegExp(String.raw`\b(?:${NAMED_PORTS.join('|')})\b`, 'g')
const LIMIT_MS = 240_000

interface Step {
  readonly script: string
  /** Lines, or parts of lines, that it prints. */
  readonly prints: readonly string[]
}

function stepsOf(page: string): readonly Step[] {
  const blocks = marked
    .lexer(readFileSync(join(TASKS, page), 'utf8'))
    .filter((token): token is Tokens.Code => token.type === 'code')
  return blocks.flatMap(({ lang, text: script }, index) => {
    const next = blocks[index + 1]
    const prints = next?.lang === 'text' ? next.text.split('\n').filter((line) => line.trim() !== '') : []
    return lang === 'sh' ? [{ script, prints }] : []
  })
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

interface Clone {
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  readonly withFreePorts: (script: string) => string
}

async function cloned(t: TestContext): Promise<Clone> {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-task-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
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
  const program = `"${process.execPath}" --disable-warning=ExperimentalWarning "${join(ROOT, 'gateway/preflight.js')}"`
  const script = `#!/bin/sh\ncase "$*" in *hub.yaml*) ;; *) export ${listen} ;; esac\nexec ${program} "$@"\n`
  writeFileSync(join(folder, 'preflight'), script, { mode: 0o755 })
  return {
    folder,
    withFreePorts,
    environment: {
      PATH: [folder, dirname(process.execPath), process.env['PATH'] ?? ''].join(':'),
      HOME: folder,
      PREFLIGHT_HOME: join(folder, '.preflight'),
    },
  }
}

/** The marks tell which step printed what; the shell ends with its jobs. */
function scriptOf(steps: readonly Step[]): string {
  const parts = steps.map(({ script }, index) => `echo "<step ${index}>"\n${script}`)
  return ['set -m', "trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT", ...parts].join('\n')
}

async function printedBy(clone: Clone, steps: readonly Step[]): Promise<readonly string[]> {
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
  return printed.length === steps.length ? printed : assert.fail(`the shell stopped early:\n${stdout}\n${stderr}`)
}

for (const page of PAGES)
  test(`docs/tasks/${page} can be pasted as it stands`, async (t) => {
    const steps = stepsOf(page)
    assert.ok(
      steps.some(({ prints }) => prints.length > 0),
      'it shows what its commands print',
    )
    const clone = await cloned(t)
    const printed = await printedBy(clone, steps)
    for (const [index, { script, prints }] of steps.entries())
      for (const line of prints)
        assert.ok(
          printed[index]?.includes(line.trim()),
          `${script}\nprints no "${line}", but:\n${printed[index] ?? ''}`,
        )
  })

test('the list of tasks has every page', () => {
  const listed: readonly string[] = [
    ...readFileSync(join(TASKS, 'README.md'), 'utf8').matchAll(/\]\(([\w-]+\.md)\)/g),
  ].map(([, name = '']) => name)
  assert.deepEqual(listed.toSorted(), PAGES.toSorted())
})
