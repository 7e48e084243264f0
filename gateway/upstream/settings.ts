/** Where calls may go that name their destination themselves (forward proxy, CONNECT, redirect). Part of the schema of the configuration. */
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
        'What becomes of a destination that is in neither list and that no route names. Addresses that are not public are refused either way unless named.',
    }),
    allow: hosts(
      'Destinations let through: HOST, *.SUFFIX, HOST:PORT, ADDRESS or NETWORK (10.0.0.0/8). Loopback, private, link-local and metadata addresses, and what names resolve to among them, need an entry about that range.',
    ),
    deny: hosts('Destinations refused, in the same forms; wins over allow and over routes.'),
    tunnel: hosts(
      'Hosts that a route names (as *.SUFFIX, say) and CONNECT is yet to pass through unread, because their clients accept their own certificate only.',
    ),
    idle: seconds(600, 'A tunnel on which nothing moves is closed after this'),
  },
  'Where calls may go that name their destination themselves: forward proxy, CONNECT, redirect.',
)
export type EgressSettings = Static<typeof EgressSettings>

/** What of the configuration the egress policy reads. */
export interface EgressConfig {
  readonly egress: EgressSettings
}
