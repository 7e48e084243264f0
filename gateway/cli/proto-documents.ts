/** Single .proto files for commands: the file with its imports, as the one text that a folder of them is. */
import { posix } from 'node:path'
import { DEFAULT_DOCUMENT_LIMITS } from '../../engine/internal.ts'
import { importedFiles, type ImportedFile } from '../documents/proto-imports.ts'
import { protoSet } from '../documents/proto-folder.ts'
import { UsageError } from './command.ts'
import { MAX_BYTES, type DocumentSource } from './documents.ts'

/** Used when the document's name is not usable, or equals the name of an import. */
const UNNAMED = 'document.proto'

/**
 * Both sides with their imports; unchanged when neither side has any, or one is already a set of files. Throws a UsageError.
 */
export async function withImports(
  base: DocumentSource,
  head: DocumentSource,
): Promise<readonly [DocumentSource, DocumentSource]> {
  if ([base, head].some(({ text }) => text === '' || /^\uFEFF?\s*\{/.test(text))) return [base, head]
  const [before, after] = [await importsOf(base), await importsOf(head)]
  const imports = new Set([...before.keys(), ...after.keys()])
  if (imports.size === 0) return [base, head]
  // The two sides are one file, whatever their names.
  const name = [head, base].map(({ path }) => posix.basename(path ?? '')).find((path) => path.endsWith('.proto'))
  const document = name === undefined || imports.has(name) ? UNNAMED : name
  return [asSet(base, document, before), asSet(head, document, after)]
}

async function importsOf({ name, text, imports }: DocumentSource): Promise<ReadonlyMap<string, ImportedFile>> {
  if (imports === null) return new Map()
  const found = await importedFiles(text, { ...imports, maxBytes: MAX_BYTES, limits: DEFAULT_DOCUMENT_LIMITS })
  if (!found.ok) throw new UsageError(`${name}: ${found.problem.message}`)
  return found.value
}

function asSet(source: DocumentSource, document: string, imports: ReadonlyMap<string, ImportedFile>): DocumentSource {
  const texts = [...imports].map(([path, { text }]) => [path, text] as const)
  const folder = posix.dirname(source.path ?? '')
  const places = [...imports].map(([path, file]) => [path, posix.join(folder, file.path)] as const)
  return {
    ...source,
    text: protoSet(source.name, [...texts, [document, source.text]]),
    ...(source.path !== null && { files: new Map([...places, [document, source.path]]) }),
  }
}
