/** Who may use the proxy. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'

export const ProxyAuth = Type.Union([Type.Literal('off'), Type.Literal('required')], {
  default: 'off',
  description:
    'required: forward proxy and CONNECT ask for an API key (Proxy-Authorization: Basic with the key as password, or Bearer); its tenant and audience are in the decisions.',
})
export type ProxyAuth = Static<typeof ProxyAuth>

/** What of the configuration says who may use the proxy. */
export interface CallersConfig {
  readonly proxy_auth: ProxyAuth
}
