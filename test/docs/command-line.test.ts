/** docs/reference/command-line.md and the validity in envelope.md against the gateway and the engine. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { DEFAULT_TTL_SECONDS, FALLBACK_TTL_SECONDS } from '../../engine/policy/compile.ts'
import { BOOTSTRAP_KEY_MINIMUM } from '../../gateway/callers/api-keys.ts'
import { EXIT, type Command } from '../../gateway/cli/command.ts'
import { allCommands } from '../../gateway/cli/main.ts'
import { CONFIG_LEAVES } from '../../gateway/config/leaves.ts'
import { namesIn, namesOf, rowsIn, sectionOf } from './page.ts'

test('the page of the command line lists every command', async () => {
  const page = readFileSync(new URL('../../docs/command-line.md', import.meta.url), 'utf8')
  const [table = ''] = page.split('| exit code |')
  const rows = table.matchAll(/^\| ((?:`[^`]+`(?:, )?)+) \|/gm)
  const listed = [...rows].flatMap(([, names = '']) => namesOf(names).map((name) => name.split(' ')[0]))
  const commands = (await allCommands()).map(({ name }) => name)
  assert.deepEqual(new Set(listed), new Set(commands))
})

function worksInBoth({ options }: Command): boolean {
  return ['url', 'data-dir'].every((wanted) => options.some(({ name }) => name === wanted))
}

test('the page names every command that works on a running gateway and on a data directory', async () => {
  const page = readFileSync(new URL('../../docs/command-line.md', import.meta.url), 'utf8')
  const [list = ''] = page.slice(page.indexOf('These commands work in both places')).split('`policy simulate`')
  const found = (await allCommands()).flatMap((entry) => {
    if (!('commands' in entry)) return worksInBoth(entry) ? [entry.name] : []
    const both = entry.commands.filter(worksInBoth)
    return both.length === entry.commands.length ? [entry.name] : both.map(({ name }) => `${entry.name} ${name}`)
  })
  assert.deepEqual(namesOf(list).toSorted(), found.toSorted())
})

suite('command-line.md', () => {
  test('lists every exit code', () => {
    const codes = rowsIn(sectionOf('command-line.md', 'exit-codes')).map(([code]) => Number(code))
    assert.deepEqual(codes, Object.values(EXIT))
  })
  test('names variables that the configuration reads', () => {
    const known = new Set(CONFIG_LEAVES.flatMap(({ env, aliases }) => [env, ...aliases]))
    const named = [...namesIn(sectionOf('command-line.md', 'names-of-variables'))].filter((name) =>
      /_[A-Z]+$/.test(name),
    )
    assert.deepEqual(
      named.filter((name) => !known.has(name) && name !== 'PREFLIGHT_CONFIG'),
      [],
    )
    assert.ok(named.length >= 8)
    assert.ok(sectionOf('command-line.md', 'start').includes(`at least ${BOOTSTRAP_KEY_MINIMUM} characters`))
  })
})

suite('the validity in envelope.md', () => {
  test('is that of the engine', () => {
    const [own, rest] = rowsIn(sectionOf('envelope.md', 'validity'))
    assert.deepEqual(Object.fromEntries(namesOf(own?.[0]).map((operation) => [operation, Number(own?.[1])])), {
      ...DEFAULT_TTL_SECONDS,
    })
    assert.equal(Number(rest?.[1]), FALLBACK_TTL_SECONDS)
  })
})
