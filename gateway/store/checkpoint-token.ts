/**
 * A signed head of the ledger: compact JWS (RFC 7515) with the receipt keys and its own type, so that it is never a receipt. A
 * checkpoint that is stored elsewhere proves later that the ledger still contains everything up to it.
 */
import type { KeySet } from '../../engine/internal.ts'
import { signatureOf, type ReceiptSigner } from '../keys/receipt-signer.ts'
import type { LedgerHead } from './ledger.ts'

const CHECKPOINT_TYPE = 'preflight-checkpoint+jwt'

interface Checkpoint extends LedgerHead {
  /** Seconds since the epoch. */
  readonly issuedAt: number
}

/** @throws GatewayError SIGNER_UNAVAILABLE */
export async function signCheckpoint(checkpoint: Checkpoint, signer: ReceiptSigner): Promise<string> {
  const { chain, sequence, hash, issuedAt } = checkpoint
  const header = encode({ alg: 'EdDSA', kid: signer.keyId, typ: CHECKPOINT_TYPE })
  const input = `${header}.${encode({ chain, hash, iat: issuedAt, seq: sequence })}`
  return `${input}.${await signatureOf(signer, input)}`
}

type CheckpointReading =
  | { readonly ok: true; readonly checkpoint: Checkpoint }
  /**
   * `problem`: part of a sentence for people. `isForged`: a known key did not sign it, or it is not a checkpoint.
   * `claimed`: its content, whoever signed it; null when it has none.
   */
  | { readonly ok: false; readonly problem: string; readonly isForged: boolean; readonly claimed: Checkpoint | null }

/** A key that was retired or revoked since did sign it: its content still applies to the ledger. */
export function readCheckpoint(token: string, keys: KeySet): CheckpointReading {
  const [header = '', payload = '', signature = '', ...rest] = token.trim().split('.')
  const { kid, alg, typ } = decode(header)
  const checkpoint = checkpointIn(decode(payload))
  if (rest.length > 0 || alg !== 'EdDSA' || typ !== CHECKPOINT_TYPE || typeof kid !== 'string' || checkpoint === null)
    return { ok: false, problem: 'it is not a checkpoint', isForged: true, claimed: null }
  const key = keys.get(kid)
  if (key === undefined)
    return { ok: false, problem: `no receipt key has the id ${kid}`, isForged: false, claimed: checkpoint }
  return key.verify(`${header}.${payload}`, signature)
    ? { ok: true, checkpoint }
    : { ok: false, problem: 'its signature is wrong', isForged: true, claimed: checkpoint }
}

function checkpointIn({ chain, seq, hash, iat }: Partial<Record<string, unknown>>): Checkpoint | null {
  if (typeof chain !== 'string' || typeof seq !== 'number' || typeof hash !== 'string' || typeof iat !== 'number')
    return null
  return { chain, sequence: seq, hash, issuedAt: iat }
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function decode(segment: string): Partial<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(segment, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    // Not JSON: the caller reports that it is not a checkpoint.
    return {}
  }
}
