/** Checks the bodies of hub requests against their forms. A validator is compiled once. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Static, TSchema, TUnsafe } from 'typebox'
import { Type } from '../../engine/base.ts'
import { GatewayError } from '../errors/errors.ts'

const bodies = new WeakMap<TSchema, TUnsafe<{ readonly values: readonly unknown[] }>>()

/** The form of a body that holds the values of a method. */
export function bodyOf(values: TSchema): TUnsafe<{ readonly values: readonly unknown[] }> {
  const known = bodies.get(values)
  if (known !== undefined) return known
  const members = { type: 'object', required: ['values'], properties: { values }, additionalProperties: false }
  const made = Type.Unsafe<{ readonly values: readonly unknown[] }>(members)
  bodies.set(values, made)
  return made
}

const ajv = new Ajv2020({ strict: false })
const compiled = new WeakMap<TSchema, ValidateFunction>()

/** Where a value departs from a form. @property pointer JSON Pointer into the value */
interface Departure {
  readonly pointer: string
  readonly message: string
}

/** Null: the value has the form. */
export function departureFrom(schema: TSchema, value: unknown): Departure | null {
  const validate = compiled.get(schema) ?? ajv.compile(schema)
  compiled.set(schema, validate)
  if (validate(value)) return null
  const [fault] = validate.errors ?? []
  return { pointer: fault?.instancePath ?? '', message: fault?.message ?? 'is not valid' }
}

/** @throws GatewayError INVALID_INPUT */
export function checked<Schema extends TSchema>(schema: Schema, body: unknown): Static<Schema> {
  const departure = departureFrom(schema, body)
  if (isOfForm(schema, body, departure)) return body
  throw new GatewayError('INVALID_INPUT', 'The request of the sidecar has another form than the hub expects.', {
    details: [departure ?? { pointer: '', message: 'is not valid' }],
  })
}

/** @param departure of the value from this form */
export function isOfForm<Schema extends TSchema>(
  _schema: Schema,
  _value: unknown,
  departure: Departure | null,
): _value is Static<Schema> {
  return departure === null
}
