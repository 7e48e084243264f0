/** A decision as a DSSE envelope: read and verified here as any tool would, from the published specifications alone. */
import assert from 'node:assert/strict'
import { verify } from 'node:crypto'
import { suite, test } from 'node:test'
import { prepareAttestation, type Envelope } from '../../../engine/internal.ts'
import { decideOn, issueOn } from '../../fakes/decisions.ts'
import { at, textAt } from '../../json.ts'

const BREAKING = [{ rule: 'api-removed-without-deprecation', level: 'breaking' }] as const

function attest(envelope: Envelope, { key } = issueOn(decideOn([]))) {
  const prepared = prepareAttestation(envelope, key.signer.keyId)
  return { dsse: prepared.finish(key.signer.sign(prepared.signingInput)), key }
}

/** https://github.com/secure-systems-lab/dsse/blob/master/protocol.md, in bytes. */
function preAuthenticationEncoding(type: string, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `), payload])
}

suite('an attestation', () => {
  test('verifies over the pre-authentication encoding, and not when a byte of it differs', () => {
    const { dsse, key } = attest(issueOn(decideOn(BREAKING)).envelope)
    const payload = Buffer.from(dsse.payload, 'base64')
    const [{ keyid, sig }] = dsse.signatures
    assert.equal(keyid, key.signer.keyId)
    const signature = Buffer.from(sig, 'base64')
    assert.ok(verify(null, preAuthenticationEncoding(dsse.payloadType, payload), key.publicKey, signature))
    const changed = Buffer.from(payload)
    changed.writeUInt8(changed.readUInt8(40) ^ 1, 40)
    assert.ok(!verify(null, preAuthenticationEncoding(dsse.payloadType, changed), key.publicKey, signature))
    assert.ok(!verify(null, preAuthenticationEncoding('text/plain', payload), key.publicKey, signature))
    assert.equal(payload.toString('base64'), dsse.payload)
    assert.equal(signature.toString('base64'), sig)
  })

  test('states what was decided, about the digests that a holder of the change set can compute', () => {
    const { envelope } = issueOn(decideOn(BREAKING))
    const { dsse } = attest(envelope)
    const statement: unknown = JSON.parse(Buffer.from(dsse.payload, 'base64').toString('utf8'))
    assert.equal(at(statement, '_type'), 'https://in-toto.io/Statement/v1')
    assert.equal(at(statement, 'predicateType'), 'https://preflight.dev/attestation/decision/v1')
    assert.deepEqual(at(statement, 'predicate', 'decision_result'), envelope)
    assert.deepEqual(
      [0, 1].map((index) => textAt(statement, 'subject', index, 'name')),
      ['preflight:change-set', 'preflight:artifact-set'],
    )
    assert.equal(`sha256:${textAt(statement, 'subject', 0, 'digest', 'sha256')}`, envelope.input_fingerprint)
    assert.equal(`sha256:${textAt(statement, 'subject', 1, 'digest', 'sha256')}`, envelope.artifact_digest)
  })

  test('of a decision without artifacts is about the change set alone', () => {
    const { envelope } = issueOn(decideOn([]))
    const { dsse } = attest({ ...envelope, artifact_digest: null })
    const statement: unknown = JSON.parse(Buffer.from(dsse.payload, 'base64').toString('utf8'))
    assert.equal(textAt(statement, 'subject', 0, 'name'), 'preflight:change-set')
    assert.equal(at(statement, 'subject', 1), undefined)
  })

  test('is the same, byte for byte, each time, and carries any text', () => {
    const issued = issueOn(decideOn([]))
    const envelope = { ...issued.envelope, summary: 'Žluťoučký 🦊 “quoted”' }
    const [first, second] = [attest(envelope, issued), attest(envelope, issued)]
    assert.deepEqual(first.dsse, second.dsse)
    const statement: unknown = JSON.parse(Buffer.from(first.dsse.payload, 'base64').toString('utf8'))
    assert.equal(at(statement, 'predicate', 'decision_result', 'summary'), envelope.summary)
  })
})
