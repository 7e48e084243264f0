/** Options that take a number. */
import { UsageError, type Arguments, type OptionSpec } from './command.ts'

/** Of commands that list things. */
export const LIMIT: OptionSpec = { name: 'limit', value: 'N', help: 'How many at the most; 50 unless told.' }
export const DEFAULT_LIMIT = 50

/** Throws a UsageError on anything but a positive integer. */
export function positiveInteger(args: Arguments, name: string, fallback: number): number {
  const text = args.value(name)
  if (text === undefined) return fallback
  const number = Number(text)
  if (Number.isSafeInteger(number) && number > 0) return number
  throw new UsageError(`--${name} takes a positive whole number, not ${JSON.stringify(text)}`)
}

/** The same for seconds, of which there may be none. */
export function wholeSeconds(args: Arguments, name: string, fallback: number): number {
  const text = args.value(name)
  const seconds = text === undefined ? fallback : Number(text)
  if (Number.isSafeInteger(seconds) && seconds >= 0) return seconds
  throw new UsageError(`--${name} takes whole seconds, 0 or more`)
}
