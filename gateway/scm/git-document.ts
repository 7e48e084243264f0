/** A contract document of a git repository at a ref (`<ref>:<path>`, wire.md §3), and the files beside it at the same ref. */
import { posix } from 'node:path'
import { ok, type Result } from '../../engine/index.ts'
import { readGitFile, readGitFiles, resolveGitTree, type GitReference } from './git.ts'
import type { FileShelf } from './referenced-files.ts'

export interface GitDocument {
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
