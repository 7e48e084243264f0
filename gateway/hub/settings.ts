/** Settings of the hub: who may connect, and as what. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { period, strict } from '../settings/fields.ts'
import { mistakeAt } from '../settings/mistake-collector.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'

const name = (description: string) => Type.String({ minLength: 1, maxLength: 253, description })

/** Roles of the callers of a hub. What each may call: gateway/hub/methods.ts. */
export const HubRole = Type.Union([Type.Literal('sidecar'), Type.Literal('verifier')], {
  default: 'sidecar',
  description: 'sidecar: decides calls of its tenant. verifier: verifies and consumes receipts of its tenant.',
})

export const HubSettings = strict(
  {
    tokens: Type.Optional(
      Type.Object(
        {
          issuer: name('Required issuer (iss) of the tokens, e.g. https://kubernetes.default.svc.cluster.local.'),
          audience: Type.String({
            default: 'preflight-hub',
            minLength: 1,
            description: 'Required audience (aud) of the tokens.',
          }),
          keys: name('Key set of the issuer: a file or an https:// address.'),
          ca_file: Type.Optional(name('PEM file of the authorities of that address; default: the public ones.')),
          token_file: Type.Optional(name('File of a bearer token for that address, read at each request.')),
        },
        {
          additionalProperties: false,
          description: 'Service account tokens of pods (Kubernetes, projected). The namespace is the tenant.',
        },
      ),
    ),
    certificates: Type.Boolean({
      default: false,
      description:
        'Accept client certificates of tls.listeners.hub.client_ca. The tenant is the namespace in a SPIFFE URI, else the organization (O) of the subject.',
    }),
    keys: Type.Array(
      Type.Object(
        {
          name: name('Name of the caller, for people.'),
          tenant: name('Tenant of the caller.'),
          sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the key, lower-case hex.' }),
          role: HubRole,
        },
        { additionalProperties: false },
      ),
      {
        default: [],
        description:
          'Keys of callers outside Kubernetes. A key begins with pf_hub_; docs/hub.md shows how to make one.',
      },
    ),
    people: Type.Boolean({
      default: false,
      description:
        'Accept sessions of preflight login and API keys of this gateway, as sidecars of their tenant. The role viewer is refused.',
    }),
    identities: Type.Array(
      Type.Object(
        {
          namespace: name('Namespace of the caller.'),
          service_account: Type.Optional(name('Service account of the caller; default: every one of the namespace.')),
          tenant: Type.Optional(name('Tenant of the caller; default: the namespace.')),
          role: HubRole,
        },
        { additionalProperties: false },
      ),
      {
        default: [],
        description: 'Who may connect. Without an entry, every namespace connects as a sidecar of its own tenant.',
      },
    ),
    clock_skew: period(120, 'How far the clock of a sidecar may be from that of the hub', 1),
  },
  'Callers of listen.hub.',
)
export type HubSettings = Static<typeof HubSettings>
export type HubRole = Static<typeof HubRole>

/** The part of the configuration that the hub reads. */
export interface HubConfig {
  readonly hub: HubSettings
}

interface HubListenerConfig extends HubConfig {
  readonly listen: { readonly hub?: string }
  readonly tls: { readonly listeners: { readonly hub?: { readonly client_ca?: string } } }
}

/** A hub that refuses every caller, or a kind of caller that its settings name. */
export function hubWarnings({ hub, listen, tls }: HubListenerConfig): readonly LocatedMistake[] {
  const { tokens, certificates, keys, people } = hub
  const isNamed = tokens !== undefined || certificates || keys.length > 0 || people
  if (listen.hub === undefined)
    return isNamed ? [mistakeAt('/hub', 'there is no hub listener, so nobody can connect', 'add listen.hub')] : []
  if (!isNamed)
    return [
      mistakeAt(
        '/listen/hub',
        'no credential is accepted, so every caller is refused',
        'add hub.tokens, hub.certificates, hub.keys or hub.people',
      ),
    ]
  return certificates && tls.listeners.hub?.client_ca === undefined
    ? [
        mistakeAt(
          '/hub/certificates',
          'no authority of client certificates is named, so every client certificate is refused',
          'add tls.listeners.hub.client_ca',
        ),
      ]
    : []
}
