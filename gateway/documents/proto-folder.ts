/** A folder of .proto files as the one text that they are compared as: a JSON object of path → text, with paths as imports have them. */
import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { byCodeUnit } from '../../engine/base.ts'
import { errorCode } from '../errors/startup-error.ts'
import { loadTextFile } from '../runtime/regular-file.ts'

/** Files that one contract may consist of. */
const MAX_FILES = 5000

interface FolderFile {
  /** From the folder down, with forward slashes. */
  readonly path: string
  readonly bytes: number
  readonly modifiedAt: number
}

/** @param maxBytes of all files together */
export async function readProtoFolder(folder: string, maxBytes: number): Promise<string> {
  const files = await protoFilesIn(folder)
  if (files.reduce((sum, { bytes }) => sum + bytes, 0) > maxBytes)
    throw new Error(`the .proto files in ${folder} are more than ${maxBytes} bytes`)
  const texts = await Promise.all(
    files.map(async ({ path }) => [path, await loadTextFile(join(folder, path))] as const),
  )
  return protoSet(folder, texts)
}

/** When a file of it was written last, milliseconds since the epoch; one that went changes the folder that it was in. */
export async function protoFolderChangedAt(folder: string): Promise<number> {
  const files = await protoFilesIn(folder)
  return Math.max((await stat(folder)).mtimeMs, ...files.map(({ modifiedAt }) => modifiedAt))
}

/** In one order, so that the same files are the same text. */
export function protoSet(name: string, texts: Iterable<readonly [path: string, text: string]>): string {
  const sorted = [...texts].toSorted(([a], [b]) => byCodeUnit(a, b))
  if (sorted.length === 0) throw new Error(`${name} is a directory without .proto files; name a file in it`)
  return JSON.stringify(Object.fromEntries(sorted))
}

async function protoFilesIn(folder: string): Promise<readonly FolderFile[]> {
  const named = await protoPathsIn(folder)
  return Promise.all(
    named.map(async (path) => {
      // What is no file is refused by who reads it.
      const { size, mtimeMs } = await stat(join(folder, path))
      return { path, bytes: size, modifiedAt: mtimeMs }
    }),
  )
}

/** A folder that is still to be listed. */
interface OpenFolder {
  /** From the top down; empty for the top. */
  readonly path: readonly string[]
  /** Where it and those above it really are, so that a link up ends. */
  readonly real: readonly string[]
}

/**
 * Links to files and folders are followed, as volumes of Kubernetes have them. What begins with a dot is the business of
 * others.
 */
async function protoPathsIn(top: string): Promise<readonly string[]> {
  const named: string[] = []
  const open: OpenFolder[] = [{ path: [], real: [await realpath(top)] }]
  // Grows during iteration.
  for (const { path, real } of open) {
    for (const entry of await readdir(join(top, ...path), { withFileTypes: true })) {
      const { name } = entry
      if (name.startsWith('.')) continue
      const below = [...path, name]
      const target = entry.isSymbolicLink() ? await folderBehind(join(top, ...below)) : null
      if (entry.isDirectory() || target !== null) {
        const own = target ?? join(real.at(-1) ?? '', name)
        if (!real.includes(own)) open.push({ path: below, real: [...real, own] })
      } else if (name.endsWith('.proto')) named.push(below.join('/'))
    }
    if (named.length > MAX_FILES) throw new Error(`${top} holds more than ${MAX_FILES} .proto files`)
    if (open.length > MAX_FILES)
      throw new Error(`${top} holds more than ${MAX_FILES} folders, those behind links included`)
  }
  return named
}

/** Where a link leads; null if that is no folder. */
async function folderBehind(link: string): Promise<string | null> {
  try {
    const real = await realpath(link)
    return (await stat(real)).isDirectory() ? real : null
  } catch (error) {
    // A file that is not there is refused by who reads it.
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}
