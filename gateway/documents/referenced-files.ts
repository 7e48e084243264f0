/** The files that a contract document draws in by `$ref`, directly or through each other: one way to gather them for every place that documents are read from. */
import { fail, ok } from '../../engine/base.ts'
import type { Result } from '../../engine/internal.ts'
import { pathFrom, type FileSite } from './file-references.ts'

/** Texts by path relative to the document; a file that does not exist is left out, and the comparison tells its reference as dangling. */
export type FileTexts = ReadonlyMap<string, string>

export interface FileShelf {
  /** Reads files by their paths relative to the document. What must not be read, or cannot be though it exists, is a problem. */
  readonly read: (paths: readonly string[], maxBytes: number) => Promise<Result<FileTexts>>
  /** The files that a text names, as it names them. */
  readonly referencesOf: (text: string) => Promise<Result<readonly string[]>>
  /** Where the document was fetched from; absent: absolute references name no files. */
  readonly site?: FileSite | null
  /** Of all files together. */
  readonly maxBytes: number
}

/** Files that one document may draw in. */
const MAX_FILES = 1000

/** References from the document on: a chain that is longer is made by a machine, to hold up what follows it. */
const MAX_DEPTH = 32

/** @param document text of the document that the paths are relative to */
export async function referencedFiles(
  document: string,
  { read, referencesOf, site = null, maxBytes }: FileShelf,
): Promise<Result<Readonly<Record<string, string>>>> {
  const files = new Map<string, string>()
  const known = new Set<string>()
  let bytes = 0
  let depth = 0
  let texts: FileTexts = new Map([['', document]])
  // By rounds, so that the files of one round are read together.
  while (texts.size > 0) {
    const named = await namedIn(texts, site, referencesOf)
    if (!named.ok) return named
    const missing = named.value.filter((path) => !known.has(path))
    for (const path of missing) known.add(path)
    if (missing.length > 0) depth += 1
    if (depth > MAX_DEPTH)
      return referencesOverLimit(`refers to files that refer to files, more than ${MAX_DEPTH} deep`)
    if (known.size > MAX_FILES) return referencesOverLimit(`refers to more than ${MAX_FILES} files`)
    const found: Result<FileTexts> = missing.length === 0 ? ok(new Map()) : await read(missing, maxBytes - bytes)
    if (!found.ok) return found
    texts = found.value
    for (const [path, text] of texts) {
      files.set(path, text)
      bytes += Buffer.byteLength(text)
    }
    if (bytes > maxBytes) return referencesOverLimit(`refers to files of more than ${maxBytes} bytes together`)
  }
  return ok(Object.fromEntries(files))
}

/** Paths as files are known by, each once. */
async function namedIn(
  texts: FileTexts,
  site: FileSite | null,
  referencesOf: FileShelf['referencesOf'],
): Promise<Result<readonly string[]>> {
  const paths = new Set<string>()
  for (const [from, text] of texts) {
    const references = await referencesOf(text)
    if (!references.ok) return references
    for (const reference of references.value) {
      const path = pathFrom(reference, from, site)
      if (path !== null) paths.add(path)
    }
  }
  return ok([...paths])
}

function referencesOverLimit(what: string): Result<never> {
  return fail({ code: 'ARTIFACT_OVER_LIMIT', message: `The document ${what}: bundle it into one file.` })
}
