/** The declarations of a .proto file as read. The contract resolves names (contract.ts), not this file. */
import type { FeatureScope, Options } from './features.ts'

/** Anything with a name and a place. */
export interface Declared {
  readonly name: string
  /** With package and enclosing messages, without a leading dot. */
  readonly fullName: string
  /** JSON Pointer of the declaration: names from the file down. */
  readonly at: string
  /** By normalised name: `deprecated`, `(google.api.http)`, `features.(pb.cpp).string_type`. */
  readonly options: Options
}

/** From first to last, both included. */
export type NumberRange = readonly [first: number, last: number]

export interface Reserved {
  readonly ranges: readonly NumberRange[]
  readonly names: ReadonlySet<string>
}

export type Label = 'optional' | 'required' | 'repeated' | 'map' | null

export interface ProtoField extends Declared {
  readonly number: number
  readonly label: Label
  /** Whether it has presence regardless of features: in a oneof, an extension, `optional`, proto2. */
  readonly hasPresence: boolean
  /** The type as written; `group` types are written by the name of their message. */
  readonly type: string
  readonly isGroup: boolean
  /** Full name of the scope in which the written type is looked up. */
  readonly scope: string
  readonly jsonName: string
  /** Name of the oneof that it is in. */
  readonly oneof: string | null
  /** The extended message as written, for an extension. */
  readonly extendee: string | null
  readonly features: FeatureScope
}

/** Whether other files may use a message or enum (edition 2024). Null if it is not stated. */
export type Visibility = 'export' | 'local' | null

export interface ProtoMessage extends Declared {
  readonly visibility: Visibility
  readonly fields: readonly ProtoField[]
  readonly oneofs: readonly Declared[]
  readonly messages: readonly ProtoMessage[]
  readonly enums: readonly ProtoEnum[]
  readonly extensions: readonly ProtoField[]
  /** Open to any extension. */
  readonly extensionRanges: readonly NumberRange[]
  /** The only extensions of the other ranges: by number, what the range declares. */
  readonly declaredExtensions: ReadonlyMap<number, string>
  readonly reserved: Reserved
  readonly features: FeatureScope
  /** Made by the compiler for a map field. */
  readonly isMapEntry: boolean
}

export interface ProtoEnumValue extends Declared {
  readonly number: number
}

export interface ProtoEnum extends Declared {
  readonly visibility: Visibility
  readonly values: readonly ProtoEnumValue[]
  readonly reserved: Reserved
  readonly features: FeatureScope
}

export interface ProtoMethod extends Declared {
  readonly input: string
  readonly output: string
  readonly isClientStreaming: boolean
  readonly isServerStreaming: boolean
  /** Full name of the service: types are looked up from there. */
  readonly scope: string
}

export interface ProtoService extends Declared {
  readonly methods: readonly ProtoMethod[]
}

export interface ProtoFile {
  /** The path in the set of files. Empty for a single text. */
  readonly path: string
  readonly at: string
  /** `proto2`, `proto3` or an edition. */
  readonly syntax: string
  readonly package: string
  readonly imports: readonly string[]
  /** Those whose declarations are passed on to files that import this one. */
  readonly publicImports: readonly string[]
  readonly options: Options
  readonly messages: readonly ProtoMessage[]
  readonly enums: readonly ProtoEnum[]
  readonly services: readonly ProtoService[]
  readonly extensions: readonly ProtoField[]
}

export const SCALARS: ReadonlySet<string> = new Set([
  'double',
  'float',
  'int32',
  'int64',
  'uint32',
  'uint64',
  'sint32',
  'sint64',
  'fixed32',
  'fixed64',
  'sfixed32',
  'sfixed64',
  'bool',
  'string',
  'bytes',
])
