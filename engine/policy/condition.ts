/**
 * Conditions of policy rules: CEL, parsed and planned once, with caps on length and nesting. A condition is checked for names
 * that do not exist when the pack loads, since a misspelt field would otherwise fail only when a change is at stake.
 */
import { CelScalar, celEnv, isCelError, listType, mapType, parse, plan } from '@bufbuild/cel'
import type { DecisionContext } from '../decide/decision.ts'
import type { FindingGroup, Occurrence } from '../finding.ts'
import { HISTORY_FIELDS } from './history.ts'
import type { OccasionFacts } from './occasion.ts'
import { ok, type Result } from '../result.ts'
import { MAX_CONDITION_LENGTH } from './schema.ts'

const MAX_NESTING = 24
/** Comprehensions (`exists`, `all`, `map` …) inside one another: the only loops that CEL has. */
const MAX_LOOPS = 2

type Expr = ReturnType<typeof parse>['expr']

const GROUP_FIELDS = ['rule', 'code', 'level', 'direction', 'location', 'side'] as const
const OCCURRENCE_FIELDS = ['message', 'fingerprint'] as const
const FINDING_FIELDS: readonly string[] = [...GROUP_FIELDS, ...OCCURRENCE_FIELDS]
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
const VARIABLES: Readonly<Record<string, readonly string[] | null>> = {
  finding: FINDING_FIELDS,
  context: CONTEXT_FIELDS,
  operation: OPERATION_FIELDS,
  tool: null,
  findings: null,
  change_set: ['artifacts', 'ids', 'types', 'failed', 'breaking', 'dangerous', 'info', 'consumers'],
  route: null,
  time: ['date', 'weekday', 'hour', 'minute', 'unix'],
  history: HISTORY_FIELDS,
}

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

/** What a condition sees. */
export interface ConditionFacts extends OccasionFacts {
  readonly finding: Readonly<Record<string, string>>
  readonly operation: Readonly<Record<string, string | null>> | null
  readonly tool: string | null
}

export interface Condition {
  /** Names of what it reads of a finding (`operation` and `tool` among them): equal values give an equal answer. */
  readonly reads: ReadonlySet<string>
  /** Variables that it names at all. */
  readonly variables: ReadonlySet<string>
  /** Never throws; a value that is not true or false is a failure like any other. */
  test(facts: ConditionFacts | OccasionFacts): Result<boolean, string>
}

/** @returns the condition, or what is wrong with the text. */
export function compileCondition(source: string): Result<Condition, string> {
  if (source.length > MAX_CONDITION_LENGTH) return refuse(`is longer than ${MAX_CONDITION_LENGTH} characters`)
  if (bracketDepth(source) > MAX_NESTING) return refuse(`nests brackets deeper than ${MAX_NESTING}`)
  const parsed = parseCondition(source)
  if (!parsed.ok) return parsed
  const survey: Survey = { reads: new Set(), variables: new Set(), faults: [] }
  surveyExpression(parsed.value, survey, { bound: new Set(), loops: 0 })
  const [fault] = survey.faults
  if (fault !== undefined) return refuse(fault)
  const run = planned(parsed.value)
  return ok({ reads: survey.reads, variables: survey.variables, test: (facts) => testCondition(run, facts) })
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
    finding: { rule, code, level, direction, location, side, message, fingerprint },
    operation: operation && { method: operation.method, path: operation.path, operation_id: operation.operation_id },
    tool,
  }
}

/** The values of what is read, as one text: the key under which an answer is remembered. */
export function conditionKey(reads: ReadonlySet<string>, group: FindingGroup, occurrence: Occurrence): string {
  const values: (string | null)[] = []
  for (const field of GROUP_FIELDS) if (reads.has(field)) values.push(group[field])
  for (const field of OCCURRENCE_FIELDS) if (reads.has(field)) values.push(occurrence[field])
  if (reads.has('tool')) values.push(occurrence.tool)
  if (reads.has('operation')) {
    const { operation } = occurrence
    values.push(operation && operation.method, operation && operation.path, operation && operation.operation_id)
  }
  return JSON.stringify(values)
}

function refuse(message: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem: message }
}

function parseCondition(source: string): Result<Expr, string> {
  try {
    return ok(parse(source).expr)
  } catch (error) {
    // The parser has no other way to say that a text is not CEL.
    return refuse(
      `is not valid CEL: ${error instanceof Error ? error.message.replace('<input>:', 'at ') : 'unreadable'}`,
    )
  }
}

