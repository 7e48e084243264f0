/**
 * Requests to the hub, over HTTP (docs/reference/hub.md). A hub that does not answer is followed by the next one of the list.
 * The credential is read again from its file, since the cluster replaces tokens while the pod runs.
 */
import { ERRORS, GatewayError, type ErrorCode } from '../../errors/errors.ts'
import { openPool, type UndiciPoolType } from '../../network/undici.ts'
import { hubConnector, type HubAccess } from './tls.ts'
import { readRegularFile } from '../../runtime/regular-file.ts'
import { currentTraceFields, inSpan, type InnerSpan } from '../../telemetry/trace-context.ts'
import type { StoreEvents } from '../store.ts'
import { storeUnavailable } from '../store.ts'
import { errorCode, notReached } from '../../errors/startup-error.ts'

export interface HubConnection {
  readonly description: string
  /**
   * The answer of the hub. Rejects with STORE_UNAVAILABLE when no hub can be reached, and with the error that the hub names.
   * @param isRepeatable may be sent again when it is unknown whether the hub got it
   */
  ask(method: 'GET' | 'POST', path: string, body: object | null, isRepeatable: boolean): Promise<unknown>
  /** A long answer of the first hub that gives one; it ends with the signal. Rejects like `ask`. */
  stream(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HubStream>
  /** Milliseconds since the epoch of the last answer; null: there was none. */
  lastAnswerAt(): number | null
  close(): Promise<void>
}

export interface HubStream {
  readonly body: AsyncIterable<Uint8Array>
  /** What the hub at the address of the stream answers to a GET; no other hub is asked. Rejects when it does not answer. */
  readonly ask: (path: string) => Promise<unknown>
}

const CONNECTIONS = 16
/** A hub sends something on a stream several times a second, milliseconds. */
const LONGEST_QUIET = 5000
/** Milliseconds without questions after none of the hubs answered in time: each call would wait for the time limit. */
const SILENCE = 500
const LONGEST_ANSWER = 64 * 1024 * 1024
/** Milliseconds that a credential is used before its file is read again. */
const CREDENTIAL_FOR = 30_000

/** @param now milliseconds since the epoch */
export function connectToHub(urls: string, access: HubAccess, events: StoreEvents, now: () => number): HubConnection {
  return new PooledConnection(urls, access, events, now)
}

/** One pool of connections for each hub of the list. */
interface HubRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body: object | null
}

class PooledConnection implements HubConnection {
  readonly description: string
  readonly #access: HubAccess
  readonly #events: StoreEvents
  readonly #now: () => number
  readonly #origins: readonly string[]
  readonly #pools: readonly UndiciPoolType[]
  readonly #credential: HubCredential
  /** Index of the hub that is asked first. */
  #preferred: number
  #answeredAt: number | null = null
  /** No hub is asked before this moment of `performance.now`: none of them answered in time. */
  #silentUntil = Number.NEGATIVE_INFINITY

  constructor(urls: string, access: HubAccess, events: StoreEvents, now: () => number) {
    const origins = urls.split(',').map((url) => url.trim().replace(/\/+$/, ''))
    this.description = `hub ${origins.join(', ')}`
    this.#access = access
    this.#events = events
    this.#now = now
    this.#origins = origins
    this.#pools = origins.map((origin) => openPool(origin, poolOptions(access)))
    this.#credential = new HubCredential(access, now)
    // Sidecars of one list begin with different hubs of it, so each hub has its share.
    this.#preferred = this.#anyOne()
  }

  lastAnswerAt(): number | null {
    return this.#answeredAt
  }

