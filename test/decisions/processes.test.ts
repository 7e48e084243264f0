/** The same input gives the same bytes in another process, whatever its time zone, language, seed of its hash tables and order of artifacts. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { decisionCases } from './cases.ts'
import { decidedByEngine } from './engine-verdict.ts'

const SCRIPT = new URL('verdicts.ts', import.meta.url).pathname

function elsewhere(environment: Readonly<Record<string, string>>, ...flags: readonly string[]): string {
  const words = ['--disable-warning=ExperimentalWarning', ...flags, SCRIPT]
  return execFileSync(process.execPath, words, {
    env: { ...process.env, ...environment },
    maxBuffer: 1 << 28,
    encoding: 'utf8',
  })
}

test('two processes that have nothing in common but the input write the same bytes', () => {
  const here = decisionCases()
    .map((decisionCase) => `${JSON.stringify(decidedByEngine(decisionCase))}\n`)
    .join('')
  assert.ok(here.length > 10_000)
  const there = elsewhere({ TZ: 'Pacific/Kiritimati', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' }, '--random-seed=7')
  const backwards = elsewhere({ TZ: 'America/Adak', LC_ALL: 'C', BACKWARDS: '1' }, '--random-seed=8')
  assert.equal(there, here)
  assert.equal(backwards, here)
})
