/** Public vectors (Wycheproof, RFC 8785) compared with what judges receipts: the published key set, the token parser, the canonical form. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { canonicalJson, verifyReceipt, type VerificationKey } from '../../../engine/internal.ts'
import { parseKeySet } from '../../../gateway/keys/jwks.ts'
import { NOW } from '../../fakes/decisions.ts'
import { sha256 } from '../../fakes/keys.ts'
import { at, listAt, textAt } from '../../json.ts'

const VECTORS = new URL('../../../../shared/vectors/', import.meta.url)
const isHere = existsSync(VECTORS)
const ABSENT = 'the public vectors (../shared/vectors) are not here'

function readVectors(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, VECTORS), 'utf8'))
}

test('Ed25519 of a published key accepts what is valid, and nothing else', (t) => {
  if (!isHere) return t.skip(ABSENT)
  const outcomes = { valid: 0, invalid: 0 }
  for (const group of listAt(readVectors('wycheproof/ed25519_test.json'), 'testGroups')) {
    const x = textAt(group, 'publicKeyJwk', 'x')
    const keys = parseKeySet({ keys: [{ kty: 'OKP', crv: 'Ed25519', kid: 'vector', x }] })
    const key = keys.ok ? keys.value.get('vector') : undefined
    assert.ok(key)
    for (const vector of listAt(group, 'tests')) {
      const message = Buffer.from(textAt(vector, 'msg'), 'hex').toString('latin1')
      const signature = Buffer.from(textAt(vector, 'sig'), 'hex').toString('base64url')
      const isValid = textAt(vector, 'result') === 'valid'
      assert.equal(
        key.verify(message, signature),
        isValid,
        `${String(at(vector, 'tcId'))}: ${textAt(vector, 'comment')}`,
      )
      outcomes[isValid ? 'valid' : 'invalid']++
    }
  }
  assert.ok(outcomes.valid > 50 && outcomes.invalid > 50, JSON.stringify(outcomes))
})

for (const file of ['json_web_signature_test', 'json_web_key_test']) {
  test(`no JWS of ${file} is a receipt, even for a key that takes any signature`, (t) => {
    if (!isHere) return t.skip(ABSENT)
    const credulous: VerificationKey = {
      keyId: 'any',
      status: 'active',
      validFrom: 0,
      retiredAt: null,
      revokedAt: null,
      verify: () => true,
    }
    const keys = new Map<string, VerificationKey>()
    keys.get = () => credulous
    let judged = 0
    for (const group of listAt(readVectors(`wycheproof/${file}.json`), 'testGroups')) {
      for (const vector of listAt(group, 'tests')) {
        const token = textAt(vector, 'jws')
        const answer = verifyReceipt({
          token,
          keys,
          now: NOW,
          state: 'current',
          sha256,
          context: { operation: 'merge' },
        })
        assert.deepEqual([answer.valid, answer.currently_authorized], [false, false], String(at(vector, 'tcId')))
        judged++
      }
    }
    assert.ok(judged > 20)
  })
}

test('the canonical form is that of RFC 8785, byte for byte', (t) => {
  if (!isHere) return t.skip(ABSENT)
  const names = readdirSync(new URL('jcs/input/', VECTORS))
  for (const name of names) {
    const expected = readFileSync(new URL(`jcs/output/${name}`, VECTORS))
    assert.deepEqual(Buffer.from(canonicalJson(readVectors(`jcs/input/${name}`))), expected, name)
  }
  assert.ok(names.length >= 6)
})