  async ask(method: 'GET' | 'POST', path: string, body: object | null, isRepeatable: boolean): Promise<unknown> {
    const started = performance.now()
    const report = (isGood: boolean, cause?: unknown): void => {
      this.#events.onCall?.(calledOperation(path), (performance.now() - started) / 1000, isGood)
      this.#events.onWritable?.(isGood, cause)
    }
    try {
      const value = await inSpan('hub', calledOperation(path), (span) =>
        this.#askAny((pool) => this.#askOne(pool, { method, path, body }, span), isRepeatable, this.#preferred),
      )
      report(true)
      return value
    } catch (error) {
      const failure = error instanceof GatewayError ? error : storeUnavailable(this.#unreached(error))
      report(failure.code !== 'STORE_UNAVAILABLE', error instanceof GatewayError ? error : failure.cause)
      throw failure
    }
  }

  #unreached(error: unknown): unknown {
    // Of a file or a certificate, the settings of the hub are named already.
    return errorCode(error) === null || isRefusal(error)
      ? error
      : notReached('the hub (store.url)', this.#origins.join(', '), error)
  }

  stream(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HubStream> {
    const open = async (pool: UndiciPoolType) => {
      const answer = await pool.request({
        method: 'GET',
        path,
        headers: { accept: 'text/event-stream', ...headers, ...this.#credential.header() },
        bodyTimeout: LONGEST_QUIET,
        signal,
      })
      if (answer.statusCode === 401) this.#credential.forget()
      if (answer.statusCode !== 200) valueIn(answer.statusCode, await answer.body.text())
      const ask = (asked: string) => this.#askOne(pool, { method: 'GET', path: asked, body: null }, null)
      return { body: answer.body, ask }
    }
    // A stream ends after minutes: with the next one, sidecars come back to a hub that was restarted.
    return this.#askAny(open, true, this.#anyOne())
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.close()))
  }

  #anyOne(): number {
    return Math.floor(Math.random() * this.#pools.length)
  }

  async #askAny<Answer>(
    askPool: (pool: UndiciPoolType) => Promise<Answer>,
    isRepeatable: boolean,
    first: number,
  ): Promise<Answer> {
    const pools = this.#pools
    if (performance.now() < this.#silentUntil) throw new Error('no hub answered in time a moment ago')
    let failure: unknown = new Error('store.url names no hub')
    // One address may lead to several hubs, so the first one is asked once more.
    for (let tried = 0; tried <= pools.length; tried += 1) {
      const index = (first + tried) % pools.length
      const pool = pools[index]
      if (pool === undefined || (tried === pools.length && isTimeout(failure))) break
      try {
        const answer = await askPool(pool)
        this.#preferred = index
        return answer
      } catch (error) {
        failure = error
        if (isAnswer(error) || !(isRepeatable || isNeverSent(error))) break
      }
    }
    if (isTimeout(failure)) this.#silentUntil = performance.now() + SILENCE
    throw failure
  }

  async #askOne(pool: UndiciPoolType, { method, path, body }: HubRequest, span: InnerSpan | null): Promise<unknown> {
    const answer = await pool.request({
      method,
      path,
      headers: {
        accept: 'application/json',
        ...(body !== null && { 'content-type': 'application/json' }),
        ...this.#credential.header(),
        ...currentTraceFields(span),
      },
      body: body === null ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(this.#access.timeout * 1000),
    })
    const text = await answer.body.text()
    if (answer.statusCode === 401) this.#credential.forget()
    const value = valueIn(answer.statusCode, text)
    this.#answeredAt = this.#now()
    return value
  }
}

function poolOptions(access: HubAccess) {
  const { timeout } = access
  return {
    connections: CONNECTIONS,
    headersTimeout: timeout * 1000,
    bodyTimeout: timeout * 1000,
    maxResponseSize: LONGEST_ANSWER,
    connect: hubConnector(access),
  }
}

/** The token or key of this sidecar, as its file has it. */
class HubCredential {
  readonly #file: string | undefined
  readonly #now: () => number
  #kept: { readonly header: Readonly<Record<string, string>>; readonly readAt: number } | null = null

  constructor({ token_file: tokenFile, key_file: keyFile }: HubAccess, now: () => number) {
    this.#file = tokenFile ?? keyFile
    this.#now = now
  }

  header(): Readonly<Record<string, string>> {
    if (this.#file === undefined) return {}
    if (this.#kept !== null && this.#now() - this.#kept.readAt < CREDENTIAL_FOR) return this.#kept.header
    const header = { authorization: `Bearer ${readRegularFile(this.#file, 'utf8').trim()}` }
    this.#kept = { header, readAt: this.#now() }
    return header
  }

  /** The hub did not accept it: the file may hold a newer one. */
  forget(): void {
    this.#kept = null
  }
}

/** The hub answered, and did not do what it was asked for. */
class HubRefusal extends Error {
  override readonly name = 'HubRefusal'
}

function valueIn(status: number, text: string): unknown {
  const body = jsonOrUndefined(text)
  if (status === 200 && body !== undefined) return body
  const { error, message } =
    typeof body === 'object' && body !== null ? { error: null, message: '', ...body } : NO_ERROR
  const named = typeof error === 'string' && isErrorCode(error) ? error : null
  // Who may not use the hub at all has no store; what one caller may not do is an answer.
  if (named === 'UNAUTHENTICATED') throw storeUnavailable(new HubRefusal(`the hub answered ${status}: ${message}`))
  if (named === null || named === 'STORE_UNAVAILABLE')
    throw storeUnavailable(
      new Error(`the address of the hub answered ${status}${message === '' ? '' : `: ${message}`}`),
    )
  throw new GatewayError(named, typeof message === 'string' ? message : undefined)
}

/** Undefined: it is no JSON, as the answer of a proxy in front of hubs that are away. */
function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const NO_ERROR = { error: null, message: '' }

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code)
}

/** The hub decided about the request; another hub would decide the same. */
function isAnswer(error: unknown): boolean {
  return error instanceof GatewayError && (error.code !== 'STORE_UNAVAILABLE' || error.cause instanceof HubRefusal)
}

/**
 * A mistake in the settings of the sidecar or the hub, which no time repairs: the hub knows no such caller, or its certificate cannot be
 * verified.
 */
export function isRefusal(error: unknown): boolean {
  if (isAnswer(error)) return true
  const code = errorCode(error instanceof GatewayError ? error.cause : error) ?? ''
  return /^(?:CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO|ENOENT|EACCES)/.test(code)
}

/** The connection was never made, so the hub cannot have got the request. */
function isNeverSent(error: unknown): boolean {
  return ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].includes(errorCode(error) ?? '')
}

function isTimeout(error: unknown): boolean {
  return (
    ['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'].includes(errorCode(error) ?? '') ||
    (error instanceof Error && error.name === 'TimeoutError')
  )
}

function calledOperation(path: string): string {
  return path.startsWith('/hub/v1/operations/') ? path.slice('/hub/v1/operations/'.length) : path
}
