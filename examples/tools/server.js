// A small MCP server over Streamable HTTP, or with `--stdio` as editors start it, without packages. `--changed` offers a tool
// that changed.
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'

const isChanged = process.argv.includes('--changed')
const port = Number(process.env.PORT ?? 3001)
const required = isChanged ? ['id', 'customer'] : ['id']
const properties = {
  id: { type: 'string', description: 'Id of the order.' },
  customer: { type: 'string', description: 'Id of the customer.' },
}
const tools = [
  { name: 'get_order', description: 'Returns one order.', inputSchema: { type: 'object', properties, required } },
  {
    name: 'list_orders',
    description: 'Returns the ids of all orders.',
    inputSchema: { type: 'object', properties: {} },
  },
]
const serverInfo = { name: 'orders', version: isChanged ? '2.0.0' : '1.0.0' }

/** By the method of a request. */
const METHODS = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name }) => ({
    content: [{ type: 'text', text: name === 'get_order' ? 'order 1: one lamp' : 'orders: 1, 2' }],
  }),
}

/** Null: a notification is not answered. */
function answerTo({ id, method, params = {} }) {
  if (id === undefined) return null
  const run = Object.hasOwn(METHODS, method) ? METHODS[method] : null
  const outcome = run === null ? { error: { code: -32601, message: `no ${method} here` } } : { result: run(params) }
  return JSON.stringify({ jsonrpc: '2.0', id, ...outcome })
}

async function serveRequest(request, response) {
  let text = ''
  for await (const chunk of request) text += chunk
  const answer = answerTo(JSON.parse(text))
  if (answer === null) response.writeHead(202).end()
  else response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
}

function serveHttp() {
  createServer((request, response) => {
    if (request.method === 'POST') void serveRequest(request, response)
    else response.writeHead(405).end()
  }).listen(port, '127.0.0.1', () => {
    console.log(`MCP server at http://127.0.0.1:${port}/mcp${isChanged ? ', with a changed tool' : ''}`)
  })
}

function serveStdio() {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const answer = answerTo(JSON.parse(line))
    if (answer !== null) console.log(answer)
  })
}

if (process.argv.includes('--stdio')) serveStdio()
else serveHttp()
