/** What all clients do with files: read their bytes as text, compare trees, and sort changes. */
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { ARTIFACT_PROBLEMS } from './problems.ts'
import type { ChangedFile, ChangeType, FileAtCommit, Listing } from './platform.ts'
import { ScmError } from './scm-error.ts'
import type { ScmAnswer, ScmTransport } from './transport.ts'

/** A contract is UTF-8 text; the reader handles a byte order mark. */
export function fileOfBytes(path: string, bytes: Buffer): FileAtCommit {
  return isUtf8(bytes)
    ? { kind: 'text', text: bytes.toString('utf8') }
    : { kind: 'unreadable', problem: ARTIFACT_PROBLEMS.notText(path) }
}

/** Whether these bytes are the blob of this id (SHA-1 or SHA-256, gitformat-loose). */
function isBlob(bytes: Buffer, id: string): boolean {
  const hash = createHash(id.length === 64 ? 'sha256' : 'sha1')
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex') === id
}

/** Blob ids by path. */
type Tree = ReadonlyMap<string, string>

export function treeChanges(before: Listing<readonly [string, string]>, after: typeof before): Listing<ChangedFile> {
  const base: Tree = new Map(before.items)
  const head: Tree = new Map(after.items)
  const items: ChangedFile[] = []
  for (const [path, blob] of head) {
    const baseBlob = base.get(path)
    if (baseBlob === undefined) items.push({ path, change: 'added' })
    else if (baseBlob !== blob) items.push({ path, change: 'modified' })
  }
  for (const path of base.keys()) if (!head.has(path)) items.push({ path, change: 'removed' })
  return { items: filesInOrder(items), incomplete: before.incomplete ?? after.incomplete }
}

export function filesInOrder(files: readonly ChangedFile[]): readonly ChangedFile[] {
  return [...new Map(files.map((file) => [file.path, file])).values()].sort((a, b) =>
    a.path < b.path ? -1 : a.path > b.path ? 1 : 0,
  )
}

/** A change with an old and a new path, as the platforms tell renames and copies. */
export function renamed(from: string, to: string, isCopy = false): readonly ChangedFile[] {
  if (from === to) return [{ path: to, change: 'modified' }]
  const added = { path: to, change: 'added' as ChangeType }
  return isCopy ? [added] : [{ path: from, change: 'removed' }, added]
}

/** Every segment escaped for a URL; the slashes stay. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

interface RawFile {
  /** From the root of the repository. */
  readonly path: string
  /** At the API, with its query. */
  readonly address: string
  readonly accept: string
  /** Statuses by which the platform refuses to send this file, for example for its length. */
  readonly withheld: readonly number[]
  /** Of the path, where a listing stated it: a platform may send what a symbolic link leads to instead. Null: unknown. */
  readonly blob: string | null
  /** False if the path is not a file. */
  readonly isFile: (answer: ScmAnswer) => boolean
}

/** @throws ScmError for every other answer than the file, none, and one that is withheld */
export async function rawFile(transport: ScmTransport, file: RawFile): Promise<FileAtCommit> {
  const { path, address, accept, withheld, blob, isFile } = file
  try {
    const answer = await transport.get(address, accept)
    if (answer.status === 404) return { kind: 'absent' }
    if (answer.status !== 200) throw transport.refusal(answer)
    if (!isFile(answer)) return { kind: 'absent' }
    const read = fileOfBytes(path, answer.bytes)
    const isLink = blob !== null && !isBlob(answer.bytes, blob)
    return isLink && read.kind === 'text' ? { ...read, isLink } : read
  } catch (error) {
    if (!(error instanceof ScmError) || error.status === null || !withheld.includes(error.status)) throw error
    return { kind: 'unreadable', problem: ARTIFACT_PROBLEMS.refused(path, error.message) }
  }
}
