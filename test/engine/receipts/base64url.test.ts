/** base64url of ASCII against the runtime's own codec, and everything that is not the one spelling of a text. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { assert as assertProperty, constantFrom, integer, property, string } from 'fast-check'
import { decodeAscii, encodeAscii } from '../../../engine/receipts/base64url.ts'

const ascii = string({
  unit: integer({ min: 0, max: 127 }).map((unit) => String.fromCharCode(unit)),
  maxLength: 40,
})
const encoded = (bytes: readonly number[]) => Buffer.from(bytes).toString('base64url')

suite('base64url of ASCII', () => {
  test('is what the runtime makes of it, and comes back', () => {
    assertProperty(
      property(ascii, (text) => {
        const spelt = encodeAscii(text)
        assert.equal(spelt, Buffer.from(text, 'latin1').toString('base64url'))
        assert.equal(decodeAscii(spelt), text)
      }),
      { seed: 7 },
    )
  })

  test('holds the last character of ASCII and none after it', () => {
    assert.equal(decodeAscii(encodeAscii('\u007f')), '\u007f')
    assert.throws(() => encodeAscii('\u0080'), RangeError)
    assert.throws(() => encodeAscii('ab\u{1F600}'), RangeError)
    for (const bytes of [[0x80], [0x41, 0x80], [0x41, 0x42, 0xff], [0xc3, 0xa9]])
      assert.equal(decodeAscii(encoded(bytes)), null, String(bytes))
  })

  test('has one spelling: no padding, no stray character, no bit that is not used, no lone digit', () => {
    for (const text of [
      'YQ==',
      'Y+',
      'Y/',
      ' YQ',
      'YQ\n',
      'YR',
      'YWJ',
      'Y',
      'YWJjY',
      'Y\u0080',
      'Y\u0159',
      '\u{1F600}',
    ])
      assert.equal(decodeAscii(text), null, JSON.stringify(text))
    assert.equal(decodeAscii(''), '')
    assert.equal(decodeAscii('YWI'), 'ab')
  })

  test('any text that decodes is the one that encodes to it', () => {
    assertProperty(
      property(
        string({
          unit: constantFrom('A', 'B', 'Z', 'a', 'z', '0', '9', '-', '_', '=', '+', '/', ' ', 'é'),
          maxLength: 8,
        }),
        (text) => {
          const decoded = decodeAscii(text)
          assert.ok(decoded === null || encodeAscii(decoded) === text)
        },
      ),
      { seed: 7 },
    )
  })
})

test('every character beyond the alphabet is refused, on both sides of where ASCII ends', () => {
  const alphabet = new Set('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')
  for (let unit = 0; unit < 300; unit++) {
    const character = String.fromCharCode(unit)
    assert.equal(decodeAscii(`AAA${character}`) === null, !alphabet.has(character) || unit > 127, `unit ${unit}`)
  }
})
