/** Receipts under sets of keys that others kept, cut or composed, and tokens in another writing of the same bytes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyReceipt, type VerifyInput } from '../../engine/internal.ts'
import { parseKeySet } from '../../gateway/keys/jwks.ts'
import { decideOn, issueOn, NOW } from '../fakes/decisions.ts'
import { sha256 } from '../fakes/keys.ts'

const issued = issueOn(decideOn([]))
const jwk = issued.key.publicKey.export({ format: 'jwk' })
const instant = (seconds: number): string => new Date(seconds * 1000).toISOString()

function check(members: object, changes: Partial<VerifyInput> = {}) {
  const keys = parseKeySet({ keys: [{ ...jwk, kid: issued.key.signer.keyId, ...members }] })
  assert.ok(keys.ok)
  const input = { token: issued.token, keys: keys.value, now: NOW + 60, state: 'current', sha256 } as const
  return verifyReceipt({ ...input, context: { operation: 'merge' }, ...changes })
}

test('a plain key is one in force, and its receipt stands', () => {
  assert.equal(check({}).currently_authorized, true)
  assert.equal(check({ status: 'active', retired_at: instant(NOW + 1000) }).currently_authorized, true)
})

for (const [what, members, reason] of [
  ['is revoked, by its word', { status: 'revoked' }, 'revoked_key'],
  ['is revoked, by its time only', { revoked_at: instant(NOW + 30) }, 'revoked_key'],
  [
    'was active when the set was kept, and is revoked since',
    { status: 'active', revoked_at: instant(NOW + 30) },
    'revoked_key',
  ],
  ['was retired before the issue, by its word', { status: 'retired' }, 'retired_key_after_issue'],
  ['was retired before the issue, by its time only', { retired_at: instant(NOW - 60) }, 'retired_key_after_issue'],
  [
    'was active when the set was kept, and retired before the issue',
    { status: 'active', retired_at: instant(NOW - 60) },
    'retired_key_after_issue',
  ],
  ['is kept for later', { valid_from: instant(NOW + 3600) }, 'unknown_kid'],
] as const)
  test(`a receipt whose key ${what} stands for nothing`, () => {
    const answer = check(members)
    assert.equal(answer.valid, false)
    assert.equal(answer.currently_authorized, false)
    assert.equal(answer.reason, reason)
  })

test('a clock that says nothing authorizes nothing', () => {
  for (const now of [Number.NaN, Number.POSITIVE_INFINITY]) assert.equal(check({}, { now }).currently_authorized, false)
})

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Every other writing that lenient readers of base64url take for the same bytes. */
function otherWritings(part: string): readonly string[] {
  const last = ALPHABET.indexOf(part.at(-1) ?? 'A')
  const spare = part.length % 4 === 2 ? 16 : part.length % 4 === 3 ? 4 : 1
  const base = last - (last % spare)
  const withOtherBits = Array.from({ length: spare }, (_, bits) => part.slice(0, -1) + ALPHABET.charAt(base + bits))
  const spaced = ['=', '==', ' ', '\n', '\t', '\0', '.', '%3D'].flatMap((sign) => [part + sign, sign + part])
  return [...withOtherBits, ...spaced, part.replaceAll('-', '+').replaceAll('_', '/')].filter((other) => other !== part)
}

test('a token has one writing only', () => {
  const parts = issued.token.split('.')
  let count = 0
  for (const [index, part] of parts.entries())
    for (const other of otherWritings(part)) {
      const token = parts.with(index, other).join('.')
      count += 1
      assert.equal(check({}, { token }).valid, false, token)
    }
  assert.ok(count > 50)
})
