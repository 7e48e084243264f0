/** The coordinates of a rule: what policies, levels and lists name whole sets of rules by, instead of their ids. */
import { formatOf, ruleOf, ruleTable } from './table.ts'

/** In the order of `preflight rules`. */
export const COORDINATES = ['format', 'area', 'kind', 'action', 'effect', 'direction'] as const
export type Coordinate = (typeof COORDINATES)[number]
export type RuleCoordinates = Readonly<Record<Coordinate, string>>

export function isCoordinate(name: string): name is Coordinate {
  return COORDINATES.some((coordinate) => coordinate === name)
}

/** Made when first asked for: a start that judges nothing has no use for it. */
let byRule: ReadonlyMap<string, RuleCoordinates> | null = null
let values: Readonly<Record<Coordinate, ReadonlySet<string>>> | null = null

/** Undefined: no rule has this id. */
export function coordinatesOf(id: string): RuleCoordinates | undefined {
  byRule ??= new Map(ruleTable().map((rule) => [rule.id, computed(rule.id)]))
  return byRule.get(id)
}

/** Every value that some rule has there. */
export function coordinateValues(coordinate: Coordinate): ReadonlySet<string> {
  values ??= {
    format: valuesOf('format'),
    area: valuesOf('area'),
    kind: valuesOf('kind'),
    action: valuesOf('action'),
    effect: valuesOf('effect'),
    direction: valuesOf('direction'),
  }
  return values[coordinate]
}

function valuesOf(coordinate: Coordinate): ReadonlySet<string> {
  return new Set(ruleTable().flatMap(({ id }) => coordinatesOf(id)?.[coordinate] ?? []))
}

function computed(id: string): RuleCoordinates {
  const [rule, format] = [ruleOf(id), formatOf(id)]
  if (rule === undefined || format === undefined) throw new Error(`no rule ${id}`)
  const { area, kind, action, effect, direction } = rule
  return { format, area, kind, action, effect, direction }
}
