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
