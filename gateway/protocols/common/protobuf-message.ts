/**
 * Reads the fields of protobuf messages that a table names, with one reading only. The decoder library is loaded with
 * the first message: most gateways never receive one.
 */
import { createRequire } from 'node:module'
import type * as ProtoLoader from '@grpc/proto-loader'
import { isJsonObject, REQUEST_LIMITS } from '../../json/strict-json.ts'
import { recordIn } from '../../json/unchecked-json.ts'

/**
 * Message → field → its number and type, with `[]` behind the type of a repeated field. Fields without a row are
 * skipped, as in any decoder.
 */
export type MessageTable = Readonly<Record<string, Readonly<Record<string, readonly [number: number, type: string]>>>>

export type MessageValue = Readonly<Record<string, unknown>>

type ReadMessage =
  | { readonly ok: true; readonly value: MessageValue }
  | { readonly ok: false; readonly message: string }

/** Fields that were not sent are absent, whatever their type. */
type MessageReader = (message: string, bytes: Buffer) => ReadMessage

export function createMessageReader(table: MessageTable): MessageReader {
  let messages: ProtoLoader.PackageDefinition | null = null
  return (message, bytes) => {
    messages ??= load(table)
    const definition = messages[`${PACKAGE}.${message}`]
    if (definition === undefined || !('deserialize' in definition))
      throw new Error(`there is no message ${message} in the table`)
    if (valuesWithin(bytes, table, message) > REQUEST_LIMITS.maxParts)
      return {
        ok: false,
        message: `The protobuf message cannot be read: it holds more than ${REQUEST_LIMITS.maxParts} values; split it.`,
      }
    try {
      return { ok: true, value: singles(table, message, decode(definition, bytes)) }
    } catch (error) {
      return {
        ok: false,
        message: `The protobuf message cannot be read: ${error instanceof Error ? error.message : 'unreadable'}.`,
      }
    }
  }
}

const PACKAGE = 'preflight'

function decode(definition: ProtoLoader.AnyDefinition, bytes: Buffer): MessageValue {
  const value: unknown =
    'deserialize' in definition && typeof definition.deserialize === 'function' ? definition.deserialize(bytes) : null
  return recordIn(value)
}

/**
 * Values of the message, and of those within it that the table describes. Each costs much more to decode than the bytes that
 * state it: an empty message takes two, a packed number one.
 */
function valuesWithin(bytes: Buffer, table: MessageTable, message: string): number {
  const types = new Map(Object.values(table[message] ?? {}).map(([id, type]) => [id, type.replace('[]', '')]))
  const wire = new WireFields(bytes)
  let count = 0
  for (let field = wire.next(); field !== null && count <= REQUEST_LIMITS.maxParts; field = wire.next()) {
    const { id, value } = field
    const type = types.get(id)
    count += 1
    if (type === undefined || value === null || UNDIVIDED.has(type)) continue
    count += Object.hasOwn(table, type) ? valuesWithin(value, table, type) : value.length
  }
  return count
}

/** Types whose value is one, however long. Those of numbers may be packed. */
const UNDIVIDED: ReadonlySet<string> = new Set(['string', 'bytes'])

/** The fields of one message on the wire (protobuf encoding, "Message Structure"); ends where the decoder would fail. */
class WireFields {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Null: there are no more. `value`: that of a length-delimited field, else null. */
  next(): { readonly id: number; readonly value: Buffer | null } | null {
    if (this.#at >= this.#bytes.length) return null
    const tag = this.#varint()
    const id = tag >>> 3
    const type = tag & 7
    if (type === 0) this.#varint()
    else if (type === 1) this.#at += 8
    else if (type === 5) this.#at += 4
    else if (type === 2) {
      const length = this.#varint()
      const start = this.#at
      this.#at += length
      return { id, value: this.#bytes.subarray(start, this.#at) }
    }
    return { id, value: null }
  }

  /** Its lowest 32 bits: lengths and tags have no more. */
  #varint(): number {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.#at] ?? 0
      this.#at += 1
      if (shift < 32) value |= (byte & 127) << shift
      if (byte < 128) return value >>> 0
    }
  }
}

function load(table: MessageTable): ProtoLoader.PackageDefinition {
  const loader: typeof ProtoLoader = createRequire(import.meta.url)('@grpc/proto-loader')
  const nested = Object.fromEntries(
    Object.entries(table).map(([name, fields]) => [name, { fields: repeatedFields(fields) }]),
  )
  return loader.fromJSON({ nested: { [PACKAGE]: { nested } } }, { keepCase: true })
}

/**
 * Every field is decoded as a repeated one, so that duplicates are detected. Decoders differ in what they do with
 * duplicates (the last value, or both merged), and a message must not mean different objects to the gateway and the
 * upstream.
 */
function repeatedFields(fields: MessageTable[string]): Record<string, { rule: string; id: number; type: string }> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, [id, type]]) => [name, { rule: 'repeated', id, type: type.replace('[]', '') }]),
  )
}

function singles(table: MessageTable, message: string, decoded: MessageValue): MessageValue {
  const members = Object.entries(table[message] ?? {}).flatMap(([name, [, type]]) => {
    const found = decoded[name]
    const bare = type.replace('[]', '')
    const values = (Array.isArray(found) ? found : []).map((value: unknown) =>
      Object.hasOwn(table, bare) && isJsonObject(value) ? singles(table, bare, value) : value,
    )
    if (type.endsWith('[]')) return values.length === 0 ? [] : [[name, values] as const]
    if (values.length > 1) throw new Error(`${message}.${name} occurs more than once`)
    return values.length === 0 ? [] : [[name, values[0]] as const]
  })
  return Object.fromEntries(members)
}
