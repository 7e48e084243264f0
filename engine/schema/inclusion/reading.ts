/**
 * What a reader makes of a text in a query or a form. The text is the serialised value (OpenAPI 3.1 §4.8.12, §4.8.14): the
 * types that a schema names decide what it is read as. Two schemas are compared by one reading for each, the same one where
 * both may read a text alike.
 */
import { jsonTypeOf, type Constraint, type JsonType, type ProofSide, type TextReading, type TextType } from './model.ts'

export const TEXT_TYPES: readonly TextType[] = ['number', 'boolean', 'null']

/** Texts of numbers, as a pattern. */
export const NUMBER_TEXT = '^-?[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]+)?$'
const NUMBER = new RegExp(NUMBER_TEXT, 'u')

/** All texts of the other types. */
export const TEXTS: Readonly<Record<Exclude<TextType, 'number'>, readonly string[]>> = {
  boolean: ['true', 'false'],
  null: ['', 'null'],
}

/** The type besides `string` that a text may be of; null for none. */
export function textTypeOf(text: string): TextType | null {
  if (NUMBER.test(text)) return 'number'
  if (TEXTS.boolean.includes(text)) return 'boolean'
  return TEXTS.null.includes(text) ? 'null' : null
}

/** The value of a text that may be of the types in `typed`. */
export function readTextAs(text: string, typed: TextReading['typed']): unknown {
  const type = textTypeOf(text)
  if (type === null || !typed.has(type)) return text
  if (type === 'number') return Number(text)
  return type === 'boolean' ? text === 'true' : null
}

/** Every value that a reader may make of a text by the types that its schema names; empty: any type will do. */
export function scalarReadings(types: ReadonlySet<JsonType>, text: string): readonly unknown[] {
  const type = textTypeOf(text)
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

export function readingsOf(named: Readonly<Record<ProofSide, ReadonlySet<JsonType>>>): Record<ProofSide, TextReading> {
  const { sub, super: other } = named
  const sides = [sub, other]
  const isTyped = (types: ReadonlySet<JsonType>, type: TextType): boolean => {
    if (sides.every((one) => mayBe(one, type))) return true
    return !sides.every((one) => mayStayText(one, type)) && mayBe(types, type)
  }
  const isList = (types: ReadonlySet<JsonType>): boolean => {
    if (!sides.some(isListOnly)) return false
    return isListOnly(types) || (types.has('array') && sides.every((one) => one.has('array')))
  }
  const reading = (types: ReadonlySet<JsonType>): TextReading => ({
    typed: new Set(TEXT_TYPES.filter((type) => isTyped(types, type))),
    isList: isList(types),
  })
  return { sub: reading(sub), super: reading(other) }
}

/** The types of which a text may be, or stay a text. */
export function undecidedTypes(types: ReadonlySet<JsonType>): readonly TextType[] {
  return TEXT_TYPES.filter((type) => mayBe(types, type) && mayStayText(types, type))
}

function mayBe(types: ReadonlySet<JsonType>, type: TextType): boolean {
  return types.size === 0 || types.has(type)
}

/** What names no type of a text leaves it a text. Of an empty one no reader is sure. */
function mayStayText(types: ReadonlySet<JsonType>, type: TextType): boolean {
  return types.size === 0 || types.has('string') || type === 'null' || !types.has(type)
}

/** A list of one is written as its item. */
function isListOnly(types: ReadonlySet<JsonType>): boolean {
  return types.size === 1 && types.has('array')
}
