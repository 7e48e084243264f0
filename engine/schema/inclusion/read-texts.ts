/** Texts that meet conditions on what readers make of them. Texts of numbers and other texts are searched apart. */
import { opposite } from './literals.ts'
import { jsonTypeOf, type JsonType, type TextType } from './model.ts'
import { valuesConstraint } from './nodes.ts'
import { NUMBER_TEXT, TEXTS, TEXT_TYPES, textTypeOf } from './reading.ts'
import { openFor } from './answer.ts'
import { conditionsOf, findNumber, findText, type Found, type Kept } from './scalars.ts'

const NONE: Found = { kind: 'none' }
const NUMBERS: Kept = { constraint: { kind: 'pattern', source: NUMBER_TEXT }, isMet: true }

/** @param isMetBy whether a text meets all conditions; null where that is not known */
export function findReadText(kept: readonly Kept[], isMetBy: (text: string) => boolean | null): Found {
  const typed = TEXT_TYPES.filter((type) => kept.some((one) => isTyped(one, type)))
  let result = NONE
  for (const type of [null, ...typed]) {
    const found = type === null ? findPlain(kept, typed, isMetBy) : findOfType(type, kept, isMetBy)
    if (found.kind === 'found') return found
    if (found.kind === 'open') result = found
  }
  return result
}

function isTyped({ constraint }: Kept, type: TextType): boolean {
  return constraint.kind === 'read' && constraint.typed.has(type)
}

/** A text that is a text on both sides. */
function findPlain(
  kept: readonly Kept[],
  typed: readonly TextType[],
  isMetBy: (text: string) => boolean | null,
): Found {
  const texts = kept.map(inner)
  if (excludesType(texts, 'string')) return NONE
  const listed = listedIn(texts)
  const isPlain = (text: string): boolean => !typed.some((type) => type === textTypeOf(text))
  if (listed !== null) return among(listed.filter((one) => typeof one === 'string').filter(isPlain), isMetBy, true)
  const excluded = typed.flatMap((type): readonly Kept[] =>
    type === 'number' ? [{ ...NUMBERS, isMet: false }] : TEXTS[type].map(isNot),
  )
  const found = findText(conditionsOf('string', [...texts, ...excluded]))
  return found.kind === 'found' && isMetBy(String(found.value)) !== true ? openFor('a text') : found
}

function findOfType(type: TextType, kept: readonly Kept[], isMetBy: (text: string) => boolean | null): Found {
  if (type !== 'number') return among(TEXTS[type], isMetBy, true)
  // Conditions on the value of the text, and those on the text itself.
  const values = kept.filter((one) => isTyped(one, type)).map(inner)
  const texts = kept.filter((one) => !isTyped(one, type)).map(inner)
  if (excludesType(values, type) || excludesType(texts, 'string')) return NONE
  const listed = listedIn(texts)
  if (listed !== null) {
    const ofNumbers = listed.filter((one) => typeof one === 'string').filter((text) => textTypeOf(text) === type)
    return among(ofNumbers, isMetBy, true)
  }
  const numbers = listedIn(values)?.filter((one) => typeof one === 'number')
  if (numbers?.length === 0) return NONE
  const number: Found =
    numbers === undefined ? findNumber(conditionsOf(type, values)) : { kind: 'found', value: numbers[0] }
  const text = texts.length === 0 ? number : findText(conditionsOf('string', [...texts, NUMBERS]))
  if (number.kind === 'none' || text.kind === 'none') return NONE
  const candidates = [...(numbers ?? []), number, text].flatMap((one) => {
    if (typeof one === 'number') return [JSON.stringify(one)]
    if (one.kind !== 'found') return []
    return [typeof one.value === 'string' ? one.value : JSON.stringify(one.value)]
  })
  // A number has many texts, which differ only for conditions on texts.
  return among(candidates, isMetBy, numbers !== undefined && texts.length === 0)
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

/** @param isAll whether there are no other texts */
function among(texts: readonly string[], isMetBy: (text: string) => boolean | null, isAll: boolean): Found {
  const verdicts = texts.map(isMetBy)
  const value = texts[verdicts.indexOf(true)]
  if (value !== undefined) return { kind: 'found', value }
  return isAll && !verdicts.includes(null) ? NONE : openFor('values written as text')
}
