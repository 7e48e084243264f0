/** The reading of status lists: their form is that of the IETF draft, and no fault of a list ends in an authorization. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import * as fc from 'fast-check'
import { jwtVerify } from 'jose'
import { EMPTY_CONTEXT, verifyReceipt, type ReceiptState } from '../../../engine/internal.ts'
import { decodeBytes } from '../../../engine/receipts/base64url.ts'
import {
  packStatuses,
  STATUS_VALUES,
  stateInList,
  statusListSigningInput,
} from '../../../engine/receipts/status-list.ts'
import { inflateZlib } from '../../../gateway/runtime/inflate.ts'
import { decideOn, issueOn, NOW } from '../../fakes/decisions.ts'
import { fakeKey, keySet, sha256, type FakeKey } from '../../fakes/keys.ts'

const KEY = fakeKey()
const KEYS = keySet(KEY.published())
const URI = 'https://preflight.test/.well-known/status/one'
const REFERENCE = { idx: 5, uri: URI }
const SIZE = 4096

type States = readonly (readonly [number, ReceiptState])[]

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const compress = (bytes: Uint8Array) => deflateSync(bytes).toString('base64url')

function sign(input: string, { signer }: FakeKey = KEY): string {
  return `${input}.${signer.sign(input)}`
}

function listOf(states: States, changes: Partial<Parameters<typeof statusListSigningInput>[0]> = {}): string {
  const compressed = compress(packStatuses(SIZE, states))
  const list = { uri: URI, issuedAt: NOW, expiresAt: NOW + 600, ttl: 60, compressed, ...changes }
  return sign(statusListSigningInput(list, 'key-1'))
}

/** A list with any claims, correctly signed. */
function foreign(claims: object, header: object = {}): string {
  const whole = { sub: URI, iat: NOW, status_list: { bits: 4, lst: compress(packStatuses(SIZE, [])) }, ...claims }
  return sign(`${encode({ alg: 'EdDSA', kid: 'key-1', typ: 'statuslist+jwt', ...header })}.${encode(whole)}`)
}

const read = (token: string, reference: typeof REFERENCE | null = REFERENCE, now = NOW, keys = KEYS) =>
  stateInList({ token, inflate: inflateZlib }, reference, keys, now)

suite('a status list', () => {
  test('has the form of the draft, and jose verifies it', async () => {
    const { payload, protectedHeader } = await jwtVerify(listOf([[1, 'revoked']]), KEY.publicKey, {
      algorithms: ['EdDSA'],
      typ: 'statuslist+jwt',
      subject: URI,
      currentDate: new Date(NOW * 1000),
    })
    assert.equal(protectedHeader.kid, 'key-1')
    const { status_list: list, ...claims } = payload
    assert.deepEqual(claims, { sub: URI, iat: NOW, exp: NOW + 600, ttl: 60 })
    assert.deepEqual(list, { bits: 4, lst: compress(packStatuses(SIZE, [[1, 'revoked']])) })
  })

  test('reads the examples of the draft, of one and of two bits', () => {
    const lists = [
      { bits: 1, lst: 'eNrbuRgAAhcBXQ', values: [1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1] },
      { bits: 2, lst: 'eNo76fITAAPfAgc', values: [1, 2, 0, 3, 0, 1, 0, 1, 1, 2, 3, 3] },
    ]
    for (const { bits, lst, values } of lists)
      for (const [idx, value] of values.entries()) {
        const found = read(foreign({ status_list: { bits, lst } }), { idx, uri: URI })
        // Of the values of the draft only VALID and INVALID are states of a receipt.
        const expected = { 0: 'current', 1: 'revoked' }[value] ?? null
        assert.equal(found.ok ? found.value : null, expected, `${bits} bits, index ${idx}`)
      }
  })

  test('gives every receipt the state that was packed for it', () => {
    const state = fc.constantFrom<ReceiptState>('current', 'revoked', 'superseded', 'consumed')
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(fc.nat(SIZE - 1), state), { selector: ([index]) => index }), (states) => {
        const token = listOf(states)
        for (const [idx, expected] of states)
          assert.deepEqual(read(token, { idx, uri: URI }), { ok: true, value: expected })
      }),
      { numRuns: 30 },
    )
  })

  test('uses registered values where there are any, and application-specific ones for the rest', () => {
    assert.deepEqual(STATUS_VALUES, { current: 0, revoked: 1, superseded: 12, consumed: 13 })
  })
})

