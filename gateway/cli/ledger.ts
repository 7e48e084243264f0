/** `preflight ledger`: reads the record of decisions and calls in the data directory, and checks that nobody changed it. */
import { DECISIONS } from '../../engine/internal.ts'
import { callEntry } from '../api/call-view.ts'
import { LOCAL_TENANT } from '../callers/api-keys.ts'
import { EFFECTS, type CallFilter, type StoredCall } from '../store/calls.ts'
import type { LedgerFilter, StoredDecision } from '../store/decisions.ts'
import type { StorePart } from '../store/store.ts'
import { acceptLedger, verifyLedger } from './ledger-check.ts'
import { backupLedger, checkpointLedger, exportLedger, pruneCommand, showDecision } from './ledger-keep.ts'
import {
  EXIT,
  type Arguments,
  type Command,
  type CommandGroup,
  type OptionSpec,
  DEFAULT_LIMIT,
  LIMIT,
  momentOf,
  positiveInteger,
} from './command.ts'
import { PLACE_OPTIONS } from './config-option.ts'
import { instant, LIST_FORMAT, secondsOf, show, textTable } from './format.ts'
import { writeLine, type CommandIo } from './io.ts'
import { remoteCalls, remoteDecisions, type CallEntry, type DecisionEntry } from './ledger-remote.ts'
import { remoteOf, SITE_OPTIONS } from './remote.ts'
import { withStore } from './data-directory.ts'

const TENANT: OptionSpec = { name: 'tenant', value: 'TENANT', help: 'Tenant of the records; default: local.' }
/** For decisions and calls. */
const WHERE_AND_WHEN: readonly OptionSpec[] = [
  { name: 'route', value: 'NAME', help: 'Only records of this route.' },
  { name: 'trace-id', value: 'ID', help: 'Only records of this W3C trace.' },
  { name: 'from', value: 'TIME', help: 'Only records from this time on, e.g. 2026-01-31 or 2026-01-31T12:00:00Z.' },
  { name: 'to', value: 'TIME', help: 'Only records before this time.' },
]

/** Filters of decisions: the options of `ledger list`, and of other commands that read the ledger. */
export const LEDGER_FILTERS: readonly OptionSpec[] = [
  TENANT,
  { name: 'decision', value: 'CLASS', allowed: DECISIONS, help: 'Only decisions of this class.' },
  { name: 'operation', value: 'NAME', help: 'Only decisions for this operation.' },
  { name: 'environment', value: 'NAME', help: 'Only decisions for this environment.' },
  { name: 'repository', value: 'NAME', help: 'Only decisions about this repository.' },
  ...WHERE_AND_WHEN,
]

const list: Command = {
  name: 'list',
  summary: 'List decisions, newest first.',
  operands: '',
  operandCount: [0, 0],
  options: [
    ...LEDGER_FILTERS,
    LIMIT,
    {
      name: 'format',
      value: 'FORMAT',
      allowed: ['text', 'json'],
      help: 'json contains the envelopes, on a data directory; default: text.',
    },
    ...SITE_OPTIONS,
  ],
  run: async (args, io) => {
    const filter = filterOf(args, DEFAULT_LIMIT)
    const remote = remoteOf(args, io, ['tenant'])
    const rows = remote === null ? await decisionsHere(filter, args, io) : await remoteDecisions(filter, remote)
    show(args, io, rows, decisionTable)
    return EXIT.good
  },
}

const calls: Command = {
  name: 'calls',
  summary: 'List the records of calls, newest first.',
  operands: '',
  operandCount: [0, 0],
  options: [
    TENANT,
    { name: 'correlation-id', value: 'ID', help: 'Only calls under this correlation id.' },
    { name: 'effect', value: 'EFFECT', allowed: EFFECTS, help: 'Only calls with this outcome.' },
    ...WHERE_AND_WHEN,
    LIMIT,
    LIST_FORMAT,
    ...SITE_OPTIONS,
  ],
  notes: 'drifted: the answer does not match the pinned contract. refused: the arguments do not match it.',
  run: async (args, io) => {
    const filter = callFilterOf(args)
    const remote = remoteOf(args, io, ['tenant'])
    const rows =
      remote === null
        ? (await withStore(args, io, (store) => newestCalls(store, filter))).map(callEntry)
        : await remoteCalls(filter, remote)
    show(args, io, rows, callTable)
    return EXIT.good
  },
}

