/** What the transports read of a message: ids, whom a notification belongs to, and errors of their own. */
import { isJsonObject } from '../json/strict-json.ts'
import { jsonOrNull, recordIn } from '../json/unchecked-json.ts'
import { withWrittenNumbers } from '../json/written-numbers.ts'

/** The JSON of an id: a number and a text with the same digits are two ids; 1 and 1.0 are one. */
export type IdText = string

export interface SentMessage {
  /** Requests in it; several in a batch. */
  readonly requests: readonly { readonly id: IdText; readonly method: string; readonly params: unknown }[]
  /** Requests that it takes back; several in a batch. */
  readonly cancelled: readonly IdText[]
}

const NOTHING_READ: SentMessage = { requests: [], cancelled: [] }

/** For a text that is no JSON, nothing: the gateway answers it. */
export function readSent(text: string): SentMessage {
  const read = messagesIn(text).filter(isJsonObject)
  if (read.length === 0) return NOTHING_READ
  const requests = read.flatMap(({ id, method, params }) =>
    typeof method === 'string' && isId(id) ? [{ id: JSON.stringify(id), method, params }] : [],
  )
  const cancelled = read.flatMap(({ method, params }) => {
    const target = method === 'notifications/cancelled' ? recordIn(params)['requestId'] : undefined
    return isId(target) ? [JSON.stringify(target)] : []
  })
  return { requests, cancelled }
}

export interface ReceivedMessage {
  /** Of the request that it answers; null: it answers none, or does not name it. */
  readonly answers: IdText | null
  /** It is an answer, also one whose id cannot be read. */
  readonly isAnswer: boolean
  /** Progress token or subscription by which it belongs to a request. */
  readonly belongsTo: IdText | null
  readonly value: Readonly<Record<string, unknown>>
}

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'

/** One for each message of a batch. Null: the text is no message of JSON-RPC. */
export function readReceived(text: string): readonly ReceivedMessage[] | null {
  const messages = messagesIn(text)
  const read = messages.filter(isJsonObject)
  return read.length < messages.length || read.length === 0 ? null : read.map(received)
}

/** The text of one message of `text`. A batch of one is an array too, and most clients read none. */
export function ownText(text: string, { value }: ReceivedMessage, { length }: readonly ReceivedMessage[]): string {
  return length === 1 && !/^\s*\[/.test(text) ? text : JSON.stringify(value)
}

function received(value: Readonly<Record<string, unknown>>): ReceivedMessage {
  const { id, method, params } = value
  const answers = method === undefined && isId(id) ? JSON.stringify(id) : null
  const isAnswer = answers !== null || (method === undefined && ('result' in value || 'error' in value))
  const members = recordIn(params)
  const meta = recordIn(members['_meta'])
  const token = members['progressToken'] ?? meta[SUBSCRIPTION]
  return { value, answers, isAnswer, belongsTo: isId(token) ? JSON.stringify(token) : null }
}

/** The id of the other type with the same characters: `"1"` for `1`. Null: there is none. */
export function otherTypeOf(id: IdText): IdText | null {
  return id.startsWith('"') ? (/^"(-?(?:0|[1-9]\d*)(?:\.\d+)?)"$/.exec(id)?.[1] ?? null) : JSON.stringify(id)
}

/** Ids that occur more than once in `requests`, or that `isUnderWay`. */
export function reusedIds({ requests }: SentMessage, isUnderWay: (id: IdText) => boolean): readonly IdText[] {
  const [seen, reused] = [new Set<IdText>(), new Set<IdText>()]
  for (const { id } of requests) {
    if (seen.has(id) || isUnderWay(id)) reused.add(id)
    seen.add(id)
  }
  return [...reused]
}

/** Errors for each request of a message that uses an id twice. Nothing of it is sent. */
export function reuseFailures({ requests }: SentMessage, reused: readonly IdText[]): readonly string[] {
  const names = reused.join(', ').slice(0, 200)
  const reason = `the id ${names} is already used by a request that is under way; this message was not sent; send it again with a new id`
  return [...new Set(requests.map(({ id }) => id))].map((id) => failureOf(id, reason, INVALID_REQUEST))
}

/** The token by which a request asks for its progress, and the id that names a subscription. */
export function tokensOf(id: IdText, params: unknown): readonly IdText[] {
  const meta = recordIn(recordIn(params)['_meta'])
  const token = meta['progressToken']
  return isId(token) ? [id, JSON.stringify(token)] : [id]
}

/** Codes of JSON-RPC. */
export const INTERNAL = -32_603
const INVALID_REQUEST = -32_600

export function failureOf(id: IdText, message: string, code = INTERNAL, data?: object): string {
  const error = JSON.stringify({ code, message, data })
  return `{"jsonrpc":"2.0","id":${id},"error":${error}}`
}

/** Long numbers keep their digits when they are written again: two ids may be one to `JSON.parse`. */
function messagesIn(text: string): readonly unknown[] {
  const value = jsonOrNull(text)
  const written = value === null ? null : withWrittenNumbers(text, value)
  return Array.isArray(written) ? written : [written]
}

function isId(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || JSON.isRawJSON(value)
}
