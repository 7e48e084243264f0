/**
 * The form in which Caddy (`forward_auth`) and Traefik (`ForwardAuth`) send checks: always a GET of one address, with
 * the original request in X-Forwarded fields. It has its own address, since anywhere else a client could have written
 * these fields.
 */
import type { IncomingHttpHeaders } from 'node:http'

export const FORWARDED_PATH = '/forward-auth'

/** Caddy appends the query of the original to the address; the fields contain it too. */
export function isForwarded(target: string): boolean {
  return target === FORWARDED_PATH || target.startsWith(`${FORWARDED_PATH}?`)
}

/** The original request. */
interface ForwardedRequest {
  readonly method: string
  readonly host: string
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
}

const METHOD = 'x-forwarded-method'
const TARGET = 'x-forwarded-uri'
const HOST = 'x-forwarded-host'
const FORWARDED_FIELDS: ReadonlySet<string> = new Set([METHOD, TARGET, HOST])

/** True for a check that states a method in a field: in the other form, its own method would be judged instead. */
export function statesMethod(headers: IncomingHttpHeaders): boolean {
  return headers[METHOD] !== undefined
}

/** Null when the fields do not name exactly one method, one target and one host. */
export function forwardedRequest(headers: IncomingHttpHeaders, rawHeaders: readonly string[]): ForwardedRequest | null {
  const values = new Map<string, string>()
  const own: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [field = '', value = ''] = [rawHeaders[index], rawHeaders[index + 1]]
    const name = field.toLowerCase()
    if (!FORWARDED_FIELDS.has(name)) {
      // The host of the check itself is the gateway's.
      if (name !== 'host') own.push(field, value)
    } else if (values.has(name)) return null
    else values.set(name, value)
  }
  const [method, target, host] = [values.get(METHOD), values.get(TARGET), values.get(HOST)]
  if (method === undefined || target === undefined || host === undefined) return null
  if (!/^[A-Z]{1,20}$/.test(method) || !target.startsWith('/') || host === '') return null
  const rest = Object.fromEntries(Object.entries(headers).filter(([name]) => !FORWARDED_FIELDS.has(name)))
  return { method, target, host, headers: { ...rest, host }, rawHeaders: ['Host', host, ...own] }
}
