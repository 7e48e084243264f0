/** The coordinates of a rule. Policies, levels and lists use them to name sets of rules. */
import { formatOf, ruleOf, ruleTable } from './table.ts'

/** In the order of `preflight rules`. */
export const COORDINATES = ['format', 'area', 'kind', 'action', 'effect', 'direction'] as const
export type Coordinate = (typeof COORDINATES)[number]
export type RuleCoordinates = Readonly<Record<Coordinate, string>>

export function isCoordinate(name: string): name is Coordinate {
  return COORDINATES.some((coordinate) => coordinate === name)
}

/** Built on first use: many processes start without judging anything. */
let byRule: ReadonlyMap<string, RuleCoordinates> | null = null
let values: Readonly<Record<Coordinate, ReadonlySet<string>>> | null = null

/** Undefined if no rule has this id. */
export function coordinatesOf(id: string): RuleCoordinates | undefined {
  byRule ??= new Map(ruleTable().map((rule) => [rule.id, computed(rule.id)]))
  return byRule.get(id)
}

/** Every value of the coordinate that some rule has. */
export function coordinateValues(coordinate: Coordinate): ReadonlySet<string> {
  values ??= {
    format: usedValues('format'),
    area: usedValues('area'),
    kind: usedValues('kind'),
    action: usedValues('action'),
    effect: usedValues('effect'),
    direction: usedValues('direction'),
  }
  return values[coordinate]
}

function usedValues(coordinate: Coordinate): ReadonlySet<string> {
  return new Set(ruleTable().flatMap(({ id }) => coordinatesOf(id)?.[coordinate] ?? []))
}

function computed(id: string): RuleCoordinates {
  const [rule, format] = [ruleOf(id), formatOf(id)]
  if (rule === undefined || format === undefined) throw new Error(`no rule ${id}`)
  const { area, kind, action, effect, direction } = rule
  return { format, area, kind, action, effect, direction }
}
