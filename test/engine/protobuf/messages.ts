/** Messages at random by a descriptor, and what two readers see of one. */
import { create, ScalarType, type DescField, type DescMessage, type Message } from '@bufbuild/protobuf'
import { isReflectMessage, reflect, type ReflectMessage } from '@bufbuild/protobuf/reflect'
import { FeatureSet_FieldPresence as Presence } from '@bufbuild/protobuf/wkt'
import type { Random } from '../../soundness/random.ts'

type Scalar = number | string | bigint | boolean | Uint8Array

const SCALARS: Readonly<Record<ScalarType, readonly Scalar[]>> = {
  [ScalarType.DOUBLE]: [1.5, -2],
  [ScalarType.FLOAT]: [1.5, -2],
  [ScalarType.INT64]: [1n, -1n, 300n],
  [ScalarType.UINT64]: [1n, 300n],
  [ScalarType.INT32]: [1, -1, 300],
  [ScalarType.FIXED64]: [7n],
  [ScalarType.FIXED32]: [7, 4_000_000_000],
  [ScalarType.BOOL]: [true],
  [ScalarType.STRING]: ['x', '12', '\u00e9'],
  [ScalarType.BYTES]: [new Uint8Array([1, 255]), new Uint8Array([200])],
  [ScalarType.UINT32]: [1, 4_000_000_000],
  [ScalarType.SFIXED32]: [-5],
  [ScalarType.SFIXED64]: [-6n],
  [ScalarType.SINT32]: [-3, 300],
  [ScalarType.SINT64]: [-3n, 300n],
}

export function drawnMessage(schema: DescMessage, random: Random, depth = 2): Message {
  const message = create(schema)
  fill(reflect(schema, message, false), random, depth)
  return message
}

function fill(message: ReflectMessage, random: Random, depth: number): void {
  const value = (field: DescField): unknown => {
    if (field.enum !== undefined) return random.pick(field.enum.values).number
    if (field.message === undefined) return random.pick(SCALARS[field.scalar ?? ScalarType.INT32])
    const inner = reflect(field.message, create(field.message), false)
    if (depth > 0) fill(inner, random, depth - 1)
    return inner
  }
  for (const field of message.fields) {
    if (!random.chance(0.5) && field.presence !== Presence.LEGACY_REQUIRED) continue
    if (field.oneof !== undefined && message.oneofCase(field.oneof) !== undefined) continue
    if (field.fieldKind === 'list') {
      const list = message.get(field)
      for (let count = 0; count < 2; count += 1) list.add(value(field))
    } else if (field.fieldKind === 'map') message.get(field).set(keyOf(field.mapKey, random), value(field))
    else message.set(field, value(field))
  }
}

function keyOf(type: ScalarType, random: Random): number | string | bigint | boolean {
  const key = random.pick(SCALARS[type])
  if (key instanceof Uint8Array) throw new Error('bytes are no key')
  return key
}

/** By number or key: values as text, those of messages and maps by their own numbers or keys. */
type Values = ReadonlyMap<string, Seen>
type Seen = string | ReadonlyMap<string, Seen>

export function valuesOf(schema: DescMessage, message: Message): Values {
  return valuesIn(reflect(schema, message, false))
}

function valuesIn(message: ReflectMessage): Values {
  const values = new Map<string, Seen>()
  for (const field of message.fields) {
    const key = String(field.number)
    if (field.fieldKind === 'list') {
      const items = [...message.get(field)].map((item, index) => [String(index), seen(item)] as const)
      if (items.length > 0) values.set(key, new Map([...items, ['length', String(items.length)]]))
    } else if (field.fieldKind === 'map') {
      const entries = [...message.get(field)].map(([name, item]) => [String(name), seen(item)] as const)
      if (entries.length > 0) values.set(key, new Map([...entries, ['length', String(entries.length)]]))
    } else if (field.fieldKind !== 'message' || message.isSet(field)) values.set(key, seen(message.get(field)))
  }
  return values
}

function seen(value: unknown): Seen {
  if (isReflectMessage(value)) return valuesIn(value)
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`
  if (typeof value === 'string') return `text ${value}`
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  throw new Error('a value of another kind')
}

/** What a reader sees otherwise than it was written; null: nothing. A field that only one side has is not looked at. */
export function misread(written: Values, read: Values): string | null {
  for (const [key, value] of read) {
    const before = written.get(key)
    if (before === undefined) continue
    const isSame = typeof before === 'string' || typeof value === 'string' ? before === value : null
    if (isSame === false) return `${key} is read otherwise`
    const found = typeof before === 'string' || typeof value === 'string' ? null : misread(before, value)
    if (found !== null) return `${key}: ${found}`
  }
  return null
}
