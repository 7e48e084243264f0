/** What an author meant by a text in the place of a number or a boolean, so that a mistake can say what to write. */
import type { JsonSchema } from './input-schema.ts'

const DAY = 86_400

/** Units of time, in seconds. */
const SECONDS: ReadonlyMap<string, number> = new Map([
  ['ms', 0.001],
  ['s', 1],
  ['sec', 1],
  ['second', 1],
  ['m', 60],
  ['min', 60],
  ['minute', 60],
  ['h', 3600],
  ['hr', 3600],
  ['hour', 3600],
  ['d', DAY],
  ['day', DAY],
  ['w', 7 * DAY],
  ['week', 7 * DAY],
])

/** Units of memory, in bytes; letters in lower case. */
const BYTES: ReadonlyMap<string, number> = new Map([
  ['b', 1],
  ['byte', 1],
  ...['k', 'm', 'g', 't'].flatMap((letter, index): readonly [string, number][] => [
    [letter, 1000 ** (index + 1)],
    [`${letter}b`, 1000 ** (index + 1)],
    [`${letter}i`, 1024 ** (index + 1)],
    [`${letter}ib`, 1024 ** (index + 1)],
  ]),
])

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['on', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['off', false],
  ['0', false],
])

/** @returns what to write in place of the data, or null if the text has no clear meaning */
export function valueSuggestion(data: unknown, schema: JsonSchema): string | null {
  if (typeof data !== 'string') return null
  const text = data.trim().toLowerCase()
  if (schema.type === 'boolean') {
    const meant = BOOLEANS.get(text)
    return meant === undefined ? null : `write ${meant}, without quotes`
  }
  if (schema.type !== 'number' && schema.type !== 'integer') return null
  const number = numberOf(text, schema.description ?? '')
  if (number === null || (schema.type === 'integer' && !Number.isSafeInteger(number))) return null
  return text === String(number) ? `write ${number}, without quotes` : `write ${number}`
}

/** Groups of digits may be separated: 1_000. */
const QUANTITY = /^(\d{1,3}(?:_\d{3})+|\d+(?:\.\d+)?) ?([a-z]*)$/

function numberOf(text: string, description: string): number | null {
  const [, digits, unit = ''] = QUANTITY.exec(text) ?? []
  if (digits === undefined) return null
  const amount = Number(digits.replaceAll('_', ''))
  if (unit === '') return amount
  const factor = unitFactor(unit, description)
  return factor === null ? null : Number((amount * factor).toPrecision(12))
}

/** How many units of the setting are one unit of the text. Descriptions name the unit of their setting. */
function unitFactor(unit: string, description: string): number | null {
  const units = /\bbytes\b/i.test(description) ? BYTES : SECONDS
  const factor = units.get(unit) ?? units.get(unit.replace(/s$/, ''))
  if (factor === undefined) return null
  if (units === BYTES || description.includes('(seconds)')) return factor
  return description.includes('(days)') ? factor / DAY : null
}
