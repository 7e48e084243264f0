/** Completion in real shells: commands, options and values, from the table that the help comes from. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { allCommands } from '../../../gateway/cli/main.ts'
import { run } from '../../fakes/command-io.ts'
import { hasProgram } from '../../fakes/programs.ts'

async function scriptFile(t: TestContext, shell: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-completion-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { code, stdout } = await run(['completion', shell])
  assert.equal(code, 0)
  const file = join(folder, `preflight.${shell}`)
  writeFileSync(file, stdout)
  return file
}

/** What bash offers after these words. */
function offered(file: string, ...words: readonly string[]): readonly string[] {
  const line = words.map((word) => `'${word}'`).join(' ')
  const script = `source '${file}'; COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _preflight; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8' }).trim().split('\n')
}

test('bash completes commands, options and their values', async (t) => {
  const file = await scriptFile(t, 'bash')
  const names = (await allCommands()).map(({ name }) => name)
  assert.deepEqual(offered(file, 'preflight', ''), names)
  assert.deepEqual(offered(file, 'preflight', 'app'), ['approvals'])
  assert.deepEqual(offered(file, 'preflight', 'approvals', ''), ['list', 'show', 'grant', 'deny', 'watch'])
  assert.deepEqual(offered(file, 'preflight', 'approvals', 'list', '--st'), ['--state'])
  const states = ['pending', 'granted', 'denied', 'expired']
  assert.deepEqual(offered(file, 'preflight', 'approvals', 'list', '--state', ''), states)
  assert.deepEqual(offered(file, 'preflight', 'ledger', 'list', '--decision', 'BLOCK', '--form'), ['--format'])
  assert.ok(offered(file, 'preflight', 'keys', 'create', '--').includes('--key-file'))
  assert.ok(offered(file, 'preflight', 'policy', 'lint', file.slice(0, -4)).includes(file))
})

for (const shell of ['zsh', 'fish'])
  test(`${shell} reads its script`, async (t) => {
    const file = await scriptFile(t, shell)
    const flags = shell === 'zsh' ? ['-f', '-c', `autoload -U compinit && compinit -u; source '${file}'`] : ['-n', file]
    if (!hasProgram(t, shell)) return
    const ran = spawnSync(shell, flags, { encoding: 'utf8' })
    assert.equal(ran.status, 0, ran.stderr)
    assert.equal(ran.stderr, '')
  })

test('the fish script has every option with its help', async () => {
  const { stdout } = await run(['completion', 'fish'])
  assert.match(
    stdout,
    /-n '__fish_seen_subcommand_from approvals; and __fish_seen_subcommand_from list' -d 'Only requests in this state\.' -l state -x -a 'pending granted denied expired'/,
  )
  assert.equal((await run(['completion', 'tcsh'])).code, 2)
})
