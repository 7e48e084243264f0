/**
 * Types of expressions (CEL), as far as they are certain; a type that is not certain is null. A condition that cannot be true or
 * false fails at every evaluation. So does an operator that never takes its operands.
 */
import { lookupTable } from '../common/lookup-table.ts'
import type { Expression } from './expression.ts'

export type ExpressionType = 'bool' | 'text' | 'number' | 'list' | 'map' | 'null'

/** Type of a member of a variable, or of the variable itself; null: not certain. */
type TypeOf = (name: string, field: string | null) => ExpressionType | null

const WORDS: Readonly<Record<ExpressionType, string>> = {
  bool: 'true or false',
  text: 'a text',
  number: 'a number',
  list: 'a list',
  map: 'a map',
  null: 'null',
}

/** What is wrong with the types of a condition; null: nothing that is certain. */
export function conditionTypeFault(expression: Expression, typeOf: TypeOf): string | null {
  const faults: string[] = []
  const type = typeIn(expression, { typeOf, faults, bound: new Set() })
  const [first] = faults
  if (first !== undefined) return first
  if (type === null || type === 'bool') return null
  return `is ${WORDS[type]}, but a condition must be true or false; compare it with a value, e.g. == or in`
}

interface Typing {
  readonly typeOf: TypeOf
  readonly faults: string[]
  /** Variables of enclosing comprehensions. */
  readonly bound: ReadonlySet<string>
}

function typeIn(expression: Expression | undefined, typing: Typing): ExpressionType | null {
  const kind = expression?.exprKind
  switch (kind?.case) {
    case 'constExpr':
      return CONSTANTS[kind.value.constantKind.case ?? ''] ?? null
    case 'identExpr':
      return typing.bound.has(kind.value.name) ? null : typing.typeOf(kind.value.name, null)
    case 'selectExpr': {
      if (kind.value.testOnly) return 'bool'
      const operand = kind.value.operand?.exprKind
      if (operand?.case !== 'identExpr' || typing.bound.has(operand.value.name)) return null
      return typing.typeOf(operand.value.name, kind.value.field)
    }
    case 'listExpr':
      return 'list'
    case 'structExpr':
      return 'map'
    case 'callExpr':
      return typeOfCall(kind.value, typing)
    case 'comprehensionExpr': {
      const { iterVar, iterVar2, accuVar, iterRange, accuInit, loopStep, result } = kind.value
      typeIn(iterRange, typing)
      const inside = { ...typing, bound: new Set([...typing.bound, iterVar, iterVar2, accuVar]) }
      typeIn(loopStep, inside)
      // The result of exists and all is what they begin with; that of map and filter, too. exists_one compares at its end.
      return result?.exprKind.case === 'identExpr' ? typeIn(accuInit, typing) : typeIn(result, inside)
    }
    case undefined:
  }
  return null
}

const CONSTANTS: Readonly<Record<string, ExpressionType | undefined>> = lookupTable({
  boolValue: 'bool',
  stringValue: 'text',
  int64Value: 'number',
  uint64Value: 'number',
  doubleValue: 'number',
  nullValue: 'null',
})

type CalledExpression = Extract<NonNullable<Expression>['exprKind'], { readonly case: 'callExpr' }>['value']

const LOGIC: ReadonlyMap<string, string> = new Map([
  ['_&&_', '&&'],
  ['_||_', '||'],
  ['!_', '!'],
])
const ORDER: ReadonlyMap<string, string> = new Map([
  ['_<_', '<'],
  ['_<=_', '<='],
  ['_>_', '>'],
  ['_>=_', '>='],
])
const EQUALITY: ReadonlyMap<string, string> = new Map([
  ['_==_', '=='],
  ['_!=_', '!='],
])
const TEXT_FUNCTIONS: ReadonlySet<string> = new Set(['startsWith', 'endsWith', 'contains', 'matches'])

function typeOfCall({ function: name, target, args }: CalledExpression, typing: Typing): ExpressionType | null {
  const types = args.map((argument) => typeIn(argument, typing))
  const [before = null, after = null] = types
  const targetType = typeIn(target, typing)
  const logic = LOGIC.get(name)
  if (logic !== undefined) {
    const wrong = types.find((type) => type !== null && type !== 'bool')
    if (wrong !== undefined && wrong !== null)
      typing.faults.push(`uses ${logic} on ${WORDS[wrong]}; compare it with a value first`)
    return 'bool'
  }
  const comparison = ORDER.get(name) ?? EQUALITY.get(name)
  if (comparison !== undefined) {
    const isNull = before === 'null' || after === 'null'
    const differs = before !== null && after !== null && before !== after && !(EQUALITY.has(name) && isNull)
    if (differs) typing.faults.push(`compares ${WORDS[before]} with ${WORDS[after]} by ${comparison}`)
    return 'bool'
  }
  if (name === '@in') {
    if (after !== null && after !== 'list' && after !== 'map')
      typing.faults.push(`looks for a value in ${WORDS[after]}; write a list: in ['a', 'b']`)
    return 'bool'
  }
  if (TEXT_FUNCTIONS.has(name)) {
    const wrong = [targetType, ...types].find((type) => type !== null && type !== 'text')
    if (wrong !== undefined && wrong !== null)
      typing.faults.push(`calls ${name}() with ${WORDS[wrong]}; it takes texts`)
    return 'bool'
  }
  if (name === '_?_:_') return types[1] === types[2] ? (types[1] ?? null) : null
  return name === 'size' || name === 'int' ? 'number' : name === 'string' ? 'text' : null
}
