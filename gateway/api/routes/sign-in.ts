/**
 * Sign-in of people at a command line (docs/reference/api.md#post-apiv1sign-in): the gateway runs the device grant with its provider, and
 * answers a key of the person that ends soon. The provider's tokens never leave the gateway.
 */
import { Type } from '../../../engine/base.ts'
import { apiKeyRow, mintApiKey } from '../../callers/api-keys.ts'
import type { Providers, SignedInPerson } from '../../callers/providers.ts'
import type { Provider } from '../../callers/settings.ts'
import { apiKeyAct } from '../../callers/manage-keys.ts'
import { RIGHTS, hasRight } from '../../callers/rights.ts'
import { GatewayError } from '../../errors/errors.ts'
import { sha256Hex } from '../../runtime/hash.ts'
import { packageVersion } from '../../runtime/package-files.ts'
import { ROLES, type ApiKey } from '../../store/api-keys.ts'
import type { ApiDeps } from '../deps.ts'
import { callerOf, defineRoute, json, type RouteAnswer, type RouteExchange } from '../route.ts'
import { CorrelationId, instant, nullable } from '../schemas/shapes.ts'

/** In a minute. Each one is a request to the provider. */
const SIGN_INS = { address: 30, everybody: 600 } as const
const QUESTIONS = { address: 600, everybody: 6000 } as const
/** About one sign-in; providers want one every five seconds. */
const QUESTIONS_OF_ONE = 60

const ProviderName = Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,31}$' })

export const ProvidersAnswer = Type.Object(
  {
    providers: Type.Array(Type.Object({ name: Type.String(), title: Type.String() })),
    correlation_id: CorrelationId,
  },
  { title: 'ProvidersAnswer' },
)

export const listProviders = defineRoute({
  method: 'GET',
  paths: ['/api/v1/sign-in'],
  operationId: 'listProviders',
  tag: 'accounts',
  summary: 'Providers that people can sign in with',
  access: 'public',
  answers: { 200: { description: 'Their names.', content: { 'application/json': ProvidersAnswer } } },
  handle: async ({ settings, correlationId }) =>
    json({
      providers: settings.config.console.providers.map(({ name, title }) => ({ name, title: title ?? name })),
      correlation_id: correlationId,
    }),
})

export const DeviceAnswer = Type.Object(
  {
    device_code: Type.String({ description: 'For POST /api/v1/sign-in/complete. Keep it secret.' }),
    user_code: Type.String({ description: 'The person compares it, or types it in.' }),
    verification_uri: Type.String(),
    verification_uri_complete: nullable(Type.String()),
    interval: Type.Integer({ description: 'Seconds between two questions.' }),
    expires_in: Type.Integer({ description: 'Seconds.' }),
    correlation_id: CorrelationId,
  },
  { title: 'DeviceSignIn' },
)

export const beginSignIn = defineRoute({
  method: 'POST',
  paths: ['/api/v1/sign-in'],
  operationId: 'beginSignIn',
  tag: 'accounts',
  summary: 'Begin the sign-in of a person at a command line (RFC 8628)',
  access: 'public',
  body: Type.Object({ provider: ProviderName }, { title: 'SignInRequest' }),
  answers: { 200: { description: 'What the person has to do.', content: { 'application/json': DeviceAnswer } } },
  errors: ['NOT_FOUND', 'RATE_LIMITED'],
  async handle(exchange) {
    exchange.throttleStrangers('sign-in', SIGN_INS)
    const provider = configuredProvider(exchange.body.provider, exchange)
    const begun = await (await providers()).beginDevice(provider)
    return json({
      device_code: begun.deviceCode,
      user_code: begun.userCode,
      verification_uri: begun.verificationUri,
      verification_uri_complete: begun.verificationUriComplete,
      interval: begun.interval,
      expires_in: begun.expiresIn,
      correlation_id: exchange.correlationId,
    })
  },
})

const Identity = {
  audience: Type.String({ description: 'How this key appears in decisions.' }),
  name: Type.String(),
  owner: nullable(Type.String({ description: 'The person: `oidc:PROVIDER:SUBJECT`.' })),
  role: Type.Enum(ROLES),
  groups: Type.Array(Type.String()),
  tenant: Type.String(),
  expires_at: nullable(instant()),
}

export const SignInAnswer = Type.Object(
  {
    state: Type.Enum(['pending', 'slow_down', 'signed_in'], {
      description: 'pending: ask again after the interval. slow_down: after five more seconds.',
    }),
    api_key: nullable(Type.String({ description: 'A key of the person, once it is signed_in.' })),
    key: nullable(Type.Object(Identity)),
    correlation_id: CorrelationId,
  },
  { title: 'SignInAnswer' },
)

