/** `preflight policy`: checks policy packs and runs their test cases before they are in force. */
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { CompiledPolicy } from '../../engine/internal.ts'
import { openSettings } from '../config/live-settings.ts'
import { formatMistake, type Mistake } from '../errors/mistake.ts'
import { loadPolicy, policyFile } from '../config/policy.ts'
import { systemClock } from '../keys/key-ring.ts'
import { configSource } from './config-option.ts'
import { plainSchema } from '../settings/input-schema.ts'
import {
  EXIT,
  UsageError,
  type Arguments,
  type Command,
  type CommandGroup,
  type ExitCode,
  positiveInteger,
} from './command.ts'
import { LIST_FORMAT, show } from './format.ts'
import { writeLine, type CommandIo } from './io.ts'
import type { CaseOutcome } from './policy-case-run.ts'
import { REPLAY_NOTES, REPLAY_OPTIONS, replayHere, replayThere, showReplay } from './policy-replay.ts'
import { EXPLAIN_NOTES, simulate, SIMULATE_NOTES, SIMULATE_OPTIONS, simulateThere } from './policy-simulate.ts'
import { GATEWAY_OPTIONS, remoteOf, SITE_OPTIONS } from './remote.ts'
import { readTextFile, statsOf } from '../runtime/regular-file.ts'

const lint: Command = {
  name: 'lint',
  summary: 'Check a policy pack and list every mistake with its line and column.',
  operands: 'PACK',
  operandCount: [1, 1],
  options: [{ name: 'strict', help: 'Warnings are mistakes, too.' }, LIST_FORMAT],
  notes: [
    'PACK: the path of a pack.yaml, or the name of a shipped pack.',
    'Mistakes: the pack does not load, a condition is not true or false, or no finding can match it. Warnings: a rule never',
    'decides, an operation looks mistyped, a waiver has ended or ends within 30 days.',
    'Exit codes: 0 valid, 1 it has mistakes, or with --strict warnings.',
  ].join('\n'),
  run: (args, io) => runLint(args, io),
}

const test: Command = {
  name: 'test',
  summary: 'Run the test cases of a policy pack.',
  operands: 'PACK',
  operandCount: [1, 1],
  options: [
    { name: 'cases', value: 'FILE', help: 'The cases; default: cases.yaml next to the pack.' },
    { name: 'coverage', help: 'Show which rules no case fires.' },
    { name: 'min', value: 'PERCENT', help: 'With --coverage: minimum share of rules that a case fires.' },
    { name: 'watch', help: 'Run again when the pack or its cases change, until the command is stopped.' },
    { ...LIST_FORMAT, allowed: ['text', 'json', 'junit'] },
  ],
  notes:
    'PACK: the path of a pack.yaml, or the name of a shipped pack.\n' +
    'Exit codes: 0 all pass, 1 some fail, the pack has mistakes, or fewer rules are fired than --min.',
  run: async (args, io) => {
    if (args.value('min') !== undefined && !args.flag('coverage')) throw new UsageError('--min needs --coverage')
    const pack = policyFile(packName(args), '.')
    const files = [pack, casesFile(args)]
    for (;;) {
      const stamps = stampsOf(files)
      const code = await runTest(args, io)
      if (!args.flag('watch')) return code
      while (stampsOf(files) === stamps) await pause(WATCH_MS)
      writeLine(io.stdout, '')
    }
  },
}

/** A change is found within this time. */
const WATCH_MS = 250

function casesFile(args: Arguments): string {
  return args.value('cases') ?? join(dirname(policyFile(packName(args), '.')), 'cases.yaml')
}

/** Equal as long as nothing was written. */
function stampsOf(files: readonly string[]): string {
  return files.map((file) => `${statsOf(file)?.mtimeMs ?? 0} ${statsOf(file)?.size ?? 0}`).join()
}

const simulateCommand: Command = {
  name: 'simulate',
  summary: 'Show what a policy pack would decide on a change.',
  operands: 'PACK BEFORE AFTER',
  operandCount: [3, 3],
  options: [...SIMULATE_OPTIONS, ...GATEWAY_OPTIONS],
  notes: SIMULATE_NOTES,
  run: async (args, io) => {
    const remote = remoteOf(args, io, ['route', 'at'])
    if (remote === null) return runSimulate(false, args, io)
    const pack = packText(packName(args), args, io)
    return pack === null ? EXIT.usage : simulateThere(pack, args, io, remote)
  },
}

