/**
 * Questions to a platform's API: one origin, one credential, bounded in time, size and number. Redirects are followed within the
 * origin only, so a credential never leaves it.
 */
import type { Dispatcher } from 'undici'
import { BytePieces } from '../runtime/byte-pieces.ts'
import { isJsonObject, readStrictJson } from '../json/strict-json.ts'
import type { Flow } from '../flow/flow.ts'
import { ScmError } from './scm-error.ts'

export interface ScmAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly bytes: Buffer
}

export interface ScmTransport {
  /** @param path from the root of the API, with its query. Answers any status below 500 but 429; rejects with a ScmError. */
  get(path: string, accept?: string): Promise<ScmAnswer>
  /** Writes; the body is JSON. */
  send(method: 'POST' | 'PUT' | 'PATCH', path: string, body: object): Promise<ScmAnswer>
  /** The JSON of a good answer. @throws ScmError refused for 401, 403 and 404, unexpected for all else */
  json(answer: ScmAnswer): Promise<unknown>
  /** What an answer that is no good one says. */
  refusal(answer: ScmAnswer): ScmError
}

interface TransportOptions {
  /** For messages: `GitHub`. */
  readonly title: string
  /** Path of the API's root at its origin, without a slash at the end: ``, `/api/v3`. */
  readonly prefix: string
  readonly send: (request: ScmRequest) => Promise<Dispatcher.ResponseData>
  /** Reads JSON where a large text holds up nobody. */
  readonly readJson: Flow['readJson']
  /** Longest wait for one answer, milliseconds; all of them together may take eight times as long. */
  readonly timeout: number
  /** Longest body of one answer, bytes; all of them together may have eight times as many. */
  readonly maxBytes: number
  /** Most questions that one derivation may ask. */
  readonly maxRequests: number
}

interface ScmRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  /** At the origin. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly signal: AbortSignal
}

const JSON_ACCEPT = 'application/json'
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308])
const MAX_REDIRECTS = 3
const RELAYED = ['retry-after', 'www-authenticate', 'x-ratelimit-reset', 'x-github-sso'] as const

/**
 * Bounds all steps of one derivation together. A platform that is slow at every step must not hold a call for the sum of all
 * steps. Many large files, each within its bound, must not fill the memory: anybody who may push a branch can add them.
 */
const ANSWERS_IN_ROW = 8

export function createScmTransport(options: TransportOptions): ScmTransport {
  let asked = 0
  const whole: TransferAllowance = {
    signal: AbortSignal.timeout(options.timeout * ANSWERS_IN_ROW),
    bytes: options.maxBytes * ANSWERS_IN_ROW,
  }
  const ask = async (method: ScmRequest['method'], path: string, accept: string, body: string | null) => {
    let target = `${options.prefix}${path}`
    for (let hops = 0; ; hops += 1) {
      asked += 1
      if (asked > options.maxRequests)
        throw new ScmError(
          'unexpected',
          `${options.title} would have to be asked more than ${options.maxRequests} times`,
        )
      const answer = await exchange({ method, path: target, accept, body, whole }, options)
      const next = method === 'GET' && REDIRECTS.has(answer.status) ? redirectTarget(answer, target) : null
      if (next === null) return checkedAnswer(answer, options.title)
      if (hops === MAX_REDIRECTS) throw new ScmError('unexpected', `${options.title} redirects without end`)
      target = next
    }
  }
  return {
    get: (path, accept = JSON_ACCEPT) => ask('GET', path, accept, null),
    send: (method, path, body) => ask(method, path, JSON_ACCEPT, JSON.stringify(body)),
    async json(answer) {
      if (answer.status !== 200 && answer.status !== 201) throw refusedAnswer(answer, options.title)
      const json = await options.readJson(answer.bytes)
      if (json.ok) return json.value
      throw new ScmError('unexpected', `an answer of ${options.title} has no single reading: ${json.problem.message}`)
    },
    refusal: (answer) => refusedAnswer(answer, options.title),
  }
}

/** What one derivation may take in all. */
interface TransferAllowance {
  readonly signal: AbortSignal
  /** Left of it. */
  bytes: number
}

