/** The method that a request states beside its request line, in fields, parameters or a form. */
import type { CallHead } from '../../calls/call.ts'
import { METHOD_FIELDS } from '../../routing/field-name.ts'
import { queryOf, readNames } from '../../routing/query-names.ts'

/** Parameters in which frameworks look for the method. */
const PARAMETERS: ReadonlySet<string> = new Set([
  ...METHOD_FIELDS,
  '_method',
  '_http_method',
  '_httpmethod',
  '$httpmethod',
])

/** Does not cover bodies: only recognisers that read the body can check those. */
export function overridesMethod({ headers, upstreamPath }: Pick<CallHead, 'headers' | 'upstreamPath'>): boolean {
  for (const name of METHOD_FIELDS) if (headers[name] !== undefined) return true
  const query = queryOf(upstreamPath)
  return MAY_NAME_METHOD.test(query) && readNames(query).some((name) => PARAMETERS.has(name))
}

const MAY_NAME_METHOD = /%|method|verb/i

/** The type of a body in which frameworks look for `_method`; a body without a type is a form to some. */
export function mayBeForm(type: string | undefined): boolean {
  return type === undefined || /^\s*(?:$|application\/x-www-form-urlencoded|multipart\/)/i.test(type)
}
