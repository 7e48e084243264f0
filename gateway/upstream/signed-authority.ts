/** Requests whose signature covers a field that only HTTP/2 has: over HTTP/1.1 the signature could not be verified. */
import type { IncomingHttpHeaders } from 'node:http'

/** AWS Signature Version 4, as HTTP/2 clients create it; over HTTP/1.1 they sign `host` instead. */
const SIGNED_AUTHORITY = /^AWS4-[A-Z0-9-]+\s.*\bSignedHeaders=:authority\b/

export function signsAuthority({ authorization }: Pick<IncomingHttpHeaders, 'authorization'>): boolean {
  return authorization !== undefined && SIGNED_AUTHORITY.test(authorization)
}
