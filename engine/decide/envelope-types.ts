/** The few forms that the members of an envelope are made of. */
import type { Static, TSchema } from 'typebox'
import { Type } from '../common/type-builder.ts'

const DIGEST = '^sha256:[0-9a-f]{64}$'
const INSTANT = '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$'

export const closed = <T extends Record<string, TSchema>>(properties: T, description?: string) =>
  Type.Object(properties, { additionalProperties: false, ...(description && { description }) })

/** One schema that admits null too, rather than a union of two: as clear to read, and a third of the code when compiled. */
export const nullable = <T extends TSchema & { readonly type?: string; readonly enum?: readonly string[] }>(
  schema: T,
) =>
  Type.Unsafe<Static<T> | null>(
    schema.enum ? { ...schema, enum: [...schema.enum, null] } : { ...schema, type: [schema.type, 'null'] },
  )

export const optional = <T extends TSchema>(schema: T) => Type.Optional(nullable(schema))

export const text = (maxLength: number, minLength = 1) => Type.String({ minLength, maxLength })

export const count = () => Type.Integer({ minimum: 0 })

export const digest = () => Type.String({ pattern: DIGEST })

export const instant = () => Type.String({ pattern: INSTANT })

export const anyText = () => Type.String()
