/**
 * How far the judged change set is known to be complete (docs/reference/envelope.md#completeness-modes). The issuing
 * path supplies the facts, and the envelope members follow from them. They are informative and not part of the
 * verdict's fingerprint.
 */
import type { Digest } from '../common/hash.ts'
import type { Problem } from '../common/result.ts'
import type { DecisionContext } from '../model/decision.ts'
import type { COMPLETENESS_MODES } from './envelope-vocabulary.ts'

type CompletenessMode = (typeof COMPLETENESS_MODES)[number]

/** The source of a change set that the gateway listed itself. */
export interface DerivationFacts {
  readonly platform: 'scm_a' | 'scm_b' | 'scm_c'
  /** Resolved commits. */
  readonly baseSha: string
  readonly headSha: string
}

/** A root over the list of changed files (docs/reference/hashes.md#change_set_commitment), and how many they are. */
export interface Commitment {
  readonly root: Digest
  readonly count: number
}

/** Who listed the change set. */
export type ChangeSetOrigin =
  /** The caller, who attests to it by naming the repository. */
  | { readonly kind: 'submitted'; readonly attested: Commitment }
  /**
   * The gateway, from the platform, or from a request that writes files itself (`derivation` null). `problem`: why the
   * list is incomplete.
   */
  | {
      readonly kind: 'derived'
      readonly derivation: DerivationFacts | null
      readonly commitment: Commitment | null
      readonly problem: Problem | null
    }

/** What callers attested for the same commits, compared with the list that the gateway made. */
export type Reconciliation =
  | { readonly result: 'CROSS_VERIFIED' }
  /** `difference`: one sentence that names what differs. */
  | { readonly result: 'DIVERGED'; readonly difference: string }

export interface CompletenessFacts {
  readonly origin: ChangeSetOrigin
  /** When the tenant's control over the declared repository was proven, ISO 8601 UTC, or null. */
  readonly bindingProvenAt: string | null
  /** Hash of the contract discovery profile in force, or null. */
  readonly selectorHash: Digest | null
  /** Absent: nobody attested a change set for these commits. */
  readonly reconciliation?: Reconciliation
}

const COMMITMENT_ALG = 'changeset.sorted-leaf.v1'

/** What would raise the mode, or null. */
const CHANNELS: Readonly<Record<CompletenessMode, string | null>> = {
  UNBOUND: 'repository_binding',
  ATTESTED_UNVERIFIED: 'repository_binding',
  BOUND_ATTESTED: 'server_derivation',
  SERVER_DERIVED: null,
  CROSS_VERIFIED: null,
  DIVERGED: null,
  UNESTABLISHABLE: null,
}

/** Without facts the artifacts were submitted, and their source is unknown. */
function completenessMode(facts: CompletenessFacts | undefined, context: DecisionContext): CompletenessMode {
  if (facts === undefined) return 'UNBOUND'
  const { origin, bindingProvenAt } = facts
  if (origin.kind === 'derived') {
    if (origin.problem !== null) return 'UNESTABLISHABLE'
    if (bindingProvenAt === null || origin.derivation === null) return 'UNBOUND'
    return facts.reconciliation?.result ?? 'SERVER_DERIVED'
  }
  if (context.repository === null) return 'UNBOUND'
  return bindingProvenAt === null ? 'ATTESTED_UNVERIFIED' : 'BOUND_ATTESTED'
}

/** What differs between the derived change set and an attested one; null: nothing does, or nothing was compared. */
export function divergence(facts: CompletenessFacts | undefined): string | null {
  return facts?.reconciliation?.result === 'DIVERGED' ? facts.reconciliation.difference : null
}

export function completenessMembers(
  facts: CompletenessFacts | undefined,
  {
    context,
    audience,
    submitted,
  }: { readonly context: DecisionContext; readonly audience: string | null; readonly submitted: Digest },
) {
  const mode = completenessMode(facts, context)
  const commitment = mode === 'UNBOUND' || facts === undefined ? null : commitmentOf(facts.origin)
  const provenAt = facts?.bindingProvenAt ?? null
  return {
    completeness_mode: mode,
    completeness_expected_channel: CHANNELS[mode],
    change_set_commitment: commitment?.root ?? null,
    change_set_commitment_alg: commitment === null ? null : COMMITMENT_ALG,
    contract_selector_hash: facts?.selectorHash ?? null,
    completeness_count: commitment?.count ?? null,
    submitted_set_digest: submitted,
    binding: provenAt === null ? null : { proven: true, proven_at: provenAt },
    authority:
      provenAt === null
        ? { audience, tenant_scope: 'unbound' as const }
        : { audience, tenant_scope: 'bound' as const, binding_proven_at: provenAt },
    ...derivationMember(facts),
  }
}

function commitmentOf(origin: ChangeSetOrigin): Commitment | null {
  return origin.kind === 'derived' ? origin.commitment : origin.attested
}

/** Absent, not null, if the gateway listed nothing itself. */
function derivationMember(facts: CompletenessFacts | undefined) {
  const derivation = facts?.origin.kind === 'derived' ? facts.origin.derivation : null
  if (derivation === null) return {}
  const { platform, baseSha, headSha } = derivation
  return { derivation: { source: `${platform}_compare` as const, platform, base_sha: baseSha, head_sha: headSha } }
}
