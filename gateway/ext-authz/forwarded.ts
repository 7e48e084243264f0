/**
 * The form in which Caddy (`forward_auth`) and Traefik (`ForwardAuth`) ask: always a GET of one address, with the request that is
 * meant in X-Forwarded fields. It has an address of its own, since anywhere else these fields are whatever a client wrote.
 */
import type { IncomingHttpHeaders } from 'node:http'

export const FORWARDED_PATH = '/forward-auth'

/** Caddy leaves the query of the original behind the address; the fields say it again. */
export function isForwarded(target: string): boolean {
  return target === FORWARDED_PATH || target.startsWith(`${FORWARDED_PATH}?`)
}

/** The request that is meant. */
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

/** True for a question that states a method beside its own: asked by the other form, it would be judged as what it is not. */
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
      // The host of the question itself is the gateway's.
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
