/** Commands in a container whose user has no name and no home, as platforms with users of their own numbering run it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { PREFLIGHT } from '../../fakes/killable-gateway.ts'

/** No system has a user with this number. */
const USER = 54_321

/** Words → exit code, and what the answer says. */
const COMMANDS: readonly (readonly [words: string, code: number, answer: RegExp])[] = [
  ['keys create --name first --role admin', 0, /pf_live_/],
  ['keys list', 0, /first/],
  ['approvals list', 0, /none/],
  ['approvals grant none --comment c', 1, /as cli:54321: .*\nthere is no approval request/],
  ['break-glass open orders --duration 60 --reason incident-4711', 2, /orders/],
  ['ledger verify', 0, /intact/],
  ['mcp list', 0, /no server was started/],
  ['init editors', 0, /no configuration of an editor/],
  ['doctor', 0, /Program/],
]

test('a user without a name and a home is recorded by number, and nothing is looked for outside the data directory', (t) => {
  if (process.getuid?.() !== 0) {
    t.skip('only root may run a program as another user')
    return
  }
  const directory = mkdtempSync(join(tmpdir(), 'preflight-unknown-user-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  chmodSync(directory, 0o777)
  for (const [words, code, answer] of COMMANDS) {
    const args = ['--disable-warning=ExperimentalWarning', PREFLIGHT, ...words.split(' ')]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: directory,
      uid: USER,
      gid: USER,
      env: { PATH: '/usr/bin:/bin', PREFLIGHT_DATA_DIR: join(directory, 'state') },
      encoding: 'utf8',
    })
    const written = `${stderr}${stdout}`
    assert.equal(status, code, `${words}: ${written}`)
    assert.match(written, answer, words)
    assert.doesNotMatch(written, /system error/i, words)
  }
})
