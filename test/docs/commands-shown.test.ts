/** Every command of this program that a document shows exists, takes the options that it is shown with, and all that it needs. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { marked, type Token } from 'marked'
import { parseCommandLine, UsageError, type Command, type CommandGroup } from '../../gateway/cli/command.ts'
import { allCommands } from '../../gateway/cli/main.ts'

const ROOT = join(import.meta.dirname, '../..')

interface ShownCommand {
  readonly file: string
  readonly words: readonly string[]
  /** Shown in a sentence, which may name a part of a command line only. */
  readonly isPart: boolean
}

function pages(): readonly string[] {
  const tracked = execFileSync('git', ['ls-files', '*.md'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
  return tracked.filter((file) => file !== 'CHANGELOG.md')
}

/** The program as pages call it, at the start of a line or behind another program, a pipe or a substitution. */
const CALL =
  /(?:^|[|&;(=]\s*|\bnpx (?:-y )?|\bthen | -- )(preflight|npm run (?:-s )?preflight --|npm start --)((?: [^|&;)#]*)?)/g

function* shownIn(file: string): Generator<ShownCommand> {
  const codes: { readonly text: string; readonly isPart: boolean }[] = []
  void marked.walkTokens(marked.lexer(readFileSync(join(ROOT, file), 'utf8')), (token: Token) => {
    if (token.type === 'code') codes.push({ text: String(token['text']), isPart: false })
    if (token.type === 'codespan') codes.push({ text: String(token['text']), isPart: true })
  })
  for (const { text, isPart } of codes)
    for (const line of text.replaceAll(/\\\n\s*/g, ' ').split('\n'))
      for (const [, program, rest = ''] of line.replace(/^\s*\$ /, '').matchAll(CALL)) {
        const words = program === 'npm start --' ? ['serve', ...wordsOf(rest)] : wordsOf(rest)
        yield { file, words, isPart: isPart || /…|\.\.\./.test(rest) }
      }
}

function wordsOf(line: string): readonly string[] {
  const words = line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []
  const stop = words.findIndex((word) => /^(?:\d?>>?|<)/.test(word))
  return (stop === -1 ? words : words.slice(0, stop)).map((word) => word.replaceAll(/['"]/g, ''))
}

/** What is wrong with the command; null: nothing. */
function faultOf(
  { words, isPart }: Omit<ShownCommand, 'file'>,
  entries: readonly (Command | CommandGroup)[],
): string | null {
  const [name, ...rest] = words
  if (name === undefined || /^-|^(?:help|COMMAND)$/.test(name)) return null
  const entry = entries.find((one) => one.name === name)
  if (entry === undefined) return 'no such command'
  if ('commands' in entry && !(rest[0] ?? '-').startsWith('-')) return faultOf({ words: rest, isPart }, entry.commands)
  const command = 'commands' in entry ? entry.direct : entry
  if (command === undefined) return null
  try {
    parseCommandLine(command, rest.slice(0, rest.includes('--') ? rest.indexOf('--') : undefined))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    if (!isPart || /not known|takes no value|is not one of/.test(error.message)) return error.message
  }
  return null
}

test('commands in documents exist, with their options and arguments', async () => {
  const entries = await allCommands()
  const shown = pages().flatMap((file) => [...shownIn(file)])
  assert.ok(shown.length > 400, String(shown.length))
  const faults = shown.flatMap((one) => {
    const fault = faultOf(one, entries)
    return fault === null ? [] : [`${one.file}: preflight ${one.words.join(' ')}: ${fault}`]
  })
  assert.deepEqual(faults, [])
})
