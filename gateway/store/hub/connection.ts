/**
 * Requests to the hub, over HTTP (docs/reference/hub.md). A hub that does not answer is followed by the next one of the list.
 * The credential is read again from its file, since the cluster replaces tokens while the pod runs.
 */
import { ERRORS, GatewayError, type ErrorCode } from '../../errors/errors.ts'
import { openPool, type UndiciPoolType } from '../../network/undici.ts'
import { readRegularFile } from '../../runtime/regular-file.ts'
import type { StoreEvents } from '../events.ts'
import type { StoreSettings } from '../settings.ts'

export interface HubConnection {
  readonly description: string
  /**
   * The answer of the hub. Rejects with STORE_UNAVAILABLE when no hub can be reached, and with the error that the hub names.
   * @param isRepeatable may be sent again when it is unknown whether the hub got it
   */
  ask(method: 'GET' | 'POST', path: string, body: object | null, isRepeatable: boolean): Promise<unknown>
  /** Milliseconds since the epoch of the last answer; null: there was none. */
  lastAnswerAt(): number | null
  close(): Promise<void>
}

type HubAccess = StoreSettings['hub']

const CONNECTIONS = 16
const LONGEST_ANSWER = 64 * 1024 * 1024
/** Milliseconds that a credential is used before its file is read again. */
const CREDENTIAL_FOR = 30_000

/** @param now milliseconds since the epoch */
export function connectToHub(urls: string, access: HubAccess, events: StoreEvents, now: () => number): HubConnection {
  const origins = urls.split(',').map((url) => url.trim().replace(/\/+$/, ''))
  const pools = origins.map((origin) => openPool(origin, poolOptions(access)))
  const credential = credentialReader(access, now)
  let preferred = 0
  let answeredAt: number | null = null
  const askOne = async (pool: UndiciPoolType, method: 'GET' | 'POST', path: string, body: object | null) => {
    const answer = await pool.request({
      method,
      path,
      headers: {
        accept: 'application/json',
        ...(body !== null && { 'content-type': 'application/json' }),
        ...credential(),
      },
      body: body === null ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(access.timeout * 1000),
    })
    const text = await answer.body.text()
    return { status: answer.statusCode, text }
  }
  return {
    description: `hub ${origins.join(', ')}`,
    lastAnswerAt: () => answeredAt,
    async ask(method, path, body, isRepeatable) {
      const started = performance.now()
      let failure: unknown = new Error('store.url names no hub')
      for (let tried = 0; tried < pools.length; tried += 1) {
        const index = (preferred + tried) % pools.length
        const pool = pools[index]
        if (pool === undefined) break
        try {
          const { status, text } = await askOne(pool, method, path, body)
          preferred = index
          answeredAt = now()
          const value = valueIn(status, text)
          events.onCall?.(operationOf(path), (performance.now() - started) / 1000, true)
          events.onWritable?.(true)
          return value
        } catch (error) {
          failure = error
          const isNamed = error instanceof GatewayError
          if (isNamed && error.code !== 'STORE_UNAVAILABLE') {
            events.onCall?.(operationOf(path), (performance.now() - started) / 1000, true)
            throw error
          }
          if (!isRepeatable && !isNeverSent(error)) break
        }
      }
      events.onCall?.(operationOf(path), (performance.now() - started) / 1000, false)
      events.onWritable?.(false)
      throw failure instanceof GatewayError
        ? failure
        : new GatewayError('STORE_UNAVAILABLE', undefined, { cause: failure })
    },
    close: async () => {
      await Promise.all(pools.map((pool) => pool.close()))
    },
  }
}

function poolOptions({ timeout, ca_file: ca, certificate, certificate_key: key }: HubAccess) {
  return {
    connections: CONNECTIONS,
    headersTimeout: timeout * 1000,
    bodyTimeout: timeout * 1000,
    maxResponseSize: LONGEST_ANSWER,
    connect: {
      timeout: timeout * 1000,
      ...(ca !== undefined && { ca: readRegularFile(ca, 'utf8') }),
      ...(certificate !== undefined && { cert: readRegularFile(certificate, 'utf8') }),
      ...(key !== undefined && { key: readRegularFile(key, 'utf8') }),
    },
  }
}

function credentialReader(
  { token_file: tokenFile, key_file: keyFile }: HubAccess,
  now: () => number,
): () => Readonly<Record<string, string>> {
  const file = tokenFile ?? keyFile
  let kept: { readonly header: Readonly<Record<string, string>>; readonly readAt: number } | null = null
  return () => {
    if (file === undefined) return {}
    if (kept !== null && now() - kept.readAt < CREDENTIAL_FOR) return kept.header
    const header = { authorization: `Bearer ${readRegularFile(file, 'utf8').trim()}` }
    kept = { header, readAt: now() }
    return header
  }
}

function valueIn(status: number, text: string): unknown {
  const body: unknown = JSON.parse(text)
  if (status === 200) return body
  const { error, message } =
    typeof body === 'object' && body !== null ? { error: null, message: '', ...body } : NO_ERROR
  // Who may not use the hub at all has no store; what one caller may not do is an answer.
  if (typeof error !== 'string' || !isErrorCode(error) || error === 'UNAUTHENTICATED')
    throw new GatewayError('STORE_UNAVAILABLE', undefined, {
      cause: new Error(`the hub answered ${status}: ${message}`),
    })
  throw new GatewayError(error, typeof message === 'string' ? message : undefined)
}

const NO_ERROR = { error: null, message: '' }

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code)
}

/** The connection was never made, so the hub cannot have got the request. */
function isNeverSent(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  return ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].includes(code)
}

function operationOf(path: string): string {
  return path.startsWith('/hub/v1/operations/') ? path.slice('/hub/v1/operations/'.length) : path
}
