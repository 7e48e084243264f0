/**
 * Conditions of policy rules: CEL, parsed and planned once, with limits on length and nesting. Names are checked when
 * the pack loads, because a misspelt field would otherwise fail only when a change is judged.
 */
import { lookupTable } from '../common/lookup-table.ts'
import { CelScalar, celEnv, listType, mapType, plan } from '@bufbuild/cel'
import { readExpression, tested, writtenRounds, type Expression, type TextRelation } from './expression.ts'
import { conditionTypeFault, type ExpressionType } from './expression-type.ts'
import { ARTIFACT_TYPES } from '../model/change-set.ts'
import { DECISIONS, type DecisionContext } from '../model/decision.ts'
import { nearest } from '../common/suggestion.ts'
import type { FindingGroup, Occurrence } from '../model/finding.ts'
import { HISTORY_FIELDS, type HistoryFacts } from './history.ts'
import { ok, type Result } from '../common/result.ts'
import { COORDINATES, coordinatesOf } from '../rules/catalog/coordinates.ts'
import { findingTextFault } from './finding-texts.ts'

const GROUP_FIELDS = ['rule', 'code', 'level', 'location', 'side'] as const
const OCCURRENCE_FIELDS = ['message', 'fingerprint'] as const
const FINDING_FIELDS: readonly string[] = [...GROUP_FIELDS, ...COORDINATES, ...OCCURRENCE_FIELDS]
/** Of an item of `findings`. */
const LISTED_FIELDS: readonly string[] = ['artifact', ...GROUP_FIELDS, ...COORDINATES, 'places']
const OPERATION_FIELDS = ['method', 'path', 'operation_id']
const CONTEXT_FIELDS = [
  'operation',
  'environment',
  'repository',
  'branch',
  'pull_request',
  'base',
  'head',
  'target_id',
  'target_uri',
] as const satisfies readonly (keyof DecisionContext)[]

/** Variables of a condition, and the fields of each; null: a value without fields. */
const VARIABLES: Readonly<Record<string, readonly string[] | null>> = lookupTable({
  finding: FINDING_FIELDS,
  context: CONTEXT_FIELDS,
  operation: OPERATION_FIELDS,
  tool: null,
  findings: null,
  change_set: ['artifacts', 'ids', 'types', 'failed', 'breaking', 'dangerous', 'info', 'consumers'],
  route: null,
  time: ['date', 'weekday', 'hour', 'minute', 'unix'],
  history: HISTORY_FIELDS,
})

/** Among the variables of a condition: it reads who is reached. */
export const CONSUMERS = 'change_set.consumers'

/** Variables that differ from finding to finding. */
const PER_FINDING: ReadonlySet<string> = new Set(['finding', 'operation', 'tool'])

const ENVIRONMENT = celEnv({
  variables: {
    finding: mapType(CelScalar.STRING, CelScalar.DYN),
    context: mapType(CelScalar.STRING, CelScalar.DYN),
    operation: CelScalar.DYN,
    tool: CelScalar.DYN,
    findings: listType(mapType(CelScalar.STRING, CelScalar.DYN)),
    change_set: mapType(CelScalar.STRING, CelScalar.DYN),
    route: CelScalar.DYN,
    time: mapType(CelScalar.STRING, CelScalar.DYN),
    history: mapType(CelScalar.STRING, CelScalar.DYN),
  },
})

/** Facts of a change set that conditions read. */
export interface OccasionFacts {
  readonly context: Readonly<Record<string, string | null>>
  readonly findings: readonly Readonly<Record<string, string | bigint>>[]
  readonly change_set: Readonly<Record<string, bigint | readonly string[]>>
  readonly route: string | null
  readonly time: Readonly<Record<string, string | bigint>>
  readonly history: HistoryFacts
}

/** The variables of a condition. */
export interface ConditionFacts extends OccasionFacts {
  readonly finding: Readonly<Record<string, string>>
  readonly operation: Readonly<Record<string, string | null>> | null
  readonly tool: string | null
}

