/** Entry of the command line: finds the command, runs it, turns what it throws into a message and an exit code. */
import { ConfigError } from '../config/mistake.ts'
import { nearest } from '../config/suggestion.ts'
import { packageVersion } from '../package-files.ts'
import { messageOf, StartupError } from '../startup-error.ts'
import { approvalsGroup } from './approvals.ts'
import { baselinesGroup } from './baselines.ts'
import { breakGlassGroup } from './break-glass.ts'
import { caGroup } from './ca.ts'
import { columns, EXIT, helpOf, parseCommandLine, UsageError, type Command, type CommandGroup } from './command.ts'
import { diffCommand } from './diff.ts'
import { processIo, writeLine, type CommandIo } from './io.ts'
import { keysGroup } from './keys.ts'
import { ledgerGroup } from './ledger.ts'
import { policyGroup } from './policy.ts'
import { preflightCommand } from './preflight.ts'
import { serveCommand } from './serve.ts'
import { verifyCommand } from './verify.ts'

const COMMANDS: readonly (Command | CommandGroup)[] = [
  serveCommand,
  diffCommand,
  preflightCommand,
  verifyCommand,
  keysGroup,
  caGroup,
  ledgerGroup,
  approvalsGroup,
  baselinesGroup,
  breakGlassGroup,
  policyGroup,
]

/** Runs one command; resolves with the exit code (wire.md §14) and never rejects. */
export async function main(argv: readonly string[], io: CommandIo = processIo()): Promise<number> {
  const path: string[] = ['preflight']
  try {
    return await dispatch(COMMANDS, argv, path, io)
  } catch (error) {
    const isUsage = error instanceof UsageError
    writeLine(io.stderr, `${path.join(' ')}: ${messageOf(error)}`)
    if (isUsage) writeLine(io.stderr, `Run ${path.join(' ')} --help to see how it is used.`)
    return isUsage || error instanceof ConfigError || error instanceof StartupError ? EXIT.usage : EXIT.undecided
  }
}

async function dispatch(
  entries: readonly (Command | CommandGroup)[],
  argv: readonly string[],
  path: string[],
  io: CommandIo,
): Promise<number> {
  const [word, ...rest] = argv
  if (word === undefined || word === '--help' || word === '-h' || word === 'help') {
    writeLine(word === undefined ? io.stderr : io.stdout, overview(entries, path))
    return word === undefined ? EXIT.usage : EXIT.good
  }
  if (word === '--version' && path.length === 1) {
    writeLine(io.stdout, packageVersion())
    return EXIT.good
  }
  const entry = entries.find(({ name }) => name === word)
  if (entry === undefined) throw new UsageError(unknownCommand(word, entries))
  path.push(entry.name)
  if ('commands' in entry) return dispatch(entry.commands, rest, path, io)
  const args = parseCommandLine(entry, rest)
  if (args !== null) return entry.run(args, io)
  writeLine(io.stdout, helpOf(path.join(' '), entry))
  return EXIT.good
}

function unknownCommand(word: string, entries: readonly (Command | CommandGroup)[]): string {
  const names = entries.map(({ name }) => name)
  const guess = nearest(word, names)
  return `there is no command ${JSON.stringify(word)}; ${guess === null ? `commands: ${names.join(', ')}` : `did you mean "${guess}"?`}`
}

function overview(entries: readonly (Command | CommandGroup)[], path: readonly string[]): string {
  const name = path.join(' ')
  const rows = entries.map(({ name: entryName, summary }) => [entryName, summary] as const)
  return [
    ...(path.length === 1 ? ['Preflight Gateway: compares contracts, decides, signs receipts, enforces.', ''] : []),
    `Usage: ${name} COMMAND [options]`,
    '',
    'Commands:',
    ...columns(rows),
    '',
    `${name} COMMAND --help shows the options of a command.`,
    ...(path.length === 1
      ? ['Exit codes: 0 good, 1 the answer is no, 2 usage or configuration, 3 could not decide.']
      : []),
  ].join('\n')
}
