/** Which further files a contract document names by `$ref`. Text only: nothing is read or fetched. */
import { posix } from 'node:path'
import { percentDecoded } from '../../engine/base.ts'
import { engine } from '../loading/lazy-engine.ts'
import type { DocumentLimits } from '../../engine/internal.ts'

/** A `$ref` whose value does not begin with `#`, in JSON or YAML; may take another text for one, and misses none. */
const FOREIGN_REFERENCE = /\$ref["']?\s*:\s*(?:["'](?!#)|[^\s"'#])/

/** False for most documents, large ones above all: they need not be parsed to learn that they refer to themselves only. */
export function mayReferToFiles(text: string): boolean {
  return FOREIGN_REFERENCE.test(text)
}

/** Where a contract was fetched from: references may name further files by absolute addresses of its origin, and of origins that are listed. */
export interface FileSite {
  readonly origin: string
  /** Folder of the contract from the root of the origin on, without a slash at either end; `''` is the root. */
  readonly folder: string
  /** Further origins that files may be fetched from; absent: none. */
  readonly origins?: readonly string[]
}

/** File parts of the `$ref`s in a text, as written, each once. A text that is no JSON or YAML has none (the comparison reports it). */
export function fileReferences(text: string, limits: DocumentLimits): readonly string[] {
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
      if (member === '$ref' && typeof child === 'string') {
        const part = documentOfReference(child)
        if (part !== '') found.add(part)
      } else waiting.push(child ?? null)
    }
  }
  return [...found]
}

/** What stands before the fragment; empty: the document that holds the reference. */
function documentOfReference(reference: string): string {
  return reference.split('#', 1)[0] ?? ''
}

/** Path of the file that a reference in `from` names, as `pathFrom` has it; null: its own document, or none that may be read. */
export function filePath(reference: string, from: string, site: FileSite | null): string | null {
  const part = documentOfReference(reference)
  return part === '' ? null : pathFrom(part, from, site)
}

const ADDRESS = /^[a-z][a-z0-9+.-]*:/i

export function isAddress(path: string): boolean {
  return ADDRESS.test(path)
}

/**
 * Path, relative to the folder of the contract, of the file that a reference names; a file of a listed origin has its address for a path.
 * A reference is a URI: `my%20schema.yaml` names `my schema.yaml`. Absolute paths and addresses name files only where the document has a site. Null: no file that may be read.
 * @param from path of the file that holds the reference, in the same form
 */
export function pathFrom(part: string, from: string, site: FileSite | null): string | null {
  if (!isAddress(from) && !isAddress(part) && !part.startsWith('/'))
    return posix.normalize(posix.join(posix.dirname(from), percentDecoded(part)))
  if (site === null) return null
  const url = URL.parse(part, isAddress(from) ? from : site.origin)
  if (url === null || url.search !== '' || url.username !== '' || url.password !== '') return null
  if (url.origin === site.origin) return posix.relative(`/${site.folder}`, percentDecoded(url.pathname))
  return site.origins?.includes(url.origin) === true ? `${url.origin}${url.pathname}` : null
}
