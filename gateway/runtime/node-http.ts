/**
 * node:http without the cost of importing it. An import reads every export; WebSocket and its events among them load the whole
 * of the runtime's own undici, 8 MB in every process. Reading exports by name gives the same module without them.
 */
import type { ServerResponse as HttpServerResponse } from 'node:http'

export type ServerResponse = HttpServerResponse

export const { createServer, maxHeaderSize, request, STATUS_CODES, ServerResponse } =
  process.getBuiltinModule('node:http')
