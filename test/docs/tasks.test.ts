/** The pages of docs/tasks and the README, run as they are printed. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  assertPrints,
  cloned,
  inTwoTerminals,
  printedBy,
  stepsOf,
  TWO_TERMINALS,
  type PastedStep,
} from './pasted-page.ts'

const TASKS = join(import.meta.dirname, '../../docs/tasks')
const PAGES = readdirSync(TASKS).filter((name) => name.endsWith('.md') && name !== 'README.md')

for (const page of PAGES)
  test(`docs/tasks/${page} can be pasted as it stands`, async (t) => {
    const steps = stepsOf(`docs/tasks/${page}`)
    assert.ok(
      steps.some(({ prints }) => prints.length > 0),
      'it shows what its commands print',
    )
    const clone = await cloned(t)
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
