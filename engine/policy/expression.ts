/**
 * Expressions of operators (CEL), parsed once with limits on length and nesting. Names are checked on loading, because
 * a misspelt one would otherwise fail only on use. The callers define the variables.
 */
import { isCelError, parse, CelScalar, celEnv, mapType, plan } from '@bufbuild/cel'
import { strings } from '@bufbuild/cel/ext'
import { ok, type Result, fail } from '../common/result.ts'
import type { Json } from '../common/hash.ts'

export const MAX_EXPRESSION_LENGTH = 2048
const MAX_NESTING = 24
/** Comprehensions (`exists`, `all`, `map` …) inside one another: the only loops that CEL has. */
const MAX_LOOPS = 2
/** Values that an expression writes out, in lists and maps, where loops go over them within one another. */
const MAX_NESTED_VALUES = 100

export type Expression = ReturnType<typeof parse>['expr']

/** How a value relates to a written text. */
export type TextRelation = 'equals' | 'startsWith' | 'endsWith' | 'contains'

/** What an expression may name. */
interface ExpressionNames {
  isFunction(name: string): boolean
  /**
   * Called for each variable that is read.
   * @param field the member that is read of it by name; null when the variable is read as a whole, or by a computed key
   * @param loops number of comprehensions around it
   * @returns what is wrong with it; null when it may be read
   */
  variableFault(name: string, field: string | null, loops: number): string | null
  /** Called for each comprehension, with the number of those that it stands in and itself. */
  loopFound?(depth: number): void
  /**
   * Called for each comparison of a member with a whole number, such as `time.unix < 5`.
   * @returns true when nothing more has to be known of it: `variableFault` is not called for that member then
   */
  comparisonFound?(name: string, field: string, value: bigint): boolean
  /** The same for each member that is read by a written index, such as `time['hour']`. */
  indexFound?(name: string, field: string): boolean
  /**
   * Called for each comparison of a member with a written text: `finding.area == 'tools'`, `finding.rule.startsWith('mcp-')`.
   * @returns what is wrong with the text; null when the member may have such a value
   */
  textFault?(name: string, field: string, text: string, relation: TextRelation): string | null
  /** What is wrong with a member of an item of a list that a loop goes over: `f.area` in `findings.exists(f, …)`. */
  itemFault?(list: string, field: string): string | null
}

/** @returns the expression, or what is wrong with its text. */
export function readExpression(source: string, names: ExpressionNames): Result<Expression, string> {
  if (source.length > MAX_EXPRESSION_LENGTH) return fail(`is longer than ${MAX_EXPRESSION_LENGTH} characters`)
  if (bracketDepth(source) > MAX_NESTING) return fail(`nests brackets deeper than ${MAX_NESTING}`)
  const parsed = parseExpression(source)
  if (!parsed.ok) return parsed
  const found = surveyed(parsed.value, names)
  if (found.loops > 1 && found.written > MAX_NESTED_VALUES)
    found.faults.push(`has loops within one another and writes out more than ${MAX_NESTED_VALUES} values`)
  const [fault] = found.faults
  return fault === undefined ? parsed : fail(fault)
}

/** How often the loops of an expression may run over the values that it writes out itself. */
export function writtenRounds(expression: Expression): number {
  const { loops, written } = surveyed(expression, { isFunction: () => true, variableFault: () => null })
  return loops === 0 ? 0 : written ** loops
}

function surveyed(expression: Expression, names: ExpressionNames): Survey {
  const found: Survey = { names, faults: [], loops: 0, written: 0 }
  survey(expression, found, { bound: new Map(), loops: 0 })
  return found
}

/** The value of one evaluation; never throws. */
export function evaluated(run: () => unknown): Result<unknown, string> {
  try {
    const value = run()
    return isCelError(value) ? fail(value.message) : ok(value)
  } catch (error) {
    // A library fault on hostile input must end as a failed evaluation, which whoever asks takes for undecided.
    return fail(error instanceof Error ? error.message : 'evaluation failed')
  }
}

/** The same for an expression that is to be true or false. */
export function tested(run: () => unknown): Result<boolean, string> {
  const value = evaluated(run)
  if (!value.ok) return value
  return typeof value.value === 'boolean' ? ok(value.value) : fail('the answer is neither true nor false')
}

