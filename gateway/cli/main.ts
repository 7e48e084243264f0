/** Entry of the command line: finds the command, runs it, turns errors into a message and an exit code. */
import { lookupTable, nearest } from '../../engine/base.ts'
import { GatewayError } from '../errors/errors.ts'
import { ConfigError } from '../errors/mistake.ts'
import { packageVersion } from '../runtime/package-files.ts'
import { pathFault } from '../runtime/regular-file.ts'
import { messageOf, StartupError } from '../errors/startup-error.ts'
import {
  columns,
  EXIT,
  helpOf,
  parseCommandLine,
  InputError,
  UsageError,
  type Command,
  type CommandGroup,
  type ExitCode,
} from './command.ts'
import { processIo, writeLine, type CommandIo } from './io.ts'

type CommandEntry = Command | CommandGroup

/** Commands by name. Each is loaded when it is called, since a command needs only part of the program. */
const COMMANDS: Readonly<Record<string, () => Promise<CommandEntry>>> = lookupTable({
  serve: async () => (await import('./serve.ts')).serveCommand,
  diff: async () => (await import('./diff.ts')).diffCommand,
  rules: async () => (await import('./rules.ts')).rulesCommand,
  preflight: async () => (await import('./preflight.ts')).preflightCommand,
  verify: async () => (await import('./verify.ts')).verifyCommand,
  keys: async () => (await import('./keys.ts')).keysGroup,
  ca: async () => (await import('./ca.ts')).caGroup,
  ledger: async () => (await import('./ledger.ts')).ledgerGroup,
  store: async () => (await import('./store.ts')).storeGroup,
  approvals: async () => (await import('./approvals.ts')).approvalsGroup,
  baselines: async () => (await import('./baselines.ts')).baselinesGroup,
  'break-glass': async () => (await import('./break-glass.ts')).breakGlassGroup,
  admission: async () => (await import('./admission.ts')).admissionGroup,
  redirect: async () => (await import('./redirect.ts')).redirectGroup,
  webhooks: async () => (await import('./webhooks.ts')).webhooksGroup,
  config: async () => (await import('./config.ts')).configGroup,
  logs: async () => (await import('./logs.ts')).logsGroup,
  policy: async () => (await import('./policy.ts')).policyGroup,
  init: async () => (await import('./init.ts')).initGroup,
  status: async () => (await import('./status.ts')).statusCommand,
  'log-level': async () => (await import('./log-level.ts')).logLevelCommand,
  login: async () => (await import('./sign-in.ts')).loginCommand,
  logout: async () => (await import('./sign-in.ts')).logoutCommand,
  whoami: async () => (await import('./sign-in.ts')).whoamiCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  ci: async () => (await import('./ci.ts')).ciCommand,
  mcp: async () => (await import('./mcp.ts')).mcpGroup,
  completion: async () => (await import('./completion.ts')).completionCommand(allCommands),
})

/** Every command, loaded. */
export function allCommands(): Promise<readonly CommandEntry[]> {
  return Promise.all(Object.values(COMMANDS).map((load) => load()))
}

/** The command that is called; all of them when none is, since then they are listed. */
async function calledOf([word]: readonly string[]): Promise<readonly CommandEntry[]> {
  if (word === '--version') return []
  const load = word !== undefined && Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined
  return load === undefined ? allCommands() : [await load()]
}

const SUMMARY = 'Preflight Gateway: compares contracts, decides, signs receipts, enforces.'

/** Runs one command; resolves with the exit code (docs/reference/command-line.md#exit-codes) and never rejects. */
export async function main(argv: readonly string[], io: CommandIo = processIo(endUnwritten)): Promise<number> {
  const path: string[] = ['preflight']
  try {
    return await dispatchWords({ commands: await calledOf(argv), summary: SUMMARY }, argv, path, io)
  } catch (error) {
    const isUsage = error instanceof UsageError && !(error instanceof InputError)
    writeLine(io.stderr, `${path.join(' ')}: ${pathFault(error) ?? messageOf(error)}`)
    if (error instanceof GatewayError) for (const { message } of error.details) writeLine(io.stderr, `  ${message}`)
    if (isUsage) writeLine(io.stderr, `Run ${path.join(' ')} --help to see how it is used.`)
    return errorExit(error)
  }
}

