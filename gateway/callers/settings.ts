/** Who may use the proxy. Part of the configuration schema. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'

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
