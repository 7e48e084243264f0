/**
 * A compressed body as what it says, within a bound: it is judged unpacked and sent as it came. Readers differ on bytes
 * behind the end, on further members, and on two formats with one name. So a body is one member and nothing else.
 */
import { lookupTable } from '../../engine/base.ts'
import { recordIn } from '../json/unchecked-json.ts'
import { brotliDecompress, crc32, inflate, inflateRaw, zstdDecompress } from 'node:zlib'

/** Rejects for a body of another form. */
type Unpack = (bytes: Buffer, maxBytes: number) => Promise<Buffer>

const CODINGS: Readonly<Record<string, Unpack>> = lookupTable({
  gzip: gunzipped,
  'x-gzip': gunzipped,
  deflate: inflated,
  br: (bytes, maxBytes) => oneMember(brotliDecompress, bytes, maxBytes),
  zstd: (bytes, maxBytes) => oneMember(zstdDecompress, bytes, maxBytes),
  identity: (bytes) => Promise.resolve(bytes),
})

type Unpacked = { readonly ok: true; readonly bytes: Buffer } | { readonly ok: false; readonly why: string }

/** @param encoding value of Content-Encoding; more than one coding is refused */
export async function unpacked(bytes: Buffer, encoding: string | undefined, maxBytes: number): Promise<Unpacked> {
  const coding = (encoding ?? 'identity').trim().toLowerCase()
  const unpack = Object.hasOwn(CODINGS, coding) ? CODINGS[coding] : undefined
  if (unpack === undefined) return { ok: false, why: `a body in the coding "${coding}" is not read here` }
  try {
    return { ok: true, bytes: await unpack(bytes, maxBytes) }
  } catch (error) {
    const isTooLong = error instanceof RangeError
    return {
      ok: false,
      why: isTooLong
        ? `the body is longer than ${maxBytes} bytes unpacked`
        : `the body is not ${coding} data of one part`,
    }
  }
}

type Decompress = (
  bytes: Buffer,
  options: { readonly maxOutputLength: number; readonly info: true },
  done: (error: Error | null, result: unknown) => void,
) => void

/** Node ignores what follows the end of the first member. */
function oneMember(decompress: Decompress, bytes: Buffer, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    decompress(bytes, { maxOutputLength: maxBytes, info: true }, (error, result) => {
      if (error !== null) reject(error)
      else if (isReadTo(result, bytes.length)) resolve(result.buffer)
      else reject(new Error('something follows its end'))
    })
  })
}

/** What Node answers with `info`, which its types leave out: the text, and how many bytes it was read from. */
function isReadTo(result: unknown, length: number): result is { readonly buffer: Buffer } {
  const { buffer, engine } = recordIn(result)
  return buffer instanceof Buffer && recordIn(engine)['bytesWritten'] === length
}

/** Some servers read the bytes as deflate alone, without zlib around it: to them the header begins a block (RFC 1951 §3.2.4). */
function inflated(bytes: Buffer, maxBytes: number): Promise<Buffer> {
  const isBlock = bytes.length >= 5 && bytes.readUInt16LE(1) === (0xffff ^ bytes.readUInt16LE(3))
  return isBlock ? Promise.reject(new Error('it can be read in two ways')) : oneMember(inflate, bytes, maxBytes)
}

/** Bytes of a gzip header without optional fields, and of the checksum and length behind the data (RFC 1952 §2.3). */
const [HEADER, TRAILER] = [10, 8]
const MAGIC = 0x1f8b08
const HAS_NAME = 0x08

/** Node reads all members of gzip as one text, and other readers take the first. */
async function gunzipped(bytes: Buffer, maxBytes: number): Promise<Buffer> {
  const flags = bytes.readUInt8(3)
  if (bytes.readUIntBE(0, 3) !== MAGIC || (flags !== 0 && flags !== HAS_NAME)) throw new Error('it has another header')
  const start = flags === HAS_NAME ? bytes.indexOf(0, HEADER) + 1 : HEADER
  const end = bytes.length - TRAILER
  if (start < HEADER || end < start) throw new Error('it is cut off')
  const text = await oneMember(inflateRaw, bytes.subarray(start, end), maxBytes)
  const isWhole = bytes.readUInt32LE(end) === crc32(text) && bytes.readUInt32LE(end + 4) === text.length
  if (!isWhole) throw new Error('its checksum is that of another text')
  return text
}