const explain: Command = {
  name: 'explain',
  summary: 'Explain why a policy decides as it does: on a change, on a stored decision, on test cases.',
  operands: '[PACK BEFORE AFTER | DECISION_ID | PACK]',
  operandCount: [0, 3],
  options: [
    ...SIMULATE_OPTIONS,
    { name: 'case', value: 'FILE', help: 'Explain the test cases of a pack; default PACK: pack.yaml next to them.' },
    ...SITE_OPTIONS,
  ],
  notes: EXPLAIN_NOTES,
  run: runExplain,
}

const schema: Command = {
  name: 'schema',
  summary: 'Print the JSON Schema of a pack or of its test cases, for editors.',
  operands: '[pack|cases]',
  operandCount: [0, 1],
  options: [],
  notes:
    'Write it to a file, and name the file in the first line of the pack:\n  # yaml-language-server: $schema=./policy.schema.json',
  run: async ({ operands: [what = 'pack'] }, io) => {
    if (what !== 'pack' && what !== 'cases') throw new UsageError(`there is no schema of ${what}; name pack or cases`)
    const [{ CaseFile }, { PolicyDocument }] = await Promise.all([
      import('./policy-cases.ts'),
      import('../../engine/internal.ts'),
    ])
    const plain = plainSchema(what === 'pack' ? PolicyDocument : CaseFile)
    const dialect = 'https://json-schema.org/draft/2020-12/schema'
    writeLine(io.stdout, JSON.stringify({ $schema: dialect, ...plain }, null, 2))
    return EXIT.good
  },
}

const replayCommand: Command = {
  name: 'replay',
  summary: 'Replay the decisions of the ledger under a policy pack.',
  operands: '[PACK]',
  operandCount: [0, 1],
  options: REPLAY_OPTIONS,
  notes: REPLAY_NOTES,
  run: runReplayCommand,
}

export const policyGroup: CommandGroup = {
  name: 'policy',
  summary: 'Check policy packs, run their test cases, try them on a change or on the ledger.',
  commands: [lint, test, simulateCommand, explain, replayCommand, schema],
}

async function runLint(args: Arguments, io: CommandIo): Promise<ExitCode> {
  const loaded = loadPolicy(packName(args), '.')
  if (!loaded.ok) return showMistakes(loaded.problem, args, io)
  const { policy, file } = loaded.value
  const { lintPolicy } = await import('./policy-lint.ts')
  const { mistakes, warnings } = lintPolicy(policy, file, readTextFile(file), Date.now())
  const isGood = mistakes.length === 0 && !(args.flag('strict') && warnings.length > 0)
  const view = { name: policy.name, mode: policy.mode, hash: policy.hash, on_incomplete: policy.onIncomplete, file }
  const valid = `${file}: valid; policy ${policy.name}, ${policy.hash}`
  show(args, io, { ok: isGood, ...view, mistakes, warnings }, () =>
    [
      ...mistakes.map(formatMistake),
      ...warnings.map((warning) => `warning: ${formatMistake(warning)}`),
      ...(mistakes.length === 0 ? [valid] : []),
    ].join('\n'),
  )
  return isGood ? EXIT.good : EXIT.no
}

async function runSimulate(isExplained: boolean, args: Arguments, io: CommandIo): Promise<ExitCode> {
  const loaded = loadPolicy(packName(args), '.')
  if (loaded.ok) return simulate(loaded.value.policy, isExplained, args, io)
  showMistakes(loaded.problem, args, io)
  return EXIT.usage
}

async function runExplain(args: Arguments, io: CommandIo): Promise<ExitCode> {
  const { operands } = args
  const cases = args.value('case')
  if (cases === undefined && operands.length === 3) {
    if (remoteOf(args, io) !== null)
      throw new UsageError('explain of two files runs here; with --url, name a DECISION_ID')
    return runSimulate(true, args, io)
  }
  const { explainCases, explainStored } = await import('./policy-explain.ts')
  const [first] = operands
  if (cases === undefined) {
    if (first === undefined || operands.length > 1 || !first.startsWith('dec_'))
      throw new UsageError('name PACK BEFORE AFTER, a DECISION_ID (dec_…), or --case FILE')
    return explainStored(first, args, io)
  }
  if (operands.length > 1) throw new UsageError('with --case, name the pack only')
  const loaded = loadPolicy(first ?? join(dirname(cases), 'pack.yaml'), '.')
  if (loaded.ok) return explainCases(loaded.value.policy, cases, args, io)
  showMistakes(loaded.problem, args, io)
  return EXIT.usage
}

