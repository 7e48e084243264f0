/**
 * Who is signed in to the console. The cookie is an encrypted token (JWE) that every gateway on the same store can read, so no
 * session is stored. A key is looked up at each request: a revoked key ends its sessions immediately.
 */
import { hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { EncryptJWT, jwtDecrypt } from 'jose'
import type { StorePart } from '../store/store.ts'

/** What a session cookie contains. */
export interface Session {
  /** Hash of the key that signed in. */
  readonly key: string
  /** Must come back with each form. */
  readonly csrf: string
  /** Seconds since the epoch. */
  readonly until: number
}

export interface Sessions {
  open(key: string, now: number, seconds: number): Promise<{ readonly session: Session; readonly cookie: string }>
  /** Null: there is no session, or it has ended. */
  read(headers: IncomingHttpHeaders, now: number): Promise<Session | null>
  /** True when a form came from a page of this session. */
  isOwn(token: string | null, session: Session): boolean
}

/** The prefix makes browsers refuse the cookie without Secure, with a Domain, or with another path (RFC 6265bis §4.1.3.2). */
const COOKIE = '__Host-preflight'
const FLAGS = 'Path=/; Secure; HttpOnly; SameSite=Lax'
/** A cookie of our own is shorter. */
const LONGEST_COOKIE = 4096

export const END_OF_SESSION = `${COOKIE}=; Max-Age=0; ${FLAGS}`

export function createSessions(store: StorePart<'uses.salt'>): Sessions {
  let known: Promise<Uint8Array> | null = null
  const secret = (): Promise<Uint8Array> => {
    known ??= sessionKey(store).catch((error: unknown) => {
      known = null
      throw error
    })
    return known
  }
  return {
    async open(key, now, seconds) {
      const session = { key, csrf: randomBytes(18).toString('base64url'), until: Math.floor(now / 1000) + seconds }
      const token = await new EncryptJWT({ key, csrf: session.csrf, until: session.until })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .encrypt(await secret())
      return { session, cookie: `${COOKIE}=${token}; Max-Age=${seconds}; ${FLAGS}` }
    },
    async read(headers, now) {
      const token = cookieOf(headers, COOKIE)
      if (token === null || token.length > LONGEST_COOKIE) return null
      const session = await decrypted(token, await secret())
      return session === null || session.until * 1000 <= now ? null : session
    },
    isOwn: (token, { csrf }) => isSameToken(token, csrf),
  }
}

function isSameToken(given: string | null, expected: string): boolean {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Shared by all gateways on the store, and derived, so that nothing else uses the same key. */
async function sessionKey(store: StorePart<'uses.salt'>): Promise<Uint8Array> {
  const salt = await store.uses.salt(randomBytes(32).toString('hex'))
  return new Uint8Array(hkdfSync('sha256', salt, '', 'preflight console session v1', 32))
}

async function decrypted(token: string, secret: Uint8Array): Promise<Session | null> {
  try {
    const { payload } = await jwtDecrypt(token, secret, {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
    })
    const { key, csrf, until } = payload
    return typeof key === 'string' && typeof csrf === 'string' && typeof until === 'number'
      ? { key, csrf, until }
      : null
  } catch {
    // Not a cookie of this installation: the person signs in again.
    return null
  }
}

function cookieOf({ cookie = '' }: IncomingHttpHeaders, name: string): string | null {
  for (const pair of cookie.split(';')) {
    const [key = '', ...value] = pair.trim().split('=')
    if (key === name) return value.join('=')
  }
  return null
}
