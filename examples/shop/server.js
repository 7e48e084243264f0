// A small HTTP API, without packages.
import { createServer } from 'node:http'

const port = Number(process.env.PORT ?? 3002)
const server = createServer((request, response) => {
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ path: request.url, orders: [1, 2] }))
})
server.listen(port, '127.0.0.1', () => console.log(`API at http://127.0.0.1:${server.address().port}`))
