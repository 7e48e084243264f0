/**
 * The files that one .proto file imports, directly or through each other. Imports are paths from a root that the file does not
 * state, so the folders above it are tried. Where two of them hold different files of one name, nobody knows which is meant.
 */
import { fail, ok } from '../../engine/base.ts'
import type { DocumentLimits, Result } from '../../engine/internal.ts'
import { engine } from '../loading/lazy-engine.ts'
import type { FileShelf } from './referenced-files.ts'

export interface ImportedFile {
  readonly text: string
  /** Relative to the file that all imports start from. */
  readonly path: string
}

export interface ImportShelf extends Pick<FileShelf, 'read' | 'maxBytes'> {
  /** Where an import may be, relative to the file, nearest first. */
  readonly placesOf: (path: string) => readonly string[]
  readonly limits: DocumentLimits
}

const MAX_FILES = 1000

/** Imports of imports. */
const MAX_DEPTH = 32

/** As protoc has them: parts that are empty, `.` or `..`, backslashes and control characters name no file. */
function isImportPath(path: string): boolean {
  const isPlain = path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  return isPlain && path.endsWith('.proto') && !/[\\:\p{Cc}]/u.test(path)
}

/** By path as imports write it. What is nowhere is left out, and the comparison reports the import as unresolved. */
export async function importedFiles(
  document: string,
  shelf: ImportShelf,
): Promise<Result<ReadonlyMap<string, ImportedFile>>> {
  const found = new Map<string, ImportedFile>()
  const asked = new Set<string>()
  let bytes = 0
  for (let depth = 0; ; depth += 1) {
    const missing = importsNotFound(document, found, shelf.limits).filter((path) => !asked.has(path))
    if (missing.length === 0) return ok(found)
    if (depth === MAX_DEPTH) return tooManyImports(`imports files that import files, more than ${MAX_DEPTH} deep`)
    for (const path of missing) asked.add(path)
    if (asked.size > MAX_FILES) return tooManyImports(`imports more than ${MAX_FILES} files`)
    const read = await readImportedFiles(missing, shelf, shelf.maxBytes - bytes)
    if (!read.ok) return read
    for (const [path, file] of read.value) {
      found.set(path, file)
      bytes += Buffer.byteLength(file.text)
    }
    if (bytes > shelf.maxBytes) return tooManyImports(`imports files of more than ${shelf.maxBytes} bytes together`)
  }
}

/** None of a text that cannot be read: the comparison reports why. */
function importsNotFound(
  document: string,
  found: ReadonlyMap<string, ImportedFile>,
  limits: DocumentLimits,
): readonly string[] {
  const files = [...found].map(([path, { text }]) => [path, text] as const)
  // A name that no import can have.
  const set = JSON.stringify(Object.fromEntries([...files, ['/.proto', document]]))
  const read = engine().readRpcs(set, limits)
  return read.ok ? read.value.missing.filter(isImportPath) : []
}

async function readImportedFiles(
  paths: readonly string[],
  { read, placesOf }: ImportShelf,
  maxBytes: number,
): Promise<Result<ReadonlyMap<string, ImportedFile>>> {
  const places = new Map(paths.map((path) => [path, placesOf(path)] as const))
  const texts = await read([...new Set([...places.values()].flat())], maxBytes)
  if (!texts.ok) return texts
  const found = new Map<string, ImportedFile>()
  for (const [path, candidates] of places) {
    const there = candidates.flatMap((place): readonly ImportedFile[] => {
      const text = texts.value.get(place)
      return text === undefined ? [] : [{ text, path: place }]
    })
    const [first] = there
    const other = there.find(({ text }) => text !== first?.text)
    if (first === undefined) continue
    if (other !== undefined) return ambiguousImport(path, first.path, other.path)
    found.set(path, first)
  }
  return ok(found)
}

function ambiguousImport(path: string, first: string, other: string): Result<never> {
  return fail({
    code: 'ARTIFACT_UNREADABLE',
    message: `The import "${path}" may be ${first} or ${other}, seen from the file: compare the folder that imports start from.`,
  })
}

function tooManyImports(what: string): Result<never> {
  return fail({ code: 'ARTIFACT_OVER_LIMIT', message: `The file ${what}: compare a folder of fewer files.` })
}
