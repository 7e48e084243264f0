/** Options that take a number. */
import { UsageError, type Arguments, type OptionSpec } from './command.ts'

/** For commands that list rows. */
export const LIMIT: OptionSpec = { name: 'limit', value: 'N', help: 'Maximum number of rows; default: 50.' }
export const DEFAULT_LIMIT = 50

/** Throws a UsageError on anything but a positive integer. */
export function positiveInteger(args: Arguments, name: string, fallback: number): number {
  const text = args.value(name)
  if (text === undefined) return fallback
  const number = Number(text)
  if (Number.isSafeInteger(number) && number > 0) return number
  throw new UsageError(`--${name} takes a positive whole number, not ${JSON.stringify(text)}`)
}

/** The same for seconds; zero is allowed. */
export function wholeSeconds(args: Arguments, name: string, fallback: number): number {
  const text = args.value(name)
  const seconds = text === undefined ? fallback : Number(text)
  if (Number.isSafeInteger(seconds) && seconds >= 0) return seconds
  throw new UsageError(`--${name} takes whole seconds, 0 or more`)
}

/** Milliseconds since the epoch; undefined without the option. */
export function momentOf(args: Arguments, name: string): number | undefined {
  const text = args.value(name)
  if (text === undefined) return undefined
  const moment = Date.parse(text)
  if (Number.isNaN(moment))
    throw new UsageError(`--${name} ${JSON.stringify(text)} is no time; write 2026-01-31 or 2026-01-31T12:00:00Z`)
  return moment
}
