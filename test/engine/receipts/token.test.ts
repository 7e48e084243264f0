/** The token of a receipt: one form only, and every change of it is refused. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { compactVerify, decodeProtectedHeader } from 'jose'
import { EMPTY_CONTEXT, verifyReceipt, type ReceiptReason, type Signer } from '../../../engine/internal.ts'
import { decodeAscii, encodeAscii } from '../../../engine/receipts/base64url.ts'
import { decideOn, issueOn, NOW } from '../../fakes/decisions.ts'
import { fakeKey, keySet, sha256, type FakeKey } from '../../fakes/keys.ts'

const KEY = fakeKey()
const CONTEXT = { ...EMPTY_CONTEXT, operation: 'merge', branch: 'größe/😀' }
const ISSUED = issueOn(decideOn([], { context: CONTEXT }), KEY)
const [HEADER = '', CLAIMS = '', SIGNATURE = ''] = ISSUED.token.split('.')

function reasonFor(token: string, key: FakeKey = KEY): ReceiptReason | null {
  const context = { operation: 'merge', branch: CONTEXT.branch }
  const answer = verifyReceipt({ token, keys: keySet(key.published()), now: NOW, state: 'current', sha256, context })
  assert.equal(answer.currently_authorized, answer.reason === null)
  return answer.reason
}

const encode = (text: string) => Buffer.from(text).toString('base64url')
const decode = (segment: string) => Buffer.from(segment, 'base64url').toString()

/** A token over any header and claims texts, correctly signed by our key. */
function signed(header: string, claims: string, { signer }: FakeKey = KEY): string {
  const input = `${encode(header)}.${encode(claims)}`
  return `${input}.${signer.sign(input)}`
}

suite('a token of ours', () => {
  test('is a compact JWS that jose verifies on its own', async () => {
    const { payload, protectedHeader } = await compactVerify(ISSUED.token, KEY.publicKey, { algorithms: ['EdDSA'] })
    assert.deepEqual(protectedHeader, { alg: 'EdDSA', kid: 'key-1', typ: 'preflight-receipt+jwt' })
    const claims: unknown = JSON.parse(new TextDecoder().decode(payload))
    const { envelope } = ISSUED
    assert.deepEqual(claims, {
      iss: 'https://preflight.test',
      jti: envelope.decision_id,
      iat: NOW,
      nbf: NOW,
      exp: NOW + 14_400,
      fp: envelope.fingerprint,
      ifp: envelope.input_fingerprint,
      bh: envelope.decision_body_hash,
      act: 'CONTINUE',
      op: 'merge',
      env: null,
      tgt: null,
      repo: null,
      br: 'größe/😀',
      pr: null,
      base: null,
      head: null,
      srcmode: 'declared',
      ad: envelope.artifact_digest,
      sub: 'v:0123456789ab',
      prev: null,
      ph: envelope.policy_hash,
      tnt: 'local',
    })
    assert.equal(reasonFor(ISSUED.token), null)
  })

  test('is the same, byte for byte, for the same input and key', () => {
    const key = fakeKey('key-1', 'a seed')
    const tokens = [0, 1].map(() => issueOn(decideOn([], { context: CONTEXT }), key).token)
    assert.equal(tokens[0], tokens[1])
  })
})

