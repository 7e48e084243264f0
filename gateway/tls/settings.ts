/** Settings of TLS that is ended here, on hosts that a route names. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { seconds, strict } from '../settings/fields.ts'

export const TlsSettings = strict(
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
    handshake: seconds(10, 'From the answer to CONNECT to the end of the TLS handshake'),
  },
  'TLS that is ended here, on hosts that a route names.',
)
export type TlsSettings = Static<typeof TlsSettings>

/** The part of the configuration that TLS interception reads. */
export interface TlsConfig {
  readonly tls: TlsSettings
}
