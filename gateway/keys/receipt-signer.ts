/** Signs receipts and attestations: synchronously with a local key, asynchronously with a remote one. Without a signature nothing is issued. */
import { GatewayError } from '../errors/errors.ts'

export interface ReceiptSigner {
  readonly keyId: string
  /** base64url without padding, of the ASCII input; throws or rejects when no signature can be made. */
  sign(signingInput: string): string | Promise<string>
}

/** @throws GatewayError SIGNER_UNAVAILABLE, whose cause says why */
export async function receiptSignature(signer: ReceiptSigner, signingInput: string): Promise<string> {
  try {
    return await signer.sign(signingInput)
  } catch (error) {
    throw error instanceof GatewayError ? error : new GatewayError('SIGNER_UNAVAILABLE', undefined, { cause: error })
  }
}
