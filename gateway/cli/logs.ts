/** `preflight logs`: reads the decision log that a gateway writes to a file (docs/observability.md#decision-log). */
import { setTimeout as pause } from 'node:timers/promises'
import { statSync } from 'node:fs'
import { open, stat, type FileHandle } from 'node:fs/promises'
import { printable } from '../report/printable.ts'
import { CONFIG_OPTION, configOf } from './config-option.ts'
import { EXIT, UsageError, type Arguments, type Command, type CommandGroup, positiveInteger } from './command.ts'
import { LIST_FORMAT } from './format.ts'
import { requirePath } from './data-directory.ts'
import { writeLine, type CommandIo } from './io.ts'
import { assertNoSpecialFile, fileFault } from '../runtime/regular-file.ts'

/** Members that options filter by. */
const FILTERS = ['decision', 'kind', 'route', 'effect', 'tenant'] as const

type LogEntry = Readonly<Record<string, unknown>>

const DEFAULT_LINES = 20
/** New entries are found within this time. */
const POLL_MS = 250

const tail: Command = {
  name: 'tail',
  summary: 'Show the newest entries of the decision log, and new ones as they come with --follow.',
  operands: '',
  operandCount: [0, 0],
  options: [
    {
      name: 'decision',
      value: 'DECISION',
      allowed: ['ALLOW', 'WARN', 'REQUIRE_APPROVAL', 'BLOCK', 'receipt', 'receipt_required', 'undecided'],
      help: 'Only entries with this decision.',
    },
    { name: 'kind', value: 'KIND', allowed: ['call', 'decision', 'act'], help: 'Only entries of this kind.' },
    { name: 'route', value: 'NAME', help: 'Only entries of this route.' },
    { name: 'effect', value: 'EFFECT', help: 'Only calls with this outcome.' },
    { name: 'tenant', value: 'TENANT', help: 'Only entries of this tenant.' },
    { name: 'lines', value: 'N', help: `Maximum number of past entries; default: ${DEFAULT_LINES}.` },
    { name: 'follow', help: 'Show new entries until the command is stopped.' },
    { name: 'file', value: 'FILE', help: 'The file; default: that of the sink of type file in decision_log.sinks.' },
    LIST_FORMAT,
    CONFIG_OPTION,
  ],
  notes: 'json prints one entry a line. Files that were renamed by rotation are not read.',
  run: async (args, io) => {
    const file = logFileOf(args, io)
    const limit = positiveInteger(args, 'lines', DEFAULT_LINES)
    const show = (entry: LogEntry): void =>
      writeLine(io.stdout, args.value('format') === 'json' ? JSON.stringify(entry) : logLine(entry))
    const reader = new LogReader(file)
    for (const entry of (await reader.next()).filter((one) => isWanted(one, args)).slice(-limit)) show(entry)
    while (args.flag('follow')) {
      await pause(POLL_MS)
      for (const entry of await reader.next()) if (isWanted(entry, args)) show(entry)
    }
    await reader.close()
    return EXIT.good
  },
}

export const logsGroup: CommandGroup = {
  name: 'logs',
  summary: 'Read the decision log.',
  commands: [tail],
}

function logFileOf(args: Arguments, io: CommandIo): string {
  const named = args.value('file')
  if (named !== undefined) return readable(named)
  for (const sink of configOf(args, io).decision_log.sinks) {
    if (sink.type !== 'file') continue
    requirePath(sink.path, `there is no decision log at ${sink.path}`)
    return readable(sink.path)
  }
  throw new UsageError(
    'the configuration has no sink of type file in decision_log.sinks; add one, or name a file with --file',
  )
}

/** @throws UsageError when there is no file, or a directory */
function readable(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats?.isDirectory() === false) return file
  const code = stats === undefined ? 'ENOENT' : 'EISDIR'
  throw new UsageError(fileFault(file, Object.assign(new Error(code), { code })))
}

/** Reads what was appended since the last read; begins at the start of a file that took the place of the one before. */
class LogReader {
  readonly #file: string
  #handle: FileHandle | null = null
  #inode = 0
  #position = 0
  #rest = ''

  constructor(file: string) {
    this.#file = file
  }

  async next(): Promise<readonly LogEntry[]> {
    const entries = this.#handle === null ? [] : await this.#read()
    const current = await stat(this.#file).catch(() => null)
    if (current === null || current.ino === this.#inode) return entries
    await this.close()
    assertNoSpecialFile(this.#file)
    this.#handle = await open(this.#file, 'r')
    this.#inode = current.ino
    this.#position = 0
    this.#rest = ''
    return [...entries, ...(await this.#read())]
  }

  async close(): Promise<void> {
    await this.#handle?.close()
    this.#handle = null
  }

  async #read(): Promise<readonly LogEntry[]> {
    const chunks: Buffer[] = []
    for (;;) {
      const buffer = Buffer.alloc(1 << 20)
      const read = await this.#handle?.read(buffer, 0, buffer.length, this.#position)
      if (read === undefined || read.bytesRead === 0) break
      chunks.push(buffer.subarray(0, read.bytesRead))
      this.#position += read.bytesRead
    }
    const lines = (this.#rest + Buffer.concat(chunks).toString('utf8')).split('\n')
    this.#rest = lines.pop() ?? ''
    return lines.flatMap(logEntriesIn)
  }
}

/** A torn line (a crash in the middle of a write) is left out. */
function logEntriesIn(line: string): readonly LogEntry[] {
  try {
    const entry: unknown = JSON.parse(line)
    return typeof entry === 'object' && entry !== null ? [{ ...entry }] : []
  } catch {
    return []
  }
}

function isWanted(entry: LogEntry, args: Arguments): boolean {
  return FILTERS.every((name) => args.value(name) === undefined || entry[name] === args.value(name))
}

function logLine(entry: LogEntry): string {
  const words = [
    entry['time'],
    entry['kind'] === 'act' ? entry['act'] : entry['decision'],
    entry['effect'],
    entry['route'] ?? entry['kind'],
    entry['action'] ?? entry['target'] ?? entry['actor'],
    joinedReasons(entry),
    entry['correlation_id'],
  ]
  return printable(words.filter((word) => typeof word === 'string' && word !== '').join('  '))
}

function joinedReasons({ reasons }: LogEntry): string {
  return Array.isArray(reasons) ? reasons.join(',') : ''
}
