/**
 * Sign-in with OpenID Connect: authorization code with PKCE. What must come back with the person is in an encrypted cookie for
 * some minutes, so nothing is stored here.
 */
import * as oidc from 'openid-client'
import { GatewayError } from '../errors/errors.ts'
import { isLoopback } from '../network/listen-address.ts'
import { readGroups } from '../store/approvers.ts'
import { ROLES, type Role } from '../store/api-keys.ts'
import type { Provider } from './settings.ts'

/** A person, as the provider and the configuration describe them. */
export interface SignedInPerson {
  /** `oidc:PROVIDER:SUBJECT`. */
  readonly identity: string
  readonly name: string
  readonly role: Role
  readonly groups: readonly string[]
  readonly tenant: string
}

/** What must come back with the person. */
export interface SignInAttempt {
  readonly provider: string
  readonly verifier: string
  readonly state: string
  readonly nonce: string
  readonly next: string
}

export interface Providers {
  /** @param callback the address that the provider sends the person back to */
  begin(
    provider: Provider,
    callback: string,
    next: string,
  ): Promise<{ readonly url: string; readonly attempt: SignInAttempt }>
  /**
   * @param answer the address that the person came back with
   * @throws GatewayError FORBIDDEN when the answer does not fit, or no group of the person has a role
   */
  complete(provider: Provider, answer: URL, attempt: SignInAttempt): Promise<SignedInPerson>
}

/** Metadata and keys of a provider change rarely, and are asked for again after this. */
const DISCOVERY_MS = 3_600_000

export function createProviders(now: () => number): Providers {
  const known = new Map<string, { readonly found: Promise<oidc.Configuration>; readonly at: number }>()
  const configurationOf = (provider: Provider): Promise<oidc.Configuration> => {
    const name = JSON.stringify(provider)
    const cached = known.get(name)
    if (cached !== undefined && now() - cached.at < DISCOVERY_MS) return cached.found
    const found = discover(provider)
    known.set(name, { found, at: now() })
    found.catch(() => known.delete(name))
    return found
  }
  return {
    async begin(provider, callback, next) {
      const configuration = await configurationOf(provider)
      const attempt = {
        provider: provider.name,
        verifier: oidc.randomPKCECodeVerifier(),
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        next,
      }
      const url = oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: callback,
        scope: provider.scopes.join(' '),
        code_challenge: await oidc.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
        state: attempt.state,
        nonce: attempt.nonce,
      })
      return { url: url.href, attempt }
    },
    async complete(provider, answer, attempt) {
      const configuration = await configurationOf(provider)
      try {
        const tokens = await oidc.authorizationCodeGrant(configuration, answer, {
          pkceCodeVerifier: attempt.verifier,
          expectedState: attempt.state,
          expectedNonce: attempt.nonce,
          idTokenExpected: true,
        })
        const claims = tokens.claims()
        if (claims === undefined) throw new TypeError('the answer has no ID token')
        const hasGroups = claims[provider.groups_claim] !== undefined
        const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined
        const further =
          hasGroups || !hasMore ? {} : await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub)
        return personOf(provider, { ...further, ...claims })
      } catch (error) {
        if (error instanceof GatewayError) throw error
        throw new GatewayError('FORBIDDEN', 'The sign-in was not completed. Start again.', { cause: error })
      }
    },
  }
}

function discover({ issuer, client_id: id, client_secret: secret }: Provider): Promise<oidc.Configuration> {
  const url = new URL(issuer)
  const authentication = secret === undefined ? oidc.None() : oidc.ClientSecretPost(secret)
  // Without TLS a provider is believed on this machine only.
  const isLocal = url.protocol === 'http:' && isLoopback(url.hostname)
  return oidc.discovery(url, id, undefined, authentication, isLocal ? { execute: [oidc.allowInsecureRequests] } : {})
}

function personOf(provider: Provider, claims: Readonly<Record<string, unknown>>): SignedInPerson {
  const listed: unknown = claims[provider.groups_claim]
  const found: readonly unknown[] = Array.isArray(listed) ? listed : []
  const claimed = found.filter((group): group is string => typeof group === 'string')
  const roles = provider.roles.filter(({ group }) => claimed.includes(group)).map(({ role }) => role)
  // The list of roles is in the order of their rights.
  const role = ROLES.findLast((known) => roles.some((given) => given === known))
  if (role === undefined)
    throw new GatewayError('FORBIDDEN', 'None of your groups has a role here. Ask an administrator of the gateway.')
  const subject = String(claims['sub'])
  const names = [claims['name'], claims['preferred_username'], claims['email'], subject]
  return {
    identity: `oidc:${provider.name}:${encodeURIComponent(subject)}`,
    name: names.find((name): name is string => typeof name === 'string' && name !== '') ?? subject,
    role,
    groups: claimed.filter((group) => readGroups(group) !== null),
    tenant: provider.tenant,
  }
}
