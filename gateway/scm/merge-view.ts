/**
 * The two sides of a change as trees of files: the base as it is, and what it will be. Where both branches changed one file, git
 * merges lines; that result is read from the platform's own trial merge or is unknown, never guessed.
 */
import type { ChangedFile, FileAtCommit, MergeRequest, ScmClient } from './platform.ts'
import { ARTIFACT_PROBLEMS } from './problems.ts'

export interface TreeSides {
  readonly before: (path: string) => Promise<FileAtCommit>
  readonly after: (path: string) => Promise<FileAtCommit>
}

export interface Merging {
  readonly base: string
  readonly head: string
  /** Null: the base is replaced by the head and nothing is merged. */
  readonly mergeBase: string | null
  readonly files: readonly ChangedFile[]
  readonly trialMerge: MergeRequest['trialMerge']
}

export function createSides(client: ScmClient, merging: Merging): TreeSides {
  const { base, head, mergeBase } = merging
  const changes = new Map(merging.files.map((file) => [file.path, file]))
  const read = remembering(client)
  const trial = once(() => usableTrial(client, merging))

  const merged = async (path: string, change: ChangedFile): Promise<FileAtCommit> => {
    const theirs = change.change === 'removed' ? ABSENT : await read(path, head)
    if (mergeBase === null || mergeBase === base) return theirs
    const [ours, origin] = await Promise.all([
      read(path, base),
      change.change === 'added' ? ABSENT : read(path, mergeBase),
    ])
    if (isSame(ours, origin) || isSame(ours, theirs)) return theirs
    const tried = await trial()
    return tried === null ? { kind: 'unreadable', problem: ARTIFACT_PROBLEMS.bothChanged(path) } : read(path, tried)
  }
  return {
    before: (path) => (isAdded(changes.get(path), merging) ? Promise.resolve(ABSENT) : read(path, base)),
    after: (path) => {
      const change = changes.get(path)
      return change === undefined ? read(path, base) : merged(path, change)
    },
  }
}

const ABSENT: FileAtCommit = { kind: 'absent' }

/** Of a head that is up to date, an added file needs no look at the base. */
function isAdded(change: ChangedFile | undefined, { base, mergeBase }: Merging): boolean {
  return change?.change === 'added' && (mergeBase === null || mergeBase === base)
}

/** The same blob read twice is one question. */
function remembering(client: ScmClient): ScmClient['file'] {
  const known = new Map<string, Promise<FileAtCommit>>()
  return (path, commit) => {
    const key = `${commit}:${path}`
    const reading = known.get(key) ?? client.file(path, commit)
    known.set(key, reading)
    return reading
  }
}

/** A trial merge counts when it is one of exactly these two commits. */
async function usableTrial(client: ScmClient, { base, head, trialMerge }: Merging): Promise<string | null> {
  if (trialMerge === null) return null
  const [ours, theirs, ...others] = await client.parentsOf(trialMerge)
  return ours === base && theirs === head && others.length === 0 ? trialMerge : null
}

function isSame(a: FileAtCommit, b: FileAtCommit): boolean {
  if (a.kind === 'text' && b.kind === 'text') return a.text === b.text
  return a.kind === 'absent' && b.kind === 'absent'
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null
  return () => (made ??= make())
}
