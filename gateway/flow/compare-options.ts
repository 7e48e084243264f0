/** The options of a comparison that come from the policy: its requirements for deprecation. */
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
