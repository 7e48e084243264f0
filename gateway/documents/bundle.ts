/**
 * A contract of several files as one text. Files that `$ref`s name are embedded under one extension member, and the
 * references lead there. So the whole contract is judged, hashed and stored. A contract of one file stays byte for byte.
 */
import { posix } from 'node:path'
import { ok, pointerToken } from '../../engine/base.ts'
import type { DocumentLimits, Result } from '../../engine/internal.ts'
import { engine } from '../loading/lazy-engine.ts'
import { filePath, isAddress, mayReferToFiles, type FileSite } from './file-references.ts'
import { referencedFiles, type FileTexts } from './referenced-files.ts'

export interface Bundle {
  readonly text: string
  /** Paths of all files in it, the root's first. */
  readonly files: readonly string[]
}

/** Looks into contract documents, where a large one holds up nobody. */
export interface DocumentReader {
  /** The further files that a contract document names by `$ref`, as written, in a worker when it is large. */
  fileReferences(text: string): Promise<Result<readonly string[]>>
  /** Contract files that name each other by relative `$ref` as one text, in a worker when they are large. @param texts by path, that of `root` among them */
  bundle(root: string, texts: Readonly<Record<string, string>>, site?: FileSite | null): Promise<Result<string>>
}

export interface BundleTerms {
  readonly texts: DocumentReader
  /** Reads files by their paths from the root of the tree; one that is not there is left out. */
  readonly read: (paths: readonly string[], maxBytes: number) => Promise<Result<FileTexts>>
  /** Origin that the document was fetched from: absolute references to it are files too. */
  readonly origin?: string
  /** Further origins that files may come from; `read` gets their addresses. */
  readonly origins?: readonly string[]
  /** Of all files together. */
  readonly maxBytes: number
}

const BUNDLED_FILES = 'x-preflight-files'

/** @param path from the root of the tree */
export async function bundle(
  path: string,
  text: string,
  { texts, read, origin, origins = [], maxBytes }: BundleTerms,
): Promise<Result<Bundle>> {
  if (!mayReferToFiles(text)) return ok({ text, files: [path] })
  const folder = posix.dirname(path)
  const site = origin === undefined ? null : { origin, folder: folder === '.' ? '' : folder, origins }
  const fromRoot = (name: string): string => (isAddress(name) ? name : posix.normalize(posix.join(folder, name)))
  const found = await referencedFiles(text, {
    referencesOf: (content) => texts.fileReferences(content),
    site,
    maxBytes,
    async read(relatives, most) {
      const byRelative = new Map(relatives.map((relative) => [relative, fromRoot(relative)]))
      const contents = await read([...new Set(byRelative.values())], most)
      if (!contents.ok) return contents
      const given = [...byRelative].flatMap(([relative, full]) => {
        const content = contents.value.get(full)
        return content === undefined ? [] : [[relative, content] as const]
      })
      return ok(new Map(given))
    },
  })
  if (!found.ok) return found
  if (Object.keys(found.value).length === 0) return ok({ text, files: [path] })
  // Named from the document on, so that the same files are the same text wherever they lie.
  const name = posix.basename(path)
  const all = { ...found.value, [name]: text }
  const whole = await texts.bundle(name, all, site)
  const parts = Object.keys(all).filter((relative) => relative !== name)
  return whole.ok ? ok({ text: whole.value, files: [path, ...parts.map(fromRoot)] }) : whole
}

/**
 * The documents as one. The comparison says what is wrong with a root that cannot be read; a part that cannot is a problem.
 * @param texts by path, the root's among them
 */
export function bundledText(
  root: string,
  texts: Readonly<Record<string, string>>,
  limits: DocumentLimits,
  site: FileSite | null = null,
): Result<string> {
  const documents = new Map<string, unknown>()
  for (const [file, text] of Object.entries(texts)) {
    const document = engine().readDocument(text, limits)
    if (document.ok) documents.set(file, document.value.root)
    else if (file === root) return ok(text)
    else return { ok: false, problem: { ...document.problem, message: `${file}: ${document.problem.message}` } }
  }
  return ok(singleDocument(root, documents, site))
}

function singleDocument(root: string, documents: ReadonlyMap<string, unknown>, site: FileSite | null): string {
  const rewritten = (file: string) =>
    rewrite(documents.get(file), (reference) =>
      movedReference(reference, filePath(reference, file, site) ?? file, root, documents),
    )
  const parts = [...documents.keys()].filter((file) => file !== root)
  const whole = rewritten(root)
  const embedded = Object.fromEntries(parts.toSorted().map((file) => [file, rewritten(file)]))
  return JSON.stringify({ ...(isObject(whole) ? whole : {}), [BUNDLED_FILES]: embedded })
}

/** Where a reference leads within the bundle; what is not in it keeps its reference. */
function movedReference(
  reference: string,
  file: string,
  root: string,
  documents: ReadonlyMap<string, unknown>,
): string {
  if (!documents.has(file)) return reference
  const hash = reference.indexOf('#')
  const fragment = hash === -1 ? '' : reference.slice(hash + 1)
  if (file === root) return `#${fragment}`
  // A named anchor is unique in its own document only, and stays what it is.
  if (fragment !== '' && !fragment.startsWith('/')) return reference
  const name = encodeURIComponent(pointerToken(file))
  return `#/${BUNDLED_FILES}/${name}${fragment}`
}

/** A copy with other references. Parts that a YAML alias shares are copied once. */
function rewrite(root: unknown, move: (reference: string) => string): unknown {
  const made = new Map<object, unknown>()
  const copy = (value: unknown): unknown => {
    if (!isObject(value)) return value
    const known = made.get(value)
    if (known !== undefined) return known
    if (Array.isArray(value)) {
      const list: unknown[] = []
      made.set(value, list)
      for (const item of value) list.push(copy(item))
      return list
    }
    const result: Record<string, unknown> = Object.create(null)
    made.set(value, result)
    for (const [name, member] of Object.entries(value))
      result[name] = name === '$ref' && typeof member === 'string' ? move(member) : copy(member)
    return result
  }
  return copy(root)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
