/** What tells callers apart to a server, and so may make it offer them different things. */
import type { IncomingHttpHeaders } from 'node:http'
import { sha256Hex } from '../hash.ts'

/** Header fields by which callers say who they are. */
export const CREDENTIAL_HEADERS = ['authorization', 'cookie', 'x-api-key', 'api-key'] as const

/** The same for the same credentials, which cannot be told from it; `''` for none. */
export function credentialsKey(headers: IncomingHttpHeaders): string {
  const told = CREDENTIAL_HEADERS.map((name) => String(headers[name] ?? '')).join('\n')
  return told.length < CREDENTIAL_HEADERS.length ? '' : sha256Hex(told)
}
