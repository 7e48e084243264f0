/** What the gateway asks of a source-control platform, the same for each of them. A client is bound to one repository and one request's credentials. */
import type { Problem } from '../../engine/internal.ts'

/** Neutral names of the wire (docs/reference/api.md#bindings) and the platforms they stand for. */
export const PLATFORMS = {
  scm_a: { name: 'github', title: 'GitHub' },
  scm_b: { name: 'gitlab', title: 'GitLab' },
  scm_c: { name: 'bitbucket', title: 'Bitbucket' },
} as const

export type PlatformId = keyof typeof PLATFORMS

export type ChangeType = 'added' | 'modified' | 'removed'

/** A rename is two of them: what went from the old path, and what came to the new one. */
export interface ChangedFile {
  readonly path: string
  readonly change: ChangeType
}

/** `incomplete` says why there may be more; null: this is all. */
export interface Listing<Item> {
  readonly items: readonly Item[]
  readonly incomplete: string | null
}

/** What `head` changed since it parted from `base`. */
export interface CommitComparison {
  /** Commit where they parted. */
  readonly mergeBase: string
  readonly files: Listing<ChangedFile>
}

export type FileAtCommit =
  /** `isLink`: of the file that a symbolic link in its place leads to. */
  | { readonly kind: 'text'; readonly text: string; readonly isLink?: true }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable'; readonly problem: Problem }

export interface RepositoryFacts {
  /** As people write it, `owner/name`. */
  readonly name: string
  readonly defaultBranch: string
  /** The platform deletes the head branches of merged requests. */
  readonly removesHeads: boolean
  /** A head that does not contain its base may be rebased onto it by the merge. */
  readonly isRebasedWhenBehind: boolean
}

export interface ListedCommit {
  readonly id: string
  readonly isMerge: boolean
}

/** A pull or merge request. */
export interface MergeRequest {
  readonly id: string
  /** False: the platform states that it is merged or closed. */
  readonly isOpen: boolean
  /** Branch that it is merged into. */
  readonly base: string
  /** Branch that is merged. */
  readonly head: string
  readonly headSha: string
  /** Commit that the platform made to try the merge out; null where it makes none. */
  readonly trialMerge: string | null
  /** It is merged by a rebase, unless the merge states otherwise. */
  readonly isRebase: boolean
  /** Its head branch is deleted by the merge, unless the merge states otherwise. */
  readonly removesHead: boolean
  /** The head is a branch of another repository. */
  readonly isFromElsewhere: boolean
  /** Full name of the repository of the head, where requests that wait there matter; null: unknown. */
  readonly headRepository: string | null
}

/** Where the head of a request is. */
export type HeadPlace = Pick<MergeRequest, 'isFromElsewhere' | 'headRepository'>

/** An open request that the platform merges by itself, once its checks have passed. */
interface WaitingMerge {
  /** As people write it: `owner/name#7`. */
  readonly name: string
  readonly base: string
}

export interface WaitingMerges {
  /** Into a branch of the repository that is asked. */
  readonly own: readonly WaitingMerge[]
  /** Into another repository: one that the repository of the head is a fork of, or that fork itself. */
  readonly elsewhere: readonly WaitingMerge[]
}

export const NO_WAITING_MERGES: WaitingMerges = { own: [], elsewhere: [] }

/** What came before a release or a deployment: the change set runs from there. */
export type Predecessor =
  | { readonly kind: 'release' }
  | { readonly kind: 'deployment'; readonly environment: string }
  | { readonly kind: 'workflow'; readonly workflow: string }

export interface ScmClient {
  readonly platform: PlatformId
  /** All methods reject with a ScmError. */
  facts(): Promise<RepositoryFacts>
  /** Full id of the commit that a branch, a tag or a commit id names. */
  commitOf(ref: string): Promise<string>
  /** The tip of a branch, whatever tag has the same name. */
  branchTip(branch: string): Promise<string>
  /** The platform itself refuses to delete this branch. */
  keepsBranch(branch: string): Promise<boolean>
  /** The commit of a tag, whatever branch has the same name; null: there is no such tag. */
  tagged(tag: string): Promise<string | null>
  compare(base: string, head: string): Promise<CommitComparison>
  /** Between two trees, however the commits are related. */
  changedFiles(from: string, to: string): Promise<Listing<ChangedFile>>
  file(path: string, commit: string): Promise<FileAtCommit>
  /** Paths of all files at a commit. */
  paths(commit: string): Promise<Listing<string>>
  mergeRequest(id: string): Promise<MergeRequest>
  /**
   * Those of this branch that go on to wait when its head moves.
   * @param request whose head the branch is, in this repository or in a fork; null: a branch of this repository
   */
  waitingMerges(branch: string, request?: HeadPlace | null): Promise<WaitingMerges>
  parentsOf(commit: string): Promise<readonly string[]>
  /** Commits that `to` has and `from` has not. */
  commitsBetween(from: string, to: string): Promise<Listing<ListedCommit>>
  /** Commit of the last good one; null: there was none. */
  previous(what: Predecessor): Promise<string | null>
}