function parseExpression(source: string): Result<Expression, string> {
  try {
    return ok(parse(source).expr)
  } catch (error) {
    // The parser has no other way to say that a text is not CEL.
    return fail(`is not valid CEL: ${error instanceof Error ? error.message.replace('<input>:', 'at ') : 'unreadable'}`)
  }
}

interface Survey {
  readonly names: ExpressionNames
  readonly faults: string[]
  /** The deepest nesting of comprehensions. */
  loops: number
  /** Elements of lists and entries of maps that the text writes out. */
  written: number
}

interface Surroundings {
  /** Variables of enclosing comprehensions, each with the variable that it goes over; null: over something else. */
  readonly bound: ReadonlyMap<string, string | null>
  readonly loops: number
}

/** Visits what is read and called, and collects every name that does not exist. */
function survey(expression: Expression | undefined, found: Survey, around: Surroundings): void {
  const kind = expression?.exprKind
  switch (kind?.case) {
    case 'identExpr':
      surveyVariable(kind.value.name, null, found, around)
      return
    case 'selectExpr': {
      const operand = kind.value.operand?.exprKind
      if (operand?.case === 'identExpr') surveyVariable(operand.value.name, kind.value.field, found, around)
      else survey(kind.value.operand, found, around)
      return
    }
    case 'callExpr':
      if (/^[a-zA-Z]/.test(kind.value.function) && !found.names.isFunction(kind.value.function))
        found.faults.push(`calls ${kind.value.function}(), which does not exist`)
      surveyTexts(kind.value, found, around)
      if (isKnownComparison(kind.value, found, around) || isKnownIndex(kind.value, found, around)) return
      for (const part of [kind.value.target, ...kind.value.args]) survey(part, found, around)
      return
    case 'listExpr':
      found.written += kind.value.elements.length
      for (const element of kind.value.elements) survey(element, found, around)
      return
    case 'structExpr':
      found.written += kind.value.entries.length
      for (const entry of kind.value.entries) {
        if (entry.keyKind.case === 'mapKey') survey(entry.keyKind.value, found, around)
        survey(entry.value, found, around)
      }
      return
    case 'comprehensionExpr': {
      const { iterVar, iterVar2, accuVar, iterRange, accuInit, loopCondition, loopStep, result } = kind.value
      const over = iterRange?.exprKind.case === 'identExpr' ? iterRange.exprKind.value.name : null
      const list = over === null || around.bound.has(over) ? null : over
      const own = [
        [iterVar, iterVar2 === '' ? list : null],
        [iterVar2, list],
        [accuVar, null],
      ] as const
      const inside = { bound: new Map([...around.bound, ...own]), loops: around.loops + 1 }
      found.loops = Math.max(found.loops, inside.loops)
      found.names.loopFound?.(inside.loops)
      if (inside.loops > MAX_LOOPS) found.faults.push(`nests loops deeper than ${MAX_LOOPS}`)
      for (const part of [iterRange, accuInit]) survey(part, found, around)
      for (const part of [loopCondition, loopStep, result]) survey(part, found, inside)
      return
    }
    case 'constExpr':
    case undefined:
  }
}

const COMPARISONS: ReadonlySet<string> = new Set(['_<_', '_<=_', '_>_', '_>=_', '_==_', '_!=_'])

type CallExpression = Extract<NonNullable<Expression>['exprKind'], { readonly case: 'callExpr' }>['value']

function isKnownComparison(call: CallExpression, { names }: Survey, { bound }: Surroundings): boolean {
  const [before, after] = call.args
  if (!COMPARISONS.has(call.function) || before === undefined || after === undefined) return false
  const member = selectedMember(before) ?? selectedMember(after)
  const value = wholeNumber(before) ?? wholeNumber(after)
  if (member === null || value === null || bound.has(member.name)) return false
  return names.comparisonFound?.(member.name, member.field, value) === true
}

function isKnownIndex({ function: name, args }: CallExpression, found: Survey, around: Surroundings): boolean {
  const [operand, index] = args.map(({ exprKind }) => exprKind)
  if (name !== '_[_]' || operand?.case !== 'identExpr' || index?.case !== 'constExpr') return false
  const { constantKind } = index.value
  if (constantKind.case !== 'stringValue') return false
  const { name: variable } = operand.value
  return !around.bound.has(variable) && found.names.indexFound?.(variable, constantKind.value) === true
}

