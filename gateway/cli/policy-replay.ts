/** `preflight policy replay`: the decisions of the ledger made again under a pack, and the differences. Never permission. */
import { compare, type Artifact, type CompareOptions, type CompiledPolicy } from '../../engine/internal.ts'
import type { Static } from 'typebox'
import { MOST_REPLAYS, replayPolicy, ReplayAnswer } from '../api/routes/policies.ts'
import { documentLimits } from '../flow/analyst.ts'
import {
  changeCounts,
  replayedDecisions,
  type ReplayCounts,
  type ReplayedDecision,
} from '../flow/replayed-decisions.ts'
import { sha256Hex } from '../runtime/hash.ts'
import type { CaseResult } from '../report/junit.ts'
import { EXIT, QUIET, type Arguments, type ExitCode, type OptionSpec } from './command.ts'
import { configOf } from './config-option.ts'
import { LIST_FORMAT, show, textTable } from './format.ts'
import type { GatewayClient } from './gateway-client.ts'
import { writeLine, type CommandIo, during } from './io.ts'
import { withStore } from './data-directory.ts'
import { filterOf, LEDGER_FILTERS } from './ledger.ts'
import { SITE_OPTIONS } from './remote.ts'
import { isoInstantIfAny } from '../runtime/iso-instant.ts'

export const REPLAY_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'ledger',
    help: 'Read the ledger. This is the only source, so the option may be left out.',
  },
  ...LEDGER_FILTERS,
  { name: 'limit', value: 'N', help: 'Maximum number of decisions, newest first; default: 1000.' },
  { ...LIST_FORMAT, allowed: ['text', 'json', 'junit'] },
  QUIET,
  ...SITE_OPTIONS,
]

export const REPLAY_NOTES = [
  'PACK: the path of a pack.yaml, or the name of a shipped pack; default: the policy in force.',
  'A decision is made again from its stored contracts, history and consumers (ledger.inputs), at its own time. If',
  'the input is missing, it is listed with the reason. Grants and pins count only under the same policy.',
  'Exit codes: 0 no decision changes, 1 some change, 2 usage, 3 none changes, but some could not be replayed.',
].join('\n')

interface Replay {
  readonly policy: { readonly name: string; readonly hash: string }
  readonly rows: readonly ReplayedDecision[]
}

/** On a data directory. */
export async function replayHere(policy: CompiledPolicy, args: Arguments, io: CommandIo): Promise<Replay> {
  const limits = documentLimits(configOf(args, io))
  const flow = {
    compare: async (artifact: Artifact, options: CompareOptions) =>
      compare(artifact, { ...options, limits }, sha256Hex),
  }
  const { rows } = await during(io, 'making decisions again', () =>
    withStore(args, io, (store) => replayedDecisions(filterOf(args, DEFAULT_REPLAYS), { policy, flow, store }, store)),
  )
  return { policy, rows }
}

/** @param pack text of a pack; null: the policy in force there */
export async function replayThere(pack: string | null, args: Arguments, gateway: GatewayClient): Promise<Replay> {
  const { limit, decision, operation, environment, repository, route, from, to } = filterOf(args, DEFAULT_REPLAYS)
  const filters = {
    decision,
    operation,
    environment,
    repository,
    route,
    from: isoInstantIfAny(from),
    to: isoInstantIfAny(to),
  }
  const rows: ReplayedDecision[] = []
  for (let cursor: string | null = null; ;) {
    const size = Math.min(limit - rows.length, MOST_REPLAYS)
    const body = { ...(pack !== null && { policy: pack }), ...filters, limit: size, ...(cursor !== null && { cursor }) }
    const answer: Static<typeof ReplayAnswer> = await gateway.ask(replayPolicy, ReplayAnswer, { body })
    rows.push(...answer.decisions)
    cursor = answer.next_cursor
    if (cursor === null || rows.length >= limit) return { policy: answer.policy, rows }
  }
}

const DEFAULT_REPLAYS = 1000

export async function showReplay({ policy, rows }: Replay, args: Arguments, io: CommandIo): Promise<ExitCode> {
  const counts = changeCounts(rows)
  const { name, hash } = policy
  if (args.flag('quiet')) return replayExit(counts)
  if (args.value('format') === 'junit') {
    const { renderCases } = await import('../report/junit.ts')
    writeLine(io.stdout, renderCases('preflight policy replay', name, rows.map(caseOf)))
  } else {
    const view = { replayed: true, authorization_effect: 'NONE', policy: { name, hash }, counts, decisions: rows }
    show(args, io, view, () => replayText(name, rows, counts))
  }
  return replayExit(counts)
}

function replayExit({ stricter, laxer, unknown }: ReplayCounts): ExitCode {
  if (stricter + laxer > 0) return EXIT.no
  return unknown > 0 ? EXIT.undecided : EXIT.good
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

function replayText(name: string, rows: readonly ReplayedDecision[], counts: ReplayCounts): string {
  const changed = rows.filter(({ change }) => change !== 'same')
  return [
    ...(changed.length === 0
      ? []
      : [
          textTable(
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
    `${name} on ${counts.decisions} logged decision${counts.decisions === 1 ? '' : 's'}: ${counts.same} unchanged, ${counts.stricter} stricter, ${counts.laxer} laxer, ${counts.unknown} could not be replayed.`,
  ].join('\n')
}

function whyOf({ reasons, ruleset_changed: isOtherRules }: ReplayedDecision): string {
  const [first] = reasons
  const why = first === undefined ? 'no reason against it' : first.code
  return isOtherRules ? `${why} (the comparison rules have changed since)` : why
}
