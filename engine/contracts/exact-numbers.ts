/**
 * Different numbers that are one double: 9007199254740993 and 9007199254740992 are one value to `JSON.parse` (RFC
 * 8259 §6). Where two of them occur in a comparison, each is replaced by a double of its own, in the order of the
 * numbers as written. What is found is then named with the numbers as written.
 */
import type { Json } from '../common/hash.ts'
import type { FindingGroup } from '../model/finding.ts'
import type { DocumentLimits } from '../model/limits.ts'
import { isJsonText } from './document.ts'
import { endOfString } from './json-strings.ts'
import { yamlNumbers, type WrittenNumber } from './yaml-numbers.ts'

interface SeparatedNumbers {
  /** The same texts, in which no two different numbers are one double. */
  readonly texts: readonly string[]
  /** By the text of a double in them, the number as it was written. Only those that differ from it. */
  readonly written: ReadonlyMap<string, string>
}

/** Numbers with fewer digits all are doubles of their own (IEEE 754, DBL_DIG). */
const LONG = 16
const NUMBER = /[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?/y
const [DOT, ZERO, NINE, QUOTE, MINUS] = [46, 48, 57, 34, 45]

/** Whether two different numbers of the texts may be one double. Takes a fraction of the time of reading the texts. */
export function mayShareDoubles(texts: Iterable<string>): boolean {
  const written = new Map<number, string>()
  for (const text of texts) {
    for (let row = longRow(text, 0); row !== null; row = longRow(text, row.end)) {
      const number = numberTextAt(text, row.start)
      const double = Number(number)
      if (number === null || !Number.isFinite(double)) continue
      const key = exactKey(number)
      const known = written.get(double)
      if (known === undefined) written.set(double, key)
      const [, digits] = exactParts(String(double))
      const isOther = known === undefined ? key !== exactKey(String(double)) && digits.length < LONG : known !== key
      if (isOther) return true
    }
  }
  return false
}

/** Digits and dots in a row, in strings too. A row of this length holds one of the offsets that are looked at. */
function longRow(text: string, from: number): { readonly start: number; readonly end: number } | null {
  for (let index = from + LONG - 1; index < text.length; index += LONG) {
    if (!isDigit(text.charCodeAt(index))) continue
    let [start, end] = [index, index + 1]
    while (start > from && isDigit(text.charCodeAt(start - 1))) start -= 1
    while (isDigit(text.charCodeAt(end))) end += 1
    if (end - start >= LONG) return { start, end }
  }
  return null
}

function numberTextAt(text: string, start: number): string | null {
  NUMBER.lastIndex = text.charCodeAt(start - 1) === MINUS ? start - 1 : start
  return NUMBER.exec(text)?.[0] ?? null
}

function isDigit(unit: number): boolean {
  return unit <= NINE && (unit >= ZERO || unit === DOT)
}

/**
 * Gives each different number of JSON and YAML texts a double of its own. Texts that cannot be read stay as they are.
 * @param isPrinted one of the texts may have been printed from doubles: 9223372036854776000 is how that prints the number
 *   9223372036854775807, so the two are one number
 */
export function separateNumbers(texts: readonly string[], limits: DocumentLimits, isPrinted = false): SeparatedNumbers {
  const read = texts.map((text) =>
    isJsonText(text) ? { source: text, numbers: jsonNumbers(text) } : yamlNumbers(text, limits),
  )
  const byKey = new Map<string, string>()
  for (const { text } of read.flatMap(({ numbers }) => numbers))
    if (Number.isFinite(Number(text)) && !byKey.has(exactKey(text))) byKey.set(exactKey(text), text)
  const prints = isPrinted ? printsAmong(byKey) : new Map<string, string>()
  for (const print of prints.keys()) byKey.delete(print)
  const doubles = new Map<string, number>()
  const written = new Map<string, string>()
  let last = -Infinity
  for (const [key, text] of [...byKey].sort(([, a], [, b]) => compareNumberTexts(a, b))) {
    const nearest = Number(text)
    const own = nearest > last ? nearest : nextDouble(last)
    last = Number.isFinite(own) ? own : nearest
    doubles.set(key, last)
    if (exactKey(String(last)) !== key) written.set(String(last), text)
  }
  const withDouble = (number: string): string | null => {
    const key = exactKey(number)
    const double = doubles.get(prints.get(key) ?? key)
    return double === undefined || double === Number(number) ? null : String(double)
  }
  return { texts: read.map(({ source, numbers }) => replaceNumbers(source, numbers, withDouble)), written }
}

/** Numbers that are the print of a double and not its value, each with the only other number of this double. */
function printsAmong(byKey: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const prints = new Map<string, string>()
  for (const [double, keys] of Map.groupBy(byKey.keys(), (key) => Number(byKey.get(key)))) {
    const print = exactKey(String(double))
    const other = keys.find((key) => key !== print)
    const isValue = Number.isInteger(double) && exactKey(String(BigInt(double))) === print
    if (keys.length === 2 && keys.includes(print) && other !== undefined && !isValue) prints.set(print, other)
  }
  return prints
}

function replaceNumbers(
  text: string,
  numbers: readonly WrittenNumber[],
  replacement: (number: string) => string | null,
): string {
  let [result, end] = ['', 0]
  for (const { start, text: number } of numbers) {
    const other = replacement(number)
    if (other === null) continue
    result += text.slice(end, start) + other
    end = start + number.length
  }
  return result + text.slice(end)
}

/** The numbers of a JSON text. */
function jsonNumbers(text: string): readonly WrittenNumber[] {
  const numbers: WrittenNumber[] = []
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit === QUOTE) {
      index = endOfString(text, index)
      if (index < 0) break
    } else if (unit === MINUS || (unit >= ZERO && unit <= NINE)) {
      NUMBER.lastIndex = index
      const [number] = NUMBER.exec(text) ?? []
      if (number === undefined) continue
      numbers.push({ start: index, text: number })
      index += number.length - 1
    }
  }
  return numbers
}

