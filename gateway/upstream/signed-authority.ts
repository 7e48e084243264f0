/** Requests whose signature covers a field that only HTTP/2 has: sent on by HTTP/1.1, nobody could verify them. */
import type { IncomingHttpHeaders } from 'node:http'

/** AWS Signature Version 4, as clients make it that speak HTTP/2; over HTTP/1.1 they sign `host` instead. */
const SIGNED_AUTHORITY = /^AWS4-[A-Z0-9-]+\s.*\bSignedHeaders=:authority\b/

export function signsAuthority({ authorization }: Pick<IncomingHttpHeaders, 'authorization'>): boolean {
  return authorization !== undefined && SIGNED_AUTHORITY.test(authorization)
}
