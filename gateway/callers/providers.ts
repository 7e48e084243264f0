/**
 * Sign-in with OpenID Connect: authorization code with PKCE in a browser, or the device grant (RFC 8628) for a command line.
 * What must come back with the person is with them for some minutes, so nothing is stored here.
 */
import * as oidc from 'openid-client'
import { GatewayError } from '../errors/errors.ts'
import { notReached } from '../errors/startup-error.ts'
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
  /** @throws GatewayError NOT_FOUND when the provider has no device grant */
  beginDevice(provider: Provider): Promise<DeviceSignIn>
  /**
   * The person, once they confirmed the code; the reason to ask again later, otherwise.
   * @throws GatewayError FORBIDDEN when they declined, the code ended, or no group of the person has a role
   */
  completeDevice(provider: Provider, deviceCode: string): Promise<SignedInPerson | 'pending' | 'slow_down'>
}

/** What a person and their command line need for the device grant. Times are seconds. */
export interface DeviceSignIn {
  readonly deviceCode: string
  readonly userCode: string
  readonly verificationUri: string
  readonly verificationUriComplete: string | null
  readonly interval: number
  readonly expiresIn: number
}

/** Metadata and keys of a provider change rarely, and are asked for again after this. */
const DISCOVERY_MS = 3_600_000

export function createProviders(now: () => number): Providers {
  return new OidcProviders(now)
}

class OidcProviders implements Providers {
  readonly #now: () => number
  readonly #known = new Map<string, { readonly found: Promise<oidc.Configuration>; readonly at: number }>()

  constructor(now: () => number) {
    this.#now = now
  }

  async begin(provider: Provider, callback: string, next: string): ReturnType<Providers['begin']> {
    const configuration = await this.#configurationOf(provider)
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
  }

  async complete(provider: Provider, answer: URL, attempt: SignInAttempt): Promise<SignedInPerson> {
    const configuration = await this.#configurationOf(provider)
    try {
      const tokens = await oidc.authorizationCodeGrant(configuration, answer, {
        pkceCodeVerifier: attempt.verifier,
        expectedState: attempt.state,
        expectedNonce: attempt.nonce,
        idTokenExpected: true,
      })
      return await personIn(tokens, provider, configuration)
    } catch (error) {
      if (error instanceof GatewayError) throw error
      throw new GatewayError('FORBIDDEN', 'The sign-in was not completed. Start again.', { cause: error })
    }
  }

  async beginDevice(provider: Provider): Promise<DeviceSignIn> {
    const configuration = await this.#configurationOf(provider)
    if (configuration.serverMetadata().device_authorization_endpoint === undefined)
      throw new GatewayError('NOT_FOUND', `The provider ${provider.name} has no device grant; use an API key.`)
    const begun = await oidc.initiateDeviceAuthorization(configuration, { scope: provider.scopes.join(' ') })
    return {
      deviceCode: begun.device_code,
      userCode: begun.user_code,
      verificationUri: begun.verification_uri,
      verificationUriComplete: begun.verification_uri_complete ?? null,
      interval: begun.interval ?? DEVICE_INTERVAL,
      expiresIn: begun.expires_in,
    }
  }

  async completeDevice(provider: Provider, deviceCode: string): ReturnType<Providers['completeDevice']> {
    const configuration = await this.#configurationOf(provider)
    try {
      const tokens = await oidc.genericGrantRequest(configuration, DEVICE_GRANT, { device_code: deviceCode })
      return await personIn(tokens, provider, configuration)
    } catch (error) {
      if (error instanceof GatewayError) throw error
      if (error instanceof oidc.ResponseBodyError && error.error === 'authorization_pending') return 'pending'
      if (error instanceof oidc.ResponseBodyError && error.error === 'slow_down') return 'slow_down'
      throw new GatewayError('FORBIDDEN', 'The sign-in was declined, or its code has ended. Start again.', {
        cause: error,
      })
    }
  }

  #configurationOf(provider: Provider): Promise<oidc.Configuration> {
    const name = JSON.stringify(provider)
    const cached = this.#known.get(name)
    if (cached !== undefined && this.#now() - cached.at < DISCOVERY_MS) return cached.found
    const found = discoverProvider(provider)
    this.#known.set(name, { found, at: this.#now() })
    found.catch(() => this.#known.delete(name))
    return found
  }
}

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
/** RFC 8628 §3.2: the default of `interval`, seconds. */
const DEVICE_INTERVAL = 5

/** The provider is asked for what its ID token does not contain. */
async function personIn(
  tokens: Awaited<ReturnType<typeof oidc.genericGrantRequest>>,
  provider: Provider,
  configuration: oidc.Configuration,
): Promise<SignedInPerson> {
  const claims = tokens.claims()
  if (claims === undefined) throw new TypeError('the answer has no ID token')
  const hasGroups = claims[provider.groups_claim] !== undefined
  const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined
  const further = hasGroups || !hasMore ? {} : await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub)
  return personOf(provider, { ...further, ...claims })
}

function discoverProvider({ issuer, client_id: id, client_secret: secret }: Provider): Promise<oidc.Configuration> {
  const url = new URL(issuer)
  const authentication = secret === undefined ? oidc.None() : oidc.ClientSecretPost(secret)
  // Without TLS a provider is believed on this machine only.
  const isLocal = url.protocol === 'http:' && isLoopback(url.hostname)
  // Whatever TLS ends at, only the provider has the key: OpenID Connect Core §3.1.3.7 lets a client leave the signature unchecked.
  const execute = [oidc.enableNonRepudiationChecks, ...(isLocal ? [oidc.allowInsecureRequests] : [])]
  return oidc.discovery(url, id, undefined, authentication, { execute }).catch((error: unknown) => {
    throw notReached('the sign-in provider (console.providers[].issuer)', issuer, error)
  })
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