/** A decimal number: whether it is negative, its digits without zeros around them, and the exponent of `0.DIGITS`. */
function exactParts(text: string): readonly [isNegative: boolean, digits: string, exponent: number] {
  const [, sign, whole = '', fraction = '', power = '0'] = /^([-+]?)(\d*)\.?(\d*)(?:[eE]([-+]?\d+))?$/.exec(text) ?? []
  const all = whole + fraction
  const first = all.search(/[1-9]/)
  if (first === -1) return [false, '', 0]
  let end = all.length
  while (all.charCodeAt(end - 1) === ZERO) end -= 1
  return [sign === '-', all.slice(first, end), whole.length - first + Number(power)]
}

/** A text that two numbers share exactly if they are the same number. */
function exactKey(text: string): string {
  const [isNegative, digits, exponent] = exactParts(text)
  return `${isNegative ? '-' : ''}${digits}e${exponent}`
}

function compareNumberTexts(a: string, b: string): number {
  const [first, second] = [Number(a), Number(b)]
  if (first !== second) return first - second
  const [isNegative, digits, exponent] = exactParts(a)
  const [isOtherNegative, otherDigits, otherExponent] = exactParts(b)
  if (isNegative !== isOtherNegative) return isNegative ? -1 : 1
  const bySize = exponent - otherExponent || (digits < otherDigits ? -1 : digits > otherDigits ? 1 : 0)
  return isNegative ? -bySize : bySize
}

function nextDouble(value: number): number {
  if (value === 0) return Number.MIN_VALUE
  const double = new Float64Array([value])
  const bits = new BigInt64Array(double.buffer)
  bits[0] = (bits[0] ?? 0n) + (value > 0 ? 1n : -1n)
  return double[0] ?? value
}

/** A JSON text with the numbers as they were written. */
export function restoreJson(text: string, { written }: SeparatedNumbers): string {
  return replaceNumbers(text, jsonNumbers(text), (number) => written.get(number) ?? null)
}

/** Findings that name the numbers as they were written. Values that are numbers are the doubles nearest to them. */
export function restoreGroups(groups: readonly FindingGroup[], { written }: SeparatedNumbers): readonly FindingGroup[] {
  if (written.size === 0) return groups
  const inText = (text: string): string =>
    text.replaceAll(/-?\d[\d.]*(?:e[+-]\d+)?/g, (number) => {
      const unsigned = number.startsWith('-') ? written.get(number.slice(1)) : undefined
      return written.get(number) ?? (unsigned === undefined ? number : `-${unsigned}`)
    })
  const inValue = (value: Json): Json => {
    if (typeof value === 'number') return Number(written.get(String(value)) ?? value)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(inValue)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inValue(member)]))
  }
  return groups.map((group) => ({
    ...group,
    message: inText(group.message),
    explanation: inText(group.explanation),
    before: inValue(group.before),
    after: inValue(group.after),
    occurrences: group.occurrences.map((place) => ({ ...place, message: inText(place.message) })),
  }))
}
