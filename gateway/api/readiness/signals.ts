/** The signals of the readiness score: what each measures, how much it weighs, and how to raise it. */
import type { CallableUnit } from './units.ts'

interface ReadinessFacts {
  readonly units: readonly CallableUnit[]
  /** Texts with signs of poisoning, by the place that contains them. */
  readonly suspicious: readonly string[]
}

interface Tally {
  readonly passed: number
  readonly total: number
  /** Names of those that do not pass. */
  readonly failing: readonly string[]
}

interface ReadinessSignal {
  readonly id: string
  readonly weight: number
  readonly description: string
  readonly advice: string
  readonly measure: (facts: ReadinessFacts) => Tally
}

/** A description that says more than the name. */
const SHORTEST_DESCRIPTION = 20

/** The weights sum to 100. */
export const READINESS_SIGNALS: readonly ReadinessSignal[] = [
  {
    id: 'described',
    weight: 25,
    description: `Tools or operations with a description of at least ${SHORTEST_DESCRIPTION} characters.`,
    advice: 'Describe what it does, when to use it, and what it returns.',
    measure: ({ units }) => ofUnits(units, ({ description }) => description.length >= SHORTEST_DESCRIPTION),
  },
  {
    id: 'parameters_typed',
    weight: 20,
    description: 'Parameters with a type, an enumeration or a reference to a schema.',
    advice: 'State the type of every parameter.',
    measure: ({ units }) => ofParameters(units, ({ isTyped }) => isTyped),
  },
  {
    id: 'parameters_described',
    weight: 15,
    description: 'Parameters with a description.',
    advice: 'Describe every parameter, with its unit or format.',
    measure: ({ units }) => ofParameters(units, ({ isDescribed }) => isDescribed),
  },
  {
    id: 'results_described',
    weight: 15,
    description: 'Tools with an output schema, or operations with a schema of a successful response.',
    advice: 'State what the result looks like (outputSchema, or the schema of a 2xx response).',
    measure: ({ units }) => ofUnits(units, ({ hasResult }) => hasResult),
  },
  {
    id: 'callable_names',
    weight: 10,
    description: 'Names of at most 64 letters, digits, `_`, `.` or `-`, each used once.',
    advice: 'Give each one a short, unique name (operationId in OpenAPI).',
    measure: ({ units }) => ofUnits(units, ({ name, isNamed }) => isNamed && isUnique(name, units)),
  },
  {
    id: 'effects_stated',
    weight: 5,
    description: 'Tools that state whether they only read or may destroy. The method of an operation states it.',
    advice: 'Set annotations.readOnlyHint or annotations.destructiveHint.',
    measure: ({ units }) => ofUnits(units, ({ statesEffects }) => statesEffects),
  },
  {
    id: 'texts_safe',
    weight: 10,
    description: 'Texts without signs of poisoning (docs/mcp.md).',
    advice: 'Remove instructions to the model that are not about the tool itself, and hidden characters.',
    measure: ({ suspicious }) => ({ passed: suspicious.length === 0 ? 1 : 0, total: 1, failing: suspicious }),
  },
]

function ofUnits(units: readonly CallableUnit[], passes: (unit: CallableUnit) => boolean): Tally {
  const failing = units.filter((unit) => !passes(unit)).map(({ name }) => name)
  return { passed: units.length - failing.length, total: units.length, failing }
}

function ofParameters(
  units: readonly CallableUnit[],
  passes: (one: CallableUnit['parameters'][number]) => boolean,
): Tally {
  const all = units.flatMap(({ name, parameters }) => parameters.map((one) => ({ name: `${name}.${one.name}`, one })))
  const failing = all.filter(({ one }) => !passes(one)).map(({ name }) => name)
  return { passed: all.length - failing.length, total: all.length, failing }
}

function isUnique(name: string, units: readonly CallableUnit[]): boolean {
  return units.filter((unit) => unit.name === name).length === 1
}
