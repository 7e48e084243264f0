/**
 * What callers attested before for the same commits, compared with the change set that the platform lists. An attested decision
 * stands when each of its artifacts is among the changed files and no changed contract is missing from it.
 */
import type { Artifact, Digest, Reconciliation } from '../../engine/internal.ts'
import { readKeptDecision } from '../flow/replay.ts'
import type { KeptDecision } from '../flow/stored-input.ts'
import { sha256Hex } from '../runtime/hash.ts'
import type { DerivedChangeSet } from '../scm/derivation.ts'
import type { StoredDecision } from '../store/decisions.ts'
import type { StorePart } from '../store/store.ts'
import { isJsonObject } from '../json/strict-json.ts'

export interface JudgedCommits {
  readonly tenant: string
  /** As the platform writes it. */
  readonly repository: string
  /** Null: a merge queue group. */
  readonly pullRequest: string | null
  readonly branch: string
  readonly base: string
  readonly head: string
}

export interface AttestedDecision {
  readonly decisionId: string
  /** What differs; null: nothing. */
  readonly difference: string | null
}

type AttestedStore = StorePart<'decisions.list' | 'inputs.byDecision'>

/** Decisions of one repository that are looked through, newest first. */
const MOST_DECISIONS = 200
/** An older decision of a merge has expired. */
const LOOK_BACK_MS = 7 * 86_400_000

export async function attestedDecisions(
  commits: JudgedCommits,
  change: DerivedChangeSet,
  {
    store,
    artifactDigest,
    now,
  }: { readonly store: AttestedStore; readonly artifactDigest: Digest; readonly now: number },
): Promise<readonly AttestedDecision[]> {
  const { tenant, repository } = commits
  const rows = await store.decisions.list({
    tenant,
    repository,
    operation: 'merge',
    from: now - LOOK_BACK_MS,
    limit: MOST_DECISIONS,
  })
  const found: AttestedDecision[] = []
  for (const row of rows) {
    const envelope: unknown = JSON.parse(row.envelope)
    if (!isJsonObject(envelope) || !isAttested(envelope, commits)) continue
    const isEqual = envelope['artifact_digest'] === artifactDigest
    found.push({
      decisionId: row.decisionId,
      difference: isEqual ? null : await attestedDifference(row, change, store),
    })
  }
  return found
}

/** One result for all of them. */
export function reconciliationOf(attested: readonly AttestedDecision[]): Reconciliation | null {
  if (attested.length === 0) return null
  const diverged = attested.find(({ difference }) => difference !== null)
  if (diverged === undefined) return { result: 'CROSS_VERIFIED' }
  const { decisionId, difference } = diverged
  return { result: 'DIVERGED', difference: `Decision ${decisionId} attested another change set: ${difference ?? ''}` }
}

const ATTESTED: ReadonlySet<unknown> = new Set(['ATTESTED_UNVERIFIED', 'BOUND_ATTESTED'])

/** About exactly these commits: a branch that is named in place of the head may be elsewhere by now. */
function isAttested(envelope: Readonly<Record<string, unknown>>, commits: JudgedCommits): boolean {
  const { completeness_mode: mode, base = null, head, pull_request: pull = null } = envelope
  return (
    ATTESTED.has(mode) &&
    head === commits.head &&
    (base === null || base === commits.base || base === commits.branch) &&
    (pull === null || pull === commits.pullRequest)
  )
}

async function attestedDifference(
  { decisionId }: Pick<StoredDecision, 'decisionId'>,
  change: DerivedChangeSet,
  store: AttestedStore,
): Promise<string | null> {
  const text = await store.inputs.byDecision(decisionId)
  const kept = text === null ? null : await readKeptDecision(text)
  if (kept === null) return 'the digests of the contents differ, and its input is not kept.'
  const attested = attestedPairs(kept)
  const listed = listedPairs(change)
  const foreign = attested.find(({ pair }) => !listed.has(pair))
  if (foreign !== undefined) return `its ${foreign.name} is not what the platform has on both sides.`
  const pairs = new Set(attested.map(({ pair }) => pair))
  const missing = change.artifacts.find((artifact) => !isAttestedArtifact(artifact, { pairs, kept, change }))
  return missing === undefined ? null : `${missing.id} changed and is not in it.`
}

interface AttestedPair {
  readonly name: string
  readonly pair: string
}

/** Each text that changed, as the digests of both sides; names of artifacts are the caller's own. */
function attestedPairs({ artifacts }: KeptDecision): readonly AttestedPair[] {
  return artifacts.flatMap(({ id, path = id, before, after, files = {} }) => [
    ...(before === after ? [] : [{ name: path, pair: pairOf(before, after) }]),
    ...Object.entries(files).flatMap(([name, file]) => {
      if (typeof file === 'string' || file.before === file.after) return []
      return [{ name, pair: pairOf(file.before ?? NOTHING, file.after ?? NOTHING) }]
    }),
  ])
}

function listedPairs({ files, artifacts }: DerivedChangeSet): ReadonlySet<string> {
  return new Set([
    ...files.map(({ before, after }) => pairOf(prefixed(before), prefixed(after))),
    ...artifacts.map(textPair),
  ])
}

interface AttestedCoverage {
  readonly pairs: ReadonlySet<string>
  readonly kept: KeptDecision
  readonly change: DerivedChangeSet
}

/** A contract that the gateway composed of several files counts when each of them that changed was attested. */
function isAttestedArtifact(artifact: Artifact, { pairs, kept, change }: AttestedCoverage): boolean {
  if (pairs.has(textPair(artifact))) return true
  const own = change.files.filter(({ path }) => path === artifact.id)
  const parts = own.length > 0 ? own : contractParts(artifact, change)
  const isNamed =
    own.length > 0 || artifact.type === 'protobuf' || kept.artifacts.some(({ id, path = id }) => path === artifact.id)
  return (
    isNamed &&
    parts.length > 0 &&
    parts.every(({ before, after }) => pairs.has(pairOf(prefixed(before), prefixed(after))))
  )
}

/** The changed files that may be parts of a contract whose own file did not change: those that are no contract themselves. */
function contractParts({ type }: Artifact, { files, artifacts }: DerivedChangeSet): DerivedChangeSet['files'] {
  const looked = files.filter(({ before, after }) => before !== '' || after !== '')
  if (type === 'protobuf') return looked.filter(({ path }) => path.endsWith('.proto'))
  const contracts = new Set(artifacts.map(({ id }) => id))
  return looked.filter(({ path }) => !contracts.has(path))
}

const prefixed = (hex: string): string => (hex === '' ? NOTHING : `sha256:${hex}`)
const digestOf = (text: string): string => `sha256:${sha256Hex(text)}`
/** Of the side on which there is no file. */
const NOTHING = digestOf('')

function pairOf(before: string, after: string): string {
  return `${before} ${after}`
}

function textPair({ before, after }: Artifact): string {
  return pairOf(digestOf(before), digestOf(after))
}
