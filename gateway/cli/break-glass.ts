/**
 * `preflight break-glass`: an exception to enforcement on a route. Any user with write access to the data directory may open
 * one; a running gateway sees it immediately.
 */
import { openBreakGlass, openingFields } from '../break-glass/break-glass.ts'
import { breakGlassView } from '../break-glass/view.ts'
import { GatewayError } from '../errors/errors.ts'
import type { BreakGlassRow } from '../store/break-glass.ts'
import { EXIT, UsageError, type Arguments, type Command, type CommandGroup } from './command.ts'
import { configOf, PLACE_OPTIONS } from './config-option.ts'
import { positiveInteger } from './number-options.ts'
import { instant, LIST_FORMAT, show, table } from './format.ts'
import { writeLine, type CommandIo } from './io.ts'
import { localUser } from './remote.ts'
import { noteAct, withStore } from './data-directory.ts'

const LONGEST_LIST = 500
const SHORTEST_REASON = 10

const list: Command = {
  name: 'list',
  summary: 'List exceptions, newest first.',
  operands: '',
  operandCount: [0, 0],
  options: [{ name: 'open', help: 'Only exceptions in force.' }, LIST_FORMAT, ...PLACE_OPTIONS],
  run: async (args, io) => {
    const now = Date.now()
    const filter = { limit: LONGEST_LIST, ...(args.flag('open') && { openAt: now }) }
    const rows = await withStore(args, io, (store) => store.breakGlass.list(filter))
    show(
      args,
      io,
      rows.map((row) => breakGlassView(row, now)),
      () => exceptionTable(rows, now),
    )
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
    ...PLACE_OPTIONS,
  ],
  notes:
    'Recorded as cli:USER. Each call that continues because of it is counted, marked in its record and logged as an error; ' +
    'decisions do not change.\nExit codes: 0 open, 1 refused.',
  run: (args, io) => openException(args, io),
}

const close: Command = {
  name: 'close',
  summary: 'Close an exception before its time.',
  operands: 'ID',
  operandCount: [1, 1],
  options: [...PLACE_OPTIONS],
  run: async (args, io) => {
    const [id = ''] = args.operands
    const row = await withStore(args, io, async (store) => {
      const closed = await store.breakGlass.close(id, localUser(), Date.now())
      if (closed !== null)
        await noteAct(store, io, {
          event: 'break_glass.closed',
          break_glass_id: id,
          route: closed.route,
          calls: closed.calls,
        })
      return closed
    })
    writeLine(
      row === null ? io.stderr : io.stdout,
      row === null
        ? `there is no exception ${id}; see: preflight break-glass list`
        : `closed ${id}: ${row.calls} calls`,
    )
    return row === null ? EXIT.no : EXIT.good
  },
}

export const breakGlassGroup: CommandGroup = {
  name: 'break-glass',
  summary: 'Exceptions to enforcement on a route: open, list, close.',
  commands: [open, list, close],
}

async function openException(args: Arguments, io: CommandIo) {
  const [route = ''] = args.operands
  const reason = args.value('reason') ?? ''
  if (reason.length < SHORTEST_REASON) throw new UsageError(`--reason needs at least ${SHORTEST_REASON} characters`)
  const config = configOf(args, io)
  if (!config.routes.some(({ name }) => name === route))
    throw new UsageError(`there is no route "${route}" in the configuration; name it with --config`)
  const opening = { route, reason, duration: positiveInteger(args, 'duration', 1), by: localUser() }
  try {
    const row = await withStore(args, io, async (store) => {
      const opened = await openBreakGlass(opening, config.break_glass.maximum, store, Date.now())
      await noteAct(store, io, { event: 'break_glass.opened', ...openingFields(opened) })
      return opened
    })
    writeLine(io.stdout, `open ${row.id} on ${route} until ${instant(row.expiresAt)}`)
    return EXIT.good
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'INVALID_INPUT') throw error
    writeLine(io.stderr, error.message)
    return EXIT.no
  }
}

function exceptionTable(rows: readonly BreakGlassRow[], now: number): string {
  return table(
    ['ID', 'ROUTE', 'STATE', 'OPENED', 'UNTIL', 'BY', 'CALLS', 'REASON'],
    rows.map((row) => [
      row.id,
      row.route,
      breakGlassView(row, now).state,
      instant(row.openedAt),
      instant(row.closedAt ?? row.expiresAt),
      row.openedBy,
      String(row.calls),
      row.reason,
    ]),
  )
}
