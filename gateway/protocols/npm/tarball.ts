/** The files of a package's tarball that may hold contracts, read within bounds and in memory: no path in it is ever a path on a disk. */
import { createHash } from 'node:crypto'
import type { FileAtCommit } from '../../scm/platform.ts'
import { fileOfBytes } from '../../scm/files.ts'
import { ARTIFACT_PROBLEMS } from '../../scm/problems.ts'
import { readArchive, TarballError, type ArchiveEntry } from './archive.ts'

export type PackageTree = ReadonlyMap<string, FileAtCommit>

interface TarballTerms {
  readonly isSelected: (path: string) => boolean
  /** Longest file that is read. */
  readonly maxFile: number
}

/** Everything unpacked counts, selected or not. */
const BOUNDS = { entries: 50_000, expanded: 512 * 1024 * 1024 } as const

/** @throws TarballError */
export async function readTarball(bytes: Buffer, { isSelected, maxFile }: TarballTerms): Promise<PackageTree> {
  const files = new Map<string, FileAtCommit>()
  const seen = new SeenPaths(isSelected)
  const take = (entry: ArchiveEntry): boolean => {
    const path = installedPath(entry, isSelected)
    return path !== null && isSelected(path) && entry.type === 'file' && entry.size <= maxFile
  }
  try {
    for await (const [entry, content] of readArchive(bytes, take, BOUNDS)) {
      const path = installedPath(entry, isSelected)
      if (path === null) {
        if (entry.type !== 'directory') seen.addPossible(possiblePaths(entry.name))
        continue
      }
      seen.add(path)
      if (content !== null) files.set(path, fileOfBytes(path, content))
      else if (isSelected(path) && entry.type === 'file')
        files.set(path, { kind: 'unreadable', problem: ARTIFACT_PROBLEMS.tooLarge(path, maxFile) })
    }
  } catch (error) {
    if (error instanceof TarballError) throw error
    throw new TarballError(
      `it is not a gzipped tar archive that can be read (${error instanceof Error ? error.message : 'unknown'})`,
    )
  }
  return files
}

/**
 * The paths unpacked so far. Of two entries at one path the later one wins, on some disks also when it is written in
 * other letters. A file or link in place of a contract's folder hides the contract, or redirects it.
 */
class SeenPaths {
  readonly #isSelected: TarballTerms['isSelected']
  /** Folded path → as it was written. */
  readonly #spellings = new Map<string, string>()
  /** Folded paths that some client may make of an entry that is read by none. */
  readonly #possible = new Map<string, string>()
  /** Folders, folded → a file in each, a selected one where there is any. */
  readonly #folders = new Map<string, string>()

  constructor(isSelected: TarballTerms['isSelected']) {
    this.#isSelected = isSelected
  }

