/** `preflight policy explain` of a stored decision and of test cases: the trace in plain words, on a data directory or a running gateway. */
import {
  compare,
  judgeChangeSet,
  type Artifact,
  type CompareOptions,
  type CompiledPolicy,
} from '../../engine/internal.ts'
import { ExplanationAnswer, explainDecision } from '../api/routes/decisions.ts'
import { LOCAL_TENANT } from '../callers/api-keys.ts'
import { formatMistake } from '../errors/mistake.ts'
import { openSettings } from '../config/live-settings.ts'
import { documentLimits } from '../flow/analyst.ts'
import { explainedDecision, type ExplainedDecision } from '../flow/explained-decision.ts'
import { explanationLines, explanationOf } from '../flow/policy-explanation.ts'
import { systemClock } from '../keys/key-ring.ts'
import { printable } from '../report/printable.ts'
import { sha256Hex } from '../runtime/hash.ts'
import { EXIT, InputError, type Arguments, type ExitCode } from './command.ts'
import { configSource } from './config-option.ts'
import { withStore } from './data-directory.ts'
import { show } from './format.ts'
import { writeLine, type CommandIo } from './io.ts'
import { caseInput } from './policy-case-run.ts'
import { readCases } from './policy-cases.ts'
import { remoteOf } from './remote.ts'

export async function explainStored(id: string, args: Arguments, io: CommandIo): Promise<ExitCode> {
  const remote = remoteOf(args, io)
  const explained =
    remote === null
      ? await explainedHere(id, args, io)
      : await remote.ask(explainDecision, ExplanationAnswer, { params: { decision_id: id } })
  show(args, io, explained, storedText)
  return explained.problem === null ? EXIT.good : EXIT.undecided
}

async function explainedHere(id: string, args: Arguments, io: CommandIo): Promise<ExplainedDecision> {
  const { config, policy } = openSettings(configSource(args, io)).current()
  const limits = documentLimits(config)
  const flow = {
    compare: async (artifact: Artifact, options: CompareOptions) =>
      compare(artifact, { ...options, limits }, sha256Hex),
  }
  return withStore(args, io, async (store) => {
    const row = await store.decisions.byId(LOCAL_TENANT, id)
    if (row === null) throw new InputError(`there is no decision ${id} in this data directory`)
    return explainedDecision(row, { policy, flow, store })
  })
}

function storedText(explained: ExplainedDecision): string {
  const { decision_id: id, was, policy, is_same_policy: isSame, problem, changes, change_set: rulings } = explained
  const found = changes.length + rulings.length
  return [
    `${id} was decided ${was}.`,
    isSame
      ? `Policy ${policy.name}, which decided then.`
      : `Policy ${policy.name}, in force now. Another policy decided then.`,
    ...(problem === null ? [] : [`It cannot be explained: ${problem}.`]),
    ...(problem === null && found === 0 ? ['Nothing changed that the policy judges.'] : []),
    ...explanationLines(explained),
  ]
    .map(printable)
    .join('\n')
}

export function explainCases(policy: CompiledPolicy, file: string, args: Arguments, io: CommandIo): ExitCode {
  const cases = readCases(file)
  if (!cases.ok) {
    writeLine(io.stderr, cases.problem.map(formatMistake).join('\n'))
    return EXIT.usage
  }
  const now = systemClock()
  const views = cases.value.map((one) => {
    const input = caseInput(policy, one, now)
    return {
      description: one.description,
      want: one.want.decision,
      ...explanationOf(policy, judgeChangeSet(input.analyses, input)),
    }
  })
  show(args, io, views, (rows) =>
    rows
      .flatMap((row) => [
        `${row.description} (wants ${row.want})`,
        ...explanationLines(row).map((line) => `  ${line}`),
        '',
      ])
      .map(printable)
      .join('\n'),
  )
  return EXIT.good
}
