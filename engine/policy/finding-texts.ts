/** Texts that conditions compare members of findings with: one that no finding can have is a mistake, found when the pack loads. */
import { LEVELS } from '../model/finding.ts'
import { coordinateValues, isCoordinate } from '../rules/catalog/coordinates.ts'
import { reasonCodeOf } from '../rules/findings/judged-change.ts'
import { ruleTable } from '../rules/catalog/table.ts'
import { nearest } from '../common/suggestion.ts'
import type { TextRelation } from './expression.ts'

const HOLDS: Readonly<Record<TextRelation, (value: string, text: string) => boolean>> = {
  equals: (value, text) => value === text,
  startsWith: (value, text) => value.startsWith(text),
  endsWith: (value, text) => value.endsWith(text),
  contains: (value, text) => value.includes(text),
}

/** Null where a finding may have such a value. */
export function findingTextFault(member: string, text: string, relation: TextRelation): string | null {
  const known = knownValues(member)
  if (known === null || known.some((value) => HOLDS[relation](value, text))) return null
  const guess = nearest(text, known)
  const fix = guess === null ? knownTextsHint(member, known) : `did you mean "${guess}"?`
  return `compares ${member} of findings with ${JSON.stringify(text)}, which no finding has; ${fix}`
}

/** Null: any text. */
function knownValues(member: string): readonly string[] | null {
  if (isCoordinate(member)) return [...coordinateValues(member)].sort()
  if (member === 'level') return LEVELS
  if (member === 'side') return ['base', 'head']
  if (member === 'rule') return ruleTable().map(({ id }) => id)
  return member === 'code' ? ruleTable().map(({ id }) => reasonCodeOf(id)) : null
}

function knownTextsHint(member: string, known: readonly string[]): string {
  return member === 'rule' || member === 'code' ? 'docs/rules.md lists all rules' : `there are ${known.join(', ')}`
}
