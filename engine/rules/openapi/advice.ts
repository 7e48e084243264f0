/**
 * Explains why a change of an OpenAPI contract breaks and how to avoid that, by the added, removed or changed element.
 * Other changes have the general advice for their direction and effect.
 */
import { adviceOf, type Advice } from '../advice.ts'
import { MALFORMED_PART } from '../row.ts'
import type { Effect, Rule } from '../rule.ts'

interface AdviceRow extends Advice {
  readonly direction: Rule['direction']
  /** Part of a contract; any part if absent. */
  readonly area?: string
  readonly kind: string
  readonly actions: readonly string[]
  readonly effects: readonly Effect[]
}

const ROWS: readonly AdviceRow[] = [
  {
    direction: MALFORMED_PART.direction,
    kind: MALFORMED_PART.kind,
    actions: [MALFORMED_PART.action],
    effects: [MALFORMED_PART.effect],
    explanation: MALFORMED_PART.why,
    fix: MALFORMED_PART.fix,
  },
  {
    direction: 'none',
    area: 'paths',
    kind: 'existence',
    actions: ['removed'],
    effects: ['narrows'],
    explanation: 'Every call of the operation will fail.',
    fix: 'Keep the operation, mark it deprecated with an x-sunset day, and remove it after that day.',
  },
  {
    direction: 'request',
    kind: 'existence',
    actions: ['added'],
    effects: ['narrows'],
    explanation: 'Callers that do not know of it do not send it, and will be refused.',
    fix: 'Make it optional, and let the server act as before when it is absent.',
  },
  {
    direction: 'request',
    kind: 'existence',
    actions: ['removed'],
    effects: ['may-narrow', 'narrows'],
    explanation: 'Callers that go on sending it are refused, or what they send has no effect and nobody tells them.',
    fix: 'Go on accepting it, mark it deprecated, and remove it when nobody sends it any more.',
  },
  {
    direction: 'request',
    kind: 'requiredness',
    actions: ['added', 'became', 'ceased'],
    effects: ['narrows'],
    explanation: 'Callers that leave it out, or send null where that was allowed, will be refused.',
    fix: 'Keep it optional, and let the server fill in what is missing.',
  },
  {
    direction: 'request',
    kind: 'values',
    actions: ['removed', 'became', 'added', 'changed'],
    effects: ['narrows', 'moves'],
    explanation: 'Callers that send a value which is not listed any more will be refused.',
    fix: 'Go on accepting the old values, and map them to the new ones.',
  },
  {
    direction: 'response',
    kind: 'existence',
    actions: ['removed'],
    effects: ['widens', 'may-widen'],
    explanation: 'Readers that use it will find it missing.',
    fix: 'Go on sending it, mark it deprecated, and remove it when nobody reads it any more.',
  },
  {
    direction: 'response',
    kind: 'requiredness',
    actions: ['removed', 'became', 'ceased'],
    effects: ['widens'],
    explanation: 'Readers that count on a value will meet its absence, or null.',
    fix: 'Go on sending a value always, or tell readers before the first answer without it.',
  },
  {
    direction: 'response',
    kind: 'values',
    actions: ['added', 'ceased'],
    effects: ['widens', 'may-widen'],
    explanation:
      'Readers that know the old values only will meet one that they do not know; a reader with a default case copes.',
    fix: 'Tell readers before the first answer with the new value, or send it only to those that ask for it.',
  },
]

export function openApiAdvice(rule: Rule): Advice {
  const row = ROWS.find(
    ({ direction, area, kind, actions, effects }) =>
      direction === rule.direction &&
      (area === undefined || area === rule.area) &&
      kind === rule.kind &&
      actions.includes(rule.action) &&
      effects.includes(rule.effect),
  )
  return row ?? adviceOf(rule)
}