export interface Condition {
  /** The parts of a finding that it reads (`operation` and `tool` among them): equal values give an equal result. */
  readonly reads: ReadonlySet<string>
  /** Variables that it names at all. */
  readonly variables: ReadonlySet<string>
  /** Members of `time` that it reads; null: the whole of it. */
  readonly times: ReadonlySet<string | null>
  /** Seconds since the epoch that `time.unix` is compared with; no other use of it is left out of `times`. */
  readonly moments: ReadonlySet<number>
  /** Members of `history` that it reads; null: the whole of it. */
  readonly pasts: ReadonlySet<string | null>
  /** Seconds that `history.last_age` is compared with; no other use of it is left out of `pasts`. */
  readonly ages: ReadonlySet<number>
  /** How often its loops may run over values that it writes out. */
  readonly writtenRounds: number
  /** Why every evaluation fails, where its types say so; null: they do not. */
  readonly typeFault: string | null
  /** Never throws; a value that is not true or false is a failure like any other. */
  test(facts: ConditionFacts | OccasionFacts): Result<boolean, string>
}

/** @returns the condition, or what is wrong with the text. */
export function compileCondition(source: string): Result<Condition, string> {
  const reads = new Set<string>()
  const variables = new Set<string>()
  const times = new Set<string | null>()
  const moments = new Set<number>()
  const pasts = new Set<string | null>()
  const ages = new Set<number>()
  const clocks: ReadonlyMap<string, ClockReads> = new Map([
    ['time', { members: times, compared: 'unix', values: moments }],
    ['history', { members: pasts, compared: 'last_age', values: ages }],
  ])
  const expression = readExpression(source, {
    isFunction: (name) => ENVIRONMENT.funcs.find(name) !== undefined,
    variableFault(name, field, loops) {
      variables.add(name)
      clocks.get(name)?.members.add(field)
      if (name === 'change_set' && (field === null || field === 'consumers')) variables.add(CONSUMERS)
      for (const read of readsOf(name, field)) reads.add(read)
      return unknownField(name, field, loops)
    },
    indexFound(name, field) {
      const clock = clocks.get(name)
      if (clock === undefined || !VARIABLES[name]?.includes(field)) return false
      variables.add(name)
      clock.members.add(field)
      return true
    },
    comparisonFound(name, field, value) {
      const clock = clocks.get(name)
      if (clock?.compared !== field) return false
      variables.add(name)
      clock.values.add(Number(value))
      return true
    },
    textFault: (name, field, text, relation) =>
      name === 'finding' || name === 'findings'
        ? findingTextFault(field, text, relation)
        : closedTextFault(`${name}.${field}`, text, relation),
    itemFault: (list, field) =>
      list === 'findings' && !LISTED_FIELDS.includes(field)
        ? `reads ${field} of a finding, which does not exist; there are ${LISTED_FIELDS.join(', ')}`
        : null,
  })
  if (!expression.ok) return expression
  const typeFault = conditionTypeFault(expression.value, expressionType)
  const run = planned(expression.value)
  const test = (facts: ConditionFacts | OccasionFacts) => tested(() => run({ ...NO_FINDING, ...facts }))
  const rounds = writtenRounds(expression.value)
  return ok({ reads, variables, times, moments, pasts, ages, writtenRounds: rounds, typeFault, test })
}

/**
 * Types that a value always has. Members of `context` and `operation`, a tool and a route may be null, so they have none; `finding`
 * has texts only.
 */
function expressionType(name: string, field: string | null): ExpressionType | null {
  if (field === null) return VARIABLE_TYPES[name] ?? null
  if (name === 'finding') return 'text'
  if (name === 'time') return field === 'date' ? 'text' : 'number'
  if (name === 'change_set') return LISTS.has(field) ? 'list' : 'number'
  return name === 'history' && !['last', 'last_age'].includes(field) ? 'number' : null
}

