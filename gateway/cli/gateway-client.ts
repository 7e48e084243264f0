/**
 * A running gateway, for commands that work over its API: one request at a time, each answer checked against the shape of its
 * route. An error of the gateway is the same GatewayError that the local form of a command gets.
 */
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { Ajv } from 'ajv'
import type { Static, TSchema } from 'typebox'
import { ERRORS, GatewayError, type ErrorCode, type ErrorDetail } from '../errors/errors.ts'
import { fetchFailure } from '../errors/startup-error.ts'
import { recordIn } from '../json/unchecked-json.ts'
import { printable } from '../report/printable.ts'
import { packageVersion } from '../runtime/package-files.ts'
import { plainSchema } from '../settings/input-schema.ts'
import type { ApiRoute } from '../api/route.ts'
import { InputError, UsageError } from './command.ts'
import { isJsonObject } from '../json/strict-json.ts'

export interface GatewayClient {
  /** Scheme, host and port of the API listener. */
  readonly origin: string
  /**
   * @param answer shape of the answer; members that it does not name may be present
   * @throws GatewayError with the code of the gateway; UsageError when the key is not accepted; Error when nothing answers
   */
  ask<Answer extends TSchema>(
    route: Pick<ApiRoute, 'method' | 'paths'>,
    answer: Answer,
    given?: RouteInput,
  ): Promise<Static<Answer>>
  /** An answer line by line, as long as it takes; the same errors. */
  lines(route: Pick<ApiRoute, 'method' | 'paths'>): Promise<AsyncIterable<string>>
}

interface RouteInput {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: object
}

interface GatewayClientOptions {
  readonly url: string
  /** API key or session of `preflight login`; null: for public routes only. */
  readonly key: string | null
  /** What to do when the key is not accepted. */
  readonly remedy?: string
  /** Maximum time of one request, milliseconds. */
  readonly timeout?: number
}

const DEFAULT_TIMEOUT = 60_000
/** A ledger may be large. */
const LONGEST_DOWNLOAD = 6 * 3_600_000
const API_PORT = 'the API listens on port 15081 by default'
const NDJSON = 'application/x-ndjson'
const ajv = new Ajv({ strict: false, validateFormats: false })

export function gatewayClient(options: GatewayClientOptions): GatewayClient {
  const base = gatewayAt(options.url)
  return {
    origin: base.origin,
    async ask(route, answer, given = {}) {
      const request = routeRequest(route, given, base)
      const response = await sendRequest(request, options)
      const parsed = await answeredJson(response, request)
      if (!response.ok) throw refusal(response.status, parsed, request, options)
      const check = ajv.compile<Static<typeof answer>>(plainSchema(answer))
      if (check(parsed)) return parsed
      const where = check.errors?.[0]
      const fault = where === undefined ? '' : `: ${where.instancePath || 'the answer'} ${where.message ?? ''}`
      throw new Error(`${otherVersion(request)}${fault}`)
    },
    async lines(route) {
      const request = routeRequest(route, {}, base)
      const response = await sendRequest(request, { ...options, timeout: LONGEST_DOWNLOAD }, NDJSON)
      if (!response.ok) throw refusal(response.status, await answeredJson(response, request), request, options)
      if (response.body === null || response.headers.get('content-type')?.startsWith(NDJSON) !== true)
        throw new Error(otherVersion(request))
      return createInterface({ input: Readable.fromWeb(response.body), crlfDelay: Infinity })
    },
  }
}

interface GatewayRequest {
  readonly url: URL
  readonly method: string
  /** For messages: `GET /api/v1/approvals`. */
  readonly name: string
  readonly body: object | undefined
}

/** @throws UsageError when it is no address of a gateway */
export function gatewayAt(url: string): URL {
  const base = URL.parse(url.endsWith('/') ? url : `${url}/`)
  if (base !== null && (base.protocol === 'http:' || base.protocol === 'https:')) {
    if (base.username === '' && base.password === '') return base
    throw new UsageError('the address of the gateway must not contain a user or password; use PREFLIGHT_API_KEY')
  }
  throw new UsageError(`${JSON.stringify(url)} is not an http or https address, e.g. https://preflight.example:15081`)
}

function routeRequest(
  { method, paths: [template] }: Pick<ApiRoute, 'method' | 'paths'>,
  { params = {}, query = {}, body }: RouteInput,
  base: URL,
): GatewayRequest {
  const path = template.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const url = new URL(path.slice(1), base)
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value))
  return { url, method, name: `${method} ${template}`, body }
}

async function sendRequest(
  { url, method, body }: GatewayRequest,
  { key, timeout = DEFAULT_TIMEOUT }: GatewayClientOptions,
  accept = 'application/json',
): Promise<Response> {
  try {
    return await fetch(url, {
      method,
      headers: {
        accept,
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeout),
      // A key is for the named gateway only.
      redirect: 'error',
    })
  } catch (error) {
    const reason = fetchFailure(error)
    throw new Error(
      `no gateway answers at ${url.origin}: ${reason}. Check --url or PREFLIGHT_URL, and that the gateway serves`,
      { cause: error },
    )
  }
}

async function answeredJson(response: Response, { url }: GatewayRequest): Promise<unknown> {
  const text = await response.text()
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    throw new Error(
      `${url.origin} answered ${response.status} without JSON, so it is not the API of a gateway. Check --url: ${API_PORT}`,
    )
  }
}

function refusal(
  status: number,
  answer: unknown,
  request: GatewayRequest,
  { remedy = '' }: GatewayClientOptions,
): Error {
  const { error, message, details } = recordIn(answer)
  const code = knownCode(error)
  const text = typeof message === 'string' ? printable(message) : `${request.url.origin} answered ${status}`
  if (code === 'UNAUTHENTICATED')
    return new InputError(`${request.url.origin} does not accept the key. ${remedy}`.trim())
  if (code === 'NOT_FOUND' && text.startsWith('This listener serves'))
    return new Error(`${request.url.origin} is the admin listener of a gateway. Check --url: ${API_PORT}`)
  const isUnknown = code === 'METHOD_NOT_ALLOWED' || (code === 'NOT_FOUND' && text.startsWith('There is nothing at'))
  if (isUnknown) return new Error(otherVersion(request))
  if (code === null) return new Error(`${request.name} was answered ${status}: ${text}`)
  return new GatewayError(code, text, { details: detailsOf(details) })
}

function knownCode(value: unknown): ErrorCode | null {
  const codes = Object.keys(ERRORS).filter((code): code is ErrorCode => Object.hasOwn(ERRORS, code))
  return codes.find((code) => code === value) ?? null
}

function detailsOf(value: unknown): readonly ErrorDetail[] {
  const rows: readonly unknown[] = Array.isArray(value) ? value : []
  return rows.filter(isJsonObject).map(({ pointer, message }) => ({
    pointer: printable(String(pointer)),
    message: printable(`${String(pointer)}: ${String(message)}`),
  }))
}

function otherVersion({ url, name }: GatewayRequest): string {
  return `the gateway at ${url.origin} does not answer ${name} as preflight ${packageVersion()} expects; use the preflight of the gateway's version`
}
