/**
 * What a reader makes of a text in a query or a form. The text is the serialised value (OpenAPI 3.1 §4.8.12, §4.8.14): the
 * types that a schema names decide what it is read as. Two schemas are compared by one reading for each, the same one where
 * both may read a text alike.
 */
import { INTEGER_TEXT } from './integer-texts.ts'
import { INTEGER, jsonTypeOf, type Constraint, type JsonType, type ProofSide, type TextReading } from './model.ts'

/** The types of values that have a text of their own. */
const VALUE_TYPES = ['number', 'boolean', 'null'] as const
type ValueType = (typeof VALUE_TYPES)[number]

/** Texts of numbers, as a pattern: those of JSON (RFC 8259 §6). */
export const NUMBER_TEXT = '^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?$'
const NUMBER = new RegExp(NUMBER_TEXT, 'u')
const DIGITS = new RegExp(INTEGER_TEXT, 'u')

/** All texts of the other types. */
export const TEXTS: Readonly<Record<'boolean' | 'null', readonly string[]>> = {
  boolean: ['true', 'false'],
  null: ['', 'null'],
}

/** The type besides `string` that a text may be of; null for none. */
function valueTypeOf(text: string): ValueType | null {
  if (NUMBER.test(text)) return 'number'
  if (TEXTS.boolean.includes(text)) return 'boolean'
  return TEXTS.null.includes(text) ? 'null' : null
}

/** Whether a text is read as a value of one of the types in `typed`. */
function isReadAs(text: string, typed: TextReading['typed']): boolean {
  const type = valueTypeOf(text)
  return type !== null && (typed.has(type) || (type === 'number' && typed.has('integer') && DIGITS.test(text)))
}

/** The value of a text that may be of the types in `typed`. */
export function readTextAs(text: string, typed: TextReading['typed']): unknown {
  const type = valueTypeOf(text)
  if (type === null || !isReadAs(text, typed)) return text
  if (type === 'number') return Number(text)
  return type === 'boolean' ? text === 'true' : null
}

/** Every value that a reader may make of a text by the types that its schema names; empty: any type will do. */
export function scalarReadings(types: ReadonlySet<JsonType>, text: string): readonly unknown[] {
  const type = valueTypeOf(text)
  if (type === null) return [text]
  const value = readTextAs(text, new Set([type]))
  if (!mayBe(types, type)) return [text]
  return mayStayText(types, type) ? [value, text] : [value]
}

/** The types that schemas name, and those of the values that they list. Empty if any type will do. */
export function namedTypes(constraints: readonly Constraint[]): ReadonlySet<JsonType> {
  return new Set(
    constraints.flatMap((one): readonly JsonType[] => {
      if (one.kind === 'types') return [...one.types]
      return one.kind === 'values' ? one.values.map(jsonTypeOf) : []
    }),
  )
}

/**
 * How a place reads its texts. `alike`: both sides in one way, where both may; `alike in digits`: where one of them reads no
 * numbers, integers of the other one are their digits. `loose`: each condition in a way of its own. `own`: each side by its
 * own types; `own and sure`: by those that leave no text a text.
 */
export type ReadingMode = 'alike' | 'alike in digits' | 'loose' | 'own' | 'own and sure'

/** The readings of two schemas at one place. */
export function readingsBy(
  mode: ReadingMode,
  sub: readonly Constraint[],
  other: readonly Constraint[],
): Readonly<Record<ProofSide, TextReading>> {
  const named = { sub: namedTypes(sub), super: mode === 'loose' ? namedTypes(sub) : namedTypes(other) }
  const isOwn = mode === 'own' || mode === 'own and sure'
  const own = (side: ProofSide): TextReading => ownReading(side, named[side], mode === 'own and sure')
  const readings = isOwn ? { sub: own('sub'), super: own('super') } : readingsOf(named)
  // Where both sides read numbers, `1.0` is the number that `1` is.
  const isOneOfNumbers = readings.sub.typed.has('number') !== readings.super.typed.has('number')
  if (!isOwn && !(mode === 'alike in digits' && isOneOfNumbers)) return readings
  return { sub: withDigits(readings.sub, 'sub', sub), super: withDigits(readings.super, 'super', other) }
}

/** The readings of two schemas that are compared, given the types that they name. */
function readingsOf(named: Readonly<Record<ProofSide, ReadonlySet<JsonType>>>): Record<ProofSide, TextReading> {
  const { sub, super: other } = named
  const sides = [sub, other]
  const isTyped = (types: ReadonlySet<JsonType>, type: ValueType): boolean => {
    if (sides.every((one) => mayBe(one, type))) return true
    return !sides.every((one) => mayStayText(one, type)) && mayBe(types, type)
  }
  const isList = (types: ReadonlySet<JsonType>): boolean => {
    if (!sides.some(isListOnly)) return false
    return isListOnly(types) || (types.has('array') && sides.every((one) => one.has('array')))
  }
  const reading = (types: ReadonlySet<JsonType>): TextReading => ({
    typed: new Set(VALUE_TYPES.filter((type) => isTyped(types, type))),
    isList: isList(types),
  })
  return { sub: reading(sub), super: reading(other) }
}

/** What one schema makes of a text by itself, of which it writes none for null. `sure`: only the types that leave no text a text. */
function ownReading(side: ProofSide, types: ReadonlySet<JsonType>, isSure: boolean): TextReading {
  const ofSide = VALUE_TYPES.filter((type) => side === 'super' || type !== 'null')
  const typed = ofSide.filter((type) => mayBe(types, type) && !(isSure && mayStayText(types, type)))
  return { typed: new Set(typed), isList: false }
}

/**
 * The reading in which numbers are integers, if they are. Callers write an integer with its digits, and a strict parser takes
 * nothing else: `1.0` is a number, which a parser of integers may refuse.
 */
function withDigits(reading: TextReading, side: ProofSide, constraints: readonly Constraint[]): TextReading {
  if (!reading.typed.has('number') || !isOfDigits(side, constraints)) return reading
  return { ...reading, typed: new Set([...reading.typed].map((type) => (type === 'number' ? 'integer' : type))) }
}

/** Whether all numbers that callers send are integers; for the side that takes them, whether some must be. */
function isOfDigits(side: ProofSide, constraints: readonly Constraint[]): boolean {
  const integers = constraints.filter((one) => one === INTEGER).length
  const numbers = constraints.filter((one) => one.kind === 'types' && one.types.has('number')).length
  if (side === 'super') return integers > 0 || numbers === 0
  const listed = constraints.flatMap((one) => (one.kind === 'values' ? one.values : []))
  return integers === numbers && listed.every((value) => typeof value !== 'number' || Number.isInteger(value))
}

/** The types of which a text may be, or stay a text. */
export function undecidedTypes(types: ReadonlySet<JsonType>): readonly ValueType[] {
  return VALUE_TYPES.filter((type) => mayBe(types, type) && mayStayText(types, type))
}

function mayBe(types: ReadonlySet<JsonType>, type: ValueType): boolean {
  return types.size === 0 || types.has(type)
}

/** What names no type of a text leaves it a text. Of an empty one no reader is sure. */
function mayStayText(types: ReadonlySet<JsonType>, type: ValueType): boolean {
  return types.size === 0 || types.has('string') || type === 'null' || !types.has(type)
}

/** A list of one is written as its item. */
function isListOnly(types: ReadonlySet<JsonType>): boolean {
  return types.size === 1 && types.has('array')
}
