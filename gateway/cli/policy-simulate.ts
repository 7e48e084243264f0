/**
 * `preflight policy simulate` and `explain`: the decision of a pack on a change, in this process, and the rules that made it.
 * Never permission.
 */
import {
  decide,
  canonicalArtifactType,
  changeSetDigests,
  compare,
  DEFAULT_DOCUMENT_LIMITS,
  EMPTY_CONTEXT,
  judgeChangeSet,
  rulesetHash,
  sniffArtifactType,
  type Artifact,
  type ArtifactAnalysis,
  type CompiledPolicy,
  type DecideInput,
  type JudgedChangeSet,
  type Judgement,
  type RuleAnswer,
  type Verdict,
} from '../../engine/internal.ts'
import type { Static } from 'typebox'
import { SimulateAnswer, simulatePolicy } from '../api/routes/policies.ts'
import { explanationLines, explanationOf } from '../flow/policy-explanation.ts'
import { printable } from '../report/printable.ts'
import { sha256Hex } from '../runtime/hash.ts'
import {
  EXIT,
  UsageError,
  type Arguments,
  type ExitCode,
  type OptionSpec,
  CONTEXT_OPTIONS,
  statedContext,
} from './command.ts'
import { TYPE_NAMES } from './diff.ts'
import { filesOf, readSource, withImports } from './documents.ts'
import { LIST_FORMAT, show } from './format.ts'
import type { GatewayClient } from './gateway-client.ts'
import type { CommandIo } from './io.ts'
import { bothSides } from './preflight.ts'

export const SIMULATE_OPTIONS: readonly OptionSpec[] = [
  { name: 'type', value: 'TYPE', allowed: TYPE_NAMES, help: 'Kind of contract; default: detected from the content.' },
  ...CONTEXT_OPTIONS.map(({ name, help }) => ({ name, value: 'VALUE', help })),
  { name: 'route', value: 'NAME', help: 'Route of an intercepted call.' },
  { name: 'at', value: 'TIME', help: 'Time of the decision, e.g. 2026-12-24T12:00:00Z; default: now.' },
  LIST_FORMAT,
]

const OPERANDS = [
  'PACK: the path of a pack.yaml, or the name of a shipped pack.',
  'BEFORE and AFTER: a file, - for standard input, or <ref>:<path> in the current git repository.',
]
const EXITS =
  'Exit codes: 0 it would be allowed, 1 it would need an approval or be blocked, 2 usage, 3 the contracts could not be analysed.'
export const EXPLAIN_NOTES = [
  ...OPERANDS,
  'DECISION_ID: a decision of the data directory, or with --url of a running gateway. The policy in force is explained.',
  'Each rule is shown with its condition, the values that it read, and what would change the answer.',
  'Exit codes of a change: as simulate. Of a stored decision: 0 explained, 3 its input is not kept. Of --case: 0.',
].join('\n')
export const SIMULATE_NOTES = [
  ...OPERANDS,
  'With --url, the gateway decides, with the consumers that it knows and the time of its clock.',
  EXITS,
].join('\n')

interface Simulation {
  readonly verdict: Verdict
  readonly judged: JudgedChangeSet
}

/** @param isExplained every rule's result for every change, instead of the rules that decided */
export async function simulate(
  policy: CompiledPolicy,
  isExplained: boolean,
  args: Arguments,
  io: CommandIo,
): Promise<ExitCode> {
  const input = await simulationInput(policy, args, io)
  const simulation: Simulation = { verdict: decide(input), judged: judgeChangeSet(input.analyses, input) }
  const view = simulationView(policy, simulation, isExplained)
  show(args, io, view, simulationText)
  if (!simulation.verdict.analysis_complete) return EXIT.undecided
  return simulation.verdict.safe_for_agent ? EXIT.good : EXIT.no
}

/** @param pack its text */
export async function simulateThere(
  pack: string,
  args: Arguments,
  io: CommandIo,
  gateway: GatewayClient,
): Promise<ExitCode> {
  const { artifact, base, head } = await sourcesOf(args, io)
  const files = bothSides(await filesOf(base), await filesOf(head))
  const sent = { ...artifact, ...(Object.keys(files).length > 0 && { files }) }
  const body = { policy: pack, artifacts: [sent], context: statedContext(args) }
  const answer = await gateway.ask(simulatePolicy, SimulateAnswer, { body })
  show(args, io, answer, simulatedAnswerText)
  if (answer.degraded_reasons.length > 0) return EXIT.undecided
  return answer.execution_action.startsWith('CONTINUE') ? EXIT.good : EXIT.no
}

function simulatedAnswerText(answer: Static<typeof SimulateAnswer>): string {
  const reasons = [...answer.blocking_reasons, ...answer.warnings, ...answer.degraded_reasons]
  return [
    `${answer.policy.name}: ${answer.decision}${answer.observed_decision === answer.decision ? '' : ` (observed: ${answer.observed_decision})`}`,
    answer.summary,
    ...reasons.map(({ code, message }) => `! ${code}: ${message}`),
    ...answer.matched_rules.map(({ rule, decision, findings, comparison_rules: found }) =>
      `${decision}  ${rule === 'none' ? 'no rule' : `rule ${rule}`}: ${findings} findings  ${found.join(', ')}`.trimEnd(),
    ),
    'Simulated: this is not a permission.',
  ]
    .map(printable)
    .join('\n')
}

