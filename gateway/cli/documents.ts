/**
 * The sources of contract documents for commands: a file, a folder of .proto files, standard input, or an http(s) address. Or
 * `<ref>:<path>` of a file or folder of the current git repository. Further files that a document refers to are read too.
 */
import { existsSync, realpathSync } from 'node:fs'
import { dirname, relative, resolve, sep, posix } from 'node:path'
import { DEFAULT_DOCUMENT_LIMITS, ok, readJson } from '../../engine/internal.ts'
import { readProtoFolder, protoSet } from '../documents/proto-folder.ts'
import { type ImportShelf, importedFiles, type ImportedFile } from '../documents/proto-imports.ts'
import type { ReportedDocument } from '../report/annotation.ts'
import { fileReferences } from '../documents/file-references.ts'
import { contractAtAddress } from '../documents/contract-addresses.ts'
import { bundledText, type BundleTerms } from '../documents/bundle.ts'
import { fetchLocated } from '../network/fetch.ts'
import { readGitDocument } from '../documents/git-document.ts'
import { referencedFiles, type FileShelf } from '../documents/referenced-files.ts'
import { parseGitReference } from '../documents/git.ts'
import { recordIn } from '../json/unchecked-json.ts'
import { placedMessage } from '../errors/mistake.ts'
import { errorCode, messageOf } from '../errors/startup-error.ts'
import { InputError, UsageError } from './command.ts'
import { readStream, type CommandIo } from './io.ts'
import { readArgumentText, statsOf } from '../runtime/regular-file.ts'

export interface DocumentSource extends ReportedDocument {
  readonly text: string
  /** Reads files by their paths relative to the document; null when the document has no location (standard input). */
  readonly readBeside: FileShelf['read'] | null
  /** The same for imports of a .proto file. */
  readonly imports: Pick<ImportShelf, 'read' | 'placesOf'> | null
}

const ALONE = { readBeside: null, imports: null } as const

const MAX_BYTES = 256 * 1024 * 1024
/** For a document that is fetched. */
const MAX_FETCHED_BYTES = 64 * 1024 * 1024
const MAX_REDIRECTS = 5

/** Throws a UsageError when it cannot be read. */
export async function readSource(name: string, io: CommandIo, folder = '.'): Promise<DocumentSource> {
  if (name === '') throw new UsageError('the name of a document is empty; is a variable of the shell not set?')
  if (name === '-') return { name: 'stdin', text: await stdinText(io), path: null, isCheckedOut: false, ...ALONE }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(name)) return fetchedSource(name)
  const path = resolve(folder, name)
  if (isFolder(path)) {
    const text = await protoSetIn(path)
    const files = Object.keys(recordIn(JSON.parse(text))).map(
      (file) => [file, posix.join(reportedPath(path, folder), file)] as const,
    )
    return { name, text, path: null, isCheckedOut: true, files: new Map(files), ...ALONE }
  }
  if (existsSync(path)) {
    const shown = reportedPath(path, folder)
    const text = readGivenFile(path)
    const beside = readerBeside(path, [dirname(path), resolve(folder)])
    const imports = importsOf(path, text, folder)
    return { name, text, path: shown, isCheckedOut: true, readBeside: beside, imports }
  }
  const reference = parseGitReference(name)
  if (reference === null)
    throw new InputError(`${name} is not a file, a <ref>:<path> of a git repository or an http(s) address`)
  const document = await readGitDocument(folder, reference, MAX_BYTES)
  if (!document.ok) throw new InputError(`${name}: ${document.problem.message}`)
  const { text, read, files } = document.value
  if (files !== null) {
    const places = new Map(files.map((file) => [file, posix.join(reference.path, file)]))
    return { name, text, path: null, isCheckedOut: false, files: places, ...ALONE }
  }
  const imports = { read, placesOf: placesAbove(reference.path.split('/').length - 1) }
  return { name, text, path: reference.path, isCheckedOut: false, readBeside: read, imports }
}

/** A user may name any host, but size and time are limited. Further files come from the origin that answered. */
async function fetchedSource(name: string): Promise<DocumentSource> {
  const whole = await contractAtAddress(name, {
    texts: TEXTS_HERE,
    maxBytes: MAX_FETCHED_BYTES,
    fetch: (url, maxBytes) =>
      fetchLocated(url, { allowedHosts: null, isPermitted: () => true, maxBytes, maxRedirects: MAX_REDIRECTS }),
  })
  if (!whole.ok) throw new InputError(`${name}: ${whole.problem.message}`)
  return { name, text: whole.value.text, path: null, isCheckedOut: false, ...ALONE }
}

/** A command may block its event loop. */
const TEXTS_HERE: BundleTerms['texts'] = {
  fileReferences: (text) => Promise.resolve(ok(fileReferences(text, DEFAULT_DOCUMENT_LIMITS))),
  bundle: (root, texts, site) => Promise.resolve(bundledText(root, texts, DEFAULT_DOCUMENT_LIMITS, site)),
}

function isFolder(path: string): boolean {
  return statsOf(path)?.isDirectory() === true
}

