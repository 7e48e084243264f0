/** `preflight store copy`: moves a store from one gateway to many, and back. */
import { isPostgresUrl } from '../store/postgres/address.ts'
import { ledgerFile } from '../store/opening/open.ts'
import { copyStore } from '../store/copy/copy.ts'
import { postgresSource, postgresTarget } from '../store/copy/postgres.ts'
import { sqliteSource, sqliteTarget } from '../store/copy/sqlite.ts'
import type { Source, Target } from '../store/copy/side.ts'
import { EXIT, UsageError, type Arguments, type Command, type CommandGroup, type ExitCode } from './command.ts'
import { configOf, PLACE_OPTIONS } from './config-option.ts'
import { writeLine, type CommandIo, openProgress } from './io.ts'

const copy: Command = {
  name: 'copy',
  summary: 'Copy a whole store to a new one of the other kind: SQLite to PostgreSQL, or back.',
  operands: '',
  operandCount: [0, 0],
  options: [
    { name: 'from', value: 'URL', help: 'Store to read: sqlite:FILE or postgres://…; default: the configured store.' },
    { name: 'to', value: 'URL', help: 'Empty store to write; default: the configured store.' },
    ...PLACE_OPTIONS,
  ],
  notes: [
    'Stop every gateway that uses one of the two stores first. The source is not changed, except that an older schema is migrated.',
    'The chains of the ledger are copied entry by entry. Both ledgers are checked; unless both are intact, nothing is written.',
    'A URL with a password is best given as store.url (PREFLIGHT_STORE_URL), and left out here: others can read a command line.',
    'The receipt keys in data_dir are not in the store: keep them.',
    '',
    'Exit codes: 0 copied, 1 a ledger is not intact, 2 usage or a store that cannot be opened, 3 it was interrupted.',
  ].join('\n'),
  run: async (args, io) => {
    if (args.value('from') === undefined && args.value('to') === undefined)
      throw new UsageError('give --from or --to; the other one may be the configured store')
    const from = copyPlace('from', args, io)
    const to = copyPlace('to', args, io)
    if (isPostgresUrl(from) === isPostgresUrl(to))
      throw new UsageError(
        isPostgresUrl(from)
          ? 'both are PostgreSQL: use its own tools, for example pg_dump'
          : 'both are files: use `preflight ledger backup FILE`',
      )
    const source = await sourceAt(from)
    try {
      const target = await targetAt(to)
      try {
        return await copied(source, target, io)
      } finally {
        await target.close()
      }
    } finally {
      await source.close()
    }
  },
}

async function copied(source: Source, target: Target, io: CommandIo): Promise<ExitCode> {
  const progress = openProgress(io)
  const { rows, heads, faults } = await copyStore(source, target, (text) => progress.show(text)).finally(() =>
    progress.end(),
  )
  for (const fault of faults) writeLine(io.stderr, fault)
  if (faults.length > 0) {
    writeLine(io.stderr, 'Nothing was copied.')
    return EXIT.no
  }
  for (const { chain, sequence, hash } of heads)
    writeLine(io.stdout, `chain ${chain}: ${sequence} entries, head ${hash}`)
  writeLine(io.stdout, `copied ${rows} rows from ${source.description} to ${target.description}; both are intact`)
  return EXIT.good
}

const FILE_URL = /^(?:sqlite|file):(?:\/\/(?=\/))?/

/** A PostgreSQL URL, or the path of a file. */
function copyPlace(option: 'from' | 'to', args: Arguments, io: CommandIo): string {
  const given = args.value(option)
  if (given === undefined) {
    const config = configOf(args, io)
    const place = ledgerFile(config) ?? config.store.url ?? ''
    if (!place.startsWith('https:')) return place
    throw new UsageError(`store.url names a hub: give --${option}`)
  }
  if (isPostgresUrl(given)) return given
  if (FILE_URL.test(given)) return given.replace(FILE_URL, '')
  throw new UsageError(`--${option} is not a store: write sqlite:FILE or postgres://USER@HOST:5432/DATABASE`)
}

function sourceAt(place: string): Promise<Source> {
  return isPostgresUrl(place) ? postgresSource(place) : sqliteSource(place)
}

function targetAt(place: string): Promise<Target> {
  return isPostgresUrl(place) ? postgresTarget(place) : sqliteTarget(place)
}

export const storeGroup: CommandGroup = {
  name: 'store',
  summary: 'Move a store from one gateway to many, and back.',
  commands: [copy],
}
