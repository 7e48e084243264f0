/** Numbers and texts that meet a conjunction of conditions: an example, a proof that there is none, or neither. */
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { ValueSet } from '../equality.ts'
import { openFor } from './answer.ts'
import type { Language } from './automata.ts'
import { isMatch, isMultiple, isInBound, countCharacters } from './evaluate.ts'
import { exampleOf, isDecidable, isFormatWithin, isOfFormat } from './formats.ts'
import type { Bound, Constraint, JsonType } from './model.ts'
import { both, complement, languageOf, lengthsBetween, lengthsWithin, firstTexts, withoutTexts } from './patterns.ts'

/** `found`: a value; `none`: proof that there is none; `open`: neither, with what stopped the search. */
export type Found =
  | { readonly kind: 'found'; readonly value: unknown }
  | { readonly kind: 'none' }
  | { readonly kind: 'open'; readonly why: string }

/** A condition that holds, or does not. */
export interface Kept {
  readonly constraint: Constraint
  readonly isMet: boolean
}

/** The conditions on a number or a text, in one of which it meets each of the first and none of the second. */
interface ScalarConditions {
  readonly bounds: readonly Bound[]
  readonly multiples: Conditions<number>
  readonly patterns: Conditions<string>
  readonly formats: Conditions<string>
  readonly excluded: readonly unknown[]
}

interface Conditions<Value> {
  readonly met: readonly Value[]
  readonly unmet: readonly Value[]
}

/** The conditions on values of a type. */
export function conditionsOf(type: JsonType, kept: readonly Kept[]): ScalarConditions {
  const conditions = {
    bounds: [] as ScalarConditions['bounds'][number][],
    multiples: { met: [] as number[], unmet: [] as number[] },
    patterns: { met: [] as string[], unmet: [] as string[] },
    formats: { met: [] as string[], unmet: [] as string[] },
    excluded: [] as unknown[],
  }
  for (const { constraint, isMet } of kept) {
    const list = isMet ? 'met' : 'unmet'
    if (constraint.kind === 'bound' && constraint.of === type) conditions.bounds.push(constraint)
    else if (constraint.kind === 'multiple') conditions.multiples[list].push(constraint.of)
    else if (constraint.kind === 'pattern') conditions.patterns[list].push(constraint.source)
    else if (constraint.kind === 'format') conditions.formats[list].push(constraint.name)
    else if (constraint.kind === 'values' && !isMet) conditions.excluded.push(...constraint.values)
  }
  conditions.patterns.met.sort(byCodeUnit)
  conditions.patterns.unmet.sort(byCodeUnit)
  return conditions
}

const NONE: Found = { kind: 'none' }

/** A format that is asked for and refused. */
function contradicts({ met, unmet }: Conditions<string>): boolean {
  return met.some((name) => unmet.some((other) => isFormatWithin(name, other)))
}

function fitsFormats({ met, unmet }: Conditions<string>, value: unknown): boolean {
  return (
    met.every((name) => isOfFormat(name, value) === true) && unmet.every((name) => isOfFormat(name, value) === false)
  )
}

/** Whether some number, or some whole one, may be found to fit. */
function mayFit({ met, unmet }: Conditions<string>, isWhole: boolean): boolean {
  return (
    met.every((name) => isDecidable(name, true, isWhole)) && unmet.every((name) => isDecidable(name, false, isWhole))
  )
}

interface Range {
  readonly min: number
  readonly max: number
  readonly isMinExclusive: boolean
  readonly isMaxExclusive: boolean
}

function rangeOf(bounds: readonly Bound[], least: number): Range {
  let [min, max, isMinExclusive, isMaxExclusive] = [least, Infinity, false, false]
  for (const { end, limit, isExclusive } of bounds) {
    if (end === 'min' && (limit > min || (limit === min && isExclusive))) [min, isMinExclusive] = [limit, isExclusive]
    if (end === 'max' && (limit < max || (limit === max && isExclusive))) [max, isMaxExclusive] = [limit, isExclusive]
  }
  return { min, max, isMinExclusive, isMaxExclusive }
}

/** Whole numbers within bounds, as of a length or a count; null: there is none. */
export function countsOf(bounds: readonly Bound[], least = 0): { readonly min: number; readonly max: number } | null {
  const range = rangeOf(bounds, least)
  const min = range.isMinExclusive ? Math.floor(range.min) + 1 : Math.ceil(range.min)
  const max = range.isMaxExclusive ? Math.ceil(range.max) - 1 : Math.floor(range.max)
  return min > max ? null : { min, max }
}

/** Multiples that are looked at one by one. */
const MAX_TRIED = 1000

