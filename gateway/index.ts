/**
 * The public API of the gateway package, for agents and targets: call a gateway, guard tools with its answers, verify
 * its receipts. Named exports only.
 */
export { preflightClient } from './client.ts'
export type { PreflightClient, PreflightClientOptions } from './client.ts'
export { parseKeySet } from './keys/jwks.ts'
export {
  guardMcpClient,
  guardTools,
  mayProceed,
  readDecision,
  verifyReceipt,
  type GuardOptions,
  type KeySet,
  type ReceiptVerification,
  type VerifyInput,
} from '../engine/index.ts'
export { sha256Hex } from './runtime/hash.ts'
export { inflateZlib } from './runtime/inflate.ts'
