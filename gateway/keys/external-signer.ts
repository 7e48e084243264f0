/**
 * A receipt key that stays elsewhere (a KMS, an HSM behind a small server). The gateway sends the input of the signature over
 * HTTP or a unix socket and receives the signature. It checks each one with the public key before anything is sent, so a
 * wrong signer counts as unavailable.
 */
import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import { openPool, type UndiciPoolType } from '../network/undici.ts'
import type { SignerSettings } from './settings.ts'
import { notReached, StartupError, messageOf } from '../errors/startup-error.ts'
import type { ReceiptSigner } from './receipt-signer.ts'

export interface ExternalSigner extends ReceiptSigner {
  /** Public key, base64url (RFC 8037 §2). */
  readonly x: string
  sign(signingInput: string): Promise<string>
  close(): Promise<void>
}

/** Connections to the signer; what comes on top waits within the timeout. */
const CONNECTIONS = 8
const LONGEST_ANSWER = 4096
/** 64 bytes in 86 characters; the four bits that the last one has over are zero, or one signature would have several spellings. */
const SIGNATURE = /^[A-Za-z0-9_-]{85}[AQgw]$/

/** Null when the configuration names none. Throws a StartupError on a public key that is none. */
export async function openExternalSigner(config: SignerSettings): Promise<ExternalSigner | null> {
  const { url, public_key: x } = config
  if (url === undefined || x === undefined) return null
  const key = publicKey(x)
  const { calculateJwkThumbprint } = await import('jose/jwk/thumbprint')
  const keyId = await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x })
  const { pool, path } = connectSigner(url, config.timeout * 1000)
  const headers = { 'content-type': 'application/json', ...extraHeader(config.header) }
  return {
    keyId,
    x,
    async sign(signingInput) {
      const signal = AbortSignal.timeout(config.timeout * 1000)
      const body = JSON.stringify({ key_id: keyId, algorithm: 'EdDSA', signing_input: signingInput })
      const answer = await pool
        .request({ method: 'POST', path, headers, body, signal })
        .catch((error: unknown) => Promise.reject(notReached('the signer (signer.url)', url, error)))
      const text = await boundedText(answer.body)
      if (answer.statusCode !== 200) throw new Error(`the signer answered ${answer.statusCode}`)
      const signature = signatureIn(text)
      if (!verify(null, Buffer.from(signingInput, 'latin1'), key, Buffer.from(signature, 'base64url')))
        throw new Error('the signer answered a signature of another key or of something else')
      return signature
    },
    close: () => pool.close(),
  }
}

/** `unix:/run/signer.sock` is asked at `/sign`; an address is asked as it is. */
function connectSigner(url: string, timeout: number): { readonly pool: UndiciPoolType; readonly path: string } {
  const options = { connections: CONNECTIONS, headersTimeout: timeout, bodyTimeout: timeout }
  if (url.startsWith('unix:')) {
    const socketPath = url.slice('unix:'.length)
    return { pool: openPool('http://localhost', { ...options, connect: { socketPath, timeout } }), path: '/sign' }
  }
  const { origin, pathname, search } = new URL(url)
  return { pool: openPool(origin, { ...options, connect: { timeout } }), path: pathname + search }
}

function publicKey(x: string): KeyObject {
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  } catch (error) {
    throw new StartupError(
      `signer.public_key is not an Ed25519 public key (${messageOf(error)}); it is the member "x" of its JWK, 32 bytes in base64url.`,
      { cause: error },
    )
  }
}

function extraHeader(header: string | undefined): Readonly<Record<string, string>> {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(header ?? '') ?? []
  return name === undefined || value === undefined ? {} : { [name]: value }
}

async function boundedText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > LONGEST_ANSWER) throw new Error(`the signer answered more than ${LONGEST_ANSWER} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function signatureIn(text: string): string {
  const value: unknown = JSON.parse(text)
  const signature = typeof value === 'object' && value !== null && 'signature' in value ? value.signature : null
  if (typeof signature !== 'string' || !SIGNATURE.test(signature))
    throw new Error('the signer answered no "signature" of 64 bytes in base64url')
  return signature
}
