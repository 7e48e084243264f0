/** Verdict + issuance → envelope (interface.md, Resources). Clock, ids and identity are handed in as values. */
import type { Static } from 'typebox'
import type { Digest } from '../hash.ts'
import type { Envelope as EnvelopeSchema } from './envelope-schema.ts'
import type { Verdict } from './verdict.ts'

export type Envelope = Readonly<Static<typeof EnvelopeSchema>>

/** What the issuing path knows and the verdict must not: ids, time, identity. */
export interface Issuance {
  readonly decisionId: string
  readonly correlationId: string
  /** Seconds since the epoch. `expires_at` is this plus the verdict's TTL. */
  readonly evaluatedAt: number
  /** `v:` and 12 hex digits; null on the road without a key. */
  readonly audience: string | null
  readonly decisionSpecVersion: '1.0' | '2.0'
  /** `https://` address of a page about the decision; null when there is none. */
  readonly reportUrl: string | null
}

/** An envelope whose receipt is not made yet. */
export type EnvelopeDraft = Omit<Envelope, 'receipt' | 'decision_body_hash'>

/** A value that must not leave: the rules of interface.md (States) do not hold for it. */
export class EnvelopeInvariantError extends Error {
  readonly violations: readonly string[]

  constructor(violations: readonly string[]) {
    super(`The envelope breaks its own rules and is not issued: ${violations.join('; ')}`)
    this.name = 'EnvelopeInvariantError'
    this.violations = violations
  }
}

/** @throws EnvelopeInvariantError when a cross-field rule does not hold. */
export declare function buildEnvelope(verdict: Verdict, issuance: Issuance): EnvelopeDraft
export declare function bodyHash(envelope: unknown): Digest
