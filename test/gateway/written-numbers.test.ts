/** JSON that is written again keeps the digits of its numbers, wherever they stand, and nothing else changes. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { withWrittenNumbers } from '../../gateway/json/written-numbers.ts'

const LONG = [
  '9007199254740993',
  '-9007199254740993',
  '1.2345678901234567',
  '0.00000000000000001234',
  '12345678901234567890E-2',
]
const SHORT = ['0', '-1.5', '123456789012345', '1234567890.12345', '1e3', '-2E-7']
/** Each contains the number once. */
const PLACES: readonly ((number: string) => string)[] = [
  (number) => number,
  (number) => `[${number}]`,
  (number) => `{"a":${number}}`,
  (number) => `{"__proto__":{"constructor":${number}}}`,
  (number) => `["\\\\",${number},"\\"${number}","\\\\\\"","${number}"]`,
  (number) => ` { "${number}" : [ [ ${number} ] , null , true ] } `,
  (number) => `[1,2,{"b":[]},"x",${number},0]`,
]

/** The text without blanks outside strings. */
function compact(text: string): string {
  return text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1')
}

suite('the digits of a number', () => {
  for (const number of LONG) {
    test(`${number} is written as it was`, () => {
      for (const place of PLACES) {
        const text = place(number)
        assert.equal(JSON.stringify(withWrittenNumbers(text, JSON.parse(text))), compact(text))
      }
    })
  }
  for (const number of SHORT) {
    test(`${number} stays a number`, () => {
      for (const place of PLACES) {
        const text = place(number).replace(/\]$/, ',9007199254740993]')
        const plain = JSON.stringify(JSON.parse(text)).replace('9007199254740992', '9007199254740993')
        assert.equal(JSON.stringify(withWrittenNumbers(text, JSON.parse(text))), plain)
      }
    })
  }
})
