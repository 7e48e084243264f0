/**
 * Reads the fields of protobuf messages that a table names, with one reading only. Decoders differ in what they do with tags
 * beyond 32 bits, other wire types, groups and repeated values, and in one of them such a field is skipped. So whatever no
 * encoder writes is refused (https://protobuf.dev/programming-guides/encoding/).
 */
import { isUtf8 } from 'node:buffer'
import { REQUEST_LIMITS } from '../../json/strict-json.ts'

/**
 * Message → field → its number and type, with `[]` behind the type of a repeated field. Fields without a row are
 * skipped, as in any decoder.
 */
export type MessageTable = Readonly<Record<string, Readonly<Record<string, readonly [number: number, type: string]>>>>

export type MessageValue = Readonly<Record<string, unknown>>

type ReadMessage =
  | { readonly ok: true; readonly value: MessageValue }
  | { readonly ok: false; readonly message: string }

/** Fields that were not sent are absent, whatever their type. 64-bit integers are decimal texts. */
type MessageReader = (message: string, bytes: Buffer) => ReadMessage

export function createMessageReader(table: MessageTable): MessageReader {
  return (message, bytes) => {
    try {
      return { ok: true, value: readFields(table, message, new WireReader(bytes, { values: 0 })) }
    } catch (error) {
      if (!(error instanceof UnreadableMessage)) throw error
      return { ok: false, message: `The protobuf message cannot be read: ${error.message}.` }
    }
  }
}

class UnreadableMessage extends Error {}

/** A field as it is on the wire. */
type WireValue =
  | { readonly wire: 'varint'; readonly value: bigint }
  | { readonly wire: 'length'; readonly value: Buffer }
  | { readonly wire: 'fixed' }

function readFields(table: MessageTable, message: string, input: WireReader): MessageValue {
  const fields = table[message]
  if (fields === undefined) throw new Error(`there is no message ${message} in the table`)
  const byNumber = new Map(Object.entries(fields).map(([name, [number, type]]) => [number, { name, type }]))
  const value: Record<string, unknown> = Object.create(null)
  while (!input.isAtEnd) {
    const { number, wire } = input.tag()
    const raw = input.value(wire)
    const field = byNumber.get(number)
    if (field === undefined) continue
    const { name, type } = field
    const values = valuesOf(table, type, raw, input)
    if (values === null) throw new UnreadableMessage(`${message}.${name} has another form`)
    const found = value[name]
    if (found === undefined) value[name] = type.endsWith('[]') ? [...values] : values[0]
    else if (!Array.isArray(found)) throw new UnreadableMessage(`${message}.${name} occurs more than once`)
    else for (const one of values) found.push(one)
  }
  return { ...value }
}

/**
 * One value; more of a packed list. Null: the wire has another type, or one that is no such value.
 * @param holder the reader of the message that holds the field
 */
function valuesOf(table: MessageTable, type: string, raw: WireValue, holder: WireReader): readonly unknown[] | null {
  const isList = type.endsWith('[]')
  const bare = isList ? type.slice(0, -'[]'.length) : type
  if (raw.wire === 'varint') {
    if (bare === 'int64') return [signed(raw.value)]
    return bare === 'bool' && raw.value <= 1n ? [raw.value === 1n] : null
  }
  if (raw.wire !== 'length' || bare === 'bool') return null
  if (bare === 'int64') return isList ? packed(holder.within(raw.value)) : null
  if (bare === 'bytes') return [raw.value]
  if (bare !== 'string') return [readFields(table, bare, holder.within(raw.value))]
  return isUtf8(raw.value) ? [raw.value.toString('utf8')] : null
}

function packed(input: WireReader): readonly string[] {
  const values: string[] = []
  while (!input.isAtEnd) values.push(signed(input.packed()))
  return values
}

function signed(value: bigint): string {
  return BigInt.asIntN(64, value).toString()
}

const MAX_NUMBER = 2 ** 29 - 1
const MAX_LENGTH = 2 ** 31 - 1
/** Bytes of a number of 32 bits, and of one of 64. */
const SHORT_BYTES = 5
const LONG_BYTES = 10

/** A value costs much more to read than the bytes that state it: an empty message takes two, a packed number one. */
class WireReader {
  readonly #bytes: Buffer
  /** Of the whole message, fields without a row too. */
  readonly #count: { values: number }
  #at = 0

  constructor(bytes: Buffer, count: { values: number }) {
    this.#bytes = bytes
    this.#count = count
  }

  /** A reader of a field of the same message. */
  within(bytes: Buffer): WireReader {
    return new WireReader(bytes, this.#count)
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  tag(): { readonly number: number; readonly wire: number } {
    this.#countValue()
    const tag = this.#short()
    const number = Math.floor(tag / 8)
    if (number === 0 || number > MAX_NUMBER) throw new UnreadableMessage('it has a field without a valid number')
    return { number, wire: tag % 8 }
  }

  value(wire: number): WireValue {
    if (wire === 0) return { wire: 'varint', value: this.varint() }
    if (wire === 2) {
      const length = this.#short()
      if (length > MAX_LENGTH) throw new UnreadableMessage('a field in it is too long')
      return { wire: 'length', value: this.#take(length) }
    }
    if (wire !== 1 && wire !== 5) throw new UnreadableMessage('it has a group')
    this.#take(wire === 1 ? 8 : 4)
    return { wire: 'fixed' }
  }

  /** One number of a packed list. */
  packed(): bigint {
    this.#countValue()
    return this.varint()
  }

  /** Unsigned. */
  varint(): bigint {
    const only = this.#single()
    if (only !== null) return BigInt(only)
    const bytes = this.#group(LONG_BYTES)
    const value = bytes.reduceRight((sum, byte) => (sum << 7n) | BigInt(byte & 0x7f), 0n)
    if (value >= 2n ** 64n) throw new UnreadableMessage('it has a number of more than 64 bits')
    return value
  }

  #countValue(): void {
    this.#count.values += 1
    if (this.#count.values > REQUEST_LIMITS.maxParts)
      throw new UnreadableMessage(`it holds more than ${REQUEST_LIMITS.maxParts} values; split it`)
  }

  #short(): number {
    return this.#single() ?? this.#group(SHORT_BYTES).reduceRight((sum, byte) => sum * 128 + (byte & 0x7f), 0)
  }

  /** Nearly all numbers are one byte. Null: this one is longer. */
  #single(): number | null {
    const byte = this.#bytes[this.#at] ?? 0x80
    if (byte >= 0x80) return null
    this.#at += 1
    return byte
  }

  /** The bytes of a number, which is in its shortest form. */
  #group(limit: number): Buffer {
    let length = 1
    while ((this.#bytes[this.#at + length - 1] ?? 0) >= 0x80) length += 1
    const bytes = this.#take(length)
    if (length > limit || (length > 1 && bytes[length - 1] === 0))
      throw new UnreadableMessage('it has a number that is too long, or not in its shortest form')
    return bytes
  }

  #take(length: number): Buffer {
    const end = this.#at + length
    if (end > this.#bytes.length) throw new UnreadableMessage('it ends within a field')
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }
}
