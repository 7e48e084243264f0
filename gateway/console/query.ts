/** Query parameters of the console's pages, checked as those of the API are. */
import type { TSchema } from 'typebox'
import { Type } from '../../engine/base.ts'
import { checkQuery } from '../api/validation.ts'
import { GatewayError } from '../errors/errors.ts'

const NO_PARAMETERS = Type.Object({})

/** Of a page that was reached by a form. */
export const DONE = Type.Optional(Type.Enum(['1']))

export const searchText = (maxLength: number) => Type.Optional(Type.String({ maxLength }))

/**
 * The parameters that have a value: forms send those that are not filled in as well. Blanks around a value are not part of it.
 * @throws GatewayError INVALID_INPUT with every mistake in `details`
 */
export function readQuery(search: URLSearchParams, schema: TSchema = NO_PARAMETERS): URLSearchParams {
  const stated = new URLSearchParams()
  for (const [name, value] of search) if (value.trim() !== '') stated.append(name, value.trim())
  checkQuery(schema, stated)
  return stated
}

export function queryMistake(pointer: string, message: string): GatewayError {
  return new GatewayError('INVALID_INPUT', undefined, { details: [{ pointer, message }] })
}
