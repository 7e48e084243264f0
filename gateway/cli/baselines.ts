/**
 * `preflight baselines`: lists the baselines of routes and their candidates, and promotes a reviewed candidate. A running
 * gateway sees the change within a second.
 */
import { createBaselines, type Baselines, type BaselineView } from '../baselines/baselines.ts'
import { GatewayError } from '../errors/errors.ts'
import type { Store } from '../store/store.ts'
import { EXIT, type Arguments, type Command, type CommandGroup, type ExitCode } from './command.ts'
import { PLACE_OPTIONS } from './config-option.ts'
import { instant, LIST_FORMAT, show, table } from './format.ts'
import { writeLine, type CommandIo } from './io.ts'
import { noteAct } from './data-directory.ts'
import { withLocalFlow } from './local-flow.ts'
import { localUser } from './remote.ts'
import { groupsOf } from './keys.ts'

const list: Command = {
  name: 'list',
  summary: 'List the baselines of the routes and their candidates.',
  operands: '',
  operandCount: [0, 0],
  options: [LIST_FORMAT, ...PLACE_OPTIONS],
  run: async (args, io) => {
    const views = await withBaselines(args, io, (baselines) => baselines.list())
    show(args, io, views.map(viewRow), () => baselineTable(views))
    return EXIT.good
  },
}

const showOne: Command = {
  name: 'show',
  summary: 'Print the baseline of a route, or its candidate.',
  operands: 'ROUTE',
  operandCount: [1, 1],
  options: [
    { name: 'candidate', help: 'Print the contract that the upstream offers now, when it is not the baseline.' },
    ...PLACE_OPTIONS,
  ],
  notes:
    'To review a change: preflight baselines show ROUTE > before; preflight baselines show ROUTE --candidate > after;\n' +
    'preflight diff before after.\nExit codes: 0 printed, 1 it does not exist.',
  run: async (args, io) => {
    const [route = ''] = args.operands
    const view = await withBaselines(args, io, (baselines) => baselines.view(route))
    const wanted = args.flag('candidate') ? view?.candidate : view?.baseline
    if (wanted != null) {
      writeLine(io.stdout, wanted.content)
      return EXIT.good
    }
    const what = view === null ? 'baseline' : 'candidate: its upstream offers the baseline'
    writeLine(io.stderr, `route "${route}" has no ${what}; see: preflight baselines list`)
    return EXIT.no
  },
}

const promote: Command = {
  name: 'promote',
  summary: 'Make the reviewed candidate of a route its baseline, or confirm the baseline.',
  operands: 'ROUTE DIGEST',
  operandCount: [2, 2],
  options: [
    {
      name: 'comment',
      value: 'TEXT',
      help: 'The reason; required where the policy requires an approval of the difference.',
    },
    {
      name: 'only',
      value: 'PARTS',
      help: 'Accept only these parts, separated by commas: tool:NAME, prompt:NAME, resource:URI, template:URI of an MCP manifest, operation:ID or "operation:METHOD /path" of an OpenAPI contract.',
    },
    {
      name: 'groups',
      value: 'NAMES',
      help: 'Your groups, e.g. payments; recorded. Required where the policy names groups of approvers.',
    },
    ...PLACE_OPTIONS,
  ],
  notes:
    'ROUTE is a route of the configuration (--config, or PREFLIGHT_CONFIG).\n' +
    'DIGEST is the digest of the reviewed contract (preflight baselines list). If another one is offered meanwhile, it is refused.\n' +
    'The digest of the baseline itself confirms it (contract.max_age). The difference is decided as operation register:\n' +
    'a blocked difference is not promoted. Where the policy requires an approval, this command is the approval; the same groups\n' +
    'are required, and pending requests about the same change are granted. Recorded as cli:USER.\nExit codes: 0 done, 1 refused.',
  run: (args, io) => promoteCandidate(args, io),
}

export const baselinesGroup: CommandGroup = {
  name: 'baselines',
  summary: 'Contracts that calls are compared with: list, show, promote.',
  commands: [list, showOne, promote],
}

function promoteCandidate(args: Arguments, io: CommandIo): Promise<ExitCode> {
  const [route = '', digest = ''] = args.operands
  return promoteDigest(route, digest, args, io)
}

/** @param args also: `only`, `groups`, `comment` */
export async function promoteDigest(route: string, digest: string, args: Arguments, io: CommandIo): Promise<ExitCode> {
  try {
    const only = (args.value('only') ?? '').split(',').filter((part) => part !== '')
    const acceptor = {
      by: localUser(),
      groups: groupsOf(args),
      comment: args.value('comment') ?? '',
    }
    const row = await withBaselines(args, io, async (baselines, store) => {
      const promoted = await baselines.promote(route, digest, acceptor, only)
      await noteAct(store, io, { event: 'baseline.promoted', route, digest: promoted.digest, only })
      return promoted
    })
    writeLine(io.stdout, `the baseline of ${route} is ${row.digest}`)
    return EXIT.good
  } catch (error) {
    if (!(error instanceof GatewayError) || !REFUSED.has(error.code)) throw error
    writeLine(io.stderr, [error.message, ...error.details.map(({ message }) => message)].join('\n'))
    return EXIT.no
  }
}

const REFUSED: ReadonlySet<string> = new Set(['NOT_FOUND', 'APPROVAL_CONFLICT', 'FORBIDDEN', 'INVALID_INPUT'])

/** With the policy and the receipt key of the configuration: a promotion is a decision like any other. */
export function withBaselines<T>(
  args: Arguments,
  io: CommandIo,
  work: (baselines: Baselines, store: Store) => Promise<T>,
): Promise<T> {
  return withLocalFlow(args, io, (parts) => work(createBaselines(parts), parts.store))
}

function viewRow({ baseline, candidate }: BaselineView): object {
  return {
    route: baseline.route,
    type: baseline.type,
    digest: baseline.digest,
    source: baseline.source,
    set_by: baseline.setBy,
    set_at: instant(baseline.setAt),
    candidate: candidate === null ? null : { digest: candidate.digest, seen_at: instant(candidate.seenAt) },
  }
}

function baselineTable(views: readonly BaselineView[]): string {
  return table(
    ['ROUTE', 'TYPE', 'BASELINE', 'SOURCE', 'SET BY', 'SET', 'CANDIDATE', 'SEEN'],
    views.map(({ baseline, candidate }) => [
      baseline.route,
      baseline.type,
      baseline.digest,
      baseline.source,
      baseline.setBy,
      instant(baseline.setAt),
      candidate?.digest ?? '',
      candidate === null ? '' : instant(candidate.seenAt),
    ]),
  )
}
