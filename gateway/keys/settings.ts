/** Settings of the external signer of receipts. Part of the schema of the configuration. */
import type { Static } from 'typebox'
import { Type } from '../../engine/base.ts'
import { seconds, strict } from '../settings/fields.ts'

export const SignerSettings = strict(
  {
    url: Type.Optional(
      Type.String({
        pattern: '^(https?://|unix:/)',
        description:
          'External signer of receipts: an address that is POSTed to, or unix:PATH of a socket that is POSTed to at /sign. Default: a key file in data_dir.',
      }),
    ),
    public_key: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_-]{43}$',
        description:
          'Its Ed25519 public key, the member x of the JWK; required with url. Every signature is checked with it.',
      }),
    ),
    header: Type.Optional(
      Type.String({ minLength: 1, description: 'One more request header, "Name: value", e.g. for authentication.' }),
    ),
    timeout: seconds(2, 'One signature', 0.01),
  },
  'Who signs receipts.',
)
export type SignerSettings = Static<typeof SignerSettings>
