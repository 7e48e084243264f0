/** A contract file together with the files that its `$ref`s name, as one text: on disk below one folder, or in a repository at one state. */
import { realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { fail, ok } from '../../engine/base.ts'
import type { Result } from '../../engine/internal.ts'
import { bundle, type Bundle, type BundleTerms } from './bundle.ts'
import { readGitFile, readGitFiles, resolveGitTree, type GitReference } from './git.ts'
import type { FileTexts } from './referenced-files.ts'
import { errorCode } from '../errors/startup-error.ts'
import { loadTextFile } from '../runtime/regular-file.ts'

export type FileTerms = Pick<BundleTerms, 'texts' | 'maxBytes'>

interface FileOnDisk {
  /** Absolute. */
  readonly file: string
  /** Folder that references may lead into; absent: that of the file. */
  readonly root?: string
}

/** `files` of the bundle are paths from the folder. Rejects with the error of the file system. */
export async function contractOnDisk({ file, root }: FileOnDisk, terms: FileTerms): Promise<Result<Bundle>> {
  const folder = rootOf({ file, ...(root !== undefined && { root }) })
  const path = relative(folder, file).split(sep).join('/')
  if ((await stat(file)).size > terms.maxBytes) return filesOverLimit(file, terms.maxBytes)
  return bundle(path, await loadTextFile(file), {
    ...terms,
    read: (paths, maxBytes) => readBelow({ folder, file, maxBytes }, paths),
  })
}

/** @param reference a file; paths start at the root of the repository */
export async function contractInGit(
  repository: string,
  { ref, path }: GitReference,
  terms: FileTerms,
): Promise<Result<Bundle>> {
  const tree = await resolveGitTree(repository, ref)
  if (!tree.ok) return tree
  const text = await readGitFile(repository, tree.value, path, terms.maxBytes)
  if (!text.ok) return text
  return bundle(path, text.value, {
    ...terms,
    read: (paths, maxBytes) => readGitFiles(repository, tree.value, paths, maxBytes),
  })
}

/** When any of these files was written last, milliseconds since the epoch. @param paths from the folder of `place` */
export async function filesChangedAt(place: FileOnDisk, paths: readonly string[]): Promise<number> {
  const folder = rootOf(place)
  const found = await Promise.all(paths.map((path) => stat(join(folder, path))))
  return Math.max(...found.map(({ mtimeMs }) => mtimeMs))
}

function rootOf({ file, root }: FileOnDisk): string {
  return root ?? dirname(file)
}

/** Links are followed as far as they stay below the folder, as a mounted ConfigMap has them. */
async function readBelow(
  { folder, file, maxBytes }: { readonly folder: string; readonly file: string; readonly maxBytes: number },
  paths: readonly string[],
): Promise<Result<FileTexts>> {
  const bound = await realpath(folder)
  let left = maxBytes
  const texts = new Map<string, string>()
  for (const path of paths) {
    const target = resolve(folder, path)
    const real = await realpath(target).catch((error: unknown) => absent(error))
    if (!isInFolder(folder, target) || (real !== null && !isInFolder(bound, real)))
      return fail({
        code: 'ARTIFACT_UNREADABLE',
        message: `${file} refers to ${target}, outside of ${folder}: name a folder that holds both as root.`,
      })
    if (real === null) continue
    left -= (await stat(real)).size
    if (left < 0) return filesOverLimit(file, maxBytes)
    texts.set(path, await loadTextFile(real))
  }
  return ok(texts)
}

function filesOverLimit(file: string, maxBytes: number): Result<never> {
  const message = `${file} and the files that it refers to have more than ${maxBytes} bytes.`
  return fail({ code: 'ARTIFACT_OVER_LIMIT', message })
}

/** Null: there is no such file, and the comparison tells its reference as dangling. */
function absent(error: unknown): null {
  if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null
  throw error
}

function isInFolder(folder: string, path: string): boolean {
  const below = relative(folder, path)
  return below !== '' && below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below)
}
