/** A folder of .proto files as the one text that they are compared as: a JSON object of path → text, with paths as imports have them. */
import { readdir, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { byCodeUnit } from '../../engine/base.ts'
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

/** Links to files are followed, as volumes of Kubernetes have them; what begins with a dot is the business of others. */
async function protoFilesIn(folder: string): Promise<readonly FolderFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const named = entries.flatMap(({ parentPath, name }) => {
    const path = relative(folder, join(parentPath, name)).split(sep)
    return name.endsWith('.proto') && !path.some((part) => part.startsWith('.')) ? [path.join('/')] : []
  })
  if (named.length > MAX_FILES) throw new Error(`${folder} holds more than ${MAX_FILES} .proto files`)
  const found = await Promise.all(
    named.map(async (path) => {
      const file = await stat(join(folder, path))
      // What is neither is refused by who reads it.
      return file.isDirectory() ? [] : [{ path, bytes: file.size, modifiedAt: file.mtimeMs }]
    }),
  )
  return found.flat()
}
