/**
 * TypeBox's builder for the forms that our own schemas are made of: the same calls, the same types, the same JSON Schemas,
 * without loading TypeBox. Its 370 modules cost every process 8 MB, and all that is needed of them at run time is to write
 * down a dozen shapes. The types come from TypeBox itself; a test holds that the schemas do not differ.
 */
import type { Type as TypeBox } from 'typebox'

type TypeForm =
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'

/** The part of TypeBox that is built here. */
export type TypeBuilder = Pick<typeof TypeBox, TypeForm>

type Schema = Readonly<Record<string, unknown>>

/** What TypeBox marks an optional member with: not enumerable, so that it is in no JSON and in no copy by spread. */
const OPTIONAL = '~optional'

/** The pattern of a record whose keys may be any text. */
const ANY_KEY = '^.*$'

const plain =
  (schema: Schema) =>
  (options?: Schema): Schema => ({ ...schema, ...options })

function object(properties: Readonly<Record<string, Schema>>, options?: Schema): Schema {
  const required = Object.keys(properties).filter((name) => !Object.hasOwn(properties[name] ?? {}, OPTIONAL))
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...options }
}

function recordSchema(key: Schema, value: Schema, options?: Schema): Schema {
  const pattern = typeof key['pattern'] === 'string' ? key['pattern'] : ANY_KEY
  return { type: 'object', patternProperties: { [pattern]: value }, ...options }
}

function optional(schema: Schema): Schema {
  return Object.defineProperty({ ...schema }, OPTIONAL, { value: true, enumerable: false })
}

const forms: Readonly<Record<TypeForm, unknown>> = {
  Array: (items: Schema, options?: Schema): Schema => ({ type: 'array', items, ...options }),
  Boolean: plain({ type: 'boolean' }),
  Enum: (values: readonly unknown[], options?: Schema): Schema => ({ enum: values, ...options }),
  Integer: plain({ type: 'integer' }),
  Literal: (value: unknown, options?: Schema): Schema => ({ type: typeof value, const: value, ...options }),
  Null: plain({ type: 'null' }),
  Number: plain({ type: 'number' }),
  Object: object,
  Optional: optional,
  Record: recordSchema,
  String: plain({ type: 'string' }),
  Union: (anyOf: readonly Schema[], options?: Schema): Schema => ({ anyOf, ...options }),
  Unknown: plain({}),
  Unsafe: (schema: Schema): Schema => schema,
}

/** Its signature is that of TypeBox: the schemas lack only type marks that nothing here reads. */
function withTypesOfTypeBox(built: typeof forms): TypeBuilder
function withTypesOfTypeBox(built: object): object {
  return built
}

export const Type: TypeBuilder = withTypesOfTypeBox(forms)
