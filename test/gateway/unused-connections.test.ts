import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { text } from 'node:stream/consumers'
import { watchUnusedConnections } from '../../gateway/listen/unused-connections.ts'

test('a draining server breaks off connections without a request and lets a request under way finish', async () => {
  let waiting: ServerResponse | null = null
  const server = createServer((_request, response) => {
    waiting = response
  })
  const unused = watchUnusedConnections(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')

  const idle = connect(address.port, '127.0.0.1')
  await once(server, 'connection')
  const request = get({ port: address.port, host: '127.0.0.1' })
  const answered = once(request, 'response')
  await once(server, 'request')

  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  unused.close()
  await once(idle, 'close')
  assert.ok(waiting !== null, 'the request is still under way')
  answer(waiting)
  const [response] = await answered
  assert.equal(await text(response), 'done')
  await closed
})

function answer(response: ServerResponse): void {
  response.writeHead(200, { connection: 'close' }).end('done')
}