async function exchange(
  {
    method,
    path,
    accept,
    body,
    whole,
  }: Pick<ScmRequest, 'method' | 'path' | 'body'> & {
    readonly accept: string
    readonly whole: TransferAllowance
  },
  { send, title, timeout, maxBytes }: TransportOptions,
): Promise<ScmAnswer> {
  const signal = AbortSignal.any([AbortSignal.timeout(timeout), whole.signal])
  const headers = { accept, ...(body !== null && { 'content-type': 'application/json' }) }
  try {
    const response = await send({ method, path, headers, body, signal })
    const bytes = await readAnswer(response, { maxBytes, whole }, title)
    return { status: response.statusCode, headers: response.headers, bytes }
  } catch (error) {
    if (error instanceof ScmError) throw error
    const what = signal.aborted ? 'did not answer in time' : 'cannot be reached'
    throw new ScmError('unavailable', `${title} ${what}`, { cause: error })
  }
}

async function readAnswer(
  response: Dispatcher.ResponseData,
  { maxBytes, whole }: { readonly maxBytes: number; readonly whole: TransferAllowance },
  title: string,
): Promise<Buffer> {
  const pieces = new BytePieces()
  let size = 0
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    size += chunk.length
    whole.bytes -= chunk.length
    if (whole.bytes < 0) {
      response.body.destroy()
      throw new ScmError('unexpected', `the answers of ${title} to one call are too long together`)
    }
    if (size > maxBytes) {
      response.body.destroy()
      throw new ScmError('unexpected', `an answer of ${title} is longer than ${maxBytes} bytes`, { status: 413 })
    }
    pieces.add(chunk)
  }
  return pieces.whole()
}

/** Path of a redirect that stays at the origin; the authority is not looked at, because nothing is sent to another one. */
function redirectTarget({ headers }: ScmAnswer, from: string): string | null {
  const { location } = headers
  const url = typeof location === 'string' ? URL.parse(location, `http://origin.invalid${from}`) : null
  return url === null ? null : url.pathname + url.search
}

function checkedAnswer(answer: ScmAnswer, title: string): ScmAnswer {
  if (answer.status < 500 && !isLimited(answer)) return answer
  const kind = answer.status >= 500 ? 'unavailable' : 'limited'
  throw errorOfAnswer(answer, kind, title)
}

/** 429; and GitHub's 403 whose allowance is used up, or that says when to come again. */
function isLimited({ status, headers }: ScmAnswer): boolean {
  if (status === 429) return true
  return status === 403 && (headers['x-ratelimit-remaining'] === '0' || headers['retry-after'] !== undefined)
}

function errorOfAnswer(answer: ScmAnswer, kind: ScmError['kind'], title: string): ScmError {
  const headers = Object.fromEntries(
    RELAYED.flatMap((name) => (answer.headers[name] === undefined ? [] : [[name, String(answer.headers[name])]])),
  )
  const words = quotedReason(answer)
  const message = `${title} answered ${answer.status}${words === null ? '' : `: ${words}`}`
  return new ScmError(kind, message, { status: answer.status, headers })
}

const MAX_WORDS = 200
/** Nothing that is longer was written to be shown to anybody. */
const MAX_QUOTED = 64 * 1024

/** What the platform says of itself: `message` of GitHub and GitLab, `error` of GitLab, `error.message` of Bitbucket. */
function quotedReason({ bytes }: ScmAnswer): string | null {
  if (bytes.length > MAX_QUOTED) return null
  const json = readStrictJson(bytes)
  if (!json.ok || !isJsonObject(json.value)) return null
  const { message, error } = json.value
  const words = [message, error, isJsonObject(error) ? error['message'] : null].find((text) => typeof text === 'string')
  return typeof words === 'string' ? words.slice(0, MAX_WORDS) : null
}

function refusedAnswer(answer: ScmAnswer, title: string): ScmError {
  return errorOfAnswer(answer, [401, 403, 404, 410, 422].includes(answer.status) ? 'refused' : 'unexpected', title)
}

const AT_ONCE = 6

/** Many questions, a few at a time, answered in the order in which they were asked. Rejects with the first failure; what has not begun by then does not begin. */
export async function askInOrder<Item, Answer>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  const waiting = items.entries()
  let hasFailed = false
  const work = async (): Promise<void> => {
    for (const [index, item] of waiting) {
      if (hasFailed) return
      try {
        answers[index] = await ask(item)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work))
  return answers
}
