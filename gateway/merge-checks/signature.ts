/** Whether a delivery comes from the platform: each platform's signature over the raw body, with any of the configured secrets. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Webhook } from 'standardwebhooks'
import type { PlatformId } from '../scm/platform.ts'

/** What identifies the delivery; the same for each try of the platform. */
type SignedDelivery = { readonly ok: true; readonly deliveryId: string } | { readonly ok: false }

interface Signed {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** At least one. */
  readonly secrets: readonly string[]
}

const UNSIGNED = { ok: false } as const

export function checkSignature(platform: PlatformId, signed: Signed): SignedDelivery {
  return CHECKS[platform](signed)
}

/** SHA-256 of the body, by which a replay under another id is found. */
export function bodyDigest(body: Buffer): string {
  return `sha256:${createHash('sha256').update(body).digest('hex')}`
}

const CHECKS: Readonly<Record<PlatformId, (signed: Signed) => SignedDelivery>> = {
  scm_a: (signed) => hmac(signed, 'x-hub-signature-256', 'x-github-delivery'),
  scm_b: verifyGitlab,
  scm_c: (signed) => hmac(signed, 'x-hub-signature', 'x-request-uuid'),
}

/** https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries; Bitbucket signs in the same form. */
function hmac({ headers, body, secrets }: Signed, signature: string, id: string): SignedDelivery {
  const given = headers[signature]
  const deliveryId = headers[id]
  if (typeof given !== 'string' || !isDeliveryId(deliveryId)) return UNSIGNED
  const isGood = anyOf(secrets, (secret) =>
    isSameText(given, `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`),
  )
  return isGood ? { ok: true, deliveryId } : UNSIGNED
}

const SIGNING_TOKEN = /^whsec_/

/**
 * A signing token makes GitLab sign as Standard Webhooks defines it, which includes id and time. A secret token is sent as it is.
 * With a signing token configured, the other form does not count.
 */
function verifyGitlab({ headers, body, secrets }: Signed): SignedDelivery {
  const signing = secrets.filter((secret) => SIGNING_TOKEN.test(secret))
  if (signing.length > 0) {
    const id = headers['webhook-id']
    if (!isDeliveryId(id)) return UNSIGNED
    return anyOf(signing, (secret) => isStandard(secret, headers, body)) ? { ok: true, deliveryId: id } : UNSIGNED
  }
  const given = headers['x-gitlab-token']
  if (typeof given !== 'string' || !anyOf(secrets, (secret) => isSameText(given, secret))) return UNSIGNED
  // The id of the delivery since 17.4. The id of the event is shared by what one action causes, so the body tells them apart.
  const id = headers['idempotency-key']
  return { ok: true, deliveryId: isDeliveryId(id) ? id : bodyDigest(body) }
}

/** Also checks that the time of the signature is within five minutes of now. */
function isStandard(secret: string, headers: IncomingHttpHeaders, body: Buffer): boolean {
  const fields = Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(headers[name] ?? '')]),
  )
  try {
    new Webhook(secret).verify(body, fields, { jsonParse: false })
    return true
  } catch (error) {
    if (!(error instanceof Error)) throw error
    // A secret that is no Base64 proves nothing either.
    return false
  }
}

/** Looks at all of them, so that the time does not say which one was near. */
function anyOf(secrets: readonly string[], isGood: (secret: string) => boolean): boolean {
  return secrets.filter(isGood).length > 0
}

/** Digests have one length, whatever was sent. */
function isSameText(given: string, wanted: string): boolean {
  return timingSafeEqual(sha256(given), sha256(wanted))
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function isDeliveryId(value: string | readonly string[] | undefined): value is string {
  return typeof value === 'string' && /^[\w:.{}-]{1,200}$/.test(value)
}