export const completeSignIn = defineRoute({
  method: 'POST',
  paths: ['/api/v1/sign-in/complete'],
  operationId: 'completeSignIn',
  tag: 'accounts',
  summary: 'Ask whether the person has confirmed the sign-in',
  access: 'public',
  body: Type.Object(
    { provider: ProviderName, device_code: Type.String({ minLength: 1, maxLength: 2000 }) },
    { title: 'SignInCompletion' },
  ),
  answers: {
    200: { description: 'Not yet, or a key of the person.', content: { 'application/json': SignInAnswer } },
  },
  errors: ['NOT_FOUND', 'FORBIDDEN', 'RATE_LIMITED'],
  async handle(exchange, deps) {
    const { body, correlationId } = exchange
    const account = { name: sha256Hex(body.device_code), limit: QUESTIONS_OF_ONE }
    exchange.throttleStrangers('sign-in-complete', QUESTIONS, account)
    const provider = configuredProvider(body.provider, exchange)
    const person = await (await providers()).completeDevice(provider, body.device_code)
    if (typeof person === 'string')
      return json({ state: person, api_key: null, key: null, correlation_id: correlationId })
    return signedIn(person, provider, exchange, deps)
  },
})

async function signedIn(
  { name, identity: owner, role, groups, tenant }: SignedInPerson,
  { session }: Provider,
  { correlationId, settings }: RouteExchange,
  { store, now, logger }: ApiDeps,
): Promise<RouteAnswer> {
  const key = mintApiKey()
  const at = now()
  const seconds = Math.min(session, settings.config.console.session)
  const row = apiKeyRow({ key, name, role, at, tenant, groups, owner, expiresAt: at + seconds * 1000 })
  await store.apiKeys.create(row)
  logger.info({ ...apiKeyAct('created', row), by: owner, correlation_id: correlationId }, 'signed in at a command line')
  return json({ state: 'signed_in', api_key: key, key: identityAnswer(row), correlation_id: correlationId })
}

export const WhoAmIAnswer = Type.Object(
  {
    ...Identity,
    rights: Type.Array(Type.Enum(RIGHTS)),
    version: Type.String({ description: 'Version of the gateway.' }),
    correlation_id: CorrelationId,
  },
  { title: 'WhoAmI' },
)

export const whoAmI = defineRoute({
  method: 'GET',
  paths: ['/api/v1/whoami'],
  operationId: 'whoAmI',
  tag: 'accounts',
  summary: 'Whom a key belongs to, and what it may do',
  access: 'key',
  answers: { 200: { description: 'The holder.', content: { 'application/json': WhoAmIAnswer } } },
  async handle(exchange) {
    const caller = callerOf(exchange)
    const rights = RIGHTS.filter((right) => hasRight(caller, right))
    return json({
      ...identityAnswer(caller),
      rights,
      version: packageVersion(),
      correlation_id: exchange.correlationId,
    })
  },
})

export const SignOutAnswer = Type.Object(
  {
    revoked: Type.Boolean({ description: 'False: this key was not made by a sign-in, and stays valid.' }),
    correlation_id: CorrelationId,
  },
  { title: 'SignOutAnswer' },
)

export const signOut = defineRoute({
  method: 'POST',
  paths: ['/api/v1/sign-out'],
  operationId: 'signOut',
  tag: 'accounts',
  summary: 'End the key of a sign-in',
  access: 'key',
  answers: { 200: { description: 'What became of the key.', content: { 'application/json': SignOutAnswer } } },
  async handle(exchange, { store, now, logger }) {
    const caller = callerOf(exchange)
    const isOfSignIn = caller.expiresAt !== null && caller.owner?.startsWith('oidc:') === true
    if (isOfSignIn) {
      await store.apiKeys.revoke(caller.hash, now())
      logger.info({ ...apiKeyAct('revoked', caller), by: caller.owner }, 'signed out at a command line')
    }
    return json({ revoked: isOfSignIn, correlation_id: exchange.correlationId })
  },
})

function identityAnswer({ audience, name, owner, role, groups, tenant, expiresAt }: ApiKey) {
  const expires = expiresAt === null ? null : new Date(expiresAt).toISOString()
  return { audience, name, owner, role, groups, tenant, expires_at: expires }
}

function configuredProvider(name: string, { settings }: Pick<RouteExchange, 'settings'>): Provider {
  const provider = settings.config.console.providers.find((known) => known.name === name)
  if (provider !== undefined) return provider
  throw new GatewayError('NOT_FOUND', `There is no provider ${name} in console.providers.`)
}

let known: Promise<Providers> | null = null

/** Loaded with the first sign-in: most gateways never have one. It holds metadata of providers only. */
function providers(): Promise<Providers> {
  known ??= import('../../callers/providers.ts').then(({ createProviders }) => createProviders(Date.now))
  return known
}
