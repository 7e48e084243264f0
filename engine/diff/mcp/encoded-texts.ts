/**
 * What a text says in another form that models read as easily: escapes, bytes, Base64, digits for letters, letters with
 * gaps between them. All patterns are bounded.
 */
import { lookupTable } from '../../common/lookup-table.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Escapes of one character, and the radix of its number. */
const ESCAPES: readonly (readonly [pattern: RegExp, radix: number])[] = [
  [/&#x([0-9a-f]{1,6});/giu, 16],
  [/&#(\d{1,7});/gu, 10],
  [/\\u\{?([0-9a-f]{1,6})\}?/giu, 16],
  [/\\x([0-9a-f]{2})/giu, 16],
  [/[%=]([0-9a-f]{2})/giu, 16],
  [/\bU\+([0-9a-f]{4,6}) ?/giu, 16],
]

/** Numbers of characters in a row, and their radix. Shorter rows are values. */
const ROWS: readonly (readonly [pattern: RegExp, unit: RegExp, radix: number])[] = [
  [
    /(?<![0-9a-z])(?:(?:0x)?[0-9a-f]{2}[ ,]{1,2}){11,1000}(?:0x)?[0-9a-f]{2}(?![0-9a-z])/giu,
    /[0-9a-f]{2}(?![x])/giu,
    16,
  ],
  [/(?<![0-9a-z])(?:[0-9a-f]{2}){12,1000}(?![0-9a-z])/giu, /[0-9a-f]{2}/giu, 16],
  [/(?<!\d)(?:\d{2,3}[ ,]{1,2}){11,1000}\d{2,3}(?!\d)/gu, /\d{2,3}/gu, 10],
]

const BASE64 = /(?<![\w+/-])[\w+/-]{16,4000}={0,2}(?![\w+/=-])/gu
/** Single letters with the same gap between them. */
const SPREAD = /(?<![\p{L}\d])\p{L}(?:([ ._*|-])\p{L}(?:\1\p{L}){2,40})(?![\p{L}\d])/gu
/** Words with digits that look like letters. */
const DIGITS = /(?<![\p{L}\d])(?=\p{L}{0,20}[013457@$]\p{L})[\p{L}013457@$]{3,24}(?![\p{L}\d])/gu
const LETTERS: Readonly<Record<string, string>> = lookupTable({
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  '@': 'a',
  $: 's',
})

/** The other readings of a text. Empty if it has none. */
export function otherReadings(text: string): readonly string[] {
  const readings = [decoded(text), joined(text), text.replaceAll(DIGITS, (word) => lettersOf(word))]
  return [...new Set(readings)].filter((reading) => reading !== text)
}

function decoded(text: string): string {
  let reading = text
  for (const [pattern, radix] of ESCAPES)
    reading = reading.replaceAll(pattern, (escape, digits: string) => characterOf(digits, radix) ?? escape)
  for (const [pattern, unit, radix] of ROWS)
    reading = reading.replaceAll(
      pattern,
      (row) => textOf((row.match(unit) ?? []).map((one) => characterOf(one, radix))) ?? row,
    )
  return reading.replaceAll(BASE64, (run) => fromBase64(run) ?? run)
}

function characterOf(digits: string, radix: number): string | null {
  const code = Number.parseInt(digits, radix)
  return code > 0x10ffff ? null : String.fromCodePoint(code)
}

/** Null where one of the characters is none of a text. */
function textOf(characters: readonly (string | null)[]): string | null {
  const text = characters.join('')
  return characters.includes(null) || /[^\P{Cc}\t\n\r]/u.test(text) ? null : text
}

function fromBase64(run: string): string | null {
  const characters: string[] = []
  let bits = 0
  let length = 0
  for (const letter of run.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/')) {
    bits = ((bits << 6) | ALPHABET.indexOf(letter)) & 0xffff
    length += 6
    if (length < 8) continue
    length -= 8
    const byte = (bits >> length) & 0xff
    if (byte < 0x20 || byte > 0x7e) return null
    characters.push(String.fromCharCode(byte))
  }
  return characters.join('')
}

function joined(text: string): string {
  return text.replaceAll(SPREAD, (run, gap: string) => run.replaceAll(gap, ''))
}

function lettersOf(word: string): string {
  return word.replaceAll(/[013457@$]/g, (letter) => LETTERS[letter] ?? letter)
}
