/** Where a command reads contract documents from: a file, standard input, or `<ref>:<path>` of the git repository here, with the further files that a document refers to. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, posix, relative, resolve, sep } from 'node:path'
import { DEFAULT_DOCUMENT_LIMITS, readDocument } from '../../engine/index.ts'
import { parseGitReference, readGitFile } from '../scm/git.ts'
import { messageOf } from '../startup-error.ts'
import { UsageError } from './command.ts'
import { readAll, type CommandIo } from './io.ts'

export interface DocumentSource {
  /** As the user wrote it. */
  readonly name: string
  readonly text: string
  /** Path as reports name it (see report/annotation.ts); null for standard input. */
  readonly path: string | null
  readonly isCheckedOut: boolean
  /** Reads a file by its path relative to the document; null where there is nothing to be relative to (standard input). */
  readonly readBeside: ((path: string) => Promise<string>) | null
}

const MAX_BYTES = 256 * 1024 * 1024

/** Throws a UsageError when it cannot be read. */
export async function readSource(name: string, io: CommandIo, folder = '.'): Promise<DocumentSource> {
  if (name === '-')
    return { name: 'stdin', text: await readAll(io.stdin), path: null, isCheckedOut: false, readBeside: null }
  const path = resolve(folder, name)
  if (existsSync(path)) {
    const shown = reportedPath(path, folder)
    return { name, text: readFile(path), path: shown, isCheckedOut: true, readBeside: readerBeside(path, folder) }
  }
  const reference = parseGitReference(name)
  if (reference === null) throw new UsageError(`${name} is neither a file here nor <ref>:<path> of a git repository`)
  const { ref } = reference
  const readAt = async (inside: string): Promise<string> => {
    const read = await readGitFile(folder, { ref, path: inside }, MAX_BYTES)
    if (!read.ok) throw new UsageError(`${ref}:${inside}: ${read.problem.message}`)
    return read.value
  }
  const beside = dirname(reference.path)
  return {
    name,
    text: await readAt(reference.path),
    path: reference.path,
    isCheckedOut: false,
    readBeside: (other) => readAt(posix.normalize(posix.join(beside, other))),
  }
}

/** From the working directory, where the file lies below it; tools that annotate files know it by that path. */
function reportedPath(path: string, folder: string): string {
  const below = relative(resolve(folder), path)
  return (below.startsWith('..') ? path : below).split(sep).join('/')
}

function readFile(path: string): string {
  try {
    if (statSync(path).isDirectory()) throw new UsageError(`${path} is a directory; name a file in it`)
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`${path} cannot be read: ${messageOf(error)}`)
  }
}

/** A document may name files beside itself and in the working directory; a stranger's document may not reach further. */
function readerBeside(document: string, folder: string): (path: string) => Promise<string> {
  const roots = [dirname(document), resolve(folder)]
  return (path) => {
    const target = resolve(dirname(document), path)
    const isInside = roots.some((root) => !relative(root, target).startsWith('..'))
    if (isInside) return Promise.resolve(readFile(target))
    throw new UsageError(`${document} refers to ${path}, which is outside of its folder and of the working directory`)
  }
}

/** Files that one document may draw in. */
const MAX_FILES = 1000

/** Texts of all files that `$ref`s of the document name, directly or through each other, by path relative to the document. */
export async function referencedFiles({ text, readBeside }: DocumentSource): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, string> = {}
  if (readBeside === null) return files
  const waiting: (readonly [from: string, text: string])[] = [['', text]]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [from, content] = next
    for (const reference of fileReferences(content)) {
      const path = posix.normalize(posix.join(posix.dirname(from), reference))
      if (Object.hasOwn(files, path)) continue
      if (Object.keys(files).length === MAX_FILES)
        throw new UsageError(`a document refers to more than ${MAX_FILES} files`)
      const found = await readBeside(path)
      files[path] = found
      waiting.push([path, found])
    }
  }
  return files
}

/** A `$ref` whose value does not begin with `#`, in JSON or YAML; may take another text for one, and misses none. */
const FOREIGN_REFERENCE = /\$ref["']?\s*:\s*(?:["'](?!#)|[^\s"'#])/

/** Relative file parts of the `$ref`s in a text; a text that is no JSON or YAML has none (the comparison reports it). */
function fileReferences(text: string): ReadonlySet<string> {
  const found = new Set<string>()
  // Large documents refer to themselves only, as a rule: they are not parsed once more to learn that.
  if (!FOREIGN_REFERENCE.test(text)) return found
  const document = readDocument(text, DEFAULT_DOCUMENT_LIMITS)
  if (!document.ok) return found
  const seen = new Set<object>()
  const waiting: unknown[] = [document.value.root]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null || seen.has(value)) continue
    seen.add(value)
    for (const [member, child] of Object.entries(value)) {
      if (member === '$ref' && typeof child === 'string') addFilePart(child, found)
      else waiting.push(child)
    }
  }
  return found
}

function addFilePart(reference: string, found: Set<string>): void {
  const [file = ''] = reference.split('#', 1)
  // Absolute paths and URLs are not files beside the document.
  if (file === '' || file.startsWith('/') || /^[a-z][a-z0-9+.-]*:/i.test(file)) return
  found.add(decodeFile(file))
}

/** A `$ref` is a URI reference: `my%20schema.yaml` names `my schema.yaml`. */
function decodeFile(file: string): string {
  try {
    return decodeURIComponent(file)
  } catch {
    return file
  }
}

export function textFile(path: string, folder = '.'): string {
  return readFile(resolve(folder, path))
}
