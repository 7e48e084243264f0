/** A plain HTTP server that a test scripts, and that knows what of it is still open. */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface HttpUpstream {
  readonly origin: string
  /** Requests that arrived, bodies included, in order of their end. */
  readonly requests: {
    readonly method: string
    readonly url: string
    readonly headers: IncomingMessage['headers']
    readonly rawHeaders: readonly string[]
    readonly body: string
  }[]
  /** Heads that arrived, whatever became of their bodies. */
  readonly seen: Pick<HttpUpstream['requests'][number], 'method' | 'url' | 'headers'>[]
  /** Exchanges begun and neither answered nor broken off. */
  openExchanges(): number
  openSockets(): number
  close(): Promise<void>
}

export async function startHttpUpstream(answer: RequestListener): Promise<HttpUpstream> {
  const requests: HttpUpstream['requests'] = []
  const seen: HttpUpstream['seen'] = []
  let exchanges = 0
  let sockets = 0
  const server = createServer((request, response) => {
    exchanges += 1
    seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers })
    response.on('close', () => {
      exchanges -= 1
    })
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers, rawHeaders } = request
      requests.push({ method, url, headers, rawHeaders, body: Buffer.concat(chunks).toString('utf8') })
      answer(request, response)
    })
  })
  server.on('connection', (socket) => {
    sockets += 1
    socket.on('close', () => {
      sockets -= 1
    })
  })
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    seen,
    openExchanges: () => exchanges,
    openSockets: () => sockets,
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** An OpenAPI document in a file of its own, with the operations of a small pet shop. */
export function petContract(edit: (paths: Record<string, unknown>) => void = () => {}): string {
  const paths: Record<string, unknown> = {
    '/pets': { get: operation('listPets'), post: operation('addPet') },
    '/pets/mine': { get: operation('myPets') },
    '/pets/{petId}': { get: operation('getPet'), delete: operation('deletePet') },
  }
  edit(paths)
  const file = join(mkdtempSync(join(tmpdir(), 'preflight-contract-')), 'openapi.json')
  writeFileSync(
    file,
    JSON.stringify({ openapi: '3.0.3', info: { title: 'pets', version: '1' }, servers: [{ url: '/v1' }], paths }),
  )
  return file
}

function operation(operationId: string): unknown {
  return { operationId, responses: { 200: { description: 'good' } } }
}
