/**
 * A gzipped tar archive as `npm pack` and similar tools write it (POSIX.1-1988 ustar, pax headers of POSIX.1-2001).
 * Readers of tar differ on everything else, so everything else is refused: every client unpacks exactly what is read
 * here.
 */
import { isUtf8 } from 'node:buffer'
import { crc32, createInflateRaw } from 'node:zlib'

/** An archive that has no single reading, or more in it than is read; in words for whoever sent it. */
export class TarballError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'TarballError'
  }
}

export interface ArchiveEntry {
  /** As the archive has it. */
  readonly name: string
  readonly type: 'file' | 'directory' | 'link'
  readonly size: number
}

interface ArchiveBounds {
  readonly entries: number
  /** Everything unpacked: some MiB of zeros pack a thousandfold. */
  readonly expanded: number
}

/**
 * Every entry, in order.
 * @param take whether the content of an entry is wanted; it is null otherwise
 * @throws TarballError
 */
export async function* readArchive(
  bytes: Buffer,
  take: (entry: ArchiveEntry) => boolean,
  bounds: ArchiveBounds,
): AsyncGenerator<readonly [ArchiveEntry, Buffer | null]> {
  const blocks = new Blocks(inflatedMember(bytes, bounds.expanded))
  /** What a pax header says of the next entry; null: there was none. */
  let stated: { readonly path: string | null } | null = null
  for (let count = 0; ;) {
    const block = await blocks.take(BLOCK)
    if (block === null || isZero(block)) {
      if (block === null || stated !== null) throw new TarballError('it ends before its end marker')
      if (count === 0) throw new TarballError('it is empty')
      break
    }
    const header = headerIn(block)
    count += 1
    if (count > bounds.entries) throw new TarballError(`it holds more than ${bounds.entries} entries`)
    if (header.flag === 'x' || header.flag === 'g') {
      if (stated !== null || header.size > MAX_PAX) throw new TarballError('a pax header cannot be read in one way')
      const path = pathIn(await blocks.content(header.size, true), header)
      stated = header.flag === 'x' ? { path } : null
      continue
    }
    const entry = archiveEntry(header, stated?.path ?? null)
    stated = null
    yield [entry, await blocks.content(entry.size, take(entry))]
  }
  for (let block = await blocks.some(); block !== null; block = await blocks.some())
    if (!isZero(block)) throw new TarballError('something stands behind its end marker')
}

const BLOCK = 512
/** Of a pax header; what is longer, some readers skip. */
const MAX_PAX = 64 * 1024

/** The bytes of a gzip file of one member (RFC 1952), all of which have to be there. */
async function* inflatedMember(bytes: Buffer, maxBytes: number): AsyncGenerator<Buffer> {
  const start = deflateStart(bytes)
  const inflater = createInflateRaw()
  inflater.end(bytes.subarray(start))
  let size = 0
  let sum = 0
  const chunks: AsyncIterable<Buffer> = inflater
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > maxBytes) throw new TarballError(`it holds more than ${maxBytes} bytes unpacked`)
    sum = crc32(chunk, sum)
    yield chunk
  }
  const end = start + inflater.bytesWritten
  if (bytes.length !== end + 8) throw new TarballError('something stands behind its gzip data, or they are cut off')
  if (bytes.readUInt32LE(end) !== sum || bytes.readUInt32LE(end + 4) !== size % 2 ** 32)
    throw new TarballError('its gzip data are damaged')
}

/** Behind the header of the gzip file, which may hold a name and nothing else. */
function deflateStart(bytes: Buffer): number {
  const flags = bytes[3] ?? 0xff
  if (bytes.length < 18 || bytes.readUInt16BE(0) !== 0x1f_8b || bytes[2] !== 8 || (flags & ~8) !== 0)
    throw new TarballError('it is not a gzipped tar archive that can be read')
  const end = flags === 0 ? 9 : bytes.indexOf(0, 10)
  if (end === -1) throw new TarballError('it is not a gzipped tar archive that can be read')
  return end + 1
}

/** Bytes in pieces of the sizes that are asked for. */
class Blocks {
  readonly #source: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** What comes next; null: nothing. */
  async some(): Promise<Buffer | null> {
    const rest = this.#rest
    this.#rest = Buffer.alloc(0)
    if (rest.length > 0) return rest
    const next = await this.#source.next()
    return next.done === true ? null : next.value
  }

  /** Exactly so many; null: there are none left. @throws TarballError where there are fewer */
  async take(size: number): Promise<Buffer | null> {
    const pieces: Buffer[] = []
    let missing = size
    while (missing > 0) {
      const piece = await this.some()
      if (piece === null) {
        if (missing === size) return null
        throw new TarballError('it is cut off')
      }
      pieces.push(piece.subarray(0, missing))
      this.#rest = piece.subarray(missing)
      missing -= Math.min(missing, piece.length)
    }
    const [only] = pieces
    return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)
  }

  /** The content of an entry, with what fills its last block behind it; null when it is skipped. */
  async content(size: number, isWanted: boolean): Promise<Buffer | null> {
    const kept: Buffer[] = []
    for (let missing = Math.ceil(size / BLOCK) * BLOCK; missing > 0;) {
      const piece = await this.take(Math.min(missing, 64 * 1024))
      if (piece === null) throw new TarballError('it is cut off')
      if (isWanted) kept.push(piece)
      missing -= piece.length
    }
    return isWanted ? Buffer.concat(kept).subarray(0, size) : null
  }
}

