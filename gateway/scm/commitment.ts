/** The commitment to a list of changed files, `changeset.sorted-leaf.v1` (docs/reference/hashes.md#change_set_commitment). */
import { createHash } from 'node:crypto'
import type { Digest } from '../../engine/internal.ts'
import type { ChangeType } from './platform.ts'

export interface CommittedFile {
  readonly path: string
  readonly change: ChangeType
  /** 64 hex digits; empty on a side where there is no file, and on both for a file whose contents were not looked at. */
  readonly before: string
  readonly after: string
}

/** Leaves are hashes of UTF-8 texts; sorted as bytes, their 32-byte values joined and hashed under `root\0`. */
export function changeSetCommitment(files: readonly CommittedFile[]): Digest {
  const leaves = files.map(({ path, change, before, after }) =>
    createHash('sha256').update(`leaf\0${path}\0${change}\0${before}\0${after}`).digest(),
  )
  const root = createHash('sha256').update('root\0')
  for (const leaf of leaves.sort((a, b) => Buffer.compare(a, b))) root.update(leaf)
  return `sha256:${root.digest('hex')}`
}
