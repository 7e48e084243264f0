/** What a route of the protocol `argocd` has to know of the server behind it. Part of the configuration's schema. */
import type { ProtocolSettings, RouteWith } from '../common/protocol-settings.ts'
import { Type } from '../../../engine/base.ts'
import { strict } from '../../settings/fields.ts'

const ArgocdSection = strict(
  {
    namespace: Type.String({
      default: 'argocd',
      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
      description:
        'protocol argocd: namespace of applications for which a call names none: the one that Argo CD itself runs in.',
    }),
  },
  'Argo CD.',
)

const sections = { argocd: ArgocdSection }
export type ArgocdRoute = RouteWith<typeof sections>

export const argocdSettings = { sections } satisfies ProtocolSettings<typeof sections>
