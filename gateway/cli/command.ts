/** A command of the command line: a row with its options, from which parsing, checks and --help are made. */
import { parseArgs } from 'node:util'
import type { CommandIo } from './io.ts'
import { nearest } from '../../engine/base.ts'

/** docs/reference/command-line.md#exit-codes: success, negative result, usage or configuration error, could not decide. */
export const EXIT = { good: 0, no: 1, usage: 2, undecided: 3 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export interface OptionSpec {
  readonly name: string
  /** Name of the value in the help; absent: a flag. */
  readonly value?: string
  readonly allowed?: readonly string[]
  readonly isRequired?: boolean
  readonly isRepeatable?: boolean
  readonly help: string
}

export interface Command {
  readonly name: string
  readonly summary: string
  /** Positional arguments as in the help, e.g. `BASE HEAD`. */
  readonly operands: string
  /** Minimum and maximum number of positional arguments. */
  readonly operandCount: readonly [least: number, most: number]
  readonly options: readonly OptionSpec[]
  /** More for --help: examples, exit codes. */
  readonly notes?: string
  /** Resolves with the exit code: an ExitCode, or that of a program which the command runs. */
  run(args: Arguments, io: CommandIo): Promise<number>
}

export interface CommandGroup {
  readonly name: string
  readonly summary: string
  readonly commands: readonly Command[]
  /** Runs when the first word is an option or `--`, and names no command. */
  readonly direct?: Command
  /** It also runs when there is no word. */
  readonly runsAlone?: true
}

export interface Arguments {
  readonly operands: readonly string[]
  flag(name: string): boolean
  /** The last value given. */
  value(name: string): string | undefined
  values(name: string): readonly string[]
}

/** For commands whose exit code is an answer by itself. */
export const QUIET: OptionSpec = { name: 'quiet', help: 'Print no report; the exit code is the answer.' }

/** The command line was not understood. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** The command line was understood, and a document, file, key or gateway that it names cannot be used: its help does not help. */
export class InputError extends UsageError {}

const HELP: OptionSpec = { name: 'help', help: 'Show this.' }

/** Null for --help. Throws a UsageError that names the nearest known option. */
export function parseCommandLine(command: Command, argv: readonly string[]): Arguments | null {
  const options = [...command.options, HELP]
  const { tokens } = parseArgs({
    args: [...argv],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: Object.fromEntries(
      options.map(({ name, value }) => [name, { type: value === undefined ? 'boolean' : 'string' }]),
    ),
  })
  const given = new Map<string, readonly string[]>()
  const operands: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') operands.push(token.value)
    if (token.kind !== 'option') continue
    if (token.rawName === '-h' || token.name === 'help') return null
    const spec = optionNamed(token.rawName, token.name, options)
    given.set(spec.name, [...(given.get(spec.name) ?? []), checkedValue(spec, token.value)])
  }
  checkCounts(command, operands, given)
  return {
    operands,
    flag: (name) => given.has(name),
    value: (name) => given.get(name)?.at(-1),
    values: (name) => given.get(name) ?? [],
  }
}

function optionNamed(rawName: string, name: string, options: readonly OptionSpec[]): OptionSpec {
  const spec = options.find((option) => option.name === name)
  if (spec !== undefined && rawName.startsWith('--')) return spec
  const known = options.map((option) => option.name)
  const guess = nearest(name, known) ?? known.find((option) => name !== '' && option.startsWith(name)) ?? null
  throw new UsageError(`the option ${rawName} is not known${guess === null ? '' : `; did you mean --${guess}?`}`)
}

function checkedValue({ name, value, allowed }: OptionSpec, given: string | undefined): string {
  if (value === undefined) {
    if (given !== undefined) throw new UsageError(`--${name} takes no value`)
    return ''
  }
  if (given === undefined || given === '') throw new UsageError(`--${name} needs a value: --${name} ${value}`)
  if (allowed === undefined || allowed.includes(given)) return given
  const guess = nearest(given, allowed)
  const hint = guess === null ? '' : `; did you mean "${guess}"?`
  throw new UsageError(`--${name} ${JSON.stringify(given)} is not one of ${allowed.join(', ')}${hint}`)
}

