/**
 * A change set as the platform lists it: which files changed, which of them are contracts or parts of one, and both sides of
 * each. What cannot be had whole is said, and makes the analysis incomplete.
 */
import { byCodeUnit } from '../../engine/base.ts'
import type {
  Artifact,
  Commitment,
  CompletenessFacts,
  DerivationFacts,
  Digest,
  Problem,
} from '../../engine/internal.ts'
import type { UnreadableArtifact } from '../flow/flow.ts'
import { sha256Hex } from '../runtime/hash.ts'
import type { DerivationTerms } from './selector.ts'
import { classify, type ContractFile } from './contract-file.ts'
import { changeSetCommitment, type CommittedFile } from './commitment.ts'
import { affectedRoots } from './contract-roots.ts'
import { askInOrder } from './transport.ts'
import { mergeDoubt, type BranchChanges } from './merge-doubt.ts'
import { createSides, type TreeSides } from './merge-view.ts'
import { fileOfBytes } from './files.ts'
import type { ChangedFile, CommitComparison, FileAtCommit, Listing, MergeRequest, ScmClient } from './platform.ts'
import { LISTING_PROBLEMS } from './problems.ts'

export interface DerivationRequest {
  /** Commit ids. */
  readonly base: string
  readonly head: string
  /**
   * `merge`: what head changed since it parted is brought into base. `rebase`: the same, its commits are repeated there one by one,
   * or only where head does not contain base (`rebase_when_behind`). `branch`: the same, and nothing is brought anywhere.
   * `replace`: what is at head comes in the place of base.
   */
  readonly kind: 'merge' | 'rebase' | 'rebase_when_behind' | 'branch' | 'replace'
  readonly trialMerge: MergeRequest['trialMerge']
}

/** What a change set is derived through. */
type DerivingClient = Pick<
  ScmClient,
  'platform' | 'compare' | 'changedFiles' | 'file' | 'paths' | 'parentsOf' | 'commitsBetween'
>

export interface DerivedChangeSet {
  /** Null: the files are written by the request that is judged. */
  readonly derivation: DerivationFacts | null
  readonly artifacts: readonly Artifact[]
  readonly unreadable: readonly UnreadableArtifact[]
  /** All changed files, contracts or not, with the digests of those that were looked at. */
  readonly files: readonly CommittedFile[]
  /** To these files. */
  readonly commitment: Commitment
  readonly selectorHash: Digest
  /** Why the list is not whole; null: it is. */
  readonly problem: Problem | null
}

/** @throws ScmError when the platform does not list the changes at all */
export async function deriveChangeSet(
  client: DerivingClient,
  question: DerivationRequest,
  terms: DerivationTerms,
): Promise<DerivedChangeSet> {
  const { base, head, kind } = question
  const { result, mergeBase, files } = await changesOf(client, question)
  const sides = createSides(client, { base, head: result, mergeBase, files: files.items })
  const derivation = { platform: client.platform, baseSha: base, headSha: head }
  const derived = await judgeable(client, { base, files, sides }, terms)
  if (mergeBase === null || kind === 'branch' || kind === 'replace') return { ...derived, derivation }
  const merge = { base, head, mergeBase, isRebase: isRebase(kind, base === mergeBase), files: files.items }
  const doubt = await mergeDoubt(client, merge, {
    isSelected: (path) => terms.selector.isSelected(path),
    contractsIn: (changes) => contractsBetween(client, changes, terms),
  })
  return { ...derived, derivation, problem: derived.problem ?? doubt }
}

function isRebase(kind: DerivationRequest['kind'], isUpToDate: boolean): boolean {
  return kind === 'rebase' || (kind === 'rebase_when_behind' && !isUpToDate)
}

/** Names of the contracts that a branch itself changed. */
async function contractsBetween(
  client: DerivingClient,
  { from, to, files }: BranchChanges,
  terms: DerivationTerms,
): Promise<readonly string[]> {
  const sides = createSides(client, { base: from, head: to, mergeBase: null, files: files.items })
  const { whole, problem } = await contractsIn(client, { base: from, files, sides }, terms)
  const found = [...whole.artifacts, ...whole.unreadable].map(({ id }) => id)
  return problem === null ? found : [...found, 'a contract']
}

/** Files that a request itself writes on top of a branch: null removes one. */
export async function deriveWritten(
  client: DerivingClient,
  { base, written }: { readonly base: string; readonly written: ReadonlyMap<string, Buffer | null> },
  terms: DerivationTerms,
): Promise<DerivedChangeSet> {
  const before = (path: string): Promise<FileAtCommit> => client.file(path, base)
  const after = (path: string): Promise<FileAtCommit> => {
    const content = written.get(path)
    if (content === undefined) return before(path)
    return Promise.resolve(content === null ? { kind: 'absent' } : fileOfBytes(path, content))
  }
  const items = [...written].map(([path, content]): ChangedFile => ({
    path,
    change: content === null ? 'removed' : 'modified',
  }))
  const changes = { base, files: { items, incomplete: null }, sides: { before, after } }
  return { ...(await judgeable(client, changes, terms)), derivation: null }
}

