/** Which further files a contract document names by `$ref`. Text only: nothing is read or fetched. */
import { posix } from 'node:path'
import { engine } from '../judging.ts'
import type { DocumentLimits } from '../../engine/index.ts'

/** A `$ref` whose value does not begin with `#`, in JSON or YAML; may take another text for one, and misses none. */
const FOREIGN_REFERENCE = /\$ref["']?\s*:\s*(?:["'](?!#)|[^\s"'#])/

/** False for most documents, large ones above all: they need not be parsed to learn that they refer to themselves only. */
export function mayReferToFiles(text: string): boolean {
  return FOREIGN_REFERENCE.test(text)
}

/** Where a contract was fetched from: references may name further files by absolute addresses of the same origin. */
export interface FileSite {
  readonly origin: string
  /** Folder of the contract from the root of the origin on, without a slash at either end; `''` is the root. */
  readonly folder: string
}

/**
 * File parts of the `$ref`s in a text, each once: relative ones, and for a site those of its origin, from `/` on. A text that is no
 * JSON or YAML has none (the comparison reports it).
 */
export function fileReferences(text: string, limits: DocumentLimits, site: FileSite | null = null): readonly string[] {
  const found = new Set<string>()
  if (!mayReferToFiles(text)) return []
  const document = engine().readDocument(text, limits)
  if (!document.ok) return []
  const seen = new Set<object>()
  const waiting: unknown[] = [document.value.root]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null || seen.has(value)) continue
    seen.add(value)
    for (const [member, child] of Object.entries(value)) {
      if (member === '$ref' && typeof child === 'string') addFilePart(child, site, found)
      else waiting.push(child ?? null)
    }
  }
  return [...found]
}

function addFilePart(reference: string, site: FileSite | null, found: Set<string>): void {
  const file = filePart(reference, site)
  if (file !== null) found.add(file)
}

/** Absolute paths and URLs are files only on the site of the document; null: no file beside it. */
function filePart(reference: string, site: FileSite | null): string | null {
  const [file = ''] = reference.split('#', 1)
  if (file === '') return null
  if (!file.startsWith('/') && !/^[a-z][a-z0-9+.-]*:/i.test(file)) return decodeFile(file)
  const url = site === null ? null : URL.parse(file, site.origin)
  const isOfSite = url?.origin === site?.origin && url?.search === '' && url.username === '' && url.password === ''
  return url !== null && isOfSite ? decodeFile(url.pathname) : null
}

/** Path, relative to the folder of the contract, of the file that a reference in `from` names; null: its own document, or elsewhere. */
export function filePath(reference: string, from: string, site: FileSite | null): string | null {
  const file = filePart(reference, site)
  return file === null ? null : pathFrom(file, from, site?.folder ?? '')
}

/** The same of a part that `fileReferences` found. */
export function pathFrom(file: string, from: string, folder: string): string {
  return file.startsWith('/')
    ? posix.relative(`/${folder}`, file)
    : posix.normalize(posix.join(posix.dirname(from), file))
}

/** A `$ref` is a URI reference: `my%20schema.yaml` names `my schema.yaml`. */
function decodeFile(file: string): string {
  try {
    return decodeURIComponent(file)
  } catch {
    return file
  }
}
