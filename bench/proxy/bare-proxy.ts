/** The bare peer: node:http and undici's dispatch, forwarding only. What judging costs is measured against it. */
import { createServer, type ServerResponse } from 'node:http'
import { Pool, type Dispatcher } from 'undici'
import { childArgument, sendToParent } from '../child.ts'

const upstream = childArgument()
if (typeof upstream !== 'string') throw new TypeError('the upstream is missing')
const pool = new Pool(upstream, { connections: 128, pipelining: 1 })

class Forwarding implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#response.on('close', () => {
      if (!this.#response.writableEnded) controller.abort(new Error('the client went away'))
    })
    this.#response.on('drain', () => controller.resume())
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, string | string[]>): void {
    const { connection: _connection, 'keep-alive': _keepAlive, 'transfer-encoding': _encoding, ...rest } = headers
    this.#response.writeHead(status, rest)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#response.write(chunk)) controller.pause()
  }

  onResponseEnd(): void {
    this.#response.end()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#response.headersSent) this.#response.destroy(error)
    else this.#response.writeHead(502).end()
  }
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const { connection: _connection, host: _host, 'transfer-encoding': _encoding, ...headers } = request.headers
  const { url = '/', method = 'GET' } = request
  pool.dispatch({ path: url, method, headers, body: request }, new Forwarding(response))
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address !== null) sendToParent({ port: address.port })
})
