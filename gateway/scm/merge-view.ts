/**
 * The two sides of a change as trees of files: the base as it is, and what it will be. Where both branches changed one file, git
 * merges lines; that result is unknown here, never guessed.
 */
import type { ChangedFile, FileAtCommit, ScmClient } from './platform.ts'
import { ARTIFACT_PROBLEMS } from './problems.ts'

export interface TreeSides {
  readonly before: (path: string) => Promise<FileAtCommit>
  readonly after: (path: string) => Promise<FileAtCommit>
}

interface Merging {
  readonly base: string
  readonly head: string
  /** Null: the base is replaced by the head and nothing is merged. */
  readonly mergeBase: string | null
  readonly files: readonly ChangedFile[]
}

export function createSides(client: Pick<ScmClient, 'file'>, merging: Merging): TreeSides {
  const { base, head, mergeBase } = merging
  const changes = new Map(merging.files.map((file) => [file.path, file]))
  const read = cachedFiles(client)
  // A platform says "not found" for what it does not show as well: what it lists as changed has to be there.
  const present = async (path: string, commit: string): Promise<FileAtCommit> => {
    const file = await read(path, commit)
    return file.kind === 'absent' ? { kind: 'unreadable', problem: ARTIFACT_PROBLEMS.missing(path, commit) } : file
  }
  const merged = async (path: string, change: ChangedFile): Promise<FileAtCommit> => {
    const theirs = change.change === 'removed' ? ABSENT : await present(path, head)
    if (isUpToDate(merging) || theirs.kind === 'unreadable') return theirs
    const [ours, origin] = await Promise.all([
      read(path, base),
      change.change === 'added' || mergeBase === null ? ABSENT : present(path, mergeBase),
    ])
    if (isSameFileContent(ours, origin) || isSameFileContent(ours, theirs)) return theirs
    return { kind: 'unreadable', problem: ARTIFACT_PROBLEMS.bothChanged(path) }
  }
  return {
    before(path) {
      const change = changes.get(path)
      if (change === undefined || !isUpToDate(merging)) return read(path, base)
      return change.change === 'added' ? Promise.resolve(ABSENT) : present(path, base)
    },
    after: (path) => {
      const change = changes.get(path)
      return change === undefined ? read(path, base) : merged(path, change)
    },
  }
}

const ABSENT: FileAtCommit = { kind: 'absent' }

/** All that changed, changed since the base: nothing was done there meanwhile. */
function isUpToDate({ base, mergeBase }: Merging): boolean {
  return mergeBase === null || mergeBase === base
}

/** The same blob read twice is one question. */
function cachedFiles(client: Pick<ScmClient, 'file'>): ScmClient['file'] {
  const known = new Map<string, Promise<FileAtCommit>>()
  return (path, commit) => {
    const key = `${commit}:${path}`
    const reading = known.get(key) ?? client.file(path, commit)
    known.set(key, reading)
    return reading
  }
}

function isSameFileContent(a: FileAtCommit, b: FileAtCommit): boolean {
  if (a.kind === 'text' && b.kind === 'text') return a.text === b.text
  return a.kind === 'absent' && b.kind === 'absent'
}