export function findNumber(conditions: ScalarConditions): Found {
  const { bounds, multiples, formats, excluded } = conditions
  if (contradicts(formats)) return NONE
  const range = rangeOf(bounds, -Infinity)
  if (range.min > range.max) return NONE
  if (range.min === range.max && (range.isMinExclusive || range.isMaxExclusive)) return NONE
  const out = new ValueSet(excluded)
  const fits = (value: number): boolean =>
    Number.isFinite(value) &&
    bounds.every((bound) => isInBound(bound, value)) &&
    multiples.met.every((of) => isMultiple(value, of)) &&
    !multiples.unmet.some((of) => isMultiple(value, of)) &&
    !out.has(value)
  const choose = (value: number): Found | null =>
    fits(value) && fitsFormats(formats, value) ? { kind: 'found', value } : null
  if (multiples.met.length > 0) return findMultiple(range, conditions, fits, choose)
  if (range.min === range.max && !fits(range.min)) return NONE
  if (!mayFit(formats, false)) return openFor('no number was found')
  for (const value of numbersIn(range)) {
    const found = choose(value)
    if (found !== null) return found
  }
  return openFor('no number was found')
}

function* numbersIn({ min, max }: Range): Generator<number> {
  const low = Number.isFinite(min) ? min : Math.min(max, 0) - 1
  const high = Number.isFinite(max) ? max : Math.max(min, 0) + 1
  yield* [low, Math.floor(low) + 1, high, Math.ceil(high) - 1, 0, 1, low - 1, high + 1, 3e9, -3e9]
  for (let parts = 2; parts < 12; parts += 1) yield low + ((high - low) * (parts - 1)) / parts
  for (let step = 0.5; step < 40; step += 0.5) yield* [low + step, high - step]
}

function findMultiple(
  range: Range,
  { multiples: { met, unmet }, formats }: ScalarConditions,
  fits: (value: number) => boolean,
  choose: (value: number) => Found | null,
): Found {
  const step = commonMultiple(met)
  if (step === null) return openFor('no common multiple of the numbers')
  if (unmet.some((of) => isMultiple(step, of))) return NONE
  const first = Number.isFinite(range.min) ? Math.ceil(range.min / step - 1e-9) : null
  const last = Number.isFinite(range.max) ? Math.floor(range.max / step + 1e-9) : null
  if (first !== null && last !== null && first > last) return NONE
  const isListed =
    first !== null && last !== null && last - first < MAX_TRIED && isExact(first, step) && isExact(last, step)
  if (!isListed && !mayFit(formats, Number.isInteger(step))) return openFor('no multiple was found')
  let isKnown = true
  for (const factor of factors(first, last)) {
    const value = rounded(factor * step)
    const found = choose(value)
    if (found !== null) return found
    if (fits(value)) isKnown = false
  }
  return isListed && isKnown ? NONE : openFor('no multiple was found')
}

function* factors(first: number | null, last: number | null): Generator<number> {
  if (first !== null) {
    // Counted, because a factor above 2^53 plus one may be itself.
    for (let tried = 0; tried <= MAX_TRIED && first + tried <= (last ?? Infinity); tried += 1) yield first + tried
    if (last === null) yield first + 5e9
  } else if (last !== null) {
    for (let tried = 0; tried < MAX_TRIED; tried += 1) yield last - tried
    yield last - 5e9
  } else {
    for (let factor = 0; factor < MAX_TRIED / 2; factor += 1) yield* [factor, -factor]
    yield 3e9
  }
}

/** Whether the multiples around a factor are doubles of their own. */
function isExact(factor: number, step: number): boolean {
  const most = Number.isInteger(step) ? Number.MAX_SAFE_INTEGER : 1e15
  return Math.abs(factor) < most && Math.abs(factor * step) < most
}

/** A product of decimal fractions as it would be written. A whole number is written as it is; -0 as 0. */
function rounded(value: number): number {
  return Number.isInteger(value) ? value + 0 : Number(value.toPrecision(15))
}

const MAX_SCALE = 1e9

function commonMultiple(numbers: readonly number[]): number | null {
  let scale = 1
  while (scale <= MAX_SCALE && !numbers.every((number) => isWholeNumber(number * scale))) scale *= 10
  if (scale > MAX_SCALE) return null
  let result = 1n
  for (const number of numbers) {
    const whole = BigInt(Math.round(number * scale))
    result = (result * whole) / divisor(result, whole)
  }
  return result > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(result) / scale
}

function isWholeNumber(value: number): boolean {
  return Math.abs(value - Math.round(value)) < 1e-9 && Math.round(value) !== 0
}

function divisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : divisor(b, a % b)
}

/** Texts that are tried as an example. */
const MAX_EXAMPLES = 40
/** Excluded texts that are taken out of a language. */
const MAX_EXCLUDED = 60
const MAX_TEXT = 5000

