/** The files that references of a JSON or YAML document lead to, among those given with it. Nothing is fetched. */
import type { CompareOptions } from '../model/format.ts'
import { byCodeUnit } from '../common/code-unit-order.ts'
import { normalFilePath } from '../common/file-path.ts'
import { readDocument } from './document.ts'
import { DEFAULT_DOCUMENT_LIMITS, type DocumentLimits } from '../model/limits.ts'
import type { FurtherDocuments } from './documents.ts'
import { dynamicAnchorsIn, withPlainReferences } from './plain-references.ts'
import { relativePath } from './uri.ts'

/** @param own the text of the document itself */
export function filesHandedIn(
  side: 'base' | 'head',
  { files, limits = DEFAULT_DOCUMENT_LIMITS }: CompareOptions,
  own: string,
): FurtherDocuments {
  const texts = files?.[side] ?? {}
  const document = files?.document ?? ''
  const folder = document.slice(0, document.lastIndexOf('/') + 1)
  const nameOf = (path: string): string => (folder === '' ? path : normalFilePath(folder + path))
  const isDocument = (path: string): boolean => path !== '' && nameOf(path) === document
  const open = (path: string): unknown => {
    const name = nameOf(path)
    const content = Object.hasOwn(texts, name) ? texts[name] : undefined
    if (content === undefined) return undefined
    const read = readDocument(content, limits)
    return read.ok ? withPlainReferences(read.value.root, content, null, sharedAnchors) : undefined
  }
  let shared: ReadonlySet<string> | null = null
  const others = (): readonly string[] =>
    Object.entries(texts).flatMap(([name, text]) => (name === document ? [] : [text]))
  const sharedAnchors = (): ReadonlySet<string> => (shared ??= anchorsOfSeveral([own, ...others()], limits))
  const paths = Object.keys(texts).flatMap((name) => relativePath(name, folder) ?? [])
  return { paths: paths.sort(byCodeUnit), isDocument, open, sharedAnchors }
}

/** Also where a keyword may be written with escapes. */
const ANCHORED = /\$(?:dynamic|recursive)Anchor|\\(?:u00|U0000|x)/

function anchorsOfSeveral(texts: readonly string[], limits: DocumentLimits): ReadonlySet<string> {
  const known = new Set<string>()
  const shared = new Set<string>()
  for (const text of texts) {
    const read = ANCHORED.test(text) ? readDocument(text, limits) : null
    for (const anchor of read?.ok === true ? dynamicAnchorsIn(read.value.root) : []) {
      if (known.has(anchor)) shared.add(anchor)
      known.add(anchor)
    }
  }
  return shared
}
