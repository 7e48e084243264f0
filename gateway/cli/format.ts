/** The `--format text|json` of commands that list rows, and tables for people. */
import { printable } from '../report/printable.ts'
import type { Arguments, OptionSpec } from './command.ts'
import { writeLine, type CommandIo } from './io.ts'

export const LIST_FORMAT: OptionSpec = {
  name: 'format',
  value: 'FORMAT',
  allowed: ['text', 'json'],
  help: 'Output format; default: text.',
}

/** JSON of the value, or its text. */
export function show<T>(args: Arguments, io: CommandIo, value: T, text: (value: T) => string): void {
  writeLine(io.stdout, args.value('format') === 'json' ? JSON.stringify(value, null, 2) : text(value))
}

/** Rows under a heading, columns as wide as their widest cell. A heading alone looks like a failure, so `(none)` is below it. */
export function textTable(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [heading, ...rows.map((row) => row.map(printable))]
  const widths = heading.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return [...lines, ...(rows.length === 0 ? ['(none)'] : [])].join('\n')
}

export function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** An instant of an answer, in the form of `instant`. */
export function secondsOf(text: string): string {
  return instant(Date.parse(text))
}
