/** Which requests are calls of gRPC, as their media type says. */
import type { IncomingHttpHeaders } from 'node:http'

/** `application/grpc`, with or without a format (`+proto`); not gRPC-Web, which is plain HTTP. */
const GRPC = /^application\/grpc(?:\+[^;\s]+)?\s*(?:;|$)/i

export function isGrpc(headers: Pick<IncomingHttpHeaders, 'content-type'>): boolean {
  const type = headers['content-type']
  return type !== undefined && GRPC.test(type)
}
