/** The files of a package's tarball that may hold contracts, read within bounds and in memory: no path in it is ever a path on a disk. */
import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { FileAtCommit } from '../../scm/platform.ts'
import { textFile } from '../../scm/files.ts'
import { ARTIFACT_PROBLEMS } from '../../scm/problems.ts'

export type PackageTree = ReadonlyMap<string, FileAtCommit>

export interface TarballTerms {
  readonly isSelected: (path: string) => boolean
  /** Longest file that is read. */
  readonly maxFile: number
}

/** A tarball that has no single reading, or more in it than is read; in words for whoever sent it. */
export class TarballError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'TarballError'
  }
}

const MAX_ENTRIES = 50_000
/** Everything unpacked, selected or not: some MiB of zeros pack a thousandfold. */
const MAX_EXPANDED = 512 * 1024 * 1024

/** @throws TarballError */
export async function readTarball(bytes: Buffer, terms: TarballTerms): Promise<PackageTree> {
  const { extract } = await import('tar-stream')
  const files = new Map<string, FileAtCommit>()
  const unpacking = extract()
  const bound = { entries: 0, bytes: 0 }
  const packing = pipeline([bytes], createGunzip(), counted(bound), unpacking)
  try {
    const [read] = await Promise.allSettled([readEntries(unpacking, files, bound, terms), packing])
    if (read.status === 'rejected') throw read.reason
    await packing
  } catch (error) {
    if (error instanceof TarballError) throw error
    throw new TarballError(
      `it is no gzipped tar archive that can be read (${error instanceof Error ? error.message : 'unknown'})`,
    )
  }
  return files
}

interface Bound {
  entries: number
  bytes: number
}

function counted(bound: Bound) {
  return async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      bound.bytes += chunk.length
      if (bound.bytes > MAX_EXPANDED) throw new TarballError(`it holds more than ${MAX_EXPANDED} bytes unpacked`)
      yield chunk
    }
  }
}

interface Entry extends AsyncIterable<unknown> {
  readonly header: { readonly name: string; readonly type: string; readonly size: number }
  resume(): unknown
}

async function readEntries(
  entries: AsyncIterable<Entry>,
  files: Map<string, FileAtCommit>,
  bound: Bound,
  { isSelected, maxFile }: TarballTerms,
): Promise<void> {
  const seen = new Set<string>()
  for await (const entry of entries) {
    bound.entries += 1
    if (bound.entries > MAX_ENTRIES) throw new TarballError(`it holds more than ${MAX_ENTRIES} entries`)
    const path = installedPath(entry.header.name)
    const isFile = entry.header.type === 'file' || entry.header.type === 'contiguous-file'
    if (path === null || !isFile) {
      // Links and devices are not installed, nor is what would leave the folder of the package.
      entry.resume()
      continue
    }
    if (seen.has(path)) throw new TarballError(`it holds ${path} twice`)
    seen.add(path)
    if (!isSelected(path)) entry.resume()
    else if (entry.header.size > maxFile) {
      files.set(path, { kind: 'unreadable', problem: ARTIFACT_PROBLEMS.tooLarge(path, maxFile) })
      entry.resume()
    } else files.set(path, textFile(path, await whole(entry)))
  }
}

async function whole(entry: Entry): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of entry) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Behind the top folder, which npm takes off whatever its name is. Null: nothing that npm would unpack. */
function installedPath(name: string): string | null {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  const inside = parts.slice(1)
  return inside.length === 0 || parts.includes('..') ? null : inside.join('/')
}

/** @param integrity of the packument (Subresource Integrity) @param shasum SHA-1 in hex, where there is nothing better */
export function isIntact(bytes: Buffer, integrity: string | null, shasum: string | null): boolean {
  const strong = integrity?.split(/\s+/).find((entry) => entry.startsWith('sha512-'))
  if (strong !== undefined)
    return createHash('sha512').update(bytes).digest('base64') === strong.slice('sha512-'.length).split('?', 1)[0]
  return shasum !== null && createHash('sha1').update(bytes).digest('hex') === shasum.toLowerCase()
}
