/** Roads by which a call names its destination itself (forward proxy, CONNECT, redirect): where they lead, who may take them, and the TLS that is ended here. Part of the configuration's schema. */
import { Type } from '../../engine/base.ts'
import { seconds, strict } from '../settings/fields.ts'

const hosts = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 300 }), { default: [], description })

export const EgressConfig = strict(
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

export const ProxyAuthConfig = Type.Union([Type.Literal('off'), Type.Literal('required')], {
  default: 'off',
  description:
    'required: forward proxy and CONNECT ask for an API key (Proxy-Authorization: Basic with the key as password, or Bearer); its tenant and audience are in the decisions.',
})

export const TlsConfig = strict(
  {
    ca: Type.Optional(
      Type.Object(
        {
          certificate: Type.String({ minLength: 1, description: 'PEM file; relative to the configuration file.' }),
          key: Type.String({ minLength: 1, description: 'PEM file of its private key (PKCS #8 or SEC 1, EC P-256).' }),
        },
        {
          additionalProperties: false,
          description: 'Authority that signs the certificates shown to agents. Without it one is made in data_dir.',
        },
      ),
    ),
    handshake: seconds(10, 'From the answer to CONNECT until TLS stands'),
  },
  'TLS that is ended here, on hosts that a route names.',
)
