/** What a policy asks of a deprecation is judged by the comparison: the options that it is run with. */
import type { CompareOptions, CompiledPolicy } from '../../engine/internal.ts'

/** @param now milliseconds since the epoch */
export function compareOptions(
  { deprecation: { stableDays, betaDays } }: Pick<CompiledPolicy, 'deprecation'>,
  now: number,
): CompareOptions {
  return {
    today: new Date(now).toISOString().slice(0, 10),
    ...(stableDays > 0 && { deprecation_days_stable: stableDays }),
    ...(betaDays > 0 && { deprecation_days_beta: betaDays }),
  }
}
