/** Settings of the listeners. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { integer, strict } from '../settings/fields.ts'
import type { CallersConfig } from '../callers/settings.ts'
import type { Route } from '../routing/route.ts'
import type { AddressConfig } from '../settings/public-address.ts'
import type { LimitsConfig } from '../settings/limits.ts'
import type { TlsConfig } from '../tls/settings.ts'
import type { EgressConfig } from '../upstream/settings.ts'

const LISTEN = '^(\\[[0-9a-fA-F:.]+\\]|[^:\\s]+):[0-9]{1,5}$'

const listen = (address: string, what: string) =>
  Type.String({
    default: address,
    pattern: LISTEN,
    description: `Address of the ${what} listener, HOST:PORT; port 0 picks a free one.`,
  })

export const ListenSettings = strict(
  {
    proxy: listen('127.0.0.1:15080', 'proxy'),
    api: listen('127.0.0.1:15081', 'API (with /mcp)'),
    admin: listen('127.0.0.1:15090', 'admin (/livez, /readyz, /metrics)'),
    ext_authz: Type.Optional(
      Type.String({
        pattern: LISTEN,
        description:
          'Address of the listener for checks of other proxies over gRPC (ext_authz and ext_proc of Envoy, MCP guardrails of agentgateway), HOST:PORT; off by default. Checks over HTTP go to the API listener, under /authz/.',
      }),
    ),
    webhooks: Type.Optional(
      Type.String({
        pattern: LISTEN,
        description:
          'Address of the webhooks of a Kubernetes API server (/admission/ROUTE, /injector), HOST:PORT; off by default. It needs tls.listeners.webhooks.',
      }),
    ),
    hub: Type.Optional(
      Type.String({
        pattern: LISTEN,
        description:
          'Address of the hub listener, HOST:PORT; off by default. Sidecars with `store.url: https://…` use the state of this gateway there, within their own tenant.',
      }),
    ),
    transparent: Type.Optional(
      Type.String({
        pattern: LISTEN,
        description:
          'Address that connections are redirected to (iptables REDIRECT), HOST:PORT; off by default. The TLS server name or the Host header gives the destination.',
      }),
    ),
  },
  'Listeners.',
)
export type ListenSettings = Static<typeof ListenSettings>

export const TransparentSettings = strict(
  {
    http_port: integer(80, 'Original port of redirected plain HTTP, where its Host header names none'),
    https_port: integer(443, 'Original port of redirected TLS'),
  },
  'Connections at listen.transparent.',
)
export type TransparentSettings = Static<typeof TransparentSettings>

/** The part of the configuration that inbound connections read. */
export interface ListenConfig extends AddressConfig, CallersConfig, EgressConfig, LimitsConfig, TlsConfig {
  readonly routes: readonly Route[]
  readonly transparent: TransparentSettings
}

/** Read once for each request, so that one request sees one generation. */
export interface ListenSettingsInForce {
  readonly config: ListenConfig
  readonly generation: number
}
