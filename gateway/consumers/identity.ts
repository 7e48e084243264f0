/**
 * Who a call comes from, as one word that tells callers apart and names nobody: enough to count consumers, useless to find a key.
 * Nothing is verified here; what is counted decides nothing.
 */
import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { decodeJwt } from 'jose/jwt/decode'
import { LRUCache } from 'lru-cache'

export interface CallerFacts {
  readonly headers: IncomingHttpHeaders
  /** Of the API key that the caller showed the proxy; null: none. */
  readonly audience: string | null
}

/** Callers without a credential and a user agent. */
const UNNAMED = 'unnamed'
const KNOWN = 1000
/** `v:` of our own keys has as many digits. */
const DIGITS = 12

/**
 * @param salt of this installation: without it a hash of a weak credential could be found by trying
 * @returns the audience of our key, else `key:` and a keyed hash of the credential, else `agent:` and the product of the user agent
 */
export function createIdentity(salt: string): (caller: CallerFacts) => string {
  const keyed = (text: string): string => createHmac('sha256', salt).update(text).digest('hex').slice(0, DIGITS)
  // By keyed hash: no credential is held longer than its call.
  const known = new LRUCache<string, string>({ max: KNOWN })
  return ({ headers, audience }) => {
    if (audience !== null) return audience
    const credential = headers.authorization ?? headers['x-api-key']
    if (typeof credential !== 'string') return productOf(headers['user-agent'])
    const hash = keyed(credential)
    const name = known.get(hash) ?? `key:${keyed(tokenSubject(credential) ?? credential)}`
    known.set(hash, name)
    return name
  }
}

/** Access tokens change every hour and their subject does not (RFC 9068 §2.2); null: this is no token that says whose it is. */
function tokenSubject(credential: string): string | null {
  const token = /^Bearer +(\S+)$/i.exec(credential)?.[1]
  if (token === undefined || token.split('.').length !== 3) return null
  try {
    const { iss, sub, client_id: client } = decodeJwt(token)
    return sub === undefined && client === undefined ? null : JSON.stringify([iss ?? '', sub ?? '', client ?? ''])
  } catch {
    // Three parts, and yet no JWT: an opaque credential like any other.
    return null
  }
}

/** RFC 9110 §10.1.5: the first product says what the program is; its version would make each upgrade another consumer. */
function productOf(agent: string | undefined): string {
  const product = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,60}/.exec(agent ?? '')?.[0]
  return product === undefined ? UNNAMED : `agent:${product}`
}
