/** What is known of formats: an example of each, texts that are of none, and which format's values are a part of another's. */
import { lookupTable } from '../../common/lookup-table.ts'

const EXAMPLES: Readonly<Record<string, string>> = lookupTable({
  date: '2024-01-31',
  'date-time': '2024-01-31T12:00:00Z',
  time: '12:00:00Z',
  duration: 'P1D',
  email: 'a@example.com',
  'idn-email': 'a@example.com',
  hostname: 'example.com',
  'idn-hostname': 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '123e4567-e89b-12d3-a456-426614174000',
  'json-pointer': '/a',
})

/** Formats whose values are a part of another format's values. */
const WIDER = lookupTable<readonly string[]>({
  float: ['double'],
  int32: ['int64', 'bigint'],
  int64: ['bigint'],
})

export function isFormatWithin(part: string, whole: string): boolean {
  return part === whole || (WIDER[part] ?? []).includes(whole)
}

export function exampleOf(format: string): string | null {
  return EXAMPLES[format] ?? null
}

const INT32 = 2 ** 31

/** Whether a value is of a format; null where that is not known. */
export function isOfFormat(format: string, value: unknown): boolean | null {
  if (typeof value === 'number') return isNumberOf(format, value)
  if (typeof value !== 'string' || !Object.hasOwn(EXAMPLES, format)) return null
  if (value === EXAMPLES[format]) return true
  return /^%+$/.test(value) || (!PLAIN.has(format) && SCALAR.test(value)) ? false : null
}

/** The texts of numbers and booleans, and the formats that have such texts. */
const SCALAR = /^(?:-?\d+(?:\.\d+)?|true|false)$/
const PLAIN: ReadonlySet<string> = new Set(['hostname', 'idn-hostname'])

/** Whether some number is known to be of a format, or not to be: of all others no search finds one. */
export function isDecidable(format: string, isMet: boolean, isWhole: boolean): boolean {
  if (format === 'int32') return true
  return (format === 'int64' || format === 'bigint') && (isMet || !isWhole)
}

function isNumberOf(format: string, value: number): boolean | null {
  if (format === 'int32') return Number.isInteger(value) && value >= -INT32 && value < INT32
  if (format === 'int64' || format === 'bigint')
    return Number.isSafeInteger(value) ? true : Number.isInteger(value) ? null : false
  return null
}