  /** @throws TarballError */
  add(path: string): void {
    const folded = foldedPath(path)
    const before = this.#spellings.get(folded)
    if (before === path) throw new TarballError(`it holds ${path} twice`)
    this.#spellings.set(folded, path)
    const isSelected = this.#isSelected(path)
    const counts = (other: string | undefined): other is string =>
      other !== undefined && (isSelected || this.#isSelected(other))
    const other = [before, this.#folders.get(folded), isSelected ? this.#possible.get(folded) : undefined].find(counts)
    if (other !== undefined) throw oneFile(path, other)
    for (const folder of foldersOf(folded)) {
      const inTheWay = [this.#spellings.get(folder), isSelected ? this.#possible.get(folder) : undefined].find(counts)
      if (inTheWay !== undefined) throw oneFile(path, inTheWay)
      if (isSelected || !this.#folders.has(folder)) this.#folders.set(folder, path)
    }
  }

  /**
   * @param paths that clients may make of one entry
   * @throws TarballError
   */
  addPossible(paths: readonly string[]): void {
    for (const path of paths) {
      const folded = foldedPath(path)
      const before = this.#spellings.get(folded)
      const other = [before, this.#folders.get(folded)].find((known) => known !== undefined && this.#isSelected(known))
      if (other !== undefined) throw oneFile(path, other)
      this.#possible.set(folded, path)
    }
  }
}

/** @throws TarballError */
function foldersOf(path: string): readonly string[] {
  const parts = path.split('/')
  if (parts.length > MOST_FOLDERS) throw new TarballError(`the name of an entry has more than ${MOST_FOLDERS} parts`)
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
}

function oneFile(path: string, other: string): TarballError {
  return new TarballError(`it holds ${path} and ${other}, which are at one place on some disks`)
}

/**
 * Disks differ in which names they distinguish: case, composed letters, letters without a width, dots and blanks at the
 * end of a name.
 */
function foldedPath(path: string): string {
  return path
    .normalize('NFD')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replaceAll(/[. ]+(?=\/|$)/g, '')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFC')
}

/**
 * The path below the top folder, which clients remove whatever its name is. Null: clients do not unpack the entry, or
 * it is an irrelevant folder. Clients create different files from a name that is not a plain path in a folder
 * (`/openapi.json`, `./openapi.json`, `..`, a backslash). Some also create a file from a link. If any of these could be
 * a file that is read, the archive has no single reading.
 * @throws TarballError
 */
function installedPath({ name, type }: ArchiveEntry, isSelected: TarballTerms['isSelected']): string | null {
  const isDirectory = type === 'directory'
  const parts = (isDirectory ? name.replace(/\/$/, '') : name).split('/')
  const inside = parts.slice(1).join('/')
  const isPlain = inside !== '' && !parts.some((part) => ODD_PARTS.has(part) || UNUSUAL.test(part))
  if (isPlain && type === 'file') return inside
  if (isPlain && isDirectory) return isSelected(inside) ? inside : null
  const possible = isPlain ? [inside] : possiblePaths(name)
  if (!(isDirectory && parts.length === 1) && possible.some(isSelected))
    throw new TarballError(`its entry ${JSON.stringify(name)} is unpacked in more than one way`)
  return null
}

const ODD_PARTS: ReadonlySet<string> = new Set(['', '.', '..'])
/** Backslash: a slash to Windows. Colon: a drive, which npm takes off everywhere. Control characters: the end of a name to some. */
const UNUSUAL = /[\\:\p{Cc}]/u

/** Parts of a plain name. */
const MOST_FOLDERS = 256
/** Parts of a name that is read in several ways; more are no name of a package's file. */
const MOST_PARTS = 64

/**
 * Every path that a client could make of a name: without any number of parts at its beginning, with `..` followed, and only up to
 * a colon or control character.
 * @throws TarballError
 */
function possiblePaths(name: string): readonly string[] {
  const ends = [...name.matchAll(/[:\p{Cc}]/gu)].map(({ index }) => name.slice(0, index))
  const readings = [name, name.replaceAll(/\p{Cc}/gu, ''), ...ends]
  if (readings.length > MOST_PARTS) throw new TarballError('the name of an entry is read in too many ways')
  return readings.flatMap((reading) => {
    const parts = reading.split(/[/\\:]/).filter((part) => part !== '' && part !== '.')
    if (parts.length > MOST_PARTS)
      throw new TarballError('the name of an entry that is not a plain file has too many parts')
    return parts.flatMap((_, index) => {
      const rest = parts.slice(index)
      return [rest.join('/'), resolvedPath(rest)]
    })
  })
}

function resolvedPath(parts: readonly string[]): string {
  const resolved: string[] = []
  for (const part of parts) {
    if (part === '..') resolved.pop()
    else resolved.push(part)
  }
  return resolved.join('/')
}

/** @param integrity of the packument (Subresource Integrity) @param shasum SHA-1 in hex, where there is nothing better */
export function isIntact(bytes: Buffer, integrity: string | null, shasum: string | null): boolean {
  const strong = integrity?.split(/\s+/).find((entry) => entry.startsWith('sha512-'))
  if (strong !== undefined)
    return createHash('sha512').update(bytes).digest('base64') === strong.slice('sha512-'.length).split('?', 1)[0]
  return shasum !== null && createHash('sha1').update(bytes).digest('hex') === shasum.toLowerCase()
}
