/** The settings of a route of the protocol `argocd`. Part of the configuration schema. */
import type { ProtocolSettings, RouteWith } from '../common/protocol-settings.ts'
import { Type } from '../../../engine/base.ts'
import { strict } from '../../settings/fields.ts'

const ArgocdSection = strict(
  {
    namespace: Type.String({
      default: 'argocd',
      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
      description:
        'protocol argocd: namespace of applications for which a call names none: the namespace of Argo CD itself.',
    }),
  },
  'Argo CD.',
)

const sections = { argocd: ArgocdSection }
export type ArgocdRoute = RouteWith<typeof sections>

export const argocdSettings = { sections } satisfies ProtocolSettings<typeof sections>