async function runReplayCommand(args: Arguments, io: CommandIo): Promise<ExitCode> {
  const [name] = args.operands
  const remote = remoteOf(args, io, ['tenant'])
  if (remote !== null) {
    const pack = name === undefined ? undefined : packText(name, args, io)
    return pack === null ? EXIT.usage : showReplay(await replayThere(pack ?? null, args, remote), args, io)
  }
  if (name === undefined)
    return showReplay(await replayHere(openSettings(configSource(args, io)).current().policy, args, io), args, io)
  const loaded = loadPolicy(name, '.')
  if (loaded.ok) return showReplay(await replayHere(loaded.value.policy, args, io), args, io)
  showMistakes(loaded.problem, args, io)
  return EXIT.usage
}

/** Null, with its mistakes shown: they have their places here only. */
function packText(name: string, args: Arguments, io: CommandIo): string | null {
  const loaded = loadPolicy(name, '.')
  if (loaded.ok) return readTextFile(loaded.value.file)
  showMistakes(loaded.problem, args, io)
  return null
}

async function runTest(args: Arguments, io: CommandIo): Promise<ExitCode> {
  const loaded = loadPolicy(packName(args), '.')
  if (!loaded.ok) return showMistakes(loaded.problem, args, io)
  const [{ readCases }, { runCase }] = await Promise.all([import('./policy-cases.ts'), import('./policy-case-run.ts')])
  const cases = readCases(casesFile(args))
  if (!cases.ok) return showMistakes(cases.problem, args, io)
  const now = systemClock()
  const outcomes = cases.value.map((policyCase) => runCase(loaded.value.policy, policyCase, now))
  const failed = outcomes.filter(({ differences }) => differences.length > 0).length
  const passed = outcomes.length - failed
  if (args.value('format') === 'junit') {
    const { renderCases } = await import('../report/junit.ts')
    writeLine(io.stdout, renderCases('preflight policy test', loaded.value.policy.name, outcomes))
    return failed === 0 ? EXIT.good : EXIT.no
  }
  const coverage = args.flag('coverage') ? coverageOf(loaded.value.policy, outcomes) : null
  const isCovered = coverage === null || coverage.percent >= minimumOf(args)
  const isGood = failed === 0 && isCovered
  show(args, io, { ok: isGood, passed, failed, cases: outcomes, ...(coverage !== null && { coverage }) }, () =>
    [
      ...outcomes.flatMap(outcomeLines),
      `${passed} passed, ${failed} failed`,
      ...(coverage === null ? [] : coverageLines(coverage)),
    ].join('\n'),
  )
  return isGood ? EXIT.good : EXIT.no
}

interface PolicyCoverage {
  readonly rules: number
  readonly fired: number
  /** Rounded down. */
  readonly percent: number
  /** Ids of the rules that no case fires, in the order of the pack. */
  readonly never: readonly string[]
}

function coverageOf({ document }: CompiledPolicy, outcomes: readonly CaseOutcome[]): PolicyCoverage {
  const fired = new Set(outcomes.flatMap((outcome) => outcome.fired))
  const never = document.rules.map(({ id }) => id).filter((id) => !fired.has(id))
  const rules = document.rules.length
  const percent = rules === 0 ? 100 : Math.floor(((rules - never.length) * 100) / rules)
  return { rules, fired: rules - never.length, percent, never }
}

function coverageLines({ rules, fired, percent, never }: PolicyCoverage): readonly string[] {
  return [`${fired} of ${rules} rules are fired by a case (${percent} %)`, ...never.map((id) => `  never: ${id}`)]
}

function minimumOf(args: Arguments): number {
  const percent = args.value('min') === undefined ? 0 : positiveInteger(args, 'min', 1)
  if (percent <= 100) return percent
  throw new UsageError('--min takes a share from 1 to 100')
}

function outcomeLines({ description, differences }: CaseOutcome): readonly string[] {
  return [
    `${differences.length === 0 ? '✓' : '✗'} ${description}`,
    ...differences.map(({ member, want, got }) => `    ${member}: want ${want}, got ${got ?? 'none'}`),
  ]
}

function showMistakes(mistakes: readonly Mistake[], args: Arguments, io: CommandIo): ExitCode {
  show(args, io, { ok: false, mistakes }, () => mistakes.map(formatMistake).join('\n'))
  return EXIT.no
}

function packName({ operands: [name = ''] }: Arguments): string {
  return name
}
