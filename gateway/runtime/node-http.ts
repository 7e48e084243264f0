/**
 * node:http without what comes with importing it: an import reads every export, and WebSocket and its events among them load
 * the whole of the runtime's own undici, 8 MB in every process. What is asked for by name is the same module without them.
 */
import type { ServerResponse as HttpServerResponse } from 'node:http'

export type ServerResponse = HttpServerResponse

export const { createServer, maxHeaderSize, request, STATUS_CODES, ServerResponse } =
  process.getBuiltinModule('node:http')
