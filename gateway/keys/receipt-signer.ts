/** What signs receipts and attestations: a key at hand answers at once, one elsewhere later. Without a signature nothing is issued. */
import { GatewayError } from '../errors/errors.ts'

export interface ReceiptSigner {
  readonly keyId: string
  /** base64url without padding, of the ASCII input; throws or rejects when there is no signature to be had. */
  sign(signingInput: string): string | Promise<string>
}

/** @throws GatewayError SIGNER_UNAVAILABLE, whose cause says why */
export async function signatureOf(signer: ReceiptSigner, signingInput: string): Promise<string> {
  try {
    return await signer.sign(signingInput)
  } catch (error) {
    throw error instanceof GatewayError ? error : new GatewayError('SIGNER_UNAVAILABLE', undefined, { cause: error })
  }
}
