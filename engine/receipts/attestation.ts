/**
 * A decision as an in-toto statement in a DSSE envelope, for tools that check attestations (docs/reference/hashes.md#attestation;
 * this one states what was decided and authorizes nothing). Only the composing is here: whoever holds the key signs.
 * https://github.com/secure-systems-lab/dsse/blob/master/protocol.md, https://github.com/in-toto/attestation/tree/main/spec/v1
 */
import type { Envelope } from '../decide/envelope-schema.ts'
import { asciiJson } from '../common/hash.ts'
import { encodeAscii } from './base64url.ts'

export const ATTESTATION_PAYLOAD_TYPE = 'application/vnd.in-toto+json'
export const ATTESTATION_PREDICATE_TYPE = 'https://preflight.dev/attestation/decision/v1'

export interface DsseEnvelope {
  readonly payloadType: typeof ATTESTATION_PAYLOAD_TYPE
  /** base64 of the statement. */
  readonly payload: string
  readonly signatures: readonly [{ readonly keyid: string; readonly sig: string }]
}

export interface PreparedAttestation {
  /** The pre-authentication encoding: what is signed. ASCII, and never a JWS signing input, which has no space. */
  readonly signingInput: string
  /** @param signature Ed25519 over the signing input, base64url without padding */
  finish(signature: string): DsseEnvelope
}

/** The same decision gives the same bytes: the statement is canonical JSON, and nothing of the moment of export is in it. */
export function prepareAttestation(envelope: Envelope, keyId: string): PreparedAttestation {
  const payload = asciiJson({
    _type: 'https://in-toto.io/Statement/v1',
    subject: subjects(envelope),
    predicateType: ATTESTATION_PREDICATE_TYPE,
    predicate: { decision_result: envelope },
  })
  const signingInput = `DSSEv1 ${ATTESTATION_PAYLOAD_TYPE.length} ${ATTESTATION_PAYLOAD_TYPE} ${payload.length} ${payload}`
  return {
    signingInput,
    finish: (signature) => ({
      payloadType: ATTESTATION_PAYLOAD_TYPE,
      payload: toBase64(encodeAscii(payload)),
      signatures: [{ keyid: keyId, sig: toBase64(signature) }],
    }),
  }
}

/** What the decision is about, by the digests that a holder of the change set can compute (docs/reference/hashes.md#attestation). */
function subjects({ input_fingerprint: input, artifact_digest: artifacts }: Envelope): readonly object[] {
  const named = [
    { name: 'preflight:change-set', digest: input },
    { name: 'preflight:artifact-set', digest: artifacts ?? null },
  ]
  return named.flatMap(({ name, digest }) =>
    digest === null ? [] : [{ name, digest: { sha256: digest.slice('sha256:'.length) } }],
  )
}

function toBase64(base64url: string): string {
  const plain = base64url.replaceAll('-', '+').replaceAll('_', '/')
  return plain.padEnd(Math.ceil(plain.length / 4) * 4, '=')
}
