/**
 * The destinations allowed to calls that name their own (forward proxy, CONNECT, redirect). Part of the configuration
 * schema.
 */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { seconds, strict } from '../settings/fields.ts'

const hosts = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 300 }), { default: [], description })

export const EgressSettings = strict(
  {
    default: Type.Union([Type.Literal('deny'), Type.Literal('allow')], {
      default: 'deny',
      description:
        'What to do with a destination that is in neither list and that no route names. Addresses that are not public are refused in both cases unless egress.allow names them.',
    }),
    allow: hosts(
      'Destinations allowed: HOST, *.SUFFIX, HOST:PORT, ADDRESS or NETWORK (10.0.0.0/8). Loopback, private, link-local and metadata addresses, and names that resolve to them, need an entry for that range.',
    ),
    deny: hosts('Destinations refused, in the same forms; takes precedence over allow and over routes.'),
    tunnel: hosts(
      'Hosts that a route names (for example by *.SUFFIX) but whose CONNECT is tunnelled unread, because their clients accept the own certificate of the host only.',
    ),
    idle: seconds(600, 'A tunnel without traffic is closed after this time'),
  },
  'The destinations allowed to calls that name their own: forward proxy, CONNECT, redirect.',
)
export type EgressSettings = Static<typeof EgressSettings>

/** The part of the configuration that the egress policy reads. */
export interface EgressConfig {
  readonly egress: EgressSettings
}