function checkCounts(
  command: Command,
  operands: readonly string[],
  given: ReadonlyMap<string, readonly string[]>,
): void {
  const [least, most] = command.operandCount
  if (operands.length < least) {
    const missing = command.operands.split(' ').slice(operands.length).join(' ')
    throw new UsageError(`${least - operands.length === 1 ? 'an argument is' : 'arguments are'} missing: ${missing}`)
  }
  const extra = operands[most]
  if (extra !== undefined) throw new UsageError(`the argument ${JSON.stringify(extra)} is not expected here`)
  for (const { name, value, allowed, isRequired, isRepeatable } of command.options) {
    const count = given.get(name)?.length ?? 0
    const choices = allowed === undefined ? '' : `: one of ${allowed.join(', ')}`
    if (isRequired === true && count === 0) throw new UsageError(`--${name} ${value ?? ''} is required${choices}`)
    if (isRepeatable !== true && value !== undefined && count > 1)
      throw new UsageError(`--${name} is given ${count} times`)
  }
}

/** @param path the words before the options, e.g. `preflight keys create` */
export function helpOf(path: string, command: Command): string {
  const rows = [...command.options, HELP].map((option) => [optionUsage(option), optionHelp(option)] as const)
  // What follows `--` is no option.
  const words = command.operands.startsWith('--') ? ['[options]', command.operands] : [command.operands, '[options]']
  const usage = `Usage: ${[path, ...words].filter((word) => word !== '').join(' ')}`
  return [
    command.summary,
    '',
    usage,
    '',
    'Options:',
    ...columns(rows),
    ...(command.notes === undefined ? [] : ['', command.notes]),
  ].join('\n')
}

/** Two columns, the first as wide as its widest entry. */
export function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(0, ...rows.map(([first]) => first.length))
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`.trimEnd())
}

function optionUsage({ name, value }: OptionSpec): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`
}

function optionHelp({ help, allowed, isRequired, isRepeatable }: OptionSpec): string {
  const marks = [
    ...(allowed === undefined ? [] : [allowed.join(' | ')]),
    ...(isRequired === true ? ['required'] : []),
    ...(isRepeatable === true ? ['repeatable'] : []),
  ]
  return marks.length === 0 ? help : `${help} [${marks.join('; ')}]`
}

/** For commands that list rows. */
export const LIMIT: OptionSpec = { name: 'limit', value: 'N', help: 'Maximum number of rows; default: 50.' }
export const DEFAULT_LIMIT = 50

/** Throws a UsageError on anything but a positive integer. */
export function positiveInteger(args: Arguments, name: string, fallback: number): number {
  const text = args.value(name)
  if (text === undefined) return fallback
  const number = Number(text)
  if (Number.isSafeInteger(number) && number > 0) return number
  throw new UsageError(`--${name} takes a positive whole number, not ${JSON.stringify(text)}`)
}

/** The same for seconds; zero is allowed. */
export function wholeSeconds(args: Arguments, name: string, fallback: number): number {
  const text = args.value(name)
  const seconds = text === undefined ? fallback : Number(text)
  if (Number.isSafeInteger(seconds) && seconds >= 0) return seconds
  throw new UsageError(`--${name} takes whole seconds, 0 or more`)
}

/** Milliseconds since the epoch; undefined without the option. */
export function momentOf(args: Arguments, name: string): number | undefined {
  const text = args.value(name)
  if (text === undefined) return undefined
  const moment = Date.parse(text)
  if (Number.isNaN(moment))
    throw new UsageError(`--${name} ${JSON.stringify(text)} is not a time; write 2026-01-31 or 2026-01-31T12:00:00Z`)
  return moment
}

/** The members of `context` that the options state. */
export function statedContext(
  args: Arguments,
  options: readonly { readonly name: string; readonly member: string }[] = CONTEXT_OPTIONS,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    options.flatMap(({ name, member }) => {
      const value = args.value(name)
      return value === undefined ? [] : [[member, value]]
    }),
  )
}

/** Option → member of `context` on the wire. */
export const CONTEXT_OPTIONS = [
  {
    name: 'operation',
    member: 'operation',
    help: 'The operation: tool_call, merge, deploy, publish, register …; required to authorize.',
  },
  { name: 'environment', member: 'environment', help: 'Environment of the operation.' },
  { name: 'target-id', member: 'target_id', help: 'Target of the operation.' },
  { name: 'repository', member: 'repository', help: 'Repository of the change.' },
  { name: 'branch', member: 'branch', help: 'Branch of the change.' },
  { name: 'pull-request', member: 'pull_request', help: 'Pull request of the change.' },
  { name: 'base', member: 'base', help: 'Base ref of the change.' },
  { name: 'head', member: 'head', help: 'Head ref of the change.' },
] as const
