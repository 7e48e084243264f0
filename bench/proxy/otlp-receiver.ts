/** A receiver of OTLP that takes every export and keeps nothing. */
import { createServer } from 'node:http'
import { sendToParent } from '../child.ts'

const server = createServer((request, response) => {
  request.resume().once('end', () => response.writeHead(200).end())
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address !== null) sendToParent({ port: address.port })
})
