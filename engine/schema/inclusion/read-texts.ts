/** Texts that meet conditions on what readers make of them. Texts of numbers and other texts are searched apart. */
import { INTEGER_TEXT, patternWithin } from './integer-texts.ts'
import { opposite } from './literals.ts'
import { INTEGER, jsonTypeOf, type JsonType, type TextReading, type TextType } from './model.ts'
import { valuesConstraint } from './nodes.ts'
import { NUMBER_TEXT, TEXTS } from './reading.ts'
import { openFor } from './answer.ts'
import { conditionsOf, countsOf, findNumber, findText, type Found, type Kept } from './scalars.ts'

type IsMetBy = (text: string) => boolean | null

/** More integers than these are not tried one by one. */
const MAX_TRIED = 1000

const NONE: Found = { kind: 'none' }
const NUMBERS = ofPattern(NUMBER_TEXT)
const DIGITS = ofPattern(INTEGER_TEXT)

/** Texts that are read alike, of numbers or others. */
interface TextClass {
  /** The readings that take them for values. */
  readonly types: readonly TextType[]
  readonly texts: readonly Kept[]
}

/** Where integers are read from digits only, texts of other numbers are read otherwise. */
const INTEGERS: TextClass = { types: ['number', 'integer'], texts: [DIGITS] }
const FRACTIONS: TextClass = { types: ['number'], texts: [NUMBERS, { ...DIGITS, isMet: false }] }
const ALL_NUMBERS: TextClass = { types: ['number'], texts: [NUMBERS] }

/** @param isMetBy whether a text meets all conditions; null where that is not known */
export function findReadText(kept: readonly Kept[], isMetBy: IsMetBy): Found {
  const typed = new Set(kept.flatMap(({ constraint }) => (constraint.kind === 'read' ? [...constraint.typed] : [])))
  const finders = [
    () => findPlain(kept, typed, isMetBy),
    ...numberClasses(typed).map((one) => () => findOfNumbers(one, kept, isMetBy)),
    ...(['boolean', 'null'] as const)
      .filter((type) => typed.has(type))
      .map((type) => () => among(TEXTS[type], isMetBy, true)),
  ]
  let result = NONE
  for (const find of finders) {
    const found = find()
    if (found.kind === 'found') return found
    if (found.kind === 'open') result = found
  }
  return result
}

function numberClasses(typed: TextReading['typed']): readonly TextClass[] {
  const isOfNumbers = typed.has('number')
  return typed.has('integer') ? [INTEGERS, ...(isOfNumbers ? [FRACTIONS] : [])] : isOfNumbers ? [ALL_NUMBERS] : []
}

/** A text that is a text on both sides. */
function findPlain(kept: readonly Kept[], typed: TextReading['typed'], isMetBy: IsMetBy): Found {
  const texts = kept.map(inner)
  if (excludesType(texts, 'string')) return NONE
  const listed = listedIn(texts)
  if (listed !== null) return amongListed(listed, isMetBy)
  const excluded = [...typed].flatMap((type): readonly Kept[] => {
    if (type === 'number') return [{ ...NUMBERS, isMet: false }]
    return type === 'integer' ? [{ ...DIGITS, isMet: false }] : TEXTS[type].map(isNot)
  })
  const found = findText(conditionsOf('string', [...texts, ...excluded]))
  return found.kind === 'found' && isMetBy(String(found.value)) !== true ? openFor('a text') : found
}

