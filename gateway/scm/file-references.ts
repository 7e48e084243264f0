/** Which further files a contract document names by `$ref`. Text only: nothing is read or fetched. */
import { engine } from '../judging.ts'
import type { DocumentLimits } from '../../engine/index.ts'

/** A `$ref` whose value does not begin with `#`, in JSON or YAML; may take another text for one, and misses none. */
const FOREIGN_REFERENCE = /\$ref["']?\s*:\s*(?:["'](?!#)|[^\s"'#])/

/** False for most documents, large ones above all: they need not be parsed to learn that they refer to themselves only. */
export function mayReferToFiles(text: string): boolean {
  return FOREIGN_REFERENCE.test(text)
}

/** Relative file parts of the `$ref`s in a text, each once; a text that is no JSON or YAML has none (the comparison reports it). */
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
      if (member === '$ref' && typeof child === 'string') addFilePart(child, found)
      else waiting.push(child ?? null)
    }
  }
  return [...found]
}

function addFilePart(reference: string, found: Set<string>): void {
  const [file = ''] = reference.split('#', 1)
  // Absolute paths and URLs are not files beside the document.
  if (file === '' || file.startsWith('/') || /^[a-z][a-z0-9+.-]*:/i.test(file)) return
  found.add(decodeFile(file))
}

/** A `$ref` is a URI reference: `my%20schema.yaml` names `my schema.yaml`. */
export function decodeFile(file: string): string {
  try {
    return decodeURIComponent(file)
  } catch {
    return file
  }
}
