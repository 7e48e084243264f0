/**
 * Who calls the hub, and for which tenant. The proof is the service account token of a pod, a client certificate, a hub key, or
 * the API key or session of a person (docs/reference/hub.md#authentication). An identity that cannot be proven completely is none.
 */
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { jwtVerify } from 'jose/jwt/verify'
import { GatewayError } from '../errors/errors.ts'
import { hashApiKey, HUB_KEY_PREFIX, isApiKey, isKeyInForce } from '../callers/api-keys.ts'
import { hasRight, rolesWith } from '../callers/rights.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import type { HubRole, HubSettings } from './settings.ts'
import { messageOf } from '../errors/startup-error.ts'
import { recordIn, textIn } from '../json/unchecked-json.ts'

export interface HubIdentity {
  readonly tenant: string
  readonly role: HubRole
  /** For people and the fleet view: `NAMESPACE/POD`, the subject of a certificate, or the name of a key. */
  readonly name: string
  /** The same caller has the same one after a restart of its process. */
  readonly id: string
  /** How it was proven. */
  readonly proof: 'token' | 'certificate' | 'key'
  /** Milliseconds since the epoch when the credential ends; null: when the settings of the hub no longer have it. */
  readonly endsAt: number | null
}

interface IncomingHubRequest extends Pick<IncomingMessage, 'headers'> {
  readonly socket: unknown
}

interface IdentityDeps {
  readonly settings: () => HubSettings
  /** Keys of the token issuer; null: tokens are not accepted. */
  readonly issuerKeys: IssuerKeys | null
  readonly keyByHash: (hash: string) => Promise<ApiKey | null>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Longer credentials are none of ours: nothing is parsed or hashed for them. */
const LONGEST_CREDENTIAL = 16_384
/** Only asymmetric algorithms: a key set must never be taken for a shared secret. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384', 'ES512', 'EdDSA']

/** The caller of a request. Rejects with UNAUTHENTICATED, FORBIDDEN, or STORE_UNAVAILABLE. */
export async function identifyHubCaller(request: IncomingHubRequest, deps: IdentityDeps): Promise<HubIdentity> {
  const credential = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1]
  if (credential !== undefined && credential.length <= LONGEST_CREDENTIAL) {
    if (credential.startsWith(HUB_KEY_PREFIX)) return identityOfKey(credential, deps.settings())
    return isApiKey(credential) ? byPerson(credential, deps) : byToken(credential, deps)
  }
  const certified = byCertificate(request.socket, deps)
  if (certified !== null) return certified
  throw unauthenticated('send a service account token, a client certificate, or a hub key')
}

interface PodClaims {
  readonly namespace: string
  readonly serviceAccount: string
  readonly pod: { readonly name: string; readonly uid: string }
  readonly endsAt: number
}

async function byToken(token: string, { settings, issuerKeys, now }: IdentityDeps): Promise<HubIdentity> {
  const { tokens } = settings()
  if (tokens === undefined || issuerKeys === null) throw unauthenticated('this hub accepts no tokens (hub.tokens)')
  let payload: unknown
  try {
    const verified = await jwtVerify(token, (header, jws) => issuerKeys.find(header, jws), {
      algorithms: ALGORITHMS,
      issuer: tokens.issuer,
      audience: tokens.audience,
      requiredClaims: ['exp', 'sub'],
      currentDate: new Date(now()),
    })
    payload = verified.payload
  } catch (error) {
    if (error instanceof GatewayError) throw error
    throw unauthenticated(`the token is not valid: ${messageOf(error)}`)
  }
  const claims = podClaims(payload)
  if (claims === null) throw unauthenticated('the token is not bound to a pod; use a projected service account token')
  const { namespace, serviceAccount, pod, endsAt } = claims
  const name = `${namespace}/${pod.name}`
  return admitted({ namespace, serviceAccount, name, id: `pod:${pod.uid}`, proof: 'token', endsAt }, settings())
}

/** A token without a pod outlives it, and could be taken along: only bound ones count. */
function podClaims(payload: unknown): PodClaims | null {
  const kubernetes = recordIn(recordIn(payload)['kubernetes.io'])
  const [account, pod] = [recordIn(kubernetes['serviceaccount']), recordIn(kubernetes['pod'])]
  const { namespace } = kubernetes
  const { exp } = recordIn(payload)
  const [serviceAccount, name, uid] = [account['name'], pod['name'], pod['uid']]
  if (typeof namespace !== 'string' || namespace === '' || typeof serviceAccount !== 'string') return null
  if (typeof name !== 'string' || typeof uid !== 'string' || typeof exp !== 'number') return null
  return { namespace, serviceAccount, pod: { name, uid }, endsAt: exp * 1000 }
}

