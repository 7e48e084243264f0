/** `preflight policy replay`: the decisions of the ledger made again under a pack, and the differences. Never permission. */
import {
  DECISION_CLASSES,
  rulesetHash,
  type CompiledPolicy,
  type Decision,
  type Verdict,
} from '../../engine/internal.ts'
import { documentLimits } from '../flow/analyst.ts'
import { replay, type Replaying } from '../flow/replay.ts'
import { sha256Hex } from '../runtime/hash.ts'
import type { CaseResult } from '../report/policy-junit.ts'
import type { LedgerFilter, StoredDecision } from '../store/decisions.ts'
import type { StorePart } from '../store/store.ts'
import { EXIT, type Arguments, type ExitCode, type OptionSpec } from './command.ts'
import { configOf, PLACE_OPTIONS } from './config-option.ts'
import { instant, LIST_FORMAT, show, table } from './format.ts'
import { writeLine, type CommandIo } from './io.ts'
import { withStore } from './data-directory.ts'
import { filterOf, LEDGER_FILTERS } from './ledger.ts'

export const REPLAY_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'ledger',
    help: 'Read the ledger of the data directory. This is the only source, so the option may be left out.',
  },
  ...LEDGER_FILTERS,
  { name: 'limit', value: 'N', help: 'Maximum number of decisions, newest first; default: 1000.' },
  { ...LIST_FORMAT, allowed: ['text', 'json', 'junit'] },
  ...PLACE_OPTIONS,
]

export const REPLAY_NOTES = [
  'PACK: the path of a pack.yaml, or the name of a shipped pack; default: the policy of the configuration.',
  'A decision is made again from its stored contracts, history and consumers (ledger.inputs), at its own time. If',
  'the input is missing, it is listed with the reason. Grants and pins count only under the same policy.',
  'Exit codes: 0 no decision changes, 1 some change, 2 usage, 3 none changes, but some could not be replayed.',
].join('\n')

const PAGE = 200

/** One row of the answer. */
interface ReplayedDecision {
  readonly decision_id: string
  readonly evaluated_at: string
  readonly operation: string | null
  readonly environment: string | null
  readonly repository: string | null
  readonly route: string | null
  readonly was: Decision
  /** Null when it could not be replayed. */
  readonly would: Decision | null
  readonly would_observed: Decision | null
  readonly change: 'same' | 'stricter' | 'laxer' | 'unknown'
  /** Decided by another version of the comparison rules, which may cause the difference. */
  readonly ruleset_changed: boolean
  readonly reasons: readonly { readonly code: string; readonly message: string }[]
  readonly not_replayed: string | null
}

export async function runReplay(policy: CompiledPolicy, args: Arguments, io: CommandIo): Promise<ExitCode> {
  const config = configOf(args, io)
  const filter = filterOf(args, 1000)
  const rows = await withStore(args, io, (store) =>
    replayed(filter, { policy, limits: documentLimits(config), store }, store),
  )
  const counts = countsOf(rows)
  if (args.value('format') === 'junit') {
    const { renderCases } = await import('../report/policy-junit.ts')
    writeLine(io.stdout, renderCases('preflight policy replay', policy.name, rows.map(caseOf)))
  } else {
    const { name, hash } = policy
    const view = { replayed: true, authorization_effect: 'NONE', policy: { name, hash }, counts, decisions: rows }
    show(args, io, view, () => textOf(policy, rows, counts))
  }
  if (counts.stricter + counts.laxer > 0) return EXIT.no
  return counts.unknown > 0 ? EXIT.undecided : EXIT.good
}

/** Page by page, so that a long ledger is never in memory as a whole. */
async function replayed(
  filter: LedgerFilter,
  replaying: Replaying,
  store: StorePart<'decisions.list'>,
): Promise<readonly ReplayedDecision[]> {
  const rows: ReplayedDecision[] = []
  const rules = rulesetHash(sha256Hex)
  let before = filter.before
  while (rows.length < filter.limit) {
    const limit = Math.min(PAGE, filter.limit - rows.length)
    const page = await store.decisions.list({ ...filter, limit, ...(before !== undefined && { before }) })
    for (const row of page) rows.push(await replayedRow(row, rules, replaying))
    before = page.at(-1)?.sequence
    if (page.length < limit) break
  }
  return rows
}

