/** A telemetry receiver that a test can switch off, slow down or let refuse. */
import { createServer } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { at, listAt, textAt } from '../json.ts'

export interface EventReceiver {
  readonly url: string
  /** Status of the next answers. */
  status: number
  /** `type` and outcome of the events acknowledged, in order. */
  readonly events: {
    readonly id: string
    readonly type: string
    readonly outcome: unknown
    readonly correlationId: string
  }[]
  /** Deliveries that arrived, acknowledged or not. */
  readonly deliveries: { readonly size: number; readonly authorization: string | undefined }[]
  close(): Promise<void>
}

export async function startEventReceiver(): Promise<EventReceiver> {
  const receiver = { status: 202, events: [] as EventReceiver['events'], deliveries: [] as EventReceiver['deliveries'] }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const batch: unknown = JSON.parse(gunzipSync(Buffer.concat(chunks)).toString('utf8'))
      receiver.deliveries.push({ size: listAt(batch).length, authorization: request.headers.authorization })
      response.writeHead(receiver.status).end()
      if (receiver.status >= 300) return
      for (const event of listAt(batch)) {
        receiver.events.push({
          id: textAt(event, 'id'),
          type: textAt(event, 'type'),
          outcome: at(event, 'data', 'outcome'),
          correlationId: textAt(event, 'subject'),
        })
      }
    })
  })
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${port}/events`,
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  })
}