async function protoSetIn(folder: string): Promise<string> {
  try {
    return await readProtoFolder(folder, MAX_BYTES)
  } catch (error) {
    throw new InputError(messageOf(error))
  }
}

/** Relative to the working directory for a file below it; tools that annotate files use that path. */
function reportedPath(path: string, folder: string): string {
  const below = relative(resolve(folder), path)
  return (below.startsWith('..') ? path : below).split(sep).join('/')
}

async function stdinText(io: CommandIo): Promise<string> {
  try {
    return await readStream(io.stdin)
  } catch (error) {
    throw new InputError(`stdin cannot be read: ${messageOf(error)}`)
  }
}

function readGivenFile(path: string): string {
  try {
    return readArgumentText(path)
  } catch (error) {
    // An error of the file system names the file.
    throw new InputError(errorCode(error) === null ? `${path} cannot be read: ${messageOf(error)}` : messageOf(error))
  }
}

/** Of the folders that imports may start from, the highest is the root: no file outside it is read. */
function importsOf(document: string, text: string, folder: string): NonNullable<DocumentSource['imports']> {
  const root = importRoot(dirname(document), text, resolve(folder))
  const levels = relative(root, dirname(document)).split(sep).filter(Boolean).length
  return { read: readerBeside(document, [root]), placesOf: placesAbove(levels) }
}

/**
 * The working directory for a file below it. For other files the folder above those that form its package name, or the parent
 * of its own folder.
 */
function importRoot(own: string, text: string, working: string): string {
  if (!relative(working, own).startsWith('..')) return working
  const folders = own.split(sep)
  const [, name = ''] = /(?:^|;)[ \t]*package[ \t]+([\w.]+)[ \t]*;/m.exec(text) ?? []
  const spelled = name.split('.')
  const isSpelled = spelled.every((part, index) => folders[folders.length - spelled.length + index] === part)
  const root = folders.slice(0, isSpelled ? -spelled.length : -1).join(sep)
  return root === '' ? own : root
}

/** Nearest folder first. */
function placesAbove(levels: number): (path: string) => readonly string[] {
  return (path) => Array.from({ length: levels + 1 }, (_, level) => '../'.repeat(level) + path)
}

/** A document may name files below the roots only; a foreign document must not reach further. */
function readerBeside(document: string, roots: readonly string[]): FileShelf['read'] {
  return (paths) => {
    const texts = new Map<string, string>()
    for (const path of paths) {
      const target = resolve(dirname(document), path)
      if (!roots.some((root) => !relative(root, target).startsWith('..'))) {
        throw new InputError(`${document} refers to ${path}, which is outside its folder and the working directory`)
      }
      if (!existsSync(target)) continue
      // A link may point elsewhere, and the text that is read is compared, printed and sent.
      if (!roots.some((root) => !relative(realpathSync(root), realpathSync(target)).startsWith('..')))
        throw new InputError(
          `${document} refers to ${path}, a link to a file outside its folder and the working directory`,
        )
      texts.set(path, readGivenFile(target))
    }
    return Promise.resolve(ok(texts))
  }
}

/** Texts of all files that the document names by `$ref`, directly or through other files, by path relative to the document. */
export async function filesOf({ name, text, readBeside }: DocumentSource): Promise<Readonly<Record<string, string>>> {
  if (readBeside === null) return {}
  const files = await referencedFiles(text, {
    read: readBeside,
    referencesOf: (content) => TEXTS_HERE.fileReferences(content),
    maxBytes: MAX_BYTES,
  })
  if (!files.ok) throw new InputError(`${name}: ${files.problem.message}`)
  return files.value
}

export function textFile(path: string, folder = '.'): string {
  return readGivenFile(resolve(folder, path))
}

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
  const [before, after] = [await protoImportsOf(base), await protoImportsOf(head)]
  const imports = new Set([...before.keys(), ...after.keys()])
  if (imports.size === 0) return [base, head]
  // The two sides are one file, whatever their names.
  const name = [head, base].map(({ path }) => posix.basename(path ?? '')).find((path) => path.endsWith('.proto'))
  const document = name === undefined || imports.has(name) ? UNNAMED : name
  return [asSet(base, document, before), asSet(head, document, after)]
}

async function protoImportsOf({ name, text, imports }: DocumentSource): Promise<ReadonlyMap<string, ImportedFile>> {
  if (imports === null) return new Map()
  const found = await importedFiles(text, { ...imports, maxBytes: MAX_BYTES, limits: DEFAULT_DOCUMENT_LIMITS })
  if (!found.ok) throw new InputError(`${name}: ${found.problem.message}`)
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

/**
 * Throws an InputError with the place of the first fault.
 * @param name of the text: a file, or the address that answered
 */
export function jsonOf(text: string, name: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    return strictJsonOf(text, name)
  }
}

/** The same for JSON with one reading only: no member occurs twice. */
export function strictJsonOf(text: string, name: string): unknown {
  const read = readJson(text, DEFAULT_DOCUMENT_LIMITS)
  if (!read.ok) throw new InputError(`${name}: ${placedMessage(read.problem)}`)
  return read.value
}