/** Two trees that are held whole; an added, changed or removed file is one that is not the same text on both sides. */
export async function compareTrees(
  before: ReadonlyMap<string, FileAtCommit>,
  after: ReadonlyMap<string, FileAtCommit>,
  terms: DerivationTerms,
): Promise<Pick<DerivedChangeSet, 'artifacts' | 'unreadable' | 'problem' | 'selectorHash'>> {
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted(byCodeUnit)
  const items = paths.flatMap((path): readonly ChangedFile[] => {
    const [base, head] = [before.get(path), after.get(path)]
    if (base === undefined || head === undefined) return [{ path, change: base === undefined ? 'added' : 'removed' }]
    const isSame = base.kind === 'text' && head.kind === 'text' && base.text === head.text
    return isSame ? [] : [{ path, change: 'modified' }]
  })
  const side = (tree: typeof before) => (path: string) =>
    Promise.resolve<FileAtCommit>(tree.get(path) ?? { kind: 'absent' })
  const files = { items, incomplete: null }
  const changes = { base: '', files, sides: { before: side(before), after: side(after) } }
  const listing = { paths: () => Promise.resolve({ items: paths, incomplete: null }) }
  const { whole, problem } = await contractsIn(listing, changes, terms)
  return { ...whole, problem, selectorHash: terms.selector.hash }
}

async function judgeable(
  client: DerivingClient,
  { base, files, sides }: SidedChanges,
  terms: DerivationTerms,
): Promise<Omit<DerivedChangeSet, 'derivation'>> {
  const { whole, read, problem } = await contractsIn(client, { base, files, sides }, terms)
  const listed = await withDigests(files.items, read, sides)
  return {
    ...whole,
    files: listed,
    commitment: { root: changeSetCommitment(listed), count: listed.length },
    selectorHash: terms.selector.hash,
    problem,
  }
}

interface SidedChanges {
  readonly base: string
  readonly files: Listing<ChangedFile>
  readonly sides: TreeSides
}

/** Contracts among the changed files and those that rest on them. `read`: the files that were looked at. */
async function contractsIn(
  client: Pick<ScmClient, 'paths'>,
  { base, files, sides }: SidedChanges,
  terms: DerivationTerms,
) {
  const selected = files.items.filter(({ path }) => terms.selector.isSelected(path))
  const read = selected.slice(0, terms.maxContracts)
  const contracts = await askInOrder(read, (file) => classify(file, sides, terms))
  const roots = await affectedRoots(client, { base, contracts, files: files.items, sides }, terms)
  const whole = gathered([...contracts, ...roots.contracts])
  return { whole, read, problem: listingProblem(files, selected.length - read.length) ?? roots.problem }
}

/** The origin of a derived change set, as a decision gets it. */
export function derivedCompleteness(
  { derivation, commitment, problem, selectorHash }: DerivedChangeSet,
  bindingProvenAt: string | null,
): CompletenessFacts {
  return { origin: { kind: 'derived', derivation, commitment, problem }, bindingProvenAt, selectorHash }
}

interface TreeChange extends Pick<CommitComparison, 'files'> {
  /** Commit whose files come to the base. */
  readonly result: string
  /** Null: the base becomes what the commit is. */
  readonly mergeBase: string | null
}

async function changesOf(client: DerivingClient, question: DerivationRequest): Promise<TreeChange> {
  const { base, head, kind } = question
  if (kind === 'replace') return { result: head, mergeBase: null, files: await client.changedFiles(base, head) }
  const compared = await client.compare(base, head)
  const trial = kind === 'merge' && compared.mergeBase !== base ? await usableTrial(client, question) : null
  if (trial === null) return { ...compared, result: head }
  return { result: trial, mergeBase: null, files: await client.changedFiles(base, trial) }
}

/** A trial merge counts when it is one of exactly these two commits. */
async function usableTrial(
  client: DerivingClient,
  { base, head, trialMerge }: DerivationRequest,
): Promise<string | null> {
  if (trialMerge === null) return null
  const [ours, theirs, ...others] = await client.parentsOf(trialMerge)
  return ours === base && theirs === head && others.length === 0 ? trialMerge : null
}

function listingProblem({ incomplete }: Listing<ChangedFile>, unread: number): Problem | null {
  if (incomplete !== null) return LISTING_PROBLEMS.incomplete(incomplete)
  return unread > 0 ? LISTING_PROBLEMS.incomplete(`${unread} further files could be contracts`) : null
}

function gathered(contracts: readonly ContractFile[]): Pick<DerivedChangeSet, 'artifacts' | 'unreadable'> {
  const artifacts = [
    ...protoSets(contracts),
    ...contracts.flatMap((contract) => contract.artifacts.filter(isReadAlone)),
  ]
  return {
    artifacts: artifacts.toSorted((a, b) => byCodeUnit(a.id, b.id)),
    unreadable: contracts.flatMap(({ unreadable }) => unreadable),
  }
}

function isReadAlone({ type }: Artifact): boolean {
  return type !== 'protobuf'
}

/** All changed proto files are one contract: a message that moves from one to another is not gone. */
function protoSets(contracts: readonly ContractFile[]): readonly Artifact[] {
  const protos = contracts.flatMap(({ artifacts }) => artifacts.filter((artifact) => !isReadAlone(artifact)))
  if (protos.length < 2) return protos
  const side = (of: 'before' | 'after'): string => {
    const files = protos.filter((proto) => proto[of] !== '').map((proto) => [proto.id, proto[of]] as const)
    return files.length === 0 ? '' : JSON.stringify(Object.fromEntries(files))
  }
  return [{ id: '*.proto', type: 'protobuf', before: side('before'), after: side('after') }]
}

function withDigests(
  files: readonly ChangedFile[],
  read: readonly ChangedFile[],
  sides: TreeSides,
): Promise<readonly CommittedFile[]> {
  const looked = new Set(read.map(({ path }) => path))
  return askInOrder(files, async ({ path, change }) => ({
    path,
    change,
    before: looked.has(path) ? textDigest(await sides.before(path)) : '',
    after: looked.has(path) ? textDigest(await sides.after(path)) : '',
  }))
}

function textDigest(file: Awaited<ReturnType<TreeSides['before']>>): string {
  return file.kind === 'text' ? sha256Hex(file.text) : ''
}
