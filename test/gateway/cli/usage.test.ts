/** How the command line is used: help, and what a wrong use is answered. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Command } from '../../../gateway/cli/command.ts'
import { allCommands } from '../../../gateway/cli/main.ts'
import { run } from '../../fakes/command-io.ts'

const directory = mkdtempSync(join(tmpdir(), 'preflight-usage-'))
after(() => rmSync(directory, { recursive: true, force: true }))

function file(name: string, content: string): string {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}

mkdirSync(join(directory, 'empty'))
const one = file('one.json', '{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{}}')

test('without a command the commands are listed and the exit code says usage', async () => {
  const { code, stdout, stderr } = await run([])
  assert.equal(code, 2)
  assert.equal(stdout, '')
  assert.match(stderr, /serve .*\n.*diff /)
  assert.equal((await run(['--help'])).code, 0)
  assert.match((await run(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/)
})

test('the help of every command and subcommand has its usage and all of its options', async () => {
  const shown: (readonly [words: readonly string[], command: Command])[] = []
  for (const entry of await allCommands()) {
    if (!('commands' in entry)) shown.push([[entry.name], entry])
    else {
      for (const command of entry.commands) shown.push([[entry.name, command.name], command])
      // What the group does without the name of a command is in the help of the group, or the command is named there.
      const { direct } = entry
      if (direct === undefined) continue
      const help = (await run([entry.name, '--help'])).stdout
      if (entry.commands.includes(direct)) assert.match(help, new RegExp(`^Without COMMAND: ${direct.name}\\.$`, 'm'))
      else shown.push([[entry.name], direct])
    }
  }
  assert.ok(shown.length > 60, 'the commands are found')
  for (const [words, { operands, options, summary }] of shown) {
    const { code, stdout } = await run([...words, '--help'])
    assert.equal(code, 0, words.join(' '))
    const [usage = ''] = stdout
      .split('\n')
      .filter((line) => line.startsWith('Usage: '))
      .slice(-1)
    assert.ok(usage.startsWith(`Usage: preflight ${words.join(' ')}`) && usage.includes(operands), usage)
    assert.ok(stdout.includes(summary), words.join(' '))
    for (const { name, value, help } of options) {
      const row = stdout
        .split('\n')
        .find((line) => line.trim().startsWith(`--${name}${value === undefined ? '' : ` ${value}`}  `))
      assert.ok(row?.includes(help), `preflight ${words.join(' ')} --help shows --${name}`)
    }
  }
})

test('what is mistyped gets the nearest known word, and exit code 2', async () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['dif'], /did you mean "diff"/],
    [['-v'], /did you mean "--version"/],
    [['version'], /did you mean "--version"/],
    [['mcp', '--url', 'ftp://x'], /"ftp:\/\/x" is not an address of a server: write http:\/\/ or https:\/\//],
    [['mcp', '--sse', 'localhost:1'], /"localhost:1" is not an address of a server/],
    [['mcp', '--url', 'x.example/mcp'], /"x.example\/mcp" is not an address of a server/],
    [['mcp', '--url', 'http://x/', '--header', 'a b: c'], /--header: "a b" is not the name of a header/],
    [['mcp', '--url', 'http://x/', '--header', 'a: b\nsecret'], /the value of the header a has a line break/],
    [['mcp', 'serve', file('tab.yaml', 'mcpServers:\n\tx: {}\n')], /tab\.yaml:2:1: .*indent with spaces/],
    [
      ['mcp', 'serve', file('field.yaml', 'mcpServers: {x: {url: "http://x/", headers: {"a b": c}}}\n')],
      /field\.yaml: x: "a b" is not the name of a header/,
    ],
    [['keys', '-v'], /commands: create, list, revoke/],
    [['keys', 'creat'], /preflight keys: .*did you mean "create"/],
    [['diff', one, one, '--fromat', 'json'], /did you mean --format/],
    [['diff', one, one, '--format', 'jsn'], /did you mean "json"/],
    [['diff', one, one, '--format'], /needs a value/],
    [['diff', one], /an argument is missing: HEAD\n/],
    [['diff'], /arguments are missing: BASE HEAD\n/],
    [['diff', '', one], /the name of a document is empty/],
    [['diff', join(directory, 'empty', 'none.yaml'), one], /is not a file, a <ref>:<path>/],
    [['verify', 'token', '--keys', directory], /preflight-usage-\w+ is a directory; name a file in it \(EISDIR\)\n/],
    [
      ['verify', 'token', '--keys', join(directory, 'none')],
      /\/none does not exist; make it, or name another file \(ENOENT\)\n/,
    ],
    [['diff', file('list.json', '[1]'), one], /not recognised.*--type TYPE/],
    [['diff', one, one, 'more'], /is not expected here/],
    [['diff', one, one, '--limit', '0'], /positive whole number/],
    [['verify', 'token'], /--keys FILE is required\n/],
    [['preflight'], /--mode MODE is required: one of analyze, authorize\n/],
    [['diff', one, one, '--type', 'openapi', '--type', 'mcp'], /given 2 times/],
    [['diff', 'nowhere.yaml', one], /is not a file, a <ref>:<path>/],
    [['diff', '-', '-'], /only one side/],
    [['diff', join(directory, 'empty'), one], /is a directory without \.proto files; name a file in it/],
  ]
  for (const [argv, expected] of cases) {
    const { code, stderr } = await run(argv)
    assert.equal(code, 2, argv.join(' '))
    assert.match(stderr, expected)
  }
})

test('a document that cannot be read is named', async () => {
  const torn = file('torn.yaml', 'openapi: [')
  const cases: readonly (readonly [readonly string[], string])[] = [
    [[one, torn], `The head document ${torn} cannot be read: `],
    [[torn, one], `The base document ${torn} cannot be read: `],
    [[one, torn, '--type', 'openapi'], `The head document ${torn} cannot be read: `],
    [
      [file('schema.json', '{"type":"object"}'), one, '--type', 'openapi'],
      'The base .*schema\\.json is not an OpenAPI',
    ],
  ]
  for (const [argv, expected] of cases) {
    const { code, stderr } = await run(['diff', ...argv])
    assert.equal(code, 2, argv.join(' '))
    assert.match(stderr, new RegExp(`^preflight diff: ${expected}.*\n$`))
  }
})

test('an output that cannot be written is a mistake of the command line, with its path and what to do', async () => {
  const [gone, data] = [join(directory, 'gone'), join(directory, 'data')]
  assert.equal((await run(['keys', 'create', '--name', 'a', '--data-dir', data])).code, 0)
  const api = ['init', 'api', '--upstream', 'http://127.0.0.1:9', '--contract', one, '--name', 'a', '--write', '--file']
  const commands = [api, ['ledger', 'backup'], ['ledger', 'export', '--output']]
  const cases = commands.flatMap((words) => [
    [
      words,
      join(gone, 'x'),
      `cannot be written: the folder ${gone} does not exist; make it, or name another file`,
    ] as const,
    [words, join(one, 'x'), 'cannot be written: a part of its path is a file; name another file'] as const,
  ])
  for (const [words, output, why] of cases) {
    const place = words[0] === 'ledger' ? ['--data-dir', data] : []
    const { code, stderr } = await run([...words, output, ...place])
    assert.equal(code, 2, stderr)
    assert.ok(stderr.endsWith(`: ${output} ${why}\n`), stderr)
  }
})

test('help before a command or a group is its help', async () => {
  for (const words of [['diff'], ['keys', 'create'], ['keys']])
    assert.deepEqual(await run(['help', ...words]), await run([...words, '--help']))
  assert.match((await run(['help', 'dif'])).stderr, /did you mean "diff"/)
})

test('the help of a group begins with what the group is for', async () => {
  assert.match((await run(['ledger', '--help'])).stdout, /^Read, check, export and prune/)
})

const PROGRAM = join(import.meta.dirname, '../../../gateway/preflight.js')

for (const [what, words, streams] of [
  ['an answer', 'rules', ['full', 'pipe']],
  ['a comparison', 'diff one.json one.json', ['full', 'pipe']],
  ['an answer, and the reason neither', 'rules', ['full', 'full']],
  ['a mistake', 'rules --format none', ['pipe', 'full']],
] as const)
  test(`${what} that cannot be written is no answer: exit code 3, and one sentence where there is a place for it`, () => {
    const full = openSync('/dev/full', 'w')
    const [output, errors] = streams.map((stream) => (stream === 'full' ? full : stream))
    const args = ['--disable-warning=ExperimentalWarning', PROGRAM, ...words.split(' ')]
    const { status, stderr } = spawnSync(process.execPath, args, {
      cwd: directory,
      stdio: ['ignore', output, errors],
      encoding: 'utf8',
      timeout: 60_000,
    })
    closeSync(full)
    assert.equal(status, 3)
    if (errors === 'pipe') assert.match(stderr, /^preflight: the output cannot be written: ENOSPC[^\n]*\.\n$/)
  })

test('the help is named after a wrong use, and not after a document, key or gateway that cannot be used', async () => {
  const broken = file('broken.json', '{')
  const noChange = file('change-set.json', '{"artifacts": 1}')
  const none = join(directory, 'none.json')
  const closed = 'http://127.0.0.1:9/a.json'
  const wrongUses: readonly (readonly string[])[] = [
    ['diff', one],
    ['diff', one, one, '--colour', 'red'],
    ['diff', '-', '-'],
    ['diff', one, one, '--level', 'x'],
    ['preflight', '--mode', 'authorize', one, one],
    ['keys', 'create'],
  ]
  const unusable: readonly (readonly string[])[] = [
    ['diff', one, none],
    ['diff', one, closed],
    ['diff', one, 'http://127.0.0.1:9/../a'],
    ['diff', one, 'nowhere:api.json'],
    ['preflight', '--mode', 'analyze', '--local', '--change-set', broken],
    ['preflight', '--mode', 'analyze', '--local', '--change-set', noChange],
    ['preflight', '--mode', 'analyze', '--local', '--change-set', none],
    ['verify', 'token', '--keys', broken, '--operation', 'merge'],
    ['verify', 'token', '--keys', one, '--operation', 'merge'],
    ['verify', 'token', '--keys', none, '--operation', 'merge'],
    ['ledger', 'verify', '--export', one, '--keys', broken],
    ['admission', 'test', broken],
    ['admission', 'test', none],
    ['admission', 'test', noChange],
    ['admission', 'digest', broken],
    ['admission', 'digest', file('text.json', '"a"')],
  ]
  for (const [named, isNamed] of [
    ...wrongUses.map((argv) => [argv, true] as const),
    ...unusable.map((argv) => [argv, false] as const),
  ]) {
    const { code, stderr } = await run(named)
    assert.equal(code, 2, `${named.join(' ')}: ${stderr}`)
    assert.equal(/ --help to see how it is used/.test(stderr), isNamed, `${named.join(' ')}: ${stderr}`)
  }
})

test('JSON that cannot be read is named with its place, whatever command reads it', async () => {
  const torn = file('torn.json', '{\n  "keys": [1,]\n}')
  for (const argv of [
    ['preflight', '--mode', 'analyze', '--local', '--change-set', torn],
    ['verify', 'token', '--keys', torn, '--operation', 'merge'],
    ['ledger', 'verify', '--export', torn, '--keys', torn],
    ['admission', 'test', torn],
    ['admission', 'digest', torn],
  ]) {
    const { code, stderr } = await run(argv)
    assert.equal(code, 2, stderr)
    assert.match(
      stderr,
      /torn\.json: .*it is not valid JSON: found "\]" instead of a value \(line 2, column 14\)\.\n$/,
      argv.join(' '),
    )
  }
})
