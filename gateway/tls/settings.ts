/** Settings of TLS that is ended here, on hosts that a route names. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { seconds, strict } from '../settings/fields.ts'

const ListenerTls = Type.Object(
  {
    certificate: Type.String({
      minLength: 1,
      description:
        'PEM file of the certificate and its chain; relative to the configuration file. Reloaded when it changes.',
    }),
    key: Type.String({ minLength: 1, description: 'PEM file of its private key. Reloaded when it changes.' }),
    client_ca: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'PEM file of the authorities that certify clients. With it, every client needs a certificate.',
      }),
    ),
    min_version: Type.Union([Type.Literal('TLSv1.2'), Type.Literal('TLSv1.3')], {
      default: 'TLSv1.2',
      description: 'Oldest version of TLS that is accepted.',
    }),
  },
  { additionalProperties: false, description: 'TLS of this listener; without it the listener is plaintext.' },
)
/** The files and limits of TLS on one of our own listeners. */
export type ListenerTls = Static<typeof ListenerTls>

const listenerTls = Type.Optional(ListenerTls)

export const TlsSettings = strict(
  {
    ca: Type.Optional(
      Type.Object(
        {
          certificate: Type.String({ minLength: 1, description: 'PEM file; relative to the configuration file.' }),
          key: Type.String({ minLength: 1, description: 'PEM file of its private key (EC P-256 or RSA).' }),
        },
        {
          additionalProperties: false,
          description: 'Authority that signs the certificates shown to agents. Without it one is made in data_dir.',
        },
      ),
    ),
    bundle_file: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'File that the gateway writes for agents beside it: the public authorities and the one of intercepted hosts, in PEM; relative to the configuration file. Written again after a rotation.',
      }),
    ),
    handshake: seconds(10, 'Maximum time of a TLS handshake'),
    listeners: strict(
      {
        proxy: listenerTls,
        api: listenerTls,
        admin: listenerTls,
        ext_authz: listenerTls,
        webhooks: listenerTls,
        hub: listenerTls,
      },
      'TLS of our own listeners. Redirected connections (listen.transparent) have the TLS of their destination.',
    ),
  },
  'TLS that is ended here: of our own listeners, and of hosts that a route names.',
)
export type TlsSettings = Static<typeof TlsSettings>

/** The listeners that can have TLS. */
export type SecureListener = keyof TlsSettings['listeners']

/** The part of the configuration that TLS interception reads. */
export interface TlsConfig {
  readonly tls: TlsSettings
}