const verifyChain: Command = {
  name: 'verify-chain',
  summary: 'Recompute the hash chain of the decisions only; see verify.',
  operands: '',
  operandCount: [0, 0],
  options: PLACE_OPTIONS,
  notes: 'Exit codes: 0 the chain is intact, 1 a row was changed, removed or moved, 3 it could not be read.',
  run: async (args, io) => {
    const broken = await withStore(args, io, (store) => store.ledger.verifyChain())
    if (broken === null) writeLine(io.stdout, 'The chain is intact.')
    else
      writeLine(
        io.stderr,
        `The chain is broken at row ${broken}: this row or the previous one was changed, removed or moved.`,
      )
    return broken === null ? EXIT.good : EXIT.no
  },
}

export const ledgerGroup: CommandGroup = {
  name: 'ledger',
  summary: 'Read, check, export and prune the record of decisions and calls.',
  commands: [
    list,
    calls,
    showDecision,
    verifyLedger,
    verifyChain,
    checkpointLedger,
    exportLedger,
    pruneCommand,
    backupLedger,
    acceptLedger,
  ],
}

const TEXT_FILTERS = ['operation', 'environment', 'repository', 'route'] as const

/** @param limit default, without --limit */
export function filterOf(args: Arguments, limit: number): LedgerFilter {
  const decision = DECISIONS.find((name) => name === args.value('decision'))
  const traceId = args.value('trace-id')
  const times = { from: momentOf(args, 'from'), to: momentOf(args, 'to') }
  const texts = TEXT_FILTERS.map((name) => [name, args.value(name)] as const)
  return {
    tenant: args.value('tenant') ?? LOCAL_TENANT,
    limit: positiveInteger(args, 'limit', limit),
    ...(decision === undefined ? {} : { decision }),
    ...(traceId === undefined ? {} : { traceId }),
    ...Object.fromEntries([...texts, ...Object.entries(times)].filter(([, value]) => value !== undefined)),
  }
}

function callFilterOf(args: Arguments): CallFilter {
  const effect = EFFECTS.find((name) => name === args.value('effect'))
  const correlationId = args.value('correlation-id')
  const { tenant, limit, route, traceId, from, to } = filterOf(args, DEFAULT_LIMIT)
  return {
    tenant,
    limit,
    ...(effect === undefined ? {} : { effect }),
    ...(correlationId === undefined ? {} : { correlationId }),
    ...(route === undefined ? {} : { route }),
    ...(traceId === undefined ? {} : { traceId }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  }
}

/** Reads pages until there are as many rows as requested. */
async function newestCalls(store: StorePart<'calls.list'>, filter: CallFilter): Promise<readonly StoredCall[]> {
  const found: StoredCall[] = []
  for (let before: number | null | undefined; before !== null && found.length < filter.limit;) {
    const limit = filter.limit - found.length
    const page = await store.calls.list({ ...filter, limit, ...(before === undefined ? {} : { before }) })
    found.push(...page.rows)
    before = page.next
  }
  return found
}

async function decisionsHere(filter: LedgerFilter, args: Arguments, io: CommandIo) {
  return (await withStore(args, io, (store) => store.decisions.list(filter))).map(decisionView)
}

/** A row in its wire form. */
function decisionView(row: StoredDecision) {
  const decisionResult: unknown = JSON.parse(row.envelope)
  return {
    sequence: row.sequence,
    decision_id: row.decisionId,
    tenant: row.tenant,
    route: row.route,
    decision: row.decision,
    execution_action: row.executionAction,
    operation: row.operation,
    environment: row.environment,
    repository: row.repository,
    evaluated_at: instant(row.evaluatedAt),
    expires_at: instant(row.expiresAt),
    receipt_state: row.receiptState,
    trace_id: row.traceId,
    previous_hash: row.previousHash,
    hash: row.hash,
    decision_result: decisionResult,
  }
}

function decisionTable(rows: readonly DecisionEntry[]): string {
  return textTable(
    ['#', 'TIME', 'DECISION', 'OPERATION', 'ROUTE', 'REPOSITORY', 'RECEIPT', 'ID'],
    rows.map((row) => [
      String(row.sequence),
      secondsOf(row.evaluated_at),
      row.decision,
      row.operation ?? '',
      row.route ?? '',
      row.repository ?? '',
      row.receipt_state,
      row.decision_id,
    ]),
  )
}

function callTable(rows: readonly CallEntry[]): string {
  return textTable(
    ['#', 'TIME', 'EFFECT', 'ROUTE', 'CALL', 'CORRELATION_ID', 'DECISION', 'VIOLATIONS'],
    rows.map((row) => [
      String(row.sequence),
      secondsOf(row.at),
      row.effect ?? '',
      row.route,
      row.call,
      row.correlation_id,
      row.decision_id ?? '',
      (row.violations ?? []).map(({ where, message }) => `${where} ${message}`).join('; '),
    ]),
  )
}
