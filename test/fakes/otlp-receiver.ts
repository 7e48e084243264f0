/** A receiver of OTLP over HTTP in its JSON form, which keeps what it was sent. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { at, listAt, textAt } from '../json.ts'

export interface ReceivedSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  /** Null: the trace begins with it. */
  readonly parentId: string | null
  readonly attributes: Readonly<Record<string, unknown>>
  readonly links: readonly { readonly traceId: string; readonly spanId: string; readonly relation: unknown }[]
  /** Nanoseconds. */
  readonly from: bigint
  readonly to: bigint
}

export interface OtlpReceiver {
  readonly endpoint: string
  readonly spans: ReceivedSpan[]
  /** Names of metrics, in the order of their coming. */
  readonly metrics: { readonly name: string; readonly data: unknown }[]
  readonly resources: Readonly<Record<string, unknown>>[]
  readonly requests: { readonly url: string; readonly headers: IncomingHttpHeaders }[]
  /** The status that further requests get. */
  status: number
  close(): Promise<void>
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const received: Omit<OtlpReceiver, 'endpoint' | 'close'> = {
    spans: [],
    metrics: [],
    resources: [],
    requests: [],
    status: 200,
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { url = '', headers } = request
      received.requests.push({ url, headers })
      if (received.status === 200) take(JSON.parse(gunzipSync(Buffer.concat(chunks)).toString('utf8')), received)
      response.writeHead(received.status, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return Object.assign(received, {
    endpoint: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  })
}

function take(body: unknown, { spans, metrics, resources }: Omit<OtlpReceiver, 'endpoint' | 'close'>): void {
  for (const group of optionalList(body, 'resourceSpans')) {
    resources.push(attributesOf(at(group, 'resource')))
    for (const scope of listAt(group, 'scopeSpans')) spans.push(...listAt(scope, 'spans').map(spanOf))
  }
  for (const group of optionalList(body, 'resourceMetrics')) {
    resources.push(attributesOf(at(group, 'resource')))
    for (const scope of listAt(group, 'scopeMetrics'))
      metrics.push(...listAt(scope, 'metrics').map((data) => ({ name: textAt(data, 'name'), data })))
  }
}

function spanOf(span: unknown): ReceivedSpan {
  const parent = at(span, 'parentSpanId')
  return {
    name: textAt(span, 'name'),
    kind: Number(at(span, 'kind')),
    traceId: textAt(span, 'traceId'),
    spanId: textAt(span, 'spanId'),
    parentId: typeof parent === 'string' && parent !== '' ? parent : null,
    attributes: attributesOf(span),
    links: optionalList(span, 'links').map((link) => ({
      traceId: textAt(link, 'traceId'),
      spanId: textAt(link, 'spanId'),
      relation: attributesOf(link)['preflight.link'],
    })),
    from: BigInt(String(at(span, 'startTimeUnixNano'))),
    to: BigInt(String(at(span, 'endTimeUnixNano'))),
  }
}

function attributesOf(holder: unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    optionalList(holder, 'attributes').map((attribute) => {
      const value = at(attribute, 'value')
      const [plain] = typeof value === 'object' && value !== null ? Object.values(value) : []
      return [textAt(attribute, 'key'), plain]
    }),
  )
}

function optionalList(holder: unknown, name: string): readonly unknown[] {
  const list = at(holder, name)
  return Array.isArray(list) ? list : []
}
