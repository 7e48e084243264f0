/** The registry of protocols as the configuration needs it: one row each. `registry.ts` has the recognisers. */
import type { Protocol, Route } from '../routing/route.ts'
import { argocdSettings } from './argocd/settings.ts'
import type { ProtocolSettings } from './common/protocol-settings.ts'
import { graphqlSettings } from './graphql/settings.ts'
import { grpcSettings } from './grpc/settings.ts'
import { httpSettings } from './http/settings.ts'
import { kubernetesSettings } from './kubernetes/settings.ts'
import { llmSettings } from './llm/settings.ts'
import { mappedSettings } from './mapped/settings.ts'
import { mcpSettings } from './mcp/settings.ts'
import { mcpRegistrySettings } from './mcp-registry/settings.ts'
import { npmSettings } from './npm/settings.ts'
import { scmRouteSettings } from './scm/settings.ts'

export const PROTOCOLS = {
  mcp: mcpSettings,
  http: httpSettings,
  grpc: grpcSettings,
  graphql: graphqlSettings,
  kubernetes: kubernetesSettings,
  argocd: argocdSettings,
  mapped: mappedSettings,
  github: scmRouteSettings,
  gitlab: scmRouteSettings,
  bitbucket: scmRouteSettings,
  npm: npmSettings,
  llm: llmSettings,
  mcp_registry: mcpRegistrySettings,
} as const satisfies Readonly<Record<Protocol, ProtocolSettings>>

/** The row of a protocol, whichever it is. */
export function protocolSettings(protocol: Protocol): ProtocolSettings {
  return PROTOCOLS[protocol]
}

/** @param route null: none takes the request */
export function takesEncodedSlashes(route: Pick<Route, 'protocol'> | null): boolean {
  return route !== null && protocolSettings(route.protocol).takesEncodedSlashes === true
}
