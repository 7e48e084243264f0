/** A fake of the model providers: whole and streamed responses in the form of each. The path selects the provider. */
import { crc32 } from 'node:zlib'
import { startHttpUpstream, type HttpUpstream } from './http-upstream.ts'

/** What every model says, in the pieces in which it streams. */
export const TEXTS = ['Hello', ' world'] as const

export interface ModelProvider extends HttpUpstream {
  /** Streams stop after their first piece until this is called. */
  release(): void
}

interface Form {
  readonly path: RegExp
  /** Of an answer in one piece. */
  readonly whole: (text: string) => unknown
  readonly streamType: string
  readonly isStreamed: (path: string, body: string) => boolean
  readonly start?: Piece
  readonly piece: (text: string) => Piece
  readonly end: Piece
}

type Piece = string | Buffer

const asked = (_path: string, body: string): boolean => /"stream":true/.test(body)
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const event = (type: string, members: object = {}): string => `event: ${type}\n${data({ type, ...members })}`
const line = (value: unknown): string => `${JSON.stringify(value)}\n`

const chunk = (delta: object, finish: string | null): string =>
  data({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })

const responded = (text: string) => ({
  id: 'r',
  object: 'response',
  status: 'completed',
  output: [
    {
      id: 'o',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text, annotations: [] }],
    },
  ],
})
const place = { item_id: 'o', output_index: 0, content_index: 0, sequence_number: 0 }

const message = (content: readonly object[]) => ({
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content,
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
})

const candidate = (text: string) => ({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] } }] })

const FORMS: readonly Form[] = [
  {
    path: /\/chat\/completions$/,
    whole: (content) => ({
      id: 'c',
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    }),
    streamType: 'text/event-stream',
    isStreamed: asked,
    piece: (content) => chunk({ content }, null),
    end: `${chunk({}, 'stop')}data: [DONE]\n\n`,
  },
  {
    path: /\/responses$/,
    whole: responded,
    streamType: 'text/event-stream',
    isStreamed: asked,
    piece: (delta) => event('response.output_text.delta', { delta, ...place }),
    end: event('response.completed', { response: responded(TEXTS.join('')) }),
  },
  {
    path: /\/messages$/,
    whole: (text) => message([{ type: 'text', text }]),
    streamType: 'text/event-stream',
    isStreamed: asked,
    start:
      event('message_start', { message: message([]) }) +
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    piece: (text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    end:
      event('content_block_stop', { index: 0 }) +
      event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }) +
      event('message_stop'),
  },
  {
    path: /:(?:stream)?generatecontent$/i,
    whole: candidate,
    streamType: 'text/event-stream',
    isStreamed: (path) => /:stream/.test(path),
    piece: (text) => data(candidate(text)),
    end: '',
  },
  {
    path: /\/converse(?:-stream)?$/,
    whole: (text) => ({
      output: { message: { role: 'assistant', content: [{ text }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      metrics: { latencyMs: 1 },
    }),
    streamType: 'application/vnd.amazon.eventstream',
    isStreamed: (path) => path.endsWith('-stream'),
    start: frame('messageStart', { role: 'assistant' }),
    piece: (text) => frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text } }),
    end: frame('messageStop', { stopReason: 'end_turn' }),
  },
  {
    path: /\/api\/chat$/,
    whole: (content) => ({ model: 'm', message: { role: 'assistant', content }, done: true }),
    streamType: 'application/x-ndjson',
    isStreamed: asked,
    piece: (content) => line({ model: 'm', message: { role: 'assistant', content }, done: false }),
    end: line({ model: 'm', message: { role: 'assistant', content: '' }, done: true }),
  },
]

/** A message of application/vnd.amazon.eventstream: lengths and checksums around text headers and a JSON payload. */
function frame(type: string, payload: object): Buffer {
  const fields = { ':message-type': 'event', ':event-type': type, ':content-type': 'application/json' }
  const headers = Buffer.concat(
    Object.entries(fields).map(([name, value]) => {
      const head = Buffer.from([name.length, ...Buffer.from(name), 7, 0, value.length])
      return Buffer.concat([head, Buffer.from(value)])
    }),
  )
  const body = Buffer.from(JSON.stringify(payload))
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(headers.length + body.length + 16, 0)
  prelude.writeUInt32BE(headers.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const whole = Buffer.concat([prelude, headers, body])
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(whole))
  return Buffer.concat([whole, sum])
}

export async function startModelProvider(): Promise<ModelProvider> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const upstream = await startHttpUpstream((request, response) => {
    const answer = {
      head: (status: number, fields: Readonly<Record<string, string>>) => void response.writeHead(status, fields),
      write: (piece: Piece) => void response.write(piece),
      end: (piece: Piece) => void response.end(piece),
    }
    void answerModelCall(request.url, upstream.requests.at(-1)?.body ?? '', answer, released)
  })
  return { ...upstream, release }
}

/** Where an answer goes, of whichever version of HTTP. */
export interface ModelAnswer {
  head(status: number, fields: Readonly<Record<string, string>>): void
  write(piece: Piece): void
  end(piece: Piece): void
}

/** @param released what a stream waits for behind its first piece */
export async function answerModelCall(
  url: string | undefined,
  body: string,
  answer: ModelAnswer,
  released: Promise<void>,
): Promise<void> {
  const [path = ''] = decodeURIComponent(url ?? '').split('?')
  const form = FORMS.find((one) => one.path.test(path))
  if (form === undefined) {
    answer.head(404, {})
    return answer.end('')
  }
  if (!form.isStreamed(path, body)) {
    answer.head(200, { 'content-type': 'application/json' })
    return answer.end(JSON.stringify(form.whole(TEXTS.join(''))))
  }
  answer.head(200, { 'content-type': form.streamType })
  if (form.start !== undefined) answer.write(form.start)
  const [first, ...others] = TEXTS
  answer.write(form.piece(first))
  await released
  for (const words of others) answer.write(form.piece(words))
  answer.end(form.end)
}
