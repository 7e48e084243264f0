/**
 * A contract document of a git repository at a ref (`<ref>:<path>`, docs/reference/api.md#post-apidiff), and the files beside or
 * below it at the same ref. A folder stands for the .proto files in it.
 */
import { posix } from 'node:path'
import { ok } from '../../engine/base.ts'
import type { Result } from '../../engine/internal.ts'
import { listGitFolder, readGitFile, readGitFiles, resolveGitTree, type GitReference } from './git.ts'
import { protoSet } from './proto-folder.ts'
import type { FileShelf } from './referenced-files.ts'

interface GitDocument {
  readonly text: string
  readonly read: FileShelf['read']
  /** The files of a folder, by their paths in it; null for one file. */
  readonly files: readonly string[] | null
}

const NOTHING_BESIDE: FileShelf['read'] = () => Promise.resolve(ok(new Map()))

/** @param maxBytes of the document */
export async function readGitDocument(
  repository: string,
  reference: GitReference,
  maxBytes: number,
): Promise<Result<GitDocument>> {
  const { ref, path } = reference
  const tree = await resolveGitTree(repository, ref)
  if (!tree.ok) return tree
  const text = await readGitFile(repository, tree.value, path, maxBytes)
  if (!text.ok) {
    const folder = await readGitFolder(repository, reference, '.proto', maxBytes)
    if (!folder.ok) return folder
    if (folder.value.size === 0) return text
    const set = protoSet(`${ref}:${path}`, folder.value)
    return ok({ text: set, read: NOTHING_BESIDE, files: [...folder.value.keys()] })
  }
  const folder = posix.dirname(path)
  const read: FileShelf['read'] = async (paths, most) => {
    // One file may be named in several ways.
    const inside = new Map(paths.map((relative) => [relative, posix.normalize(posix.join(folder, relative))]))
    const found = await readGitFiles(repository, tree.value, [...new Set(inside.values())], most)
    if (!found.ok) return found
    const texts = new Map<string, string>()
    for (const [relative, full] of inside) {
      const content = found.value.get(full)
      if (content !== undefined) texts.set(relative, content)
    }
    return ok(texts)
  }
  return ok({ text: text.value, read, files: null })
}

/**
 * The files of a folder whose names end with `suffix`, by their paths relative to it; none where there is no such folder.
 * @param maxBytes of all files together
 */
export async function readGitFolder(
  repository: string,
  { ref, path }: GitReference,
  suffix: string,
  maxBytes: number,
): Promise<Result<ReadonlyMap<string, string>>> {
  const tree = await resolveGitTree(repository, ref)
  if (!tree.ok) return tree
  const folder = path.replace(/^\.?\/?$|\/$/, '')
  const listed = await listGitFolder(repository, tree.value, folder)
  if (!listed.ok) return listed
  // As in a folder on disk, what begins with a dot is the business of others.
  const named = listed.value.filter((name) => name.endsWith(suffix) && !/(?:^|\/)\./.test(name))
  if (named.length === 0) return ok(new Map())
  const paths = new Map(named.map((name) => [posix.join(folder, name), name]))
  const found = await readGitFiles(repository, tree.value, [...paths.keys()], maxBytes)
  if (!found.ok) return found
  return ok(new Map([...found.value].map(([full, text]) => [paths.get(full) ?? full, text])))
}
