/** `preflight break-glass`: an exception to enforcement on a route. A running gateway sees it immediately. */
import { Type } from '../../engine/base.ts'
import {
  BreakGlass,
  BreakGlassAnswer,
  closeBreakGlass,
  listBreakGlass,
  openBreakGlassRoute,
} from '../api/routes/break-glass.ts'
import { openBreakGlass, openingFields } from '../break-glass/break-glass.ts'
import { breakGlassView } from '../break-glass/view.ts'
import { GatewayError } from '../errors/errors.ts'
import type { BreakGlassRow } from '../store/break-glass.ts'
import {
  EXIT,
  UsageError,
  type Arguments,
  type Command,
  type CommandGroup,
  type ExitCode,
  positiveInteger,
} from './command.ts'
import { placeSettingsOf } from './config-option.ts'
import { LIST_FORMAT, secondsOf, show, textTable } from './format.ts'
import { writeLine, type CommandIo } from './io.ts'
import { noteAct, withStore } from './data-directory.ts'
import { localUser, remoteOf, SITE_OPTIONS } from './remote.ts'

const LONGEST_LIST = 500
const SHORTEST_REASON = 10

const list: Command = {
  name: 'list',
  summary: 'List exceptions, newest first.',
  operands: '',
  operandCount: [0, 0],
  options: [{ name: 'open', help: 'Only exceptions in force.' }, LIST_FORMAT, ...SITE_OPTIONS],
  run: async (args, io) => {
    const views = await exceptions(args, io)
    show(args, io, views, exceptionTable)
    return EXIT.good
  },
}

const open: Command = {
  name: 'open',
  summary: 'Let the calls of a route continue for a time, whatever the decision on them.',
  operands: 'ROUTE',
  operandCount: [1, 1],
  options: [
    {
      name: 'reason',
      value: 'TEXT',
      isRequired: true,
      help: `The reason, for the record; at least ${SHORTEST_REASON} characters.`,
    },
    { name: 'duration', value: 'SECONDS', isRequired: true, help: 'Duration; maximum: break_glass.maximum.' },
    ...SITE_OPTIONS,
  ],
  notes:
    'Recorded with the key, or as cli:USER. Each call that continues because of it is counted, marked in its record and logged as\n' +
    'an error; decisions do not change.\nExit codes: 0 open, 1 refused.',
  run: (args, io) => openException(args, io),
}

const close: Command = {
  name: 'close',
  summary: 'Close an exception before its time.',
  operands: 'ID',
  operandCount: [1, 1],
  options: [...SITE_OPTIONS],
  run: async (args, io) => {
    const [id = ''] = args.operands
    const closed = await closedException(id, args, io)
    writeLine(
      closed === null ? io.stderr : io.stdout,
      closed === null
        ? `there is no exception ${id}; see: preflight break-glass list`
        : `closed ${id}: ${closed.calls} calls`,
    )
    return closed === null ? EXIT.no : EXIT.good
  },
}

export const breakGlassGroup: CommandGroup = {
  name: 'break-glass',
  summary: 'Exceptions to enforcement on a route: open, list, close.',
  commands: [open, list, close],
}

type Exception = ReturnType<typeof breakGlassView>
const Rows = Type.Object({ items: Type.Array(BreakGlass) })

async function exceptions(args: Arguments, io: CommandIo): Promise<readonly Exception[]> {
  const remote = remoteOf(args, io)
  if (remote !== null)
    return (await remote.ask(listBreakGlass, Rows, { query: args.flag('open') ? { state: 'open' } : {} })).items
  const now = Date.now()
  const filter = { limit: LONGEST_LIST, ...(args.flag('open') && { openAt: now }) }
  const rows = await withStore(args, io, (store) => store.breakGlass.list(filter))
  return rows.map((row) => breakGlassView(row, now))
}

/** Null: there is none of this id. */
async function closedException(id: string, args: Arguments, io: CommandIo): Promise<Exception | null> {
  const remote = remoteOf(args, io)
  if (remote === null) {
    const now = Date.now()
    const row = await withStore(args, io, async (store) => {
      const closed = await store.breakGlass.close(id, localUser(), now)
      if (closed !== null) await noteAct(store, io, closingOf(closed))
      return closed
    })
    return row === null ? null : breakGlassView(row, now)
  }
  try {
    return (await remote.ask(closeBreakGlass, BreakGlassAnswer, { params: { id } })).break_glass
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'NOT_FOUND') return null
    throw error
  }
}

function closingOf({ id, route, calls }: BreakGlassRow) {
  return { event: 'break_glass.closed', break_glass_id: id, route, calls } as const
}

async function openException(args: Arguments, io: CommandIo): Promise<ExitCode> {
  const [route = ''] = args.operands
  const reason = args.value('reason') ?? ''
  if (reason.length < SHORTEST_REASON) throw new UsageError(`--reason needs at least ${SHORTEST_REASON} characters`)
  const opening = { route, reason, duration: positiveInteger(args, 'duration', 1) }
  const remote = remoteOf(args, io)
  try {
    const opened =
      remote === null
        ? await openHere(opening, args, io)
        : (await remote.ask(openBreakGlassRoute, BreakGlassAnswer, { body: opening })).break_glass
    writeLine(io.stdout, `open ${opened.id} on ${route} until ${secondsOf(opened.expires_at)}`)
    return EXIT.good
  } catch (error) {
    if (!(error instanceof GatewayError) || !REFUSED.has(error.code)) throw error
    writeLine(io.stderr, [error.message, ...error.details.map(({ message }) => message)].join('\n'))
    return EXIT.no
  }
}

const REFUSED: ReadonlySet<string> = new Set(['INVALID_INPUT', 'NOT_FOUND', 'FORBIDDEN'])

async function openHere(
  opening: { readonly route: string; readonly reason: string; readonly duration: number },
  args: Arguments,
  io: CommandIo,
): Promise<Exception> {
  const { config, routes } = placeSettingsOf(args, io)
  if (!routes.includes(opening.route))
    throw new UsageError(`there is no route "${opening.route}" in the configuration; name it with --config`)
  writeLine(io.stderr, `opened on the data directory as ${localUser()}: no role is checked`)
  const now = Date.now()
  const row = await withStore(args, io, async (store) => {
    const opened = await openBreakGlass({ ...opening, by: localUser() }, config.break_glass.maximum, store, now)
    await noteAct(store, io, { event: 'break_glass.opened', ...openingFields(opened) })
    return opened
  })
  return breakGlassView(row, now)
}

function exceptionTable(views: readonly Exception[]): string {
  return textTable(
    ['ID', 'ROUTE', 'STATE', 'OPENED', 'UNTIL', 'BY', 'CALLS', 'REASON'],
    views.map((view) => [
      view.id,
      view.route,
      view.state,
      secondsOf(view.opened_at),
      secondsOf(view.closed_at ?? view.expires_at),
      view.opened_by,
      String(view.calls),
      view.reason,
    ]),
  )
}
