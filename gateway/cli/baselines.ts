/**
 * `preflight baselines`: lists the baselines of routes and their candidates, shows how they differ, and promotes a reviewed
 * candidate. A running gateway sees the change within a second.
 */
import type { Comparison, Result } from '../../engine/internal.ts'
import { GatewayError } from '../errors/errors.ts'
import { diffReport, type DiffReport } from '../report/diff-report.ts'
import { renderText } from '../report/text.ts'
import { deskHome } from '../stdio/home.ts'
import { readServers } from '../stdio/server-list.ts'
import {
  comparisonOf,
  localBaselines,
  remoteBaselines,
  type BaselineListRow,
  type BaselinesSite,
  type CandidateListRow,
  type PromotionText,
} from './baseline-sites.ts'
import { EXIT, UsageError, type Arguments, type Command, type CommandGroup, type ExitCode } from './command.ts'
import { placeSource } from './config-option.ts'
import { LIST_FORMAT, show, textTable } from './format.ts'
import { wantsColour, writeLine, type CommandIo } from './io.ts'
import { AROUND_FOUR_EYES, aroundFourEyes, remoteOf, SITE_OPTIONS } from './remote.ts'

const list: Command = {
  name: 'list',
  summary: 'List the baselines of the routes and their candidates.',
  operands: '',
  operandCount: [0, 0],
  options: [LIST_FORMAT, ...SITE_OPTIONS],
  run: async (args, io) => {
    const rows = await baselinesSite(args, io).list()
    show(args, io, rows, baselineTable)
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
    ...SITE_OPTIONS,
  ],
  notes: 'To review a change: preflight baselines candidates ROUTE.\nExit codes: 0 printed, 1 it does not exist.',
  run: async (args, io) => {
    const [route = ''] = args.operands
    const texts = await baselinesSite(args, io).texts(route)
    const wanted = args.flag('candidate') ? texts?.candidate : texts?.baseline
    if (wanted == null) return reportMissing(route, texts === null, io)
    writeLine(io.stdout, wanted.content)
    return EXIT.good
  },
}

const candidates: Command = {
  name: 'candidates',
  summary: 'List the candidates; with ROUTE, show how the candidate differs from the baseline.',
  operands: '[ROUTE]',
  operandCount: [0, 1],
  options: [LIST_FORMAT, ...SITE_OPTIONS],
  notes: 'Exit codes: 0 there are none, or they differ without breaks, 1 there are breaks, or no such route.',
  run: (args, io) => showCandidates(baselinesSite(args, io), args, io),
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
      help: 'Your groups, for a data directory, e.g. payments; recorded. Required where the policy names groups of approvers.',
    },
    ...SITE_OPTIONS,
  ],
  notes:
    'ROUTE is a route of the gateway; for a data directory, of its configuration: --config, else PREFLIGHT_CONFIG, else that of\n' +
    'the gateway that serves from the data directory.\n' +
    'DIGEST is the digest of the reviewed contract (preflight baselines list). If another one is offered meanwhile, it is refused.\n' +
    'The digest of the baseline itself confirms it (contract.max_age). The difference is decided as operation register:\n' +
    'a blocked difference is not promoted. Where the policy requires an approval, this command is the approval; the same groups\n' +
    'are required, and pending requests about the same change are granted.\n' +
    `${AROUND_FOUR_EYES}\nExit codes: 0 done, 1 refused.`,
  run: (args, io) => promoteCandidate(args, io),
}

export const baselinesGroup: CommandGroup = {
  name: 'baselines',
  summary: 'Contracts that calls are compared with: list, show, candidates, promote.',
  commands: [list, showOne, candidates, promote],
}

function promoteCandidate(args: Arguments, io: CommandIo): Promise<ExitCode> {
  const [route = '', digest = ''] = args.operands
  const remote = remoteOf(args, io, ['groups'])
  if (remote !== null)
    return promoted(route, () => remoteBaselines(remote).promote(route, digest, promotionOf(args)), io)
  if (placeSource(args, io).file === null)
    throw new UsageError(
      `a promotion needs the routes of the gateway: ${deskAdvice(route, io) ?? 'name its configuration with --config FILE'}`,
    )
  writeLine(io.stderr, aroundFourEyes())
  return promoteDigest(route, digest, args, io)
}

/**
 * How to accept a change of a server of an editor; null: there is no such server. Its refusal names this command, which reaches
 * another gateway in a folder where one was started.
 */
function deskAdvice(route: string, { environment }: CommandIo): string | null {
  const isServer = readServers(deskHome(environment)).some(({ name }) => name === route)
  return isServer ? `${route} is a server of preflight mcp: preflight mcp accept ${route} --comment WHY` : null
}

/** On a data directory. @param args also: `only`, `groups`, `comment` */
export function promoteDigest(route: string, digest: string, args: Arguments, io: CommandIo): Promise<ExitCode> {
  return promoted(route, () => localBaselines(args, io).promote(route, digest, promotionOf(args)), io)
}

function promotionOf(args: Arguments): PromotionText {
  const only = (args.value('only') ?? '').split(',').filter((part) => part !== '')
  return { only, comment: args.value('comment') ?? '' }
}