suite('a token that is spelt otherwise is refused although its signature holds', () => {
  const header = decode(HEADER)
  const claims = decode(CLAIMS)
  const cases: readonly (readonly [what: string, token: string, reason: ReceiptReason])[] = [
    ['white space in the header', signed(header.replace(':', ': '), claims), 'malformed_structure'],
    [
      'members of the header in another order',
      signed('{"typ":"preflight-receipt+jwt","alg":"EdDSA","kid":"key-1"}', claims),
      'malformed_structure',
    ],
    ['a key id that stands twice', signed(header.replace('{', '{"kid":"key-2",'), claims), 'malformed_structure'],
    ['a claim that stands twice', signed(header, claims.replace('{', '{"act":"STOP",')), 'malformed_structure'],
    [
      'an operation that stands twice',
      signed(header, claims.replace('"op":"merge"', '"op":"merge","op":"deploy"')),
      'malformed_structure',
    ],
    ['claims that are not escaped', signed(header, JSON.stringify(JSON.parse(claims))), 'malformed_structure'],
    ['crit in the header', signed(header.replace('}', ',"crit":["b64"],"b64":false}'), claims), 'unsupported_version'],
    ['a key in the header', signed(header.replace('}', ',"jwk":{}}'), claims), 'unsupported_version'],
    ['another type', signed(header.replace('receipt+jwt', 'receipt2+jwt'), claims), 'unsupported_version'],
    ['no type', signed('{"alg":"EdDSA","kid":"key-1"}', claims), 'unsupported_version'],
    ['algorithm none', signed(header.replace('EdDSA', 'none'), claims), 'unsupported_version'],
    ['algorithm HS256', signed(header.replace('EdDSA', 'HS256'), claims), 'unsupported_version'],
    ['algorithm Ed25519 by its newer name', signed(header.replace('EdDSA', 'Ed25519'), claims), 'unsupported_version'],
    ['a header that is not an object', signed('[]', claims), 'bad_json'],
    ['claims that are no JSON', signed(header, `${claims},`), 'bad_json'],
    ['claims that are a list', signed(header, '[]'), 'bad_json'],
    ['an unknown execution action', signed(header, claims.replace('"CONTINUE"', '"PROCEED"')), 'malformed_structure'],
    ['an end that is a text', signed(header, claims.replace(/"exp":\d+/, '"exp":"never"')), 'malformed_structure'],
    ['no end', signed(header, claims.replace(/"exp":\d+,/, '')), 'malformed_structure'],
    ['two segments', `${HEADER}.${CLAIMS}`, 'malformed_structure'],
    ['four segments', `${ISSUED.token}.`, 'malformed_structure'],
    ['no signature', `${HEADER}.${CLAIMS}.`, 'malformed_structure'],
    ['a padded signature', `${ISSUED.token}==`, 'malformed_structure'],
    [
      'a signature with a bit too many',
      `${HEADER}.${CLAIMS}.${SIGNATURE.slice(0, -1)}${nextInAlphabet(SIGNATURE.at(-1))}`,
      'malformed_structure',
    ],
    ['white space around it', ` ${ISSUED.token}`, 'malformed_structure'],
    ['nothing', '', 'malformed_structure'],
    ['more than 8192 characters', `${HEADER}.${'A'.repeat(8192)}.${SIGNATURE}`, 'malformed_structure'],
    [
      'a claim with half a character',
      signed(header, claims.replace('"op":"merge"', '"op":"\\ud800"')),
      'malformed_structure',
    ],
    ['an empty key id', signed(header.replace('key-1', ''), claims), 'unsupported_version'],
    ['a key id of 101 characters', signed(header.replace('key-1', 'k'.repeat(101)), claims), 'unsupported_version'],
    ['claims nested without end', signed(header, `${'{"a":'.repeat(900)}1${'}'.repeat(900)}`), 'malformed_structure'],
  ]
  for (const [what, token, reason] of cases) test(what, () => assert.equal(reasonFor(token), reason))

  test('an issue in the future is not yet valid, whatever nbf says', () => {
    assert.equal(reasonFor(signed(header, claims.replace(/"iat":\d+/, `"iat":${NOW + 31}`))), 'not_yet_valid')
    assert.equal(reasonFor(signed(header, claims.replace(/"nbf":\d+/, `"nbf":${NOW + 31}`))), 'not_yet_valid')
  })

  test('claims that a later version adds are no reason', () => {
    const later = signed(header, claims.replace('"tgt":null}', '"tgt":null,"zzz":1}'))
    assert.equal(reasonFor(later), null)
  })
})

suite('no change of a token survives', () => {
  test('any character replaced', () => {
    const position = fc.nat({ max: ISSUED.token.length - 1 })
    const character = fc.constantFrom(
      ...Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ '),
    )
    fc.assert(
      fc.property(position, character, (at, to) => {
        fc.pre(ISSUED.token[at] !== to)
        assert.notEqual(reasonFor(ISSUED.token.slice(0, at) + to + ISSUED.token.slice(at + 1)), null)
      }),
      { numRuns: 2000 },
    )
  })

  test('every single character flipped to its neighbour', () => {
    for (let at = 0; at < ISSUED.token.length; at++) {
      const changed = ISSUED.token.slice(0, at) + nextInAlphabet(ISSUED.token[at]) + ISSUED.token.slice(at + 1)
      assert.notEqual(reasonFor(changed), null, `character ${at}`)
    }
  })

  test('anything cut off, put in or doubled', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: ISSUED.token.length - 1 }),
        fc.nat({ max: 8 }),
        fc.string({ maxLength: 8 }),
        (at, cut, put) => {
          const changed = ISSUED.token.slice(0, at) + put + ISSUED.token.slice(at + cut)
          fc.pre(changed !== ISSUED.token)
          assert.notEqual(reasonFor(changed), null)
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('text that is not a token at all', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => assert.notEqual(reasonFor(text), null)),
    )
  })

  test('what is no text, such as a header that is absent or there twice', () => {
    for (const token of [undefined, null, 7, {}, ['a', 'b'], true])
      assert.equal(Reflect.apply(reasonFor, undefined, [token]), 'malformed_structure')
  })
})

suite('base64url', () => {
  test('reads back what it wrote, and writes what the runtime writes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
        assert.equal(encodeAscii(text), Buffer.from(text).toString('base64url'))
        assert.equal(decodeAscii(encodeAscii(text)), text)
      }),
    )
  })

  test('takes one spelling of a text only', () => {
    const one = fc.string({ unit: fc.constantFrom(...Array.from('AQgwabcZ019-_=+/ \n')), maxLength: 12 })
    fc.assert(
      fc.property(one, (encoded) => {
        const text = decodeAscii(encoded)
        assert.ok(text === null || encodeAscii(text) === encoded)
      }),
      { numRuns: 3000 },
    )
  })

  test('refuses to write what is not ASCII', () => assert.throws(() => encodeAscii('ä'), RangeError))
})

test('a signer that fails leaves no envelope behind', () => {
  const failing: Signer = {
    keyId: 'key-1',
    sign: () => {
      throw new Error('the token is out of paper')
    },
  }
  assert.throws(() => issueOn(decideOn([]), { ...KEY, signer: failing }), /out of paper/)
})

test('a signer with an invalid signature produces no envelope that verifies', () => {
  const { token } = issueOn(decideOn([]), { ...KEY, signer: { keyId: 'key-1', sign: () => 'A'.repeat(86) } })
  assert.equal(decodeProtectedHeader(token).alg, 'EdDSA')
  assert.equal(reasonFor(token), 'signature_mismatch')
})

function nextInAlphabet(character = ''): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return alphabet[(alphabet.indexOf(character) + 1) % alphabet.length] ?? 'A'
}
