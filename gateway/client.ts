/**
 * The gateway over HTTP, for programs that use the package as a library: creates the functions that `guardTools` needs
 * from an address and a key.
 */
import type { GuardOptions } from '../engine/index.ts'
import { fetchFailure } from './errors/startup-error.ts'
import { jsonOrNull, objectsIn, recordIn } from './json/unchecked-json.ts'
import { sha256Hex } from './runtime/hash.ts'

export interface PreflightClientOptions {
  /** Address of the API listener. */
  readonly url: string
  readonly key: string
  /** Maximum time of one request, milliseconds. */
  readonly timeout?: number
}

export type PreflightClient = Required<Pick<GuardOptions, 'preflight' | 'verify' | 'report' | 'sha256' | 'now'>>

const DEFAULT_TIMEOUT = 60_000

/**
 * Each request rejects unless the answer is JSON with status 2xx: a guard then stops.
 * @throws TypeError when the address or the key is missing or wrong
 */
export function preflightClient(options: PreflightClientOptions): PreflightClient {
  if (typeof options !== 'object' || options === null)
    throw new TypeError('preflightClient needs an object with url and key.')
  const { url, key, timeout = DEFAULT_TIMEOUT } = options
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new TypeError('preflightClient needs url: the http or https address of the API listener.')
  if (typeof key !== 'string') throw new TypeError('preflightClient needs key: an API key, as text.')
  const base = url.endsWith('/') ? url : `${url}/`
  const ask = async (path: string, body: object): Promise<unknown> => {
    const response = await fetch(new URL(path, base), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeout),
      redirect: 'error',
    }).catch((error: unknown) => {
      throw new Error(`no gateway answers at ${base}: ${fetchFailure(error)}`, { cause: error })
    })
    if (!response.ok) throw new Error(`POST /${path} answered ${response.status}: ${refusalIn(await response.text())}`)
    const answer: unknown = await response.json()
    return answer
  }
  return {
    preflight: (request) => ask('api/v1/preflight', request),
    verify: (question) => ask('api/v1/verify-receipt', question),
    report: (event) => ask('api/v1/telemetry', event),
    sha256: sha256Hex,
    now: Date.now,
  }
}

/** The error of the API in one line; what another server answers, as it stands. */
function refusalIn(text: string): string {
  const { error, message, details } = recordIn(jsonOrNull(text))
  if (typeof error !== 'string' || typeof message !== 'string') return text.slice(0, SHOWN_LENGTH)
  const places = objectsIn(details).map((detail) => `${String(detail['pointer'])} ${String(detail['message'])}`)
  return [`${error}: ${message}`, ...places].join(' ').slice(0, SHOWN_LENGTH)
}

const SHOWN_LENGTH = 300
