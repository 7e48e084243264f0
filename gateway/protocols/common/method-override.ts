/** The method that a request states beside its request line, in fields, parameters or its body. */
import type { Call, CallHead } from '../../calls/call.ts'
import { isJsonObject, readStrictJson } from '../../json/strict-json.ts'
import { isUtf8Type } from '../../network/body-charset.ts'
import { isJsonType } from '../../network/json-type.ts'
import { METHOD_FIELDS } from '../../routing/field-name.ts'
import { canonicalName, hasTooManyFields, queryOf, readNames } from '../../routing/query-names.ts'
import { hasBody } from './request-line.ts'
import { partName, readParts } from './form-parts.ts'

/** Parameters in which frameworks look for the method. */
const PARAMETERS: ReadonlySet<string> = new Set([
  ...METHOD_FIELDS,
  '_method',
  '_http_method',
  '_httpmethod',
  '$httpmethod',
])

/**
 * Calls that a POST alone may make (gRPC over HTTP/2, "Requests"; Connect Protocol, "Streaming-Request"). Some servers
 * execute them whatever the method: the path names the procedure.
 */
const PROCEDURE_CALL = /^\s*application\/(?:grpc|connect\+)/i

/** Does not cover bodies: only recognisers that read the body can check those. */
export function overridesMethod({
  method,
  headers,
  upstreamPath,
}: Pick<CallHead, 'method' | 'headers' | 'upstreamPath'>): boolean {
  for (const name of METHOD_FIELDS) if (headers[name] !== undefined) return true
  const type = headers['content-type']
  if (type !== undefined && method !== 'POST' && PROCEDURE_CALL.test(type)) return true
  const query = queryOf(upstreamPath)
  return MAY_NAME_METHOD.test(query) && readNames(query).some((name) => PARAMETERS.has(name))
}

const MAY_NAME_METHOD = /%|method|verb/i

/** The type of a body in which frameworks look for `_method`; a body without a type is a form to some. */
export function mayBeForm(type: string | undefined): boolean {
  return type === undefined || /^\s*(?:$|application\/x-www-form-urlencoded|multipart\/)/i.test(type)
}

/** True for a body that some framework reads for `_method`: one in a POST, a form or JSON. */
export function mayNameMethodInBody({ method, headers, received, trafficPath }: CallHead): boolean {
  if (method !== 'POST') return false
  const type = headers['content-type']
  // A proxy that asks may keep to itself that there is a body.
  return (trafficPath === 'ext_authz' || hasBody(received.headers)) && (mayBeForm(type) || isJsonType(type))
}

/**
 * `named`: the body states a method. `unknown`: it was not read, or servers read its members differently.
 * @param call its body is read, or null
 */
export function methodInBody(call: Call): 'none' | 'named' | 'unknown' {
  if (!mayNameMethodInBody(call)) return 'none'
  const { body, headers } = call
  const { 'content-type': type, 'content-encoding': coding = 'identity' } = headers
  if (body?.length === 0) return 'none'
  if (body === null || coding !== 'identity' || !isUtf8Type(type)) return 'unknown'
  const text = body.toString('latin1')
  // Most bodies cannot write such a name: they need not be taken apart.
  if (!MAY_WRITE_METHOD.test(text)) return 'none'
  const mayBeJson = isJsonType(type) || /^\s*[{[]/.test(text)
  const names = [mayBeJson ? methodsInJson(body) : [], mayBeForm(type) ? namesInForm(body, type) : []]
  if (names.some((known) => known?.some((name) => PARAMETERS.has(name)))) return 'named'
  return names.includes(null) ? 'unknown' : 'none'
}

/** The words themselves, and what may stand for a letter of them: escapes, controls, letters beyond ASCII. */
const MAY_WRITE_METHOD = /method|verb|\\u|%|[^\t\n\r -~]/i

/** Names of the members whose value may be a method. Null: it has no single reading. */
function methodsInJson(body: Buffer): readonly string[] | null {
  const json = readStrictJson(body)
  if (!json.ok) return null
  if (!isJsonObject(json.value)) return []
  return Object.entries(json.value).flatMap(([name, value]) =>
    /^\s*[a-z]+\s*$/i.test(String(value)) ? [canonicalName(name)] : [],
  )
}

function namesInForm(body: Buffer, type: string | undefined): readonly string[] | null {
  if (!/^\s*multipart\//i.test(type ?? '')) {
    const text = body.toString('utf8')
    return hasTooManyFields(text) ? null : readNames(text)
  }
  const parts = readParts(body, type ?? '')
  if (!parts.ok) return null
  const names = parts.value.map(({ head }) => partName(head))
  return names.includes(null) ? null : names.map((part) => canonicalName(part?.name ?? ''))
}
