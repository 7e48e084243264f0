/** What a route of the protocol `kubernetes` asks of writes to the Kubernetes API. Part of the configuration's schema. */
import { mistakeAt } from '../../settings/mistake-collector.ts'
import type { LocatedMistake } from '../../settings/schema-mistakes.ts'
import type { ProtocolSettings, RouteWith } from '../common/protocol-settings.ts'
import { isResourceName, KNOWN_KINDS, RESOURCE_CLASSES } from './kinds.ts'
import type { Static } from 'typebox'
import { Type, nearest } from '../../../engine/base.ts'
import { strict } from '../../settings/fields.ts'

const KubernetesSection = strict(
  {
    receipts: Type.Array(Type.String({ minLength: 1 }), {
      default: ['*'],
      description:
        'protocol kubernetes: objects that are written only with a receipt for k8s:KIND:NAMESPACE/NAME. Classes (workloads, network, configuration, access, admission, api, storage, cluster, custom, bookkeeping), kinds (Deployment), or RESOURCE.GROUP of custom resources; * is every class but bookkeeping (events, leases).',
    }),
    contracts: Type.Array(Type.String({ minLength: 1 }), {
      default: ['ConfigMap'],
      description:
        'protocol kubernetes: kinds, or RESOURCE.GROUP of custom resources, whose texts may be contracts: those that change are compared, key by key. CustomResourceDefinition is always compared.',
    }),
    receipt_binds: Type.Union([Type.Literal('name'), Type.Literal('content')], {
      default: 'name',
      description:
        'protocol kubernetes: what a required receipt is bound to. name: kind, namespace, name and operation. content: also the content of the object, as context.head (preflight admission digest).',
    }),
    streams: Type.Union([Type.Literal('receipt'), Type.Literal('deny'), Type.Literal('pass')], {
      default: 'receipt',
      description: 'protocol kubernetes: exec, attach, portforward and proxy.',
    }),
  },
  'Writes to the Kubernetes API.',
)
export type KubernetesSection = Static<typeof KubernetesSection>

const sections = { kubernetes: KubernetesSection }
export type KubernetesRoute = RouteWith<typeof sections>

export const kubernetesSettings = {
  sections,
  mistakes: unknownNames,
  warnings: ({ kubernetes }, pointer) =>
    kubernetes.receipts.length > 0
      ? []
      : [
          mistakeAt(
            `${pointer}/kubernetes/receipts`,
            'no object needs a receipt, so all are written unjudged but for contracts',
            'leave it out for the default',
          ),
        ],
} satisfies ProtocolSettings<typeof sections>

function unknownNames({ kubernetes }: KubernetesRoute, pointer: string): readonly LocatedMistake[] {
  return (['receipts', 'contracts'] as const).flatMap((list) =>
    kubernetes[list].flatMap((name, position) =>
      isResourceName(name)
        ? []
        : [
            mistakeAt(
              `${pointer}/kubernetes/${list}/${position}`,
              `"${name}" is not a kind that Kubernetes itself brings, and no class of kinds`,
              resourceHint(name),
            ),
          ],
    ),
  )
}

function resourceHint(name: string): string {
  const guess = nearest(name, [...KNOWN_KINDS, ...RESOURCE_CLASSES])
  const forms = `a kind (Deployment), RESOURCE.GROUP of a custom resource (widgets.example.com), or one of ${RESOURCE_CLASSES.join(', ')}`
  return `${guess === null ? '' : `did you mean ${guess}? `}Write ${forms}`
}
