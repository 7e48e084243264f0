/** What a condition may read beyond one finding: the change set, the route, the moment and the past, as plain values of CEL. Made once a decision. */
import { countPlaces } from '../model/finding.ts'
import { contextFacts, type Condition, type OccasionFacts } from './condition.ts'
import { historyFacts } from './history.ts'
import type { FoundChange, PolicyOccasion } from './policy.ts'
import { coordinatesOf } from '../rules/catalog/coordinates.ts'

/** @param conditions that are going to be asked; the list of findings, which may be long, is made only when one reads it */
export function occasionFacts(
  { context, route, artifacts, changes, consumers, history, now }: PolicyOccasion,
  conditions: readonly Condition[],
): OccasionFacts {
  const isListed = conditions.some(({ variables }) => variables.has('findings'))
  const places = (level: string): bigint =>
    BigInt(changes.reduce((sum, { group }) => sum + (group.level === level ? countPlaces(group) : 0), 0))
  return {
    context: contextFacts(context),
    findings: isListed ? changes.map(findingFacts) : [],
    change_set: {
      artifacts: BigInt(artifacts.length),
      ids: artifacts.map(({ id }) => id),
      types: [...new Set(artifacts.map(({ type }) => type))].sort(),
      failed: BigInt(artifacts.filter(({ isAnalysed }) => !isAnalysed).length),
      breaking: places('breaking'),
      dangerous: places('dangerous'),
      info: places('info'),
      consumers,
    },
    route,
    time: timeFacts(now),
    history: historyFacts(history, now),
  }
}

function findingFacts({ artifact, group }: FoundChange): Readonly<Record<string, string | bigint>> {
  const { rule, code, level, direction, location, side } = group
  const places = BigInt(countPlaces(group))
  return { artifact, rule, code, level, location, side, ...coordinatesOf(rule), direction, places }
}

/** UTC, since a policy is in force in more than one place. */
function timeFacts(now: number): Readonly<Record<string, string | bigint>> {
  const moment = new Date(now * 1000)
  return {
    date: moment.toISOString().slice(0, 10),
    // ISO 8601: Monday is 1, Sunday 7.
    weekday: BigInt(moment.getUTCDay() || 7),
    hour: BigInt(moment.getUTCHours()),
    minute: BigInt(moment.getUTCMinutes()),
    unix: BigInt(now),
  }
}