const TEXT_RELATIONS: ReadonlyMap<string, TextRelation> = new Map([
  ['_==_', 'equals'],
  ['_!=_', 'equals'],
  ['@in', 'equals'],
  ['startsWith', 'startsWith'],
  ['endsWith', 'endsWith'],
  ['contains', 'contains'],
])

/** A text that a member never has would make the condition never true, or always, and nobody would notice. */
function surveyTexts(call: CallExpression, { names, faults }: Survey, { bound }: Surroundings): void {
  const relation = TEXT_RELATIONS.get(call.function)
  if (relation === undefined) return
  const parts = [...(call.target === undefined ? [] : [call.target]), ...call.args]
  const member = parts.map(memberAccess).find((found) => found !== null)
  if (member === undefined || member === null) return
  const name = bound.has(member.name) ? bound.get(member.name) : member.name
  if (name === null || name === undefined) return
  for (const text of parts.flatMap(writtenTexts)) {
    const fault = names.textFault?.(name, member.field, text, relation) ?? null
    if (fault !== null) faults.push(fault)
  }
}

/** `finding.area`, or `finding['area']`. */
function memberAccess(part: NonNullable<Expression>): { readonly name: string; readonly field: string } | null {
  const { exprKind } = part
  if (exprKind.case !== 'callExpr' || exprKind.value.function !== '_[_]') return selectedMember(part)
  const [operand, index] = exprKind.value.args
  const field = index === undefined ? undefined : writtenTexts(index)[0]
  return operand?.exprKind.case === 'identExpr' && field !== undefined && index?.exprKind.case === 'constExpr'
    ? { name: operand.exprKind.value.name, field }
    : null
}

/** A written text, or those of a written list. */
function writtenTexts({ exprKind }: NonNullable<Expression>): readonly string[] {
  if (exprKind.case === 'listExpr') return exprKind.value.elements.flatMap(writtenTexts)
  if (exprKind.case !== 'constExpr') return []
  const { constantKind } = exprKind.value
  return constantKind.case === 'stringValue' ? [constantKind.value] : []
}

function selectedMember({
  exprKind,
}: NonNullable<Expression>): { readonly name: string; readonly field: string } | null {
  const operand = exprKind.case === 'selectExpr' ? exprKind.value.operand?.exprKind : undefined
  if (exprKind.case !== 'selectExpr' || operand?.case !== 'identExpr') return null
  return { name: operand.value.name, field: exprKind.value.field }
}

function wholeNumber({ exprKind }: NonNullable<Expression>): bigint | null {
  const constant = exprKind.case === 'constExpr' ? exprKind.value.constantKind : undefined
  return constant?.case === 'int64Value' ? constant.value : null
}

function surveyVariable(name: string, field: string | null, { names, faults }: Survey, around: Surroundings): void {
  const list = around.bound.get(name)
  if (list !== undefined) {
    const itemFault = list === null || field === null ? null : (names.itemFault?.(list, field) ?? null)
    if (itemFault !== null) faults.push(itemFault)
    return
  }
  const fault = names.variableFault(name, field, around.loops)
  if (fault !== null) faults.push(fault)
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

/** An expression about an entry of the decision log, by which an operator drops and masks entries. */
export interface EntryExpression {
  /** Never throws; a value that is not true or false is a failure like any other. */
  test(entry: Readonly<Record<string, Json>>): Result<boolean, string>
}

const ENVIRONMENT = celEnv({
  variables: { entry: mapType(CelScalar.STRING, CelScalar.DYN) },
  funcs: strings,
})

/**
 * @param fields members of the variable `entry`
 * @returns the expression, or what is wrong with its text
 */
export function compileEntryExpression(source: string, fields: readonly string[]): Result<EntryExpression, string> {
  const expression = readExpression(source, {
    isFunction: (name) => ENVIRONMENT.funcs.find(name) !== undefined,
    variableFault(name, field) {
      if (name !== 'entry') return `reads ${name}, which does not exist; there is entry`
      if (field === null || fields.includes(field)) return null
      return `reads entry.${field}, which does not exist; there are ${fields.join(', ')}`
    },
  })
  if (!expression.ok) return expression
  const run = plan(ENVIRONMENT, expression.value)
  return ok({ test: (entry) => tested(() => run({ entry: { ...entry } })) })
}
