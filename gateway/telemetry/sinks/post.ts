/** One gzipped POST to a receiver of telemetry, with a bounded answer. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { openAgent, request } from '../../network/undici.ts'

interface PostTarget {
  readonly url: string
  readonly contentType: string
  /** Further request headers: names and values. */
  readonly headers: Readonly<Record<string, string>>
}

interface PostAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
}

export interface Post {
  /** Rejects when the receiver is not reached, or `signal` aborts. */
  send(body: string | Uint8Array, signal: AbortSignal): Promise<PostAnswer>
  close(): Promise<void>
}

const compress = promisify(gzip)
/** A receiver that is back must not be delayed by a connection that was started while it was away. */
const LONGEST_CONNECT_MS = 1000
/** Answers are short; a longer one is not read to its end. */
const LONGEST_ANSWER = 64 * 1024

/** @param timeout milliseconds for one request */
export function createPost({ url, contentType, headers }: PostTarget, timeout: number): Post {
  const connect = { timeout: Math.min(timeout, LONGEST_CONNECT_MS) }
  const agent = openAgent({ connections: 1, headersTimeout: timeout, bodyTimeout: timeout, connect })
  return {
    async send(body, signal) {
      const answer = await request(new URL(url), {
        dispatcher: agent,
        method: 'POST',
        headers: { 'content-type': contentType, 'content-encoding': 'gzip', ...headers },
        body: await compress(body),
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
      })
      return { status: answer.statusCode, headers: answer.headers, text: await readAnswerText(answer.body) }
    },
    close: () => agent.destroy(),
  }
}

type AnswerBody = Awaited<ReturnType<typeof request>>['body']

async function readAnswerText(body: AnswerBody): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    const bytes: Buffer = chunk
    size += bytes.length
    if (size > LONGEST_ANSWER) break
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}
