/**
 * How far two types of a field are compatible: on the wire, in JSON, in code (“Updating A Message Type”, “ProtoJSON
 * Format”).
 */
import type { ProtoContract, ProtoType } from '../../contracts/protobuf/contract.ts'
import type { ProtoEnum, ProtoField } from '../../contracts/protobuf/model.ts'
import type { ProtoWalk } from './walk.ts'

/** The first thing that differs. */
export type TypeLikeness = 'same' | 'source' | 'sign' | 'json' | 'wire'

/** Scalars that can read each other on the wire, except for truncation. */
const WIRE_GROUPS = groups(['int32', 'int64', 'uint32', 'uint64', 'bool'], ['sint32', 'sint64'])
/** Scalars with the same wire and JSON form, except that only one of them has negative values. */
const SIGN_GROUPS = groups(['int32', 'uint32'], ['int64', 'uint64'], ['fixed32', 'sfixed32'], ['fixed64', 'sfixed64'])

function groups(...lists: readonly (readonly string[])[]): ReadonlyMap<string, number> {
  return new Map(lists.flatMap((list, index) => list.map((type) => [type, index] as const)))
}

export function typeOfField(field: ProtoField, contract: ProtoContract): ProtoType {
  return contract.typeOf(field.type, field.scope)
}

/**
 * Whether a field’s messages are encoded as groups. Maps and their entries never are, whatever features they inherit.
 */
export function isDelimited(field: ProtoField, contract: ProtoContract): boolean {
  if (field.isGroup) return true
  if (field.features.resolved.message_encoding !== 'DELIMITED' || field.label === 'map') return false
  return typeOfField(field, contract).kind === 'message' && contract.messages.get(field.scope)?.isMapEntry !== true
}

export function relateFieldTypes(base: ProtoField, head: ProtoField, walk: ProtoWalk): TypeLikeness {
  const before = typeOfField(base, walk.base)
  const after = typeOfField(head, walk.head)
  if (before.kind === 'opaque' || after.kind === 'opaque') return isSameName(before, after) ? 'same' : 'wire'
  if (before.kind !== after.kind || isDelimited(base, walk.base) !== isDelimited(head, walk.head)) return 'wire'
  // Entries are named after their field, and compared on their own.
  if (before.name === after.name || (base.label === 'map' && head.label === 'map')) return 'same'
  if (before.kind === 'scalar') return likenessOfScalars(before.name, after.name)
  return before.kind === 'enum'
    ? likenessOfEnums(walk.base.enums.get(before.name), walk.head.enums.get(after.name))
    : 'wire'
}

/** An unknown name may be the known one, written from another scope. */
function isSameName({ kind, name }: ProtoType, other: ProtoType): boolean {
  if (kind === 'scalar' || other.kind === 'scalar') return false
  return name === other.name || name.endsWith(`.${other.name}`) || other.name.endsWith(`.${name}`)
}

function likenessOfScalars(before: string, after: string): TypeLikeness {
  if (isTogether(SIGN_GROUPS, before, after)) return 'sign'
  return isTogether(WIRE_GROUPS, before, after) || (before === 'string' && after === 'bytes') ? 'json' : 'wire'
}

function isTogether(table: ReadonlyMap<string, number>, a: string, b: string): boolean {
  const group = table.get(a)
  return group !== undefined && group === table.get(b)
}

/** Another enum with the same short name and every value of the base counts as the moved enum. */
function likenessOfEnums(base: ProtoEnum | undefined, head: ProtoEnum | undefined): TypeLikeness {
  if (base === undefined || head === undefined || base.name !== head.name) return 'wire'
  const names = new Map(head.values.map(({ name, number }) => [name, number]))
  return base.values.every(({ name, number }) => names.get(name) === number) ? 'source' : 'wire'
}
