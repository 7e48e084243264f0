/** The files that references of a JSON or YAML document lead to, among those given with it. Nothing is fetched. */
import type { CompareOptions } from '../model/format.ts'
import { byCodeUnit } from '../common/code-unit-order.ts'
import { normalFilePath } from '../common/file-path.ts'
import { readDocument } from './document.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../model/limits.ts'
import type { FurtherDocuments } from './documents.ts'
import { withPlainReferences } from './plain-references.ts'
import { relativePath } from './uri.ts'

/** @param text of the document itself, which files may refer to by name */
export function filesHandedIn(
  text: string,
  side: 'base' | 'head',
  { files, limits }: CompareOptions,
): FurtherDocuments {
  const texts = files?.[side] ?? {}
  const document = files?.document ?? ''
  const folder = document.slice(0, document.lastIndexOf('/') + 1)
  const open = (path: string): unknown => {
    const name = folder === '' ? path : normalFilePath(folder + path)
    const own = Object.hasOwn(texts, name) ? texts[name] : undefined
    const content = own ?? (name !== '' && name === document ? text : undefined)
    const read = content === undefined ? null : readDocument(content, limits ?? DEFAULT_DOCUMENT_LIMITS)
    return read?.ok ? withPlainReferences(read.value.root, content ?? '') : undefined
  }
  const paths = Object.keys(texts).flatMap((name) => relativePath(name, folder) ?? [])
  return { paths: paths.sort(byCodeUnit), open }
}