async function sourcesOf(args: Arguments, io: CommandIo) {
  const [, before = '', after = ''] = args.operands
  if (before === '-' && after === '-') throw new UsageError('only one side can come from standard input')
  const sources = [await readSource(before, io), await readSource(after, io)] as const
  const named = canonicalArtifactType(args.value('type') ?? '')
  const type =
    named === null ? sniffArtifactType(sources[0].text, sources[1].text) : { ok: true as const, value: named }
  if (!type.ok) throw new UsageError(`${type.problem.message} Name the kind with --type`)
  const [base, head] = type.value === 'protobuf' ? await withImports(...sources) : sources
  const artifact: Artifact = { id: head.name, type: type.value, before: base.text, after: head.text }
  return { artifact, base, head }
}

async function simulationInput(policy: CompiledPolicy, args: Arguments, io: CommandIo): Promise<DecideInput> {
  const now = evaluationTime(args)
  const { artifact, base, head } = await sourcesOf(args, io)
  const { stableDays, betaDays } = policy.deprecation
  const options = {
    limits: DEFAULT_DOCUMENT_LIMITS,
    today: new Date(now * 1000).toISOString().slice(0, 10),
    files: { base: await filesOf(base), head: await filesOf(head) },
    ...(stableDays > 0 && { deprecation_days_stable: stableDays }),
    ...(betaDays > 0 && { deprecation_days_beta: betaDays }),
  }
  const result = compare(artifact, options, sha256Hex)
  const { id, type } = artifact
  const analysis: ArtifactAnalysis = result.ok
    ? { id, type, ok: true, comparison: result.value }
    : { id, type, ok: false, problem: result.problem }
  return {
    analyses: [analysis],
    context: { ...EMPTY_CONTEXT, ...statedContext(args) },
    policy,
    scope: null,
    route: args.value('route') ?? null,
    ...changeSetDigests([artifact], sha256Hex),
    rulesetHash: rulesetHash(sha256Hex),
    policyPin: null,
    now,
    sha256: sha256Hex,
  }
}

function evaluationTime(args: Arguments): number {
  const text = args.value('at')
  const moment = text === undefined ? Date.now() : Date.parse(text)
  if (Number.isNaN(moment))
    throw new UsageError(`--at ${JSON.stringify(text)} is not a time; write 2026-12-24T12:00:00Z`)
  return Math.floor(moment / 1000)
}

type SimulationView = ReturnType<typeof simulationView>

function simulationView(policy: CompiledPolicy, { verdict, judged }: Simulation, isExplained: boolean) {
  const trace = policy.trace(judged.occasion)
  const { decision, execution_action, observed_decision, summary, risk_score } = verdict
  return {
    simulated: true,
    authorization_effect: 'NONE',
    policy: { name: policy.name, hash: policy.hash, mode: policy.mode },
    decision,
    execution_action,
    observed_decision,
    summary,
    risk_score,
    degraded_reasons: verdict.degraded_reasons,
    change_set: judged.rulings.map(({ ruleId: rule, decision: ruled, observed, reason, failure }) => ({
      rule,
      decision: ruled,
      observed,
      reason,
      failure,
    })),
    ...(isExplained && { explanation: explanationOf(policy, judged) }),
    changes: judged.artifacts
      .flatMap(({ judgements }) => judgements)
      .map((judgement) => changeView(judgement, isExplained ? trace(judgement.group, judgement.occurrence) : null)),
  }
}

function changeView({ group, occurrence, places, effect }: Judgement, answers: readonly RuleAnswer[] | null) {
  const { rule, level, location } = group
  const { waiver, observed } = effect
  return {
    comparison_rule: rule,
    level,
    location,
    places,
    message: occurrence.message,
    rule: effect.ruleId,
    decision: effect.decision,
    observed: observed && { rule: observed.ruleId, decision: observed.decision },
    waiver: waiver && { id: waiver.id, standing: waiver.standing, expires: waiver.expires },
    ...(answers !== null && { answers }),
  }
}

function simulationText(view: SimulationView): string {
  return [
    `${view.policy.name}: ${view.decision}${view.observed_decision === view.decision ? '' : ` (observed: ${view.observed_decision})`}`,
    view.summary,
    ...view.degraded_reasons.map(({ code, message }) => `! ${code}: ${message}`),
    ...(view.explanation === undefined ? rulingLines(view) : explanationLines(view.explanation)),
    'Simulated: this is not a permission.',
  ].join('\n')
}

function rulingLines(view: SimulationView): readonly string[] {
  return [
    ...view.change_set.map(
      ({ rule, decision, observed, reason }) => `${observed ?? decision}  ${rule}: ${reason.message}`,
    ),
    ...view.changes.flatMap(simulatedChangeLines),
  ]
}

function simulatedChangeLines(change: SimulationView['changes'][number]): readonly string[] {
  const { decision, rule, comparison_rule: found, level, location, places, waiver, observed } = change
  return [
    `${decision}  ${found} (${level}) at ${location === '' ? 'the root' : location}${places > 1 ? `, ${places} places` : ''}`,
    `    by ${rule === 'none' ? 'no rule' : `rule ${rule}`}: ${change.message}`,
    ...(observed ? [`    rule ${observed.rule} only observes: ${observed.decision}`] : []),
    ...(waiver ? [`    waiver ${waiver.id}, ${waiver.standing.replaceAll('_', ' ')}, expires ${waiver.expires}`] : []),
  ]
}
