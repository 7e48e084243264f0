/**
 * Who is signed in to the console. The cookie is an encrypted token (JWE) that every gateway on the same store can read. Each
 * session has a key in the store that nobody holds. It is looked up at each request, as the key is that signed in: revoking
 * one of them ends the session immediately, at every gateway.
 */
import { hkdfSync, randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Ajv, type ValidateFunction } from 'ajv'
import { EncryptJWT, jwtDecrypt } from 'jose'
import type { Static, TSchema } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { plainSchema } from '../../settings/input-schema.ts'
import { ROLES } from '../../store/api-keys.ts'
import type { SignedInPerson, SignInAttempt } from '../../callers/providers.ts'
import type { StorePart } from '../../store/store.ts'
import { isSameSecret } from '../../runtime/hash.ts'

/** What a session cookie contains. */
export interface Session {
  /** Hash of the key that signed in, or the person whom a provider signed in. */
  readonly holder: { readonly key: string } | { readonly provider: string; readonly person: SignedInPerson }
  /** Hash of the key of the session itself. */
  readonly key: string
  /** Must come back with each form. */
  readonly csrf: string
  /** Seconds since the epoch. */
  readonly until: number
}

export interface Sessions {
  /** The cookie of a new session. @param key hash of its key */
  open(holder: Session['holder'], key: string, now: number, seconds: number): Promise<string>
  /** Null: there is no session, or it has ended. */
  read(headers: IncomingHttpHeaders, now: number): Promise<Session | null>
  /** True when a form came from a page of this session. */
  isOwn(token: string | null, session: Session): boolean
  /** The cookie that a person brings back from a provider. */
  holdAttempt(attempt: SignInAttempt, now: number): Promise<string>
  /** Null: it was not begun in this browser, or too long ago. */
  attempt(headers: IncomingHttpHeaders, now: number): Promise<SignInAttempt | null>
}

/** The prefix makes browsers refuse the cookie without Secure, with a Domain, or with another path (RFC 6265bis §4.1.3.2). */
const COOKIE = '__Host-preflight'
const FLAGS = 'Path=/; Secure; HttpOnly; SameSite=Lax'
/** A cookie of our own is shorter. */
const LONGEST_COOKIE = 4096

const ATTEMPT_COOKIE = '__Host-preflight-sign-in'
const ATTEMPT_SECONDS = 600

export const END_OF_ATTEMPT = `${ATTEMPT_COOKIE}=; Max-Age=0; ${FLAGS}`
export const END_OF_SESSION = `${COOKIE}=; Max-Age=0; ${FLAGS}`

const SessionForm = Type.Object({
  holder: Type.Union([
    Type.Object({ key: Type.String() }),
    Type.Object({
      provider: Type.String(),
      person: Type.Object({
        identity: Type.String(),
        name: Type.String(),
        role: Type.Enum(ROLES),
        groups: Type.Array(Type.String()),
        tenant: Type.String(),
      }),
    }),
  ]),
  key: Type.String(),
  csrf: Type.String(),
  until: Type.Number(),
})
const AttemptForm = Type.Object({
  attempt: Type.Object({
    provider: Type.String(),
    verifier: Type.String(),
    state: Type.String(),
    nonce: Type.String(),
    next: Type.String(),
  }),
  until: Type.Number(),
})

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
    async open(holder, key, now, seconds) {
      const until = Math.floor(now / 1000) + seconds
      const session = { holder, key, csrf: randomBytes(18).toString('base64url'), until }
      return `${COOKIE}=${await sealed(session, await secret())}; Max-Age=${seconds}; ${FLAGS}`
    },
    async read(headers, now) {
      const session = await openedCookie(headers, COOKIE, SessionForm, await secret())
      return session === null || session.until * 1000 <= now ? null : session
    },
    isOwn: (token, { csrf }) => isSameSecret(token ?? '', csrf),
    async holdAttempt(attempt, now) {
      const held = { attempt, until: Math.floor(now / 1000) + ATTEMPT_SECONDS }
      return `${ATTEMPT_COOKIE}=${await sealed(held, await secret())}; Max-Age=${ATTEMPT_SECONDS}; ${FLAGS}`
    },
    async attempt(headers, now) {
      const held = await openedCookie(headers, ATTEMPT_COOKIE, AttemptForm, await secret())
      return held === null || held.until * 1000 <= now ? null : held.attempt
    },
  }
}

/** Shared by all gateways on the store, and derived, so that nothing else uses the same key. */
async function sessionKey(store: StorePart<'uses.salt'>): Promise<Uint8Array> {
  const salt = await store.uses.salt(randomBytes(32).toString('hex'))
  return new Uint8Array(hkdfSync('sha256', salt, '', 'preflight console session v1', 32))
}

function sealed(value: object, secret: Uint8Array): Promise<string> {
  return new EncryptJWT({ ...value }).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).encrypt(secret)
}

/** Null: not a cookie of this installation, or of another form, so the person signs in again. */
async function openedCookie<Form extends TSchema>(
  headers: IncomingHttpHeaders,
  name: string,
  form: Form,
  secret: Uint8Array,
): Promise<Static<Form> | null> {
  const token = cookieOf(headers, name)
  if (token === null || token.length > LONGEST_COOKIE) return null
  try {
    const { payload } = await jwtDecrypt(token, secret, {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
    })
    return isCookieForm(form, payload) ? payload : null
  } catch {
    return null
  }
}

const validators = new WeakMap<TSchema, ValidateFunction>()

function isCookieForm<Form extends TSchema>(form: Form, value: unknown): value is Static<Form> {
  const validate = validators.get(form) ?? new Ajv({ strict: false }).compile(plainSchema(form))
  validators.set(form, validate)
  return validate(value)
}

function cookieOf({ cookie = '' }: IncomingHttpHeaders, name: string): string | null {
  for (const pair of cookie.split(';')) {
    const [key = '', ...value] = pair.trim().split('=')
    if (key === name) return value.join('=')
  }
  return null
}
