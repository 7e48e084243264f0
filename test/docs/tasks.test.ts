/** The pages of docs/tasks and the README, run as they are printed. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, dirname } from 'node:path'
import { test, type TestContext } from 'node:test'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { text } from 'node:stream/consumers'
import { marked, type Tokens } from 'marked'
import { freePort } from '../fakes/listening.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Ports that the pages and the examples name. */
const NAMED_PORTS = ['15080', '15081', '15090', '15180', '15181', '15190', '15143', '3001', '3002']
const PORTS = new RegExp(String.raw`\b(?:${NAMED_PORTS.join('|')})\b`, 'g')
const LIMIT_MS = 240_000

interface PastedStep {
  readonly script: string
  /** Lines, or parts of lines, that it prints. */
  readonly prints: readonly string[]
}

function stepsOf(file: string): readonly PastedStep[] {
  const blocks = marked
    .lexer(readFileSync(join(ROOT, file), 'utf8'))
    .filter((token): token is Tokens.Code => token.type === 'code')
  return blocks.flatMap(({ lang, text: script }, index) => {
    const next = blocks[index + 1]
    const prints = next?.lang === 'text' ? next.text.split('\n').filter((line) => line.trim() !== '') : []
    return lang === 'sh' ? [{ script, prints }] : []
  })
}

interface Clone {
  /** Assignments of the shell that give a gateway free ports. */
  readonly listen: string
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  readonly withFreePorts: (script: string) => string
}

async function cloned(t: TestContext): Promise<Clone> {
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

async function printedBy(clone: Clone, steps: readonly PastedStep[]): Promise<readonly string[]> {
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

function assertPrints(steps: readonly PastedStep[], printed: readonly string[]): void {
  for (const [index, { script, prints }] of steps.entries())
    for (const line of prints)
      assert.ok(printed[index]?.includes(line.trim()), `${script}\nprints no "${line}", but:\n${printed[index] ?? ''}`)
}

/** `npm start` of a page is what its reader leaves running in another terminal. The one before it is stopped. */
function inTwoTerminals({ script, prints }: PastedStep, { listen }: Clone): PastedStep {
  if (!script.startsWith('npm start')) return { script, prints }
  const start = `(set -m; ${listen} ${script} >gateway.out 2>&1 & echo $! >gateway.pid)`
  const wait = 'for i in $(seq 200); do curl -sf http://127.0.0.1:15090/readyz >/dev/null && break; sleep 0.3; done'
  return { script: [STOP, start, wait].join('\n'), prints }
}

const STOP =
  'if [ -f gateway.pid ]; then kill -- "-$(cat gateway.pid)"; while kill -0 -- "-$(cat gateway.pid)" 2>/dev/null; do sleep 0.1; done; fi'

const TWO_TERMINALS: PastedStep = {
  script: `trap 'kill $(jobs -p) 2>/dev/null; ${STOP}; wait' EXIT`,
  prints: [],
}

const TASKS = join(import.meta.dirname, '../../docs/tasks')
const PAGES = readdirSync(TASKS).filter((name) => name.endsWith('.md') && name !== 'README.md')

/** The function of docs/tasks/README.md, which gets free ports. */
function preflightFunction({ listen }: Clone): readonly PastedStep[] {
  const calls = `*hub.yaml*) stated_preflight "$@" ;; *) ${listen} stated_preflight "$@" ;;`
  const withPorts = `eval "stated_$(declare -f preflight)"; preflight() { case "$*" in ${calls} esac; }`
  return [...stepsOf('docs/tasks/README.md'), { script: withPorts, prints: [] }]
}

for (const page of PAGES)
  test(`docs/tasks/${page} can be pasted as it stands`, async (t) => {
    const shown = stepsOf(`docs/tasks/${page}`)
    assert.ok(
      shown.some(({ prints }) => prints.length > 0),
      'it shows what its commands print',
    )
    const clone = await cloned(t)
    const steps = [...preflightFunction(clone), ...shown]
    const printed = await printedBy(clone, steps)
    assertPrints(steps, printed)
  })

/** A repository with two commits, and the gateway that `npm ci && npm start` began. */
const AFTER_CLONE: readonly PastedStep[] = [
  TWO_TERMINALS,
  {
    script: [
      'export npm_config_update_notifier=false GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a.example',
      'export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a.example',
      'git init -q && git add examples && git commit -qm one && git commit -qm two --allow-empty',
    ].join('\n'),
    prints: [],
  },
  { script: 'npm start', prints: [] },
]

test('README.md can be pasted as it stands', async (t) => {
  const clone = await cloned(t)
  const shown = stepsOf('README.md')
  assert.ok(shown.length > 7)
  const steps = [...AFTER_CLONE, ...shown].map((step) => inTwoTerminals(step, clone))
  const printed = await printedBy(clone, steps)
  assertPrints(steps, printed)
})

test('the list of tasks has every page', () => {
  const listed: readonly string[] = [
    ...readFileSync(join(TASKS, 'README.md'), 'utf8').matchAll(/\]\(([\w-]+\.md)\)/g),
  ].map(([, name = '']) => name)
  assert.deepEqual(listed.toSorted(), PAGES.toSorted())
})