function findOfNumbers(of: TextClass, kept: readonly Kept[], isMetBy: IsMetBy): Found {
  const isRead = ({ constraint }: Kept): boolean =>
    constraint.kind === 'read' && of.types.some((type) => constraint.typed.has(type))
  // Conditions on the value of the text, and those on the text itself.
  const values = [...kept.filter(isRead).map(inner), ...(of === INTEGERS ? [{ constraint: INTEGER, isMet: true }] : [])]
  const texts = kept.filter((one) => !isRead(one)).map(inner)
  if (excludesType(values, 'number') || excludesType(texts, 'string')) return NONE
  const listed = listedIn(texts)
  if (listed !== null) return amongListed(listed, isMetBy)
  const numbers = listedIn(values)?.filter((one) => typeof one === 'number')
  if (numbers?.length === 0) return NONE
  const integers = of === INTEGERS ? (numbers?.filter(Number.isInteger) ?? integersWithin(values)) : null
  if (integers?.every(Number.isSafeInteger) === true) return among(integers.map(String), isMetBy, true)
  const number: Found =
    numbers === undefined ? findNumber(conditionsOf('number', values)) : { kind: 'found', value: numbers[0] }
  const bounded = of === INTEGERS ? textsWithin(values) : []
  const text =
    texts.length + bounded.length === 0 ? number : findText(conditionsOf('string', [...texts, ...of.texts, ...bounded]))
  if (number.kind === 'none' || text.kind === 'none') return NONE
  const candidates = [...(numbers ?? []), number, text].flatMap((one) => {
    if (typeof one === 'number') return [JSON.stringify(one)]
    if (one.kind !== 'found') return []
    return [typeof one.value === 'string' ? one.value : JSON.stringify(one.value)]
  })
  // A number has many texts, which differ only for conditions on texts.
  return among(candidates, isMetBy, numbers !== undefined && texts.length === 0 && of === ALL_NUMBERS)
}

/** The integers that conditions on values leave; null for too many. */
function integersWithin(values: readonly Kept[]): readonly number[] | null {
  const counts = countsOf(conditionsOf('number', values).bounds, -Infinity)
  if (counts === null) return []
  const { min, max } = counts
  if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || max - min >= MAX_TRIED) return null
  return Array.from({ length: max - min + 1 }, (_, index) => min + index)
}

/** What conditions on the value of an integer are for its text. Conditions that are left out only make it larger. */
function textsWithin(values: readonly Kept[]): readonly Kept[] {
  return values.flatMap(({ constraint, isMet }): readonly Kept[] => {
    if (constraint.kind === 'values' && !isMet)
      return constraint.values.filter(Number.isSafeInteger).map((value) => isNot(String(value)))
    const pattern = constraint.kind === 'bound' && constraint.of === 'number' ? patternWithin(constraint) : null
    return pattern === null ? [] : [ofPattern(pattern)]
  })
}

function ofPattern(source: string): Kept {
  return { constraint: { kind: 'pattern', source }, isMet: true }
}

/** The condition on what the text is read as. */
function inner({ constraint, isMet }: Kept): Kept {
  const read = constraint.kind === 'read' ? constraint.constraint : constraint
  return read.kind === 'bound' && !isMet ? { constraint: opposite(read), isMet: true } : { constraint: read, isMet }
}

function isNot(text: string): Kept {
  return { constraint: valuesConstraint([text]), isMet: false }
}

/** Whether the types that are named, or listed, exclude a type. */
function excludesType(kept: readonly Kept[], type: JsonType): boolean {
  return kept.some(({ constraint, isMet }) => {
    if (constraint.kind === 'types') return constraint.types.has(type) !== isMet
    if (constraint.kind === 'never') return isMet
    return isMet && constraint.kind === 'values' && !constraint.values.some((value) => jsonTypeOf(value) === type)
  })
}

/** The values that a condition lists, if one does: then they are all that can be found. */
function listedIn(kept: readonly Kept[]): readonly unknown[] | null {
  const listed = kept.find(({ constraint, isMet }) => isMet && constraint.kind === 'values')
  return listed?.constraint.kind === 'values' ? listed.constraint.values : null
}

function amongListed(values: readonly unknown[], isMetBy: IsMetBy): Found {
  const texts = values.filter((one) => typeof one === 'string')
  return among(texts, isMetBy, true)
}

/** @param isAll whether there are no other texts */
function among(texts: readonly string[], isMetBy: IsMetBy, isAll: boolean): Found {
  const verdicts = texts.map(isMetBy)
  const value = texts[verdicts.indexOf(true)]
  if (value !== undefined) return { kind: 'found', value }
  return isAll && !verdicts.includes(null) ? NONE : openFor('values written as text')
}