/** @param promote the digest of the baseline afterwards */
async function promoted(route: string, promote: () => Promise<string>, io: CommandIo): Promise<ExitCode> {
  try {
    writeLine(io.stdout, `the baseline of ${route} is ${await promote()}`)
    return EXIT.good
  } catch (error) {
    if (!(error instanceof GatewayError) || !REFUSED.has(error.code)) throw error
    const details = error.details.map(optionMistake)
    const advice = error.code === 'NOT_FOUND' ? deskAdvice(route, io) : null
    writeLine(io.stderr, [error.message, ...details, ...(advice === null ? [] : [`Perhaps: ${advice}`])].join('\n'))
    return EXIT.no
  }
}

/** `--comment is required`. A running gateway's message begins with the pointer. */
function optionMistake({ pointer, message }: { readonly pointer: string; readonly message: string }): string {
  const text = message.startsWith(`${pointer}: `) ? message.slice(pointer.length + 2) : message
  return `${pointer.replace('/', '--')}${/^(?:is|must|has) /.test(text) ? '' : ':'} ${text}`
}

const REFUSED: ReadonlySet<string> = new Set(['NOT_FOUND', 'APPROVAL_CONFLICT', 'FORBIDDEN', 'INVALID_INPUT'])

function baselinesSite(args: Arguments, io: CommandIo): BaselinesSite {
  const remote = remoteOf(args, io)
  return remote === null ? localBaselines(args, io) : remoteBaselines(remote)
}

function reportMissing(route: string, isUnknown: boolean, io: CommandIo): ExitCode {
  const what = isUnknown ? 'baseline' : 'candidate: its upstream offers the baseline'
  writeLine(io.stderr, `route "${route}" has no ${what}; see: preflight baselines list`)
  return EXIT.no
}

async function showCandidates(site: BaselinesSite, args: Arguments, io: CommandIo): Promise<ExitCode> {
  const [route] = args.operands
  if (route !== undefined) return showDifference(route, site, args, io)
  const rows = await site.candidates()
  show(args, io, rows, candidateTable)
  return rows.every(({ difference }) => difference?.breaking === 0) ? EXIT.good : EXIT.no
}

async function showDifference(route: string, site: BaselinesSite, args: Arguments, io: CommandIo): Promise<ExitCode> {
  const texts = await site.texts(route)
  const compared = texts === null ? null : comparisonOf(texts)
  if (texts === null || compared === null) return reportMissing(route, texts === null, io)
  const report = differenceReport(compared)
  show(args, io, report, () => differenceText(compared, { base: 'baseline', head: 'candidate' }, io))
  if (args.value('format') !== 'json' && texts.candidate !== null)
    writeLine(
      io.stdout,
      `\nTo accept it: preflight baselines promote ${route} ${texts.candidate.digest} --comment "WHY"${siteWords(args, io)}`,
    )
  return report.summary.breaking === 0 ? EXIT.good : EXIT.no
}

const MOST_FINDINGS = 5000

function differenceReport(compared: Result<Comparison>): DiffReport {
  if (!compared.ok) throw new Error(`the two contracts cannot be compared: ${compared.problem.message}`)
  return diffReport(compared.value, MOST_FINDINGS)
}

/** How two contracts differ, for a terminal. @param names how places name the two sides */
export function differenceText(
  compared: Result<Comparison>,
  names: { readonly base: string; readonly head: string },
  io: CommandIo,
): string {
  const documents = { base: { name: names.base }, head: { name: names.head } }
  return renderText(differenceReport(compared), { isColoured: wantsColour(io), documents })
}

/** The options that name the same place to another command. On a data directory a promotion reads the configuration too. */
function siteWords(args: Arguments, io: CommandIo): string {
  const given = SITE_OPTIONS.flatMap(({ name }) =>
    args.value(name) === undefined ? [] : [` --${name} ${args.value(name)}`],
  )
  const isRemote = remoteOf(args, io) !== null
  return [...given, ...(isRemote || placeSource(args, io).file !== null ? [] : [' --config FILE'])].join('')
}

function baselineTable(rows: readonly BaselineListRow[]): string {
  return textTable(
    ['ROUTE', 'TYPE', 'BASELINE', 'SOURCE', 'SET BY', 'SET', 'CANDIDATE', 'SEEN'],
    rows.map(({ route, type, digest, source, set_by, set_at, candidate }) => [
      route,
      type,
      digest,
      source,
      set_by,
      set_at,
      candidate?.digest ?? '',
      candidate?.seen_at ?? '',
    ]),
  )
}

function candidateTable(rows: readonly CandidateListRow[]): string {
  return textTable(
    ['ROUTE', 'CANDIDATE', 'SEEN', 'BREAKING', 'DANGEROUS', 'INFO'],
    rows.map(({ route, digest, seen_at, difference }) => [
      route,
      digest,
      seen_at,
      ...(['breaking', 'dangerous', 'info'] as const).map((level) => String(difference?.[level] ?? '?')),
    ]),
  )
}
