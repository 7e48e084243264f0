/** `preflight status`: one screen on a running gateway, for an incident. */
import { Ajv } from 'ajv'
import { gatewayStatus, StatusAnswer } from '../api/routes/operation.ts'
import { printable } from '../report/printable.ts'
import { plainSchema } from '../settings/input-schema.ts'
import { GatewayStatus } from '../telemetry/inspection.ts'
import { EXIT, type Arguments, type Command } from './command.ts'
import { LIST_FORMAT, secondsOf, show, textTable } from './format.ts'
import type { CommandIo } from './io.ts'
import { askLocal, remoteOf, SITE_OPTIONS } from './remote.ts'

export const statusCommand: Command = {
  name: 'status',
  summary: 'Show on one screen what a running gateway does, and what needs attention.',
  operands: '',
  operandCount: [0, 0],
  options: [LIST_FORMAT, ...SITE_OPTIONS],
  notes: [
    'With --url, over the API: the key needs a role that reads, in the tenant local. Else the gateway of the data directory is asked.',
    'Exit codes: 0 ready and nothing needs attention, 1 something does, 2 no gateway serves from the data directory, 3 it does not answer.',
  ].join('\n'),
  run: async (args, io) => {
    const status = await gatewayStatusOf(args, io)
    show(args, io, status, screen)
    return status.ready && status.problems.length === 0 ? EXIT.good : EXIT.no
  },
}

async function gatewayStatusOf(args: Arguments, io: CommandIo): Promise<GatewayStatus> {
  const remote = remoteOf(args, io)
  if (remote !== null) return (await remote.ask(gatewayStatus, StatusAnswer)).status
  const answer = await askLocal(args, io, 'GET', '/status')
  const check = new Ajv({ strict: false, validateFormats: false }).compile<GatewayStatus>(plainSchema(GatewayStatus))
  if (check(answer)) return answer
  throw new Error("the gateway answers in another form; use the preflight of the gateway's version")
}

function screen(status: GatewayStatus): string {
  const { settings, problems, sinks } = status
  return [
    `${status.ready ? 'READY' : 'NOT READY'}  preflight-gateway ${status.version}  ${status.tier}  up ${elapsedText(status.started_at)}  pid ${status.pid}`,
    `policy ${printable(settings.policy)} ${settings.policy_hash.slice(0, 19)}  generation ${settings.generation}  log ${settings.log_level}`,
    `store ${printable(status.store)}  key ${status.key_id.slice(0, 12)}`,
    Object.entries(status.addresses)
      .map(([name, address]) => `${name} ${address}`)
      .join('  '),
    '',
    ...(problems.length === 0
      ? ['Nothing needs attention.']
      : ['NEEDS ATTENTION', ...problems.map((problem) => `  ${printable(problem)}`)]),
    '',
    status.routes.length === 0 ? 'No routes.' : routeTable(status),
    '',
    `calls ${status.calls.open} in flight, ${status.calls.held} held   approvals ${status.approvals.pending} pending   windows ${status.windows} open`,
    `memory ${mebibytes(status.memory.resident_bytes)} resident, ${mebibytes(status.memory.budget_held_bytes)} of ${mebibytes(status.memory.budget_bytes)} budget held`,
    ...sinks.map(({ name, wired, queued, detail }) =>
      printable(`sink ${name}: ${wired ? 'takes' : 'takes no'} events, ${queued} wait; ${detail}`),
    ),
  ].join('\n')
}

/** Outcomes with a column of their own; the others are one. */
const COLUMNS = ['forwarded', 'stopped', 'held', 'undecided', 'failed_open', 'refused'] as const

function routeTable({ routes }: GatewayStatus): string {
  return textTable(
    ['ROUTE', 'PROTOCOL', 'MODE', ...COLUMNS.map((name) => name.toUpperCase()), 'OTHER', 'BASELINE', 'NOTE'],
    routes.map(({ name, protocol, mode, calls, baseline_set_at: setAt, candidate, suspended }) => {
      const other = Object.entries(calls).filter(([outcome]) => !COLUMNS.some((column) => column === outcome))
      return [
        name,
        protocol,
        mode,
        ...COLUMNS.map((column) => String(calls[column] ?? 0)),
        String(other.reduce((sum, [, count]) => sum + count, 0)),
        setAt === null ? '' : secondsOf(setAt),
        [...(suspended ? ['SUSPENDED'] : []), ...(candidate ? ['changed contract'] : [])].join(', '),
      ]
    }),
  )
}

const MIB = 1024 * 1024

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / MIB)} MiB`
}

function elapsedText(since: string): string {
  const minutes = Math.max(0, Math.floor((Date.now() - Date.parse(since)) / 60_000))
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24]
  if (days > 0) return `${days} d ${hours} h`
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`
}
