/** A compressed body as what it says, within a bound: it is judged unpacked and sent as it came. */
import { lookupTable } from '../../engine/base.ts'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'

type Unpack = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>

const CODINGS: Readonly<Record<string, Unpack>> = lookupTable({
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
  identity: (bytes) => Promise.resolve(bytes),
})

type Unpacked = { readonly ok: true; readonly bytes: Buffer } | { readonly ok: false; readonly why: string }

/** @param encoding value of Content-Encoding; more than one coding is refused */
export async function unpacked(bytes: Buffer, encoding: string | undefined, maxBytes: number): Promise<Unpacked> {
  const coding = (encoding ?? 'identity').trim().toLowerCase()
  const unpack = Object.hasOwn(CODINGS, coding) ? CODINGS[coding] : undefined
  if (unpack === undefined) return { ok: false, why: `a body in the coding "${coding}" is not read here` }
  try {
    return { ok: true, bytes: await unpack(bytes, { maxOutputLength: maxBytes }) }
  } catch (error) {
    const isTooLong = error instanceof RangeError
    return {
      ok: false,
      why: isTooLong ? `the body is longer than ${maxBytes} bytes unpacked` : `the body is no ${coding} data`,
    }
  }
}