async function replayedRow(row: StoredDecision, rules: string, replaying: Replaying): Promise<ReplayedDecision> {
  const envelope: unknown = JSON.parse(row.envelope)
  const outcome = await replay({ ...row, policyHash: textOrNull(envelope, 'policy_hash') }, replaying)
  const shared = {
    decision_id: row.decisionId,
    evaluated_at: instant(row.evaluatedAt),
    operation: row.operation,
    environment: row.environment,
    repository: row.repository,
    route: row.route,
    was: row.decision,
    ruleset_changed: textOrNull(envelope, 'ruleset_hash') !== rules,
  }
  if (!outcome.ok)
    return {
      ...shared,
      would: null,
      would_observed: null,
      change: 'unknown',
      reasons: [],
      not_replayed: outcome.problem,
    }
  const { decision, observed_decision: observed } = outcome.value
  const change = changeOf(row.decision, decision)
  const reasons = change === 'same' ? [] : reasonsOf(outcome.value)
  return { ...shared, would: decision, would_observed: observed, change, reasons, not_replayed: null }
}

function changeOf(was: Decision, would: Decision): 'same' | 'stricter' | 'laxer' {
  const step = DECISION_CLASSES[would].strictness - DECISION_CLASSES[was].strictness
  return step === 0 ? 'same' : step > 0 ? 'stricter' : 'laxer'
}

function reasonsOf({ blocking_reasons: blocking, warnings, degraded_reasons: degraded }: Verdict) {
  return [...blocking, ...warnings, ...degraded].slice(0, 5)
}

function textOrNull(envelope: unknown, member: string): string | null {
  const value: unknown = typeof envelope === 'object' && envelope !== null ? Reflect.get(envelope, member) : null
  return typeof value === 'string' ? value : null
}

type ReplayCounts = Readonly<Record<ReplayedDecision['change'], number>> & { readonly decisions: number }

function countsOf(rows: readonly ReplayedDecision[]): ReplayCounts {
  const of = (wanted: ReplayedDecision['change']) => rows.filter(({ change }) => change === wanted).length
  return {
    decisions: rows.length,
    same: of('same'),
    stricter: of('stricter'),
    laxer: of('laxer'),
    unknown: of('unknown'),
  }
}

function caseOf(row: ReplayedDecision): CaseResult {
  const description = [row.decision_id, row.evaluated_at, row.operation, row.environment, row.repository, row.route]
    .filter((part) => part !== null)
    .join(' ')
  const isChanged = row.change === 'stricter' || row.change === 'laxer'
  return {
    description,
    differences: isChanged ? [{ member: 'decision', want: row.was, got: row.would ?? undefined }] : [],
    ...(row.not_replayed !== null && { skipped: row.not_replayed }),
  }
}

function textOf({ name }: CompiledPolicy, rows: readonly ReplayedDecision[], counts: ReplayCounts): string {
  const changed = rows.filter(({ change }) => change !== 'same')
  return [
    ...(changed.length === 0
      ? []
      : [
          table(
            ['TIME', 'OPERATION', 'WHERE', 'WAS', 'WOULD', 'WHY', 'ID'],
            changed.map((row) => [
              row.evaluated_at,
              row.operation ?? '',
              row.route ?? row.repository ?? '',
              row.was,
              row.would ?? '?',
              row.not_replayed ?? whyOf(row),
              row.decision_id,
            ]),
          ),
          '',
        ]),
    `${name} on ${counts.decisions} logged decisions: ${counts.same} unchanged, ${counts.stricter} stricter, ${counts.laxer} laxer, ${counts.unknown} could not be replayed.`,
  ].join('\n')
}

function whyOf({ reasons, ruleset_changed: isOtherRules }: ReplayedDecision): string {
  const [first] = reasons
  const why = first === undefined ? 'no reason against it' : first.code
  return isOtherRules ? `${why} (the comparison rules have changed since)` : why
}