export function findText(conditions: ScalarConditions): Found {
  const { bounds, patterns, formats, excluded } = conditions
  if (contradicts(formats)) return NONE
  const counts = countsOf(bounds)
  if (counts === null) return NONE
  const out = new ValueSet(excluded)
  const fits = (text: string): boolean => {
    const length = countCharacters(text)
    return length >= counts.min && length <= counts.max && !out.has(text) && fitsFormats(formats, text)
  }
  const isMatched = (text: string): boolean =>
    patterns.met.every((pattern) => isMatch(pattern, text) === true) &&
    patterns.unmet.every((pattern) => isMatch(pattern, text) === false)
  for (const text of plainTexts(counts, conditions))
    if (fits(text) && isMatched(text)) return { kind: 'found', value: text }
  if (patterns.met.length + patterns.unmet.length > 0) return findMatch(conditions, counts, fits)
  if (counts.max === 0 && out.has('')) return NONE
  return openFor(formats.met.length + formats.unmet.length > 0 ? 'a format' : 'no text was found')
}

interface Counts {
  readonly min: number
  readonly max: number
}

function* plainTexts({ min, max }: Counts, { formats, excluded }: ScalarConditions): Generator<string> {
  for (const name of formats.met) {
    const example = exampleOf(name)
    if (example !== null) yield example
  }
  if (min > MAX_TEXT) return
  if (formats.unmet.length > 0) yield '%'.repeat(Math.max(1, min))
  if (min === 0) yield ''
  const least = Math.max(1, min)
  const most = Math.min(max, least + 1)
  for (let index = 0; index <= excluded.length + 1; index += 1)
    for (let length = least; length <= most; length += 1) yield letter(index).repeat(length)
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

function letter(index: number): string {
  return LETTERS[index] ?? String.fromCodePoint(0x4e00 + index)
}

function findMatch(
  { patterns, excluded, formats }: ScalarConditions,
  counts: Counts,
  fits: (text: string) => boolean,
): Found {
  let language: Language | null = languageOf('')
  let unread: string | null = null
  for (const [list, isMet] of [
    [patterns.met, true],
    [patterns.unmet, false],
  ] as const) {
    for (const pattern of list) {
      const read = languageOf(pattern)
      const one = read === null || isMet ? read : complement(read)
      if (one === null) {
        unread ??= pattern
        continue
      }
      language = language === null ? null : both(language, one)
      if (language === null) return openFor('patterns that are too large together')
      if (language.isEmpty) return NONE
    }
  }
  if (language === null) return openFor('patterns that are too large together')
  const bounded = withLengths(language, counts, formats)
  if (bounded === 'empty' || (bounded !== null && bounded.isEmpty)) return NONE
  if (unread !== null) return unless(patterns, `the pattern ${unread}`)
  // Of a format one example is known, which was tried.
  if (bounded !== null && formats.met.length > 0) return openFor('no text was found for the patterns')
  const texts = bounded ?? language
  for (const text of firstTexts(texts, excluded.length + MAX_EXAMPLES))
    if (fits(text)) return { kind: 'found', value: text }
  if (bounded === null) return openFor('a pattern with long texts')
  return findBeside(bounded, excluded, fits)
}

/** Of a set of texts with one form only the first is tried: there may be another one, or none, that is not excluded. */
function findBeside(language: Language, excluded: readonly unknown[], fits: (text: string) => boolean): Found {
  const listed = [...new Set(excluded.filter((one) => typeof one === 'string'))].sort(byCodeUnit)
  const others = listed.length === 0 || listed.length > MAX_EXCLUDED ? null : withoutTexts(language, listed)
  if (others?.isEmpty === true) return NONE
  for (const text of others === null ? [] : firstTexts(others, MAX_EXAMPLES))
    if (fits(text)) return { kind: 'found', value: text }
  return openFor('no text was found for the patterns')
}

/** A pattern that is not read may still be both asked for and refused. */
function unless({ met, unmet }: Conditions<string>, why: string): Found {
  return met.some((pattern) => unmet.includes(pattern)) ? NONE : openFor(why)
}

/** Products of no more states are made in any case (patterns.ts), so that asking for lengths first changes no answer. */
const MAX_PRODUCT = 1000
const MAX_COUNTED = 300

/** The texts of a language that are as long as they must be; null where these are too large together. */
function withLengths(language: Language, { min, max }: Counts, formats: Conditions<string>): Language | 'empty' | null {
  if (min === 0 && max === Infinity) return language
  const most = max === Infinity ? min : max
  const within = Math.max(most, min) <= MAX_COUNTED ? lengthsWithin(language, min, max, MAX_PRODUCT) : null
  if (within !== null) {
    if (!within.isAny) return 'empty'
    if (within.isEvery || formats.met.length > 0) return language
  }
  const lengths = lengthsBetween(min, max === Infinity ? null : max)
  return lengths === null ? null : both(language, lengths)
}