/** The namespace and service account of a SPIFFE URI, or the organization and common name of the subject. */
function byCertificate(socket: unknown, { settings, now }: IdentityDeps): HubIdentity | null {
  if (!settings().certificates || !isAuthorizedSocket(socket)) return null
  const {
    subject,
    subjectaltname: names = '',
    fingerprint256: fingerprint,
    valid_to: end,
  } = socket.getPeerCertificate()
  const endsAt = Date.parse(end)
  // The handshake looked at it once, and a connection may last.
  if (!(now() < endsAt)) throw unauthenticated(`the client certificate has ended (${end})`, { Connection: 'close' })
  const [namespace, serviceAccount] = spiffeNames(names) ?? [onlyValue(subject.O), onlyValue(subject.CN)]
  if (namespace === '' || serviceAccount === '')
    throw unauthenticated(
      'the client certificate names no tenant: it needs one SPIFFE URI (spiffe://DOMAIN/ns/NAMESPACE/sa/NAME), or one O and one CN in its subject',
    )
  const name = `${namespace}/${serviceAccount}`
  return admitted(
    { namespace, serviceAccount, name, id: `cert:${fingerprint}`, proof: 'certificate', endsAt },
    settings(),
  )
}

/** Namespace and service account; empty texts: there are SPIFFE URIs, and they name no single one; null: there is none. */
function spiffeNames(names: string): readonly [string, string] | null {
  // Node.js quotes a name that holds what separates names.
  const uris = names
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
    .split(', ')
    .filter((name) => name.startsWith('URI:spiffe:'))
  if (uris.length === 0) return null
  const [, namespace = '', serviceAccount = ''] =
    /^URI:spiffe:\/\/[^/]+\/ns\/([^/]+)\/sa\/([^/]+)$/.exec(uris.length === 1 ? (uris[0] ?? '') : '') ?? []
  return [namespace, serviceAccount]
}

/** Of several values nobody knows which one is meant. */
function onlyValue(value: string | readonly string[] | undefined): string {
  return textIn(value) ?? ''
}

function isAuthorizedSocket(socket: unknown): socket is TLSSocket {
  return typeof socket === 'object' && socket !== null && 'authorized' in socket && socket.authorized === true
}

/** Looked up by its hash, so that no comparison of secrets can be timed. */
function identityOfKey(key: string, { keys }: HubSettings): HubIdentity {
  const hash = hashApiKey(key)
  const known = keys.find(({ sha256 }) => sha256 === hash)
  if (known === undefined) throw unauthenticated('hub.keys has no such key')
  const { name, tenant, role } = known
  requireTenantName(tenant)
  return { tenant, role, name, id: `key:${hash.slice(0, 12)}`, proof: 'key', endsAt: null }
}

/** Who may ask for decisions at the API may ask for them here. */
async function byPerson(key: string, { settings, keyByHash, now }: IdentityDeps): Promise<HubIdentity> {
  if (!settings().people) throw unauthenticated('this hub accepts no API keys and sessions (hub.people)')
  const row = await keyByHash(hashApiKey(key))
  if (row === null || !isKeyInForce(row, now()))
    throw unauthenticated('the key or session is not in force; sign in again with preflight login')
  const { name, tenant, role, hash, expiresAt } = row
  if (!hasRight(row, 'ask'))
    throw new GatewayError('FORBIDDEN', `The role ${role} may not connect to the hub; it takes ${rolesWith('ask')}.`)
  const proven = { name, id: `key:${hash.slice(0, 12)}`, proof: 'key', endsAt: expiresAt } as const
  return { ...proven, tenant: requireTenantName(tenant), role: 'sidecar' }
}

interface Proven extends Pick<HubIdentity, 'name' | 'id' | 'proof' | 'endsAt'> {
  readonly namespace: string
  readonly serviceAccount: string
}

function admitted({ namespace, serviceAccount, ...proven }: Proven, { identities }: HubSettings): HubIdentity {
  if (identities.length === 0) return { ...proven, tenant: requireTenantName(namespace), role: 'sidecar' }
  const entry = identities.find(
    (known) => known.namespace === namespace && (known.service_account ?? serviceAccount) === serviceAccount,
  )
  if (entry === undefined)
    throw new GatewayError('FORBIDDEN', `hub.identities has no entry for ${namespace}/${serviceAccount}.`)
  return { ...proven, tenant: requireTenantName(entry.tenant ?? namespace), role: entry.role }
}

/** Rows are stored as `TENANT:NAME`: with a colon, one tenant could write the rows of another. */
function requireTenantName(tenant: string): string {
  if (tenant.includes(':')) throw new GatewayError('FORBIDDEN', 'The tenant of a hub caller has no colon in its name.')
  return tenant
}

function unauthenticated(reason: string, headers: Readonly<Record<string, string>> = {}): GatewayError {
  return new GatewayError('UNAUTHENTICATED', `The hub does not know this caller: ${reason}.`, {
    headers: { 'WWW-Authenticate': 'Bearer realm="preflight-hub"', ...headers },
  })
}