/** An answer that was not written was not given, so the exit code is neither yes nor no. Nothing goes to a stderr that failed. */
function endUnwritten(stream: 'stdout' | 'stderr', error: Error): void {
  if (stream === 'stdout')
    process.stderr.write(
      `preflight: the output cannot be written: ${messageOf(error)}. Check where it is redirected to.\n`,
    )
  process.exit(EXIT.undecided)
}

/** A refusal of a running gateway is a negative result; input that it does not take is a usage error. */
function errorExit(error: unknown): ExitCode {
  if (error instanceof UsageError || error instanceof ConfigError || error instanceof StartupError) return EXIT.usage
  if (!(error instanceof GatewayError)) return pathFault(error) === null ? EXIT.undecided : EXIT.usage
  if (error.status === 400) return EXIT.usage
  return [403, 404, 409].includes(error.status) ? EXIT.no : EXIT.undecided
}

interface CommandList extends Pick<CommandGroup, 'summary' | 'direct'> {
  readonly commands: readonly CommandEntry[]
}

async function dispatchWords(
  group: CommandList,
  argv: readonly string[],
  path: string[],
  io: CommandIo,
): Promise<number> {
  const { commands } = group
  const [word, ...rest] = argv
  if (word === 'help' && rest.length > 0) return dispatchWords(group, [...rest, '--help'], path, io)
  if (word === undefined || word === '--help' || word === '-h' || word === 'help') {
    writeLine(word === undefined ? io.stderr : io.stdout, overview(group, path))
    return word === undefined ? EXIT.usage : EXIT.good
  }
  if (word === '--version' && path.length === 1) {
    writeLine(io.stdout, packageVersion())
    return EXIT.good
  }
  const entry = commands.find(({ name }) => name === word)
  if (entry === undefined) throw new UsageError(unknownCommand(word, commands, path))
  path.push(entry.name)
  if ('commands' in entry) {
    if (entry.direct === undefined || !isDirect(rest, entry)) return dispatchWords(entry, rest, path, io)
    return runCommand(entry.direct, rest, path, io)
  }
  return runCommand(entry, rest, path, io)
}

function isDirect([word]: readonly string[], { runsAlone }: CommandGroup): boolean {
  if (word === undefined) return runsAlone === true
  return word.startsWith('-') && word !== '--help' && word !== '-h'
}

async function runCommand(
  entry: Command,
  rest: readonly string[],
  path: readonly string[],
  io: CommandIo,
): Promise<number> {
  const args = parseCommandLine(entry, rest)
  if (args !== null) return entry.run(args, io)
  writeLine(io.stdout, helpOf(path.join(' '), entry))
  return EXIT.good
}

function unknownCommand(word: string, entries: readonly CommandEntry[], path: readonly string[]): string {
  const names = entries.map(({ name }) => name)
  const guess = path.length === 1 && /^-*v(ersion)?$/i.test(word) ? '--version' : nearest(word, names)
  return `there is no command ${JSON.stringify(word)}; ${guess === null ? `commands: ${names.join(', ')}` : `did you mean "${guess}"?`}`
}

/** What a group does without the name of a command. */
function withoutCommand(name: string, direct: Command, commands: readonly CommandEntry[]): readonly string[] {
  if (commands.includes(direct)) return [`Without COMMAND: ${direct.name}.`]
  return ['', 'Without COMMAND:', '', helpOf(name, direct)]
}

function overview({ commands, summary, direct }: CommandList, path: readonly string[]): string {
  const name = path.join(' ')
  const rows = commands.map(({ name: entryName, summary }) => [entryName, summary] as const)
  return [
    summary,
    '',
    `Usage: ${name} COMMAND [options]`,
    '',
    'Commands:',
    ...columns(rows),
    '',
    `${name} COMMAND --help shows the options of a command.`,
    ...(direct === undefined ? [] : withoutCommand(name, direct, commands)),
    ...(path.length === 1
      ? ['Exit codes: 0 success, 1 negative result, 2 usage or configuration error, 3 could not decide.']
      : []),
  ].join('\n')
}
