/**
 * The server behind every proxy of the bench: as little work as HTTP allows. `/echo` answers 1 KiB of JSON; `/mcp` speaks
 * just the MCP methods that a sessionless Streamable HTTP client and the gateway use, with one tool.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sendToParent } from '../child.ts'
import { PAYLOAD, TOOL } from './payload.ts'

const ECHO = Buffer.from(JSON.stringify({ text: PAYLOAD }))

function sendJson(response: ServerResponse, body: Buffer | string): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

interface RpcRequest {
  readonly method: string
  readonly id: unknown
}

function readRpc(body: string): RpcRequest {
  const parsed: unknown = JSON.parse(body)
  if (typeof parsed !== 'object' || parsed === null || !('method' in parsed) || typeof parsed.method !== 'string') {
    throw new TypeError('no JSON-RPC request')
  }
  return { method: parsed.method, id: 'id' in parsed ? parsed.id : undefined }
}

const RESULTS: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'bench-upstream', version: '1.0.0' },
  },
  'tools/list': { tools: [TOOL] },
  'tools/call': { content: [{ type: 'text', text: PAYLOAD }] },
  ping: {},
}

function answerRpc(body: string, response: ServerResponse): void {
  const { method, id } = readRpc(body)
  if (id === undefined) {
    response.writeHead(202).end()
    return
  }
  const result = RESULTS[method]
  const outcome = result === undefined ? { error: { code: -32601, message: `no ${method}` } } : { result }
  sendJson(response, JSON.stringify({ jsonrpc: '2.0', id, ...outcome }))
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  if (request.url === '/mcp' && request.method !== 'POST') {
    response.writeHead(405, { allow: 'POST' }).end()
    request.resume()
    return
  }
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    if (request.url === '/mcp') answerRpc(Buffer.concat(chunks).toString(), response)
    else sendJson(response, ECHO)
  })
}

const server = createServer({ keepAlive: true, keepAliveTimeout: 60_000 }, answer)
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (isAddressInfo(address)) sendToParent({ port: address.port })
})

function isAddressInfo(address: string | AddressInfo | null): address is AddressInfo {
  return typeof address === 'object' && address !== null
}