function isZero(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0)
}

interface EntryHeader {
  readonly name: string
  readonly hasPrefix: boolean
  readonly flag: string
  readonly size: number
}

const USTAR = 'ustar\x0000'
/** Of GNU tar, which has no prefix there. */
const GNU = 'ustar  \0'
const FLAGS: ReadonlySet<string> = new Set(['\0', '0', '1', '2', '5', 'x', 'g'])

function headerIn(block: Buffer): EntryHeader {
  const magic = block.toString('latin1', 257, 265)
  if ((magic !== USTAR && magic !== GNU) || checksumOf(block) !== numberIn(block, 148, 8))
    throw new TarballError('it is not a tar archive that can be read in one way: a header is none of ustar')
  const flag = block.toString('latin1', 156, 157)
  if (!FLAGS.has(flag)) throw new TarballError(`it holds an entry of the type ${JSON.stringify(flag)}`)
  const size = numberIn(block, 124, 12)
  const prefix = headerText(block, 345, 155)
  const hasPrefix = prefix !== ''
  if (hasPrefix && magic === GNU) throw new TarballError('a header states more than GNU tar writes')
  const isLink = flag === '1' || flag === '2'
  if (isLink !== (headerText(block, 157, 100) !== ''))
    throw new TarballError('a link leads nowhere, or no link somewhere')
  const name = headerText(block, 0, 100)
  return { name: hasPrefix ? `${prefix}/${name}` : name, hasPrefix, flag, size }
}

/** Of all bytes, with blanks for the sum itself. */
function checksumOf(block: Buffer): number {
  let sum = 0
  for (const [index, byte] of block.entries()) sum += index >= 148 && index < 156 ? 0x20 : byte
  return sum
}

/** Octal digits and what ends them; other forms (base-256, signs) are read by some. */
function numberIn(block: Buffer, start: number, length: number): number {
  const digits = /^([0-7]+)[\0 ]*$/.exec(block.toString('latin1', start, start + length))?.[1]
  if (digits === undefined || digits.length >= length + 1)
    throw new TarballError('a number in a header is none that is written so')
  return Number.parseInt(digits, 8)
}

/** Up to a zero, behind which there are only zeros. */
function headerText(block: Buffer, start: number, length: number): string {
  const field = block.subarray(start, start + length)
  const end = field.indexOf(0)
  const text = end === -1 ? field : field.subarray(0, end)
  if (!isZero(field.subarray(text.length)) || !isUtf8(text))
    throw new TarballError('a text in a header is none that is written so')
  return text.toString('utf8')
}

/** Members of a pax header that say nothing of where a file is and what it holds. */
const HARMLESS =
  /^(?:[amc]time|uid|gid|uname|gname|comment|dev|ino|nlink|SCHILY\.(?:dev|ino|nlink|xattr\.[\w.-]+)|LIBARCHIVE\.(?:creationtime|xattr\.[\w.-]+))$/

/** The name that a pax header states for the next entry; null: none. A global one names nothing. */
function pathIn(content: Buffer | null, { flag, size }: EntryHeader): string | null {
  if (content === null || size === 0 || !isUtf8(content)) throw new TarballError('a pax header cannot be read')
  const records = recordsIn(content)
  const path = records.get('path') ?? null
  const stray = [...records.keys()].find((key) => !(key === 'path' && flag === 'x') && !HARMLESS.test(key))
  if (stray !== undefined)
    throw new TarballError(`a pax header states ${JSON.stringify(stray)}, which npm writes nowhere`)
  if (path === '') throw new TarballError('a pax header states an empty name')
  return path
}

/** `LENGTH KEY=VALUE` and a line break; the length counts all of it. */
function recordsIn(content: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>()
  for (let at = 0; at < content.length;) {
    const digits = /^[1-9][0-9]{0,5} /.exec(content.toString('latin1', at, at + 7))?.[0] ?? ''
    const end = at + Number.parseInt(digits, 10)
    const record = /^([^=\n\0]+)=([^\n\0]*)\n$/.exec(content.toString('utf8', at + digits.length, end))
    const [, key = '', value = ''] = record ?? []
    if (digits === '' || end > content.length || record === null || records.has(key))
      throw new TarballError('a pax header cannot be read in one way')
    records.set(key, value)
    at = end
  }
  return records
}

function archiveEntry(header: EntryHeader, path: string | null): ArchiveEntry {
  const { flag, size } = header
  if (path !== null && header.hasPrefix) throw new TarballError('it states the name of an entry twice')
  const name = path ?? header.name
  const type = flag === '5' ? 'directory' : flag === '1' || flag === '2' ? 'link' : 'file'
  if (name === '' || (type !== 'directory' && name.endsWith('/')) || (type !== 'file' && size > 0))
    throw new TarballError(`its entry ${JSON.stringify(name)} is none that is written so`)
  return { name, type, size }
}