const VARIABLE_TYPES: Readonly<Record<string, ExpressionType>> = lookupTable({
  finding: 'map',
  context: 'map',
  findings: 'list',
  change_set: 'map',
  time: 'map',
  history: 'map',
})

const LISTS: ReadonlySet<string> = new Set(['ids', 'types', 'consumers'])

/** Members besides those of findings whose texts are all known. */
const CLOSED_TEXTS: Readonly<Record<string, readonly string[]>> = lookupTable({
  'history.last': DECISIONS,
  'change_set.types': ARTIFACT_TYPES,
})

function closedTextFault(member: string, text: string, relation: TextRelation): string | null {
  const known = Object.hasOwn(CLOSED_TEXTS, member) ? (CLOSED_TEXTS[member] ?? []) : null
  if (known === null || relation !== 'equals' || known.includes(text)) return null
  const guess = nearest(text, known)
  const fix = guess === null ? `there are ${known.join(', ')}` : `did you mean "${guess}"?`
  return `compares ${member} with ${JSON.stringify(text)}, which it never has; ${fix}`
}

/** What is collected of a variable whose values change as time goes on. */
interface ClockReads {
  readonly members: Set<string | null>
  /** The member whose comparisons with a whole number are known to change at one moment. */
  readonly compared: string
  readonly values: Set<number>
}

/** True when the answer may differ from finding to finding. */
export function isAboutFinding({ variables }: Condition): boolean {
  return [...variables].some((name) => PER_FINDING.has(name))
}

export function contextFacts(context: DecisionContext): Readonly<Record<string, string | null>> {
  return Object.fromEntries(CONTEXT_FIELDS.map((field) => [field, context[field]]))
}

export function conditionFacts(occasion: OccasionFacts, group: FindingGroup, occurrence: Occurrence): ConditionFacts {
  const { operation, tool, message, fingerprint } = occurrence
  const { rule, code, level, direction, location, side } = group
  return {
    ...occasion,
    finding: { rule, code, level, location, side, ...coordinatesOf(rule), direction, message, fingerprint },
    operation: operation && { method: operation.method, path: operation.path, operation_id: operation.operation_id },
    tool,
  }
}

/** The values that are read, as one text: the cache key of a result. */
export function conditionKey(reads: ReadonlySet<string>, group: FindingGroup, occurrence: Occurrence): string {
  const values: (string | null)[] = []
  for (const field of GROUP_FIELDS) if (reads.has(field)) values.push(group[field])
  const coordinates = coordinatesOf(group.rule)
  for (const field of COORDINATES) if (reads.has(field)) values.push(coordinates?.[field] ?? null)
  for (const field of OCCURRENCE_FIELDS) if (reads.has(field)) values.push(occurrence[field])
  if (reads.has('tool')) values.push(occurrence.tool)
  if (reads.has('operation')) {
    const { operation } = occurrence
    values.push(operation && operation.method, operation && operation.path, operation && operation.operation_id)
  }
  return JSON.stringify(values)
}

const planned = (expression: Expression) => plan(ENVIRONMENT, expression)

/** What a condition about the whole change set does not read; the environment of all conditions is one. */
const NO_FINDING = { finding: {}, operation: null, tool: null }

/** What is read of a finding. */
function readsOf(name: string, field: string | null): readonly string[] {
  if (name === 'finding') return field === null ? FINDING_FIELDS : [field]
  return PER_FINDING.has(name) ? [name] : []
}

function unknownField(name: string, field: string | null, loops: number): string | null {
  const fields = Object.hasOwn(VARIABLES, name) ? VARIABLES[name] : undefined
  if (fields === undefined) return `reads ${name}, which does not exist; there are ${Object.keys(VARIABLES).join(', ')}`
  if (field !== null && !fields?.includes(field))
    return `reads ${name}.${field}, which does not exist${fields ? `; there are ${fields.join(', ')}` : ''}`
  // A loop over all findings within a loop would take quadratic time.
  return name === 'findings' && loops > 0 ? 'reads findings inside a loop' : null
}