suite('a status list that is not usable', () => {
  const huge = compress(new Uint8Array(3_000_000))
  const faults: Readonly<Record<string, readonly [token: string, problem: RegExp]>> = {
    'empty text': ['', /header/],
    'four segments': [`${listOf([])}.x`, /not a compact JWS/],
    'more than two million characters': ['x'.repeat(2_000_001), /not a compact JWS/],
    'another type': [foreign({}, { typ: 'JWT' }), /header/],
    'another algorithm': [foreign({}, { alg: 'HS256' }), /header/],
    'an unknown key': [foreign({}, { kid: 'key-2' }), /no published key/],
    'another signature': [`${listOf([]).slice(0, -8)}AAAAAAAA`, /signature/],
    'the list of another receipt': [listOf([], { uri: `${URI}2` }), /another one/],
    'a list that has expired': [listOf([], { expiresAt: NOW }), /expired/],
    'a list of the future': [listOf([], { issuedAt: NOW + 31 }), /future/],
    'no subject': [foreign({ sub: null }), /malformed/],
    'no list': [foreign({ status_list: null }), /malformed/],
    'an expiry that is not a number': [foreign({ exp: 'never' }), /malformed/],
    'three bits': [foreign({ status_list: { bits: 3, lst: '' } }), /malformed/],
    'data that is not zlib': [foreign({ status_list: { bits: 4, lst: 'AAAA' } }), /decompressed/],
    'data that is not base64url': [foreign({ status_list: { bits: 4, lst: '+/=' } }), /decompressed/],
    'more than a mebibyte': [foreign({ status_list: { bits: 4, lst: huge } }), /decompressed/],
    'too few entries': [foreign({ status_list: { bits: 4, lst: compress(new Uint8Array(2)) } }), /no entry/],
    'an unknown value': [foreign({ status_list: { bits: 8, lst: compress(new Uint8Array(9).fill(7)) } }), /value 7/],
  }
  for (const token of [undefined, null, 7, ['a', 'b']])
    test(`because it is ${JSON.stringify(token)} and no text gives no state`, () => {
      const found: unknown = Reflect.apply(read, undefined, [token])
      assert.deepEqual(found, { ok: false, problem: 'the status list is not a compact JWS' })
    })
  for (const [name, [token, problem]] of Object.entries(faults))
    test(`because of ${name} gives no state`, () => {
      const found = read(token)
      assert.equal(found.ok, false)
      if (!found.ok) assert.match(found.problem, problem)
    })

  test('is one of a key that was revoked, or retired before the list', () => {
    for (const life of [
      { status: 'revoked', revokedAt: NOW - 1 },
      { status: 'retired', retiredAt: NOW - 1 },
    ] as const)
      assert.equal(read(listOf([]), REFERENCE, NOW, keySet(KEY.published(life))).ok, false)
  })

  test('does not exist for a receipt that names none', () => {
    assert.equal(read(listOf([]), null).ok, false)
  })
})

suite('a receipt that is verified with a status list', () => {
  const context = { ...EMPTY_CONTEXT, operation: 'merge' }
  const { token } = issueOn(decideOn([], { context }), KEY, NOW, 'local', REFERENCE)
  const verify = (
    statusToken: string | null,
    state: 'unchecked' | 'current' | 'revoked' = 'unchecked',
    receipt = token,
  ) =>
    verifyReceipt({
      token: receipt,
      keys: KEYS,
      now: NOW,
      state,
      sha256,
      context: { operation: 'merge' },
      ...(statusToken !== null && { statusList: { token: statusToken, inflate: inflateZlib } }),
    })

  test('carries the claim in the form of the draft', () => {
    assert.deepEqual(verify(null).payload?.status, { status_list: REFERENCE })
  })
  test('is authorized when the list has it as current, and the answer names the list', () => {
    const answer = verify(listOf([[4, 'revoked']]))
    assert.equal(answer.currently_authorized, true)
    assert.match(answer.authz_note, /status list/)
  })
  for (const state of ['revoked', 'superseded', 'consumed'] as const)
    test(`is refused when the list has it as ${state}`, () => {
      const answer = verify(listOf([[5, state]]))
      assert.deepEqual([answer.currently_authorized, answer.reason], [false, state])
    })
  test('is refused when the list is unusable, with the cause in the answer', () => {
    const answer = verify(listOf([], { expiresAt: NOW }))
    assert.deepEqual(
      [answer.currently_authorized, answer.status, answer.reason],
      [false, 'UNDECIDABLE', 'state_unknown'],
    )
    assert.match(answer.authz_note, /has expired/)
  })
  test('is refused when it names no list and one was to be checked', () => {
    const { token: plain } = issueOn(decideOn([], { context }), KEY)
    assert.equal(verify(null, 'unchecked', plain).currently_authorized, true)
    assert.equal(verify(listOf([]), 'unchecked', plain).reason, 'state_unknown')
  })
  test('follows the state of the store when that is known', () => {
    assert.equal(verify(listOf([]), 'revoked').reason, 'revoked')
    assert.equal(verify(listOf([[5, 'revoked']]), 'current').currently_authorized, true)
  })
})

test('bytes in base64url have one encoding', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
      const encoded = Buffer.from(bytes).toString('base64url')
      assert.deepEqual(decodeBytes(encoded), new Uint8Array(bytes))
      assert.equal(decodeBytes(`${encoded}=`), null)
    }),
  )
})
