/** What a route of the protocol `kubernetes` asks of writes to the Kubernetes API. Part of the configuration's schema. */
import type { Static } from 'typebox'
import { Type } from '../../../engine/base.ts'
import { strict } from '../../settings/fields.ts'

export const KubernetesRoute = strict(
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
    streams: Type.Union([Type.Literal('receipt'), Type.Literal('deny'), Type.Literal('pass')], {
      default: 'receipt',
      description: 'protocol kubernetes: exec, attach, portforward and proxy.',
    }),
  },
  'Writes to the Kubernetes API.',
)
export type KubernetesRoute = Static<typeof KubernetesRoute>
