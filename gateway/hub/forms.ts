/** Checks the bodies of hub requests against their forms. A validator is compiled once. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Static, TSchema, TUnsafe } from 'typebox'
import { Type } from '../../engine/base.ts'
import type { Result } from '../../engine/internal.ts'
import { GatewayError } from '../errors/errors.ts'

const bodies = new WeakMap<TSchema, TUnsafe<{ readonly values: readonly unknown[] }>>()

/** The form of a body that holds the values of a method. */
export function valuesBody(values: TSchema): TUnsafe<{ readonly values: readonly unknown[] }> {
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
interface FormDeparture {
  readonly pointer: string
  readonly message: string
}

/** The value, typed by its form, or the first place where it departs from it. */
export function readForm<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
): Result<Static<Schema>, FormDeparture> {
  if (isOfForm(schema, value)) return { ok: true, value }
  const [fault] = validatorOf(schema).errors ?? []
  return { ok: false, problem: { pointer: fault?.instancePath ?? '', message: fault?.message ?? 'is not valid' } }
}

function isOfForm<Schema extends TSchema>(schema: Schema, value: unknown): value is Static<Schema> {
  return validatorOf(schema)(value)
}

function validatorOf(schema: TSchema): ValidateFunction {
  const validate = compiled.get(schema) ?? ajv.compile(schema)
  compiled.set(schema, validate)
  return validate
}

/** @throws GatewayError INVALID_INPUT */
export function checkedForm<Schema extends TSchema>(schema: Schema, body: unknown): Static<Schema> {
  const read = readForm(schema, body)
  if (read.ok) return read.value
  throw new GatewayError('INVALID_INPUT', 'The request of the sidecar has another form than the hub expects.', {
    details: [read.problem],
  })
}
