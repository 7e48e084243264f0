/** A contract document of a git repository at a ref (`<ref>:<path>`, docs/reference/api.md#post-apidiff), and the files beside or below it at the same ref. */
import { posix } from 'node:path'
import { ok } from '../../engine/base.ts'
import type { Result } from '../../engine/internal.ts'
import { listGitFolder, readGitFile, readGitFiles, resolveGitTree, type GitReference } from './git.ts'
import type { FileShelf } from './referenced-files.ts'

interface GitDocument {
  readonly text: string
  readonly read: FileShelf['read']
}

/** @param maxBytes of the document */
export async function readGitDocument(
  repository: string,
  { ref, path }: GitReference,
  maxBytes: number,
): Promise<Result<GitDocument>> {
  const tree = await resolveGitTree(repository, ref)
  if (!tree.ok) return tree
  const text = await readGitFile(repository, tree.value, path, maxBytes)
  if (!text.ok) return text
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
  return ok({ text: text.value, read })
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
  const folder = path.replace(/\/$/, '')
  const listed = await listGitFolder(repository, tree.value, folder)
  if (!listed.ok) return listed
  const named = listed.value.filter((name) => name.endsWith(suffix))
  if (named.length === 0) return ok(new Map())
  const paths = named.map((name) => `${folder}/${name}`)
  const found = await readGitFiles(repository, tree.value, paths, maxBytes)
  if (!found.ok) return found
  return ok(new Map([...found.value].map(([full, text]) => [full.slice(folder.length + 1), text])))
}
