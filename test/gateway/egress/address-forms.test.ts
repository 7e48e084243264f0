/** However an address inside is written, no wide entry and no open default lets it through. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { canonicalAddress } from '../../../gateway/network/address.ts'
import { readAuthority } from '../../../gateway/network/authority.ts'
import { createEgress } from '../../../gateway/upstream/egress-policy.ts'

const policy = createEgress({
  egress: { default: 'allow', allow: ['0.0.0.0/0', '::/0', '128.0.0.0/1'], deny: [], tunnel: [], idle: 600 },
  isOwn: () => false,
})

type Quad = readonly [number, number, number, number]

const byte = fc.integer({ min: 0, max: 255 })
const inside: fc.Arbitrary<Quad> = fc.oneof(
  fc.tuple(fc.constant(127), byte, byte, byte),
  fc.tuple(fc.constant(10), byte, byte, byte),
  fc.tuple(fc.constant(0), byte, byte, byte),
  fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), byte, byte),
  fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
  fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
  fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), byte, byte),
)

const hex = (value: number): string => value.toString(16)
const number = ([a, b, c, d]: Quad): number => a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d

/** As systems of all ages write an IPv4 address. */
const SPELLINGS: readonly ((quad: Quad) => string)[] = [
  (quad) => quad.join('.'),
  (quad) => `[::ffff:${quad.join('.')}]`,
  (quad) => `[::FFFF:${quad.join('.')}]`,
  ([a, b, c, d]) => `[0:0:0:0:0:ffff:${hex(a * 256 + b)}:${hex(c * 256 + d)}]`,
  ([a, b, c, d]) => `[::${hex(a * 256 + b)}:${hex(c * 256 + d)}]`,
  ([a, b, c, d]) => `[64:ff9b::${hex(a * 256 + b)}:${hex(c * 256 + d)}]`,
  ([a, b, c, d]) => `[2002:${hex(a * 256 + b)}:${hex(c * 256 + d)}::]`,
  (quad) => String(number(quad)),
  (quad) => `0x${hex(number(quad))}`,
  (quad) => `0${number(quad).toString(8)}`,
  ([a, b, c, d]) => `${a}.${b * 2 ** 16 + c * 2 ** 8 + d}`,
  ([a, b, c, d]) => `${a}.${b}.${c * 256 + d}`,
  ([a, b, c, d]) => `0x${hex(a)}.0x${hex(b)}.0x${hex(c)}.0x${hex(d)}`,
  (quad) => quad.map((part) => `0${part.toString(8)}`).join('.'),
  (quad) => `${quad.join('.')}.`,
]

test('an address inside is refused in every spelling', () => {
  fc.assert(
    fc.property(inside, fc.constantFrom(...SPELLINGS), fc.integer({ min: 1, max: 65_535 }), (quad, spell, port) => {
      const read = readAuthority(`${spell(quad)}:${port}`, null)
      assert.ok(!read.ok || policy.denialOf(read.authority, false) !== null, spell(quad))
    }),
    { numRuns: 3000 },
  )
})

test('a look-up that answers an address inside, in any family, is refused', () => {
  const authority = { host: 'rebound.example', port: 443 }
  fc.assert(
    fc.property(inside, fc.constantFrom(0, 1, 3, 4, 5, 6), (quad, spelling) => {
      const text = (SPELLINGS[spelling]?.(quad) ?? '').replace(/^\[|\]$/g, '')
      const canonical = canonicalAddress(text)
      assert.ok(canonical !== null, text)
      assert.notEqual(policy.denialOf({ ...authority, host: canonical }, false), null, text)
    }),
    { numRuns: 1000 },
  )
})

test('what is public in one spelling is public in its other ones', () => {
  for (const text of ['93.184.216.34', '[::ffff:93.184.216.34]', '[::ffff:5db8:d822]']) {
    const read = readAuthority(`${text}:443`, null)
    assert.ok(read.ok)
    assert.equal(read.authority.host, '93.184.216.34')
    assert.equal(policy.denialOf(read.authority, false), null)
  }
})
