/**
 * Reads the fields of protobuf messages that a table names, with one reading only. The decoder library is loaded with
 * the first message: most gateways never receive one.
 */
import { createRequire } from 'node:module'
import type * as ProtoLoader from '@grpc/proto-loader'
import { isJsonObject } from '../../json/strict-json.ts'
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
