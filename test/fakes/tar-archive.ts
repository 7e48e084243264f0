/** Tar archives block by block, good and bad ones. */
import { gzipSync } from 'node:zlib'

const BLOCK = 512

export interface TarHeader {
  readonly name: string
  readonly flag?: string
  readonly size?: number
  /** The raw field, instead of the size in octal. */
  readonly sizeField?: string | Buffer
  readonly prefix?: string
  readonly linkname?: string
  readonly magic?: string
}

export function tarHeader({
  name,
  flag = '0',
  size = 0,
  sizeField,
  prefix = '',
  linkname = '',
  magic = 'ustar\x0000',
}: TarHeader): Buffer {
  const block = Buffer.alloc(BLOCK)
  block.write(name, 0, 100, 'utf8')
  block.write('000644 \x00000000 \x00000000 \0', 100, 'latin1')
  if (Buffer.isBuffer(sizeField)) sizeField.copy(block, 124, 0, 12)
  else block.write(sizeField ?? `${size.toString(8).padStart(11, '0')} `, 124, 12, 'latin1')
  block.write('03740000000 ', 136, 'latin1')
  block.write(flag, 156, 1, 'latin1')
  block.write(linkname, 157, 100, 'utf8')
  block.write(magic, 257, 8, 'latin1')
  block.write(prefix, 345, 155, 'utf8')
  return summed(block)
}

/** The block with the checksum that is right for it. */
export function summed(block: Buffer): Buffer {
  block.fill(' ', 148, 156)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

export function padded(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content)
  return Buffer.concat([bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)])
}

export function tarFile(name: string, content: string, more: Partial<TarHeader> = {}): Buffer {
  return Buffer.concat([tarHeader({ name, size: Buffer.byteLength(content), ...more }), padded(content)])
}

export function paxRecord(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`)
  let length = rest + String(rest).length
  if (rest + String(length).length !== length) length = rest + String(length).length
  return `${length} ${key}=${value}\n`
}

export function paxHeader(records: string, flag = 'x'): Buffer {
  return tarFile('PaxHeader/x', records, { flag })
}

export const TAR_END = Buffer.alloc(2 * BLOCK)

export function tarball(...parts: readonly Buffer[]): Buffer {
  return gzipSync(Buffer.concat([...parts, TAR_END]))
}
