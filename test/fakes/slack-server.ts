/** The two methods of Slack's API that post and change messages, with its answers: 200 also for what it refuses. */
import { createServer } from 'node:http'
import type { TestContext } from 'node:test'
import { at, textAt } from '../json.ts'
import { listening } from './listening.ts'

export interface SlackCallSeen {
  readonly method: string
  readonly token: string
  readonly body: unknown
}

export interface FakeSlack {
  readonly api: string
  readonly calls: SlackCallSeen[]
  /** What a channel shows now, by the id of the message. */
  readonly shown: Map<string, unknown>
  /** Refusals of the next calls, in order; null: accepted. */
  readonly refusals: (string | null)[]
}

export async function startSlack(t: TestContext): Promise<FakeSlack> {
  const fake = { calls: [] as SlackCallSeen[], shown: new Map<string, unknown>(), refusals: [] as (string | null)[] }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
      const method = (request.url ?? '').replace('/api/', '')
      fake.calls.push({ method, token: request.headers.authorization ?? '', body })
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(answerTo(method, body, fake)))
    })
  })
  return { ...fake, api: `${await listening(t, server)}/api` }
}

function answerTo(method: string, body: unknown, { calls, shown, refusals }: Omit<FakeSlack, 'api'>): object {
  const refusal = refusals.shift() ?? null
  if (refusal !== null) return { ok: false, error: refusal }
  const channel = textAt(body, 'channel')
  if (method === 'chat.update') {
    const ts = textAt(body, 'ts')
    if (!shown.has(ts)) return { ok: false, error: 'message_not_found' }
    shown.set(ts, body)
    return { ok: true, channel, ts }
  }
  const ts = `1700000000.${String(calls.length).padStart(6, '0')}`
  if (at(body, 'thread_ts') === undefined) shown.set(ts, body)
  return { ok: true, channel, ts }
}
