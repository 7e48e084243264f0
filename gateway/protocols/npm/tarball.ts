/** The files of a package's tarball that may hold contracts, read within bounds and in memory: no path in it is ever a path on a disk. */
import { createHash } from 'node:crypto'
import type { FileAtCommit } from '../../scm/platform.ts'
import { textFile } from '../../scm/files.ts'
import { ARTIFACT_PROBLEMS } from '../../scm/problems.ts'
import { readArchive, TarballError, type ArchiveEntry } from './archive.ts'

export type PackageTree = ReadonlyMap<string, FileAtCommit>

export interface TarballTerms {
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
      if (path === null) continue
      seen.add(path)
      if (content !== null) files.set(path, textFile(path, content))
      else if (isSelected(path) && entry.type === 'file')
        files.set(path, { kind: 'unreadable', problem: ARTIFACT_PROBLEMS.tooLarge(path, maxFile) })
    }
  } catch (error) {
    if (error instanceof TarballError) throw error
    throw new TarballError(
      `it is no gzipped tar archive that can be read (${error instanceof Error ? error.message : 'unknown'})`,
    )
  }
  return files
}

/** What was unpacked so far: of two entries at one path the later one stays, on some disks also when it is written in other letters. */
class SeenPaths {
  readonly #isSelected: TarballTerms['isSelected']
  readonly #spellings = new Map<string, string>()

  constructor(isSelected: TarballTerms['isSelected']) {
    this.#isSelected = isSelected
  }

  /** @throws TarballError */
  add(path: string): void {
    const folded = path.normalize('NFC').toLowerCase()
    const before = this.#spellings.get(folded)
    if (before === path) throw new TarballError(`it holds ${path} twice`)
    if (before !== undefined && (this.#isSelected(path) || this.#isSelected(before)))
      throw new TarballError(`it holds ${path} and ${before}, which are one file on some disks`)
    this.#spellings.set(folded, path)
  }
}

/**
 * Behind the top folder, which clients take off whatever its name is. Null: nothing that they unpack, or a folder of no interest.
 * Of a name that is no plain path in a folder (`/openapi.json`, `./openapi.json`, `..`, a backslash) they make different files, and
 * of a link some make one: where any of these could be a file that is read, the archive has no single reading.
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

/** Every path that a client could make of a name: without any number of parts at its beginning. */
function possiblePaths(name: string): readonly string[] {
  const readings = [name, name.split('\0', 1)[0] ?? '']
  return readings.flatMap((reading) => {
    const parts = reading.split(/[/\\:]/).filter((part) => part !== '' && part !== '.')
    return parts.map((_, index) => parts.slice(index).join('/'))
  })
}

/** @param integrity of the packument (Subresource Integrity) @param shasum SHA-1 in hex, where there is nothing better */
export function isIntact(bytes: Buffer, integrity: string | null, shasum: string | null): boolean {
  const strong = integrity?.split(/\s+/).find((entry) => entry.startsWith('sha512-'))
  if (strong !== undefined)
    return createHash('sha512').update(bytes).digest('base64') === strong.slice('sha512-'.length).split('?', 1)[0]
  return shasum !== null && createHash('sha1').update(bytes).digest('hex') === shasum.toLowerCase()
}
