/** Who may use the proxy, and the OpenID Connect providers that people sign in with. Part of the configuration schema. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { period } from '../settings/fields.ts'

export const ProxyAuth = Type.Union([Type.Literal('off'), Type.Literal('required')], {
  default: 'off',
  description:
    'required: forward proxy and CONNECT require an API key (Proxy-Authorization: Basic with the key as password, or Bearer); its tenant and audience are in the decisions.',
})
export type ProxyAuth = Static<typeof ProxyAuth>

/** The part of the configuration that determines who may use the proxy. */
export interface CallersConfig {
  readonly proxy_auth: ProxyAuth
}

export const Provider = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-z0-9][a-z0-9-]{0,31}$',
      description: 'Part of the callback address and of the identity of people.',
    }),
    title: Type.Optional(
      Type.String({ minLength: 1, maxLength: 60, description: 'Text of the button; default: the name.' }),
    ),
    issuer: Type.String({
      pattern: '^https?://',
      description: 'Issuer of the OpenID provider. http only on loopback.',
    }),
    client_id: Type.String({ minLength: 1, description: 'Client at the provider.' }),
    client_secret: Type.Optional(Type.String({ minLength: 1, description: 'Its secret; absent: a public client.' })),
    scopes: Type.Array(Type.String({ minLength: 1 }), {
      default: ['openid', 'profile', 'email'],
      description: 'Requested scopes.',
    }),
    groups_claim: Type.String({
      minLength: 1,
      default: 'groups',
      description: 'Claim that lists the groups of the person.',
    }),
    roles: Type.Array(
      Type.Object(
        {
          group: Type.String({ minLength: 1, description: 'Group in the claim.' }),
          role: Type.Enum(['viewer', 'approver', 'operator', 'admin'], { description: 'Role that it gives.' }),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, description: 'Roles by group; the one with most rights counts. A person without one is refused.' },
    ),
    tenant: Type.String({ minLength: 1, default: 'local', description: 'Tenant of the people of this provider.' }),
    session: period(3600, 'Time until the provider is asked again', 60),
  },
  { additionalProperties: false },
)
export type Provider = Static<typeof Provider>

/** The part of the configuration that names them. */
export interface ProvidersConfig {
  readonly console: { readonly providers: readonly Provider[]; readonly session: number }
}
