/** What the findings at each pair of schemas explain of the values that are lost, or new. */
import type { Level } from '../../model/finding.ts'
import type { SchemaPair } from '../../schema/comparison/comparison.ts'
import type { Reached } from '../../schema/comparison/reachable-changes.ts'
import type { ProofDirection } from '../../schema/inclusion/inclusion.ts'
import type { Rule } from '../rule.ts'
import { isPropertyRemoval } from './provable.ts'
import { isAboutReading, LOSES, mayGain } from './proved-level.ts'

/**
 * What explains values at a pair that are lost, or new. `use`: a member that is gone, or that one side only sends. `guess`:
 * a rule that does not look at the values. `rule`: one that does, or that warns of them for a reason of its own.
 */
const EXPLANATIONS = ['nothing', 'use', 'guess', 'rule'] as const
export type Explanation = (typeof EXPLANATIONS)[number]

function strongest(a: Explanation, b: Explanation): Explanation {
  return EXPLANATIONS.indexOf(a) < EXPLANATIONS.indexOf(b) ? b : a
}

/** What the findings at a pair explain. */
export interface Alarm {
  loses: Explanation
  gains: Explanation
  /** Whether a rule that does not look at the values is among the reasons. */
  readonly guesses: Set<ProofDirection>
  isBreaking: boolean
}

export function noteAlarm(alarms: Map<SchemaPair, Alarm>, { pair, delta }: Reached, rule: Rule, level: Level): void {
  if (level === 'info' || isAboutReading(delta)) return
  const alarm = alarms.get(pair) ?? { loses: 'nothing', gains: 'nothing', guesses: new Set(), isBreaking: false }
  const isUsage = delta.keyword === 'readOnly' || delta.keyword === 'writeOnly' || isPropertyRemoval(delta)
  const explanation = isUsage ? 'use' : isGuess(rule) ? 'guess' : 'rule'
  if (LOSES.has(rule.effect) || isUsage) alarm.loses = strongest(alarm.loses, explanation)
  if (mayGain(delta, rule) || isUsage) alarm.gains = strongest(alarm.gains, explanation)
  if (explanation === 'guess') alarm.guesses.add(LOSES.has(rule.effect) ? 'narrowing' : 'widening')
  alarm.isBreaking ||= level === 'breaking'
  alarms.set(pair, alarm)
}

/**
 * Alternatives and positions that come or go as a whole refuse and admit what they say, if anything. Bounds and patterns
 * are warned of for another reason: documents often state late what servers always did.
 */
function isGuess({ kind, effect }: Rule): boolean {
  return kind === 'structure' && (effect === 'may-narrow' || effect === 'may-widen')
}
