/**
 * /api/signup: a key for anybody who asks, where the operator allows it: by default only on a loopback listener
 * (docs/reference/api.md#discovery-and-accounts).
 */
import { Type } from '../../../engine/base.ts'
import { isLoopback, parseAddress } from '../../network/listen-address.ts'
import type { ApiConfig } from '../settings.ts'
import { GatewayError } from '../../errors/errors.ts'
import { sha256Hex } from '../../runtime/hash.ts'
import { apiKeyRow, mintApiKey, signupTenant } from '../../callers/api-keys.ts'
import { defineRoute, json } from '../route.ts'
import { CorrelationId, nullable } from '../schemas/shapes.ts'

export const describeSignup = defineRoute({
  method: 'GET',
  paths: ['/api/signup'],
  operationId: 'describeSignup',
  tag: 'accounts',
  summary: 'How to get a key, and the plans',
  access: 'public',
  answers: {
    200: {
      description: 'Whether POST gives a key here.',
      content: {
        'application/json': Type.Object(
          {
            enabled: Type.Boolean(),
            how: Type.String(),
            plans: Type.Array(
              Type.Object({
                plan: Type.String(),
                requests_per_month: nullable(Type.Integer({ description: 'null: unlimited.' })),
              }),
            ),
            correlation_id: CorrelationId,
          },
          { title: 'SignupDescription' },
        ),
      },
    },
  },
  async handle({ settings: { config }, correlationId }) {
    const enabled = isSignupEnabled(config)
    return json({
      enabled,
      how: enabled
        ? 'POST {"email": "you@example.org"} here; the answer holds the key, once.'
        : 'Ask the operator: preflight keys create.',
      plans: Object.entries(config.plans).map(([plan, { monthly }]) => ({ plan, requests_per_month: monthly })),
      correlation_id: correlationId,
    })
  },
})

/** The role and plan of self-service keys (docs/reference/api.md#discovery-and-accounts). */
const SIGNUP_PLAN = 'free'

/** Keys that can be made in a minute. */
const SIGNUPS = { address: 30, everybody: 300 } as const

export const signup = defineRoute({
  method: 'POST',
  paths: ['/api/signup'],
  operationId: 'signup',
  tag: 'accounts',
  summary: 'Get a key',
  access: 'public',
  body: Type.Object(
    {
      email: Type.String({ format: 'email', maxLength: 254 }),
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    },
    { title: 'SignupRequest' },
  ),
  answers: {
    201: {
      description: 'The key. It is shown this once and kept only as a hash.',
      content: {
        'application/json': Type.Object(
          {
            api_key: Type.String(),
            plan: Type.String(),
            role: Type.String(),
            audience: Type.String({ description: 'How this key appears in decisions.' }),
            correlation_id: CorrelationId,
          },
          { title: 'SignupAnswer' },
        ),
      },
    },
  },
  errors: ['FORBIDDEN', 'ALREADY_SIGNED_UP', 'RATE_LIMITED'],
  async handle(exchange, deps) {
    if (!isSignupEnabled(exchange.settings.config)) {
      throw new GatewayError('FORBIDDEN', 'Sign-up is off here; ask the operator for a key (preflight keys create).')
    }
    exchange.throttleStrangers('signup', SIGNUPS)
    const key = mintApiKey()
    const { email, name } = exchange.body
    const at = deps.now()
    const row = apiKeyRow({ key, name: name ?? email, role: 'agent', at, tenant: signupTenant(), plan: SIGNUP_PLAN })
    if (!(await deps.store.apiKeys.signUp(row, mailDigest(email)))) throw new GatewayError('ALREADY_SIGNED_UP')
    const { plan, role, audience } = row
    return json({ api_key: key, plan, role, audience, correlation_id: exchange.correlationId }, 201)
  },
})

/** One address has one key, whatever the letter case. */
function mailDigest(email: string): string {
  return sha256Hex(`signup\n${email.toLowerCase()}`)
}

function isSignupEnabled({ signup: { enabled }, listen }: ApiConfig): boolean {
  return enabled ?? isLoopback(parseAddress(listen.api).host)
}
