/** Receipt keys for tests: real Ed25519 by node:crypto, behind the engine's own interfaces. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto'
import type { KeySet, Signer, VerificationKey } from '../../engine/internal.ts'

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

export interface FakeKey {
  readonly signer: Signer
  readonly publicKey: KeyObject
  /** As published, with what the test wants to be different. */
  published(changes?: Partial<VerificationKey>): VerificationKey
}

export function fakeKey(keyId = 'key-1', seed?: string): FakeKey {
  const privateKey = seed === undefined ? generateKeyPairSync('ed25519').privateKey : keyFromSeed(seed)
  const publicKey = createPublicKey(privateKey)
  return {
    signer: { keyId, sign: (input) => sign(null, Buffer.from(input), privateKey).toString('base64url') },
    publicKey,
    published: (changes = {}) => ({
      keyId,
      status: 'active',
      validFrom: 0,
      retiredAt: null,
      revokedAt: null,
      verify: (input, signature) => verifies(publicKey, input, signature),
      ...changes,
    }),
  }
}

export function keySet(...keys: readonly VerificationKey[]): KeySet {
  return new Map(keys.map((key) => [key.keyId, key]))
}

export function verifies(publicKey: KeyObject, input: string, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64url')
  return bytes.length === 64 && verify(null, Buffer.from(input), publicKey, bytes)
}

/** The PKCS #8 prefix of an Ed25519 private key (RFC 8410 §7) and 32 bytes of seed. */
function keyFromSeed(seed: string): KeyObject {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.from(sha256(seed), 'hex')])
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
}
