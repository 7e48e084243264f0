/** What a route of the protocol `npm` asks of writes that change no content of a version. Part of the configuration's schema. */
import type { ProtocolSettings, RouteWith } from '../common/protocol-settings.ts'
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { strict } from '../../settings/fields.ts'

const treatment = (what: string) =>
  Type.Union([Type.Literal('receipt'), Type.Literal('deny'), Type.Literal('pass')], {
    default: 'receipt',
    description: `protocol npm: ${what}`,
  })

export const NpmSection = strict(
  {
    unpublish: treatment('versions, packages and dist-tags that are taken away (operation unpublish).'),
    deprecate: treatment('versions that are marked as deprecated, or not any more (operation deprecate).'),
    owners: treatment(
      'owners, access, teams, organisations, trusted publishers, new tokens and changes of the account: who may publish next (operation access).',
    ),
  },
  'Writes to an npm registry. Publications and moves of dist-tags are always judged by what they change.',
)
export type NpmSection = Static<typeof NpmSection>

const sections = { npm: NpmSection }
export type NpmRoute = RouteWith<typeof sections>

export const npmSettings = { sections, takesEncodedSlashes: true } satisfies ProtocolSettings<typeof sections>
