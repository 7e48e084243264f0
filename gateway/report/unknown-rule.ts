/** What to say of a rule id that no comparison can name. */
import { ruleTable } from '../../engine/internal.ts'
import type { Mistake } from '../errors/mistake.ts'
import { nearest } from '../settings/suggestion.ts'

export function unknownRule(id: string): Pick<Mistake, 'message' | 'fix'> {
  const guess = nearest(
    id,
    ruleTable().map((rule) => rule.id),
  )
  const fix = guess === null ? 'docs/rules.md lists them' : `did you mean "${guess}"?`
  return { message: `there is no rule ${JSON.stringify(id)}`, fix }
}