const planned = (expression: Expr) => plan(ENVIRONMENT, expression)

/** What a condition about the whole change set does not read; the environment of all conditions is one. */
const NO_FINDING = { finding: {}, operation: null, tool: null }

function testCondition(
  run: ReturnType<typeof planned>,
  facts: ConditionFacts | OccasionFacts,
): Result<boolean, string> {
  try {
    const answer = run({ ...NO_FINDING, ...facts })
    if (typeof answer === 'boolean') return ok(answer)
    return refuse(isCelError(answer) ? answer.message : 'the answer is neither true nor false')
  } catch (error) {
    // A library fault on hostile input must end as a failed condition, which the policy treats as incomplete.
    return refuse(error instanceof Error ? error.message : 'evaluation failed')
  }
}

interface Survey {
  readonly reads: Set<string>
  readonly variables: Set<string>
  readonly faults: string[]
}

interface Surroundings {
  /** Variables of enclosing comprehensions. */
  readonly bound: ReadonlySet<string>
  readonly loops: number
}

/** Collects what is read, and every name that does not exist. */
function surveyExpression(expression: Expr | undefined, survey: Survey, around: Surroundings): void {
  const kind = expression?.exprKind
  switch (kind?.case) {
    case 'identExpr':
      surveyVariable(kind.value.name, null, survey, around)
      return
    case 'selectExpr': {
      const operand = kind.value.operand?.exprKind
      if (operand?.case === 'identExpr') surveyVariable(operand.value.name, kind.value.field, survey, around)
      else surveyExpression(kind.value.operand, survey, around)
      return
    }
    case 'callExpr':
      if (/^[a-zA-Z]/.test(kind.value.function) && !ENVIRONMENT.funcs.find(kind.value.function))
        survey.faults.push(`calls ${kind.value.function}(), which does not exist`)
      for (const part of [kind.value.target, ...kind.value.args]) surveyExpression(part, survey, around)
      return
    case 'listExpr':
      for (const element of kind.value.elements) surveyExpression(element, survey, around)
      return
    case 'structExpr':
      for (const entry of kind.value.entries) surveyExpression(entry.value, survey, around)
      return
    case 'comprehensionExpr': {
      const { iterVar, iterVar2, accuVar, iterRange, accuInit, loopCondition, loopStep, result } = kind.value
      const inside = { bound: new Set([...around.bound, iterVar, iterVar2, accuVar]), loops: around.loops + 1 }
      if (inside.loops > MAX_LOOPS) survey.faults.push(`nests loops deeper than ${MAX_LOOPS}`)
      for (const part of [iterRange, accuInit]) surveyExpression(part, survey, around)
      for (const part of [loopCondition, loopStep, result]) surveyExpression(part, survey, inside)
      return
    }
    case 'constExpr':
    case undefined:
  }
}

function surveyVariable(name: string, field: string | null, survey: Survey, around: Surroundings): void {
  if (around.bound.has(name)) return
  const fields = Object.hasOwn(VARIABLES, name) ? VARIABLES[name] : undefined
  survey.variables.add(name)
  if (name === 'change_set' && (field === null || field === 'consumers')) survey.variables.add(CONSUMERS)
  // All findings for each of something would take time that grows with their square.
  if (name === 'findings' && around.loops > 0) survey.faults.push('reads findings inside a loop')
  if (fields === undefined) {
    survey.faults.push(`reads ${name}, which does not exist; there are ${Object.keys(VARIABLES).join(', ')}`)
  } else if (field !== null && !fields?.includes(field)) {
    survey.faults.push(
      `reads ${name}.${field}, which does not exist${fields ? `; there are ${fields.join(', ')}` : ''}`,
    )
  } else if (name === 'finding') {
    for (const read of field === null ? FINDING_FIELDS : [field]) survey.reads.add(read)
  } else if (PER_FINDING.has(name)) {
    survey.reads.add(name)
  }
}

/** Deepest nesting of brackets. Brackets in string literals count too: refusing a strange literal is cheaper than lexing here. */
function bracketDepth(source: string): number {
  let depth = 0
  let deepest = 0
  for (const character of source) {
    if ('([{'.includes(character)) deepest = Math.max(deepest, ++depth)
    else if (')]}'.includes(character)) depth--
  }
  return deepest
}
