/** The files that references of a JSON or YAML document lead to, among those given with it. Nothing is fetched. */
import type { CompareOptions } from '../model/format.ts'
import { byCodeUnit } from '../common/code-unit-order.ts'
import { normalFilePath } from '../common/file-path.ts'
import { readDocument } from './document.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../model/limits.ts'
import type { FurtherDocuments } from './documents.ts'
import { withPlainReferences } from './plain-references.ts'
import { relativePath } from './uri.ts'

export function filesHandedIn(side: 'base' | 'head', { files, limits }: CompareOptions): FurtherDocuments {
  const texts = files?.[side] ?? {}
  const document = files?.document ?? ''
  const folder = document.slice(0, document.lastIndexOf('/') + 1)
  const nameOf = (path: string): string => (folder === '' ? path : normalFilePath(folder + path))
  const isDocument = (path: string): boolean => path !== '' && nameOf(path) === document
  const open = (path: string): unknown => {
    const name = nameOf(path)
    const content = Object.hasOwn(texts, name) ? texts[name] : undefined
    if (content === undefined) return undefined
    const read = readDocument(content, limits ?? DEFAULT_DOCUMENT_LIMITS)
    return read.ok ? withPlainReferences(read.value.root, content) : undefined
  }
  const paths = Object.keys(texts).flatMap((name) => relativePath(name, folder) ?? [])
  return { paths: paths.sort(byCodeUnit), isDocument, open }
}
