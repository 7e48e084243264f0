/** The pages of docs/tasks and the README, run as they are printed. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { cloned, preflightFunction, printedBy, stepsOf, type Clone, type PastedStep } from './pasted.ts'

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
