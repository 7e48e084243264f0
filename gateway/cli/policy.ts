/** `preflight policy`: checks policy packs and runs their test cases before they are in force. */
import { dirname, join } from 'node:path'
import { openSettings } from '../config/live-settings.ts'
import { formatMistake, type Mistake } from '../errors/mistake.ts'
import { loadPolicy, policyFile } from '../config/policy.ts'
import { systemClock } from '../keys/key-ring.ts'
import { configSource } from './config-option.ts'
import { EXIT, type Arguments, type Command, type CommandGroup, type ExitCode } from './command.ts'
import { LIST_FORMAT, show } from './format.ts'
import { writeLine, type CommandIo } from './io.ts'
import type { CaseOutcome } from './policy-case-run.ts'
import { REPLAY_NOTES, REPLAY_OPTIONS, replayHere, replayThere, showReplay } from './policy-replay.ts'
import { EXPLAIN_NOTES, simulate, SIMULATE_NOTES, SIMULATE_OPTIONS, simulateThere } from './policy-simulate.ts'
import { GATEWAY_OPTIONS, remoteOf } from './remote.ts'
import { readRegularFile } from '../runtime/regular-file.ts'

const lint: Command = {
  name: 'lint',
  summary: 'Check a policy pack and list every mistake with its line and column.',
  operands: 'PACK',
  operandCount: [1, 1],
  options: [LIST_FORMAT],
  notes: 'PACK: the path of a pack.yaml, or the name of a shipped pack.\nExit codes: 0 valid, 1 it has mistakes.',
  run: (args, io) => Promise.resolve(runLint(args, io)),
}

const test: Command = {
  name: 'test',
  summary: 'Run the test cases of a policy pack.',
  operands: 'PACK',
  operandCount: [1, 1],
  options: [
    { name: 'cases', value: 'FILE', help: 'The cases; default: cases.yaml next to the pack.' },
    { ...LIST_FORMAT, allowed: ['text', 'json', 'junit'] },
  ],
  notes:
    'PACK: the path of a pack.yaml, or the name of a shipped pack.\nExit codes: 0 all pass, 1 some fail, or the pack has mistakes.',
  run: runTest,
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
    const pack = packText(packOf(args), args, io)
    return pack === null ? EXIT.usage : simulateThere(pack, args, io, remote)
  },
}

const explain: Command = {
  name: 'explain',
  summary: 'The same, with the result of every rule for every change.',
  operands: 'PACK BEFORE AFTER',
  operandCount: [3, 3],
  options: SIMULATE_OPTIONS,
  notes: EXPLAIN_NOTES,
  run: (args, io) => runSimulate(true, args, io),
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
  commands: [lint, test, simulateCommand, explain, replayCommand],
}

function runLint(args: Arguments, io: CommandIo): ExitCode {
  const loaded = loadPolicy(packOf(args), '.')
  if (!loaded.ok) return showMistakes(loaded.problem, args, io)
  const { policy, file } = loaded.value
  const view = { name: policy.name, mode: policy.mode, hash: policy.hash, on_incomplete: policy.onIncomplete, file }
  show(args, io, { ok: true, ...view, mistakes: [] }, () => `${file}: valid; policy ${policy.name}, ${policy.hash}`)
  return EXIT.good
}

async function runSimulate(isExplained: boolean, args: Arguments, io: CommandIo): Promise<ExitCode> {
  const loaded = loadPolicy(packOf(args), '.')
  if (loaded.ok) return simulate(loaded.value.policy, isExplained, args, io)
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
  if (loaded.ok) return readRegularFile(loaded.value.file, 'utf8')
  showMistakes(loaded.problem, args, io)
  return null
}

async function runTest(args: Arguments, io: CommandIo): Promise<ExitCode> {
  const loaded = loadPolicy(packOf(args), '.')
  if (!loaded.ok) return showMistakes(loaded.problem, args, io)
  const [{ readCases }, { runCase }] = await Promise.all([import('./policy-cases.ts'), import('./policy-case-run.ts')])
  const cases = readCases(args.value('cases') ?? join(dirname(policyFile(packOf(args), '.')), 'cases.yaml'))
  if (!cases.ok) return showMistakes(cases.problem, args, io)
  const now = systemClock()
  const outcomes = cases.value.map((policyCase) => runCase(loaded.value.policy, policyCase, now))
  const failed = outcomes.filter(({ differences }) => differences.length > 0).length
  const passed = outcomes.length - failed
  if (args.value('format') === 'junit') {
    const { renderCases } = await import('../report/policy-junit.ts')
    writeLine(io.stdout, renderCases('preflight policy test', loaded.value.policy.name, outcomes))
    return failed === 0 ? EXIT.good : EXIT.no
  }
  show(args, io, { ok: failed === 0, passed, failed, cases: outcomes }, () =>
    [...outcomes.flatMap(outcomeLines), `${passed} passed, ${failed} failed`].join('\n'),
  )
  return failed === 0 ? EXIT.good : EXIT.no
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

function packOf({ operands: [name = ''] }: Arguments): string {
  return name
}
