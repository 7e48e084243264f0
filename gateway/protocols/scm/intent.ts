/**
 * What a request to a source-control platform would do, in terms that all platforms share. Plain data, read from the
 * request alone.
 */
import type { Predecessor } from '../../scm/platform.ts'

interface OnRepository {
  /** Path of the repository at the platform's API, e.g. `/repos/acme/pets`. */
  readonly repository: string
}

export type ScmIntent = OnRepository &
  (
    | {
        readonly kind: 'merge_request'
        readonly id: string
        /** Head commit that the request itself names; null: whatever it is then. */
        readonly head: string | null
        /** Branch that becomes its base, and that it may be merged into from then on; null: it is merged into its base. */
        readonly onto: string | null
        /** Null: as the platform does it by itself. */
        readonly isRebase: boolean | null
        /** The head branch is deleted afterwards; null: as the request and the repository are set. */
        readonly removesHead: boolean | null
      }
    | {
        readonly kind: 'merge_branches'
        readonly base: string
        /** Branch, tag or commit. */
        readonly head: string
      }
    /** Sets it, or makes it where there is none. */
    | { readonly kind: 'move_branch'; readonly branch: string; readonly commit: string }
    /** One that is there. */
    | { readonly kind: 'move_tag'; readonly tag: string; readonly commit: string }
    | {
        readonly kind: 'write_files'
        /** Null: the default branch. */
        readonly branch: string | null
        /** Commits that the request names as the parents of its own; absent: none. */
        readonly parents?: readonly string[]
        readonly writes: readonly FileWrite[]
      }
    | {
        readonly kind: 'ship'
        readonly operation: 'deploy' | 'publish'
        /** What is shipped: branch, tag or commit; null: the default branch. */
        readonly ref: string | null
        readonly since: Predecessor
        /** For people and receipts: `production`, `v1.2`. */
        readonly label: string
      }
  )

export type FileWrite =
  | { readonly kind: 'content'; readonly path: string; readonly content: Buffer }
  | { readonly kind: 'removal'; readonly path: string }
  | { readonly kind: 'move'; readonly from: string; readonly path: string; readonly content: Buffer | null }

/** A request that does such a thing and cannot be judged, or that the route does not let do it; in words for its sender. */
export class UnreadableIntent extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UnreadableIntent'
  }
}
