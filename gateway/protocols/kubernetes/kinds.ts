/** The resources that Kubernetes itself brings: which kind each is, and of which class. Custom resources have no row. */
import type { ResourcePath } from './path.ts'

export const RESOURCE_CLASSES = [
  'workloads',
  'network',
  'configuration',
  'access',
  'admission',
  'api',
  'storage',
  'cluster',
  'custom',
  'bookkeeping',
] as const
type ResourceClass = (typeof RESOURCE_CLASSES)[number]

interface KnownResource {
  readonly kind: string
  readonly class: ResourceClass
}

/** API group, class, then `resource Kind` of each. Gateway API is known too: its resources are custom, its kinds in wide use. */
const ROWS: readonly (readonly [group: string, of: ResourceClass, resources: string])[] = [
  [
    '',
    'workloads',
    'pods Pod, replicationcontrollers ReplicationController, podtemplates PodTemplate, bindings Binding',
  ],
  [
    'apps',
    'workloads',
    'deployments Deployment, statefulsets StatefulSet, daemonsets DaemonSet, replicasets ReplicaSet',
  ],
  ['apps', 'workloads', 'controllerrevisions ControllerRevision'],
  ['extensions', 'workloads', 'deployments Deployment, daemonsets DaemonSet, replicasets ReplicaSet'],
  ['batch', 'workloads', 'jobs Job, cronjobs CronJob'],
  ['autoscaling', 'workloads', 'horizontalpodautoscalers HorizontalPodAutoscaler'],
  ['policy', 'workloads', 'poddisruptionbudgets PodDisruptionBudget'],
  ['scheduling.k8s.io', 'workloads', 'priorityclasses PriorityClass'],
  ['', 'network', 'services Service, endpoints Endpoints'],
  ['discovery.k8s.io', 'network', 'endpointslices EndpointSlice'],
  ['extensions', 'network', 'ingresses Ingress, networkpolicies NetworkPolicy'],
  ['networking.k8s.io', 'network', 'ingresses Ingress, ingressclasses IngressClass, networkpolicies NetworkPolicy'],
  ['networking.k8s.io', 'network', 'ipaddresses IPAddress, servicecidrs ServiceCIDR'],
  ['gateway.networking.k8s.io', 'network', 'gateways Gateway, gatewayclasses GatewayClass, httproutes HTTPRoute'],
  ['gateway.networking.k8s.io', 'network', 'grpcroutes GRPCRoute, tcproutes TCPRoute, tlsroutes TLSRoute'],
  ['gateway.networking.k8s.io', 'network', 'udproutes UDPRoute, referencegrants ReferenceGrant'],
  ['gateway.networking.k8s.io', 'network', 'backendtlspolicies BackendTLSPolicy'],
  ['', 'configuration', 'configmaps ConfigMap, secrets Secret'],
  ['', 'access', 'serviceaccounts ServiceAccount'],
  ['rbac.authorization.k8s.io', 'access', 'roles Role, rolebindings RoleBinding, clusterroles ClusterRole'],
  ['rbac.authorization.k8s.io', 'access', 'clusterrolebindings ClusterRoleBinding'],
  ['certificates.k8s.io', 'access', 'certificatesigningrequests CertificateSigningRequest'],
  ['certificates.k8s.io', 'access', 'clustertrustbundles ClusterTrustBundle'],
  ['admissionregistration.k8s.io', 'admission', 'mutatingwebhookconfigurations MutatingWebhookConfiguration'],
  ['admissionregistration.k8s.io', 'admission', 'validatingwebhookconfigurations ValidatingWebhookConfiguration'],
  ['admissionregistration.k8s.io', 'admission', 'validatingadmissionpolicies ValidatingAdmissionPolicy'],
  ['admissionregistration.k8s.io', 'admission', 'validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding'],
  ['admissionregistration.k8s.io', 'admission', 'mutatingadmissionpolicies MutatingAdmissionPolicy'],
  ['admissionregistration.k8s.io', 'admission', 'mutatingadmissionpolicybindings MutatingAdmissionPolicyBinding'],
  ['apiextensions.k8s.io', 'api', 'customresourcedefinitions CustomResourceDefinition'],
  ['apiregistration.k8s.io', 'api', 'apiservices APIService'],
  ['', 'storage', 'persistentvolumes PersistentVolume, persistentvolumeclaims PersistentVolumeClaim'],
  [
    'storage.k8s.io',
    'storage',
    'storageclasses StorageClass, volumeattachments VolumeAttachment, csidrivers CSIDriver',
  ],
  ['storage.k8s.io', 'storage', 'csinodes CSINode, csistoragecapacities CSIStorageCapacity'],
  ['storage.k8s.io', 'storage', 'volumeattributesclasses VolumeAttributesClass'],
  ['', 'cluster', 'namespaces Namespace, nodes Node, resourcequotas ResourceQuota, limitranges LimitRange'],
  ['node.k8s.io', 'cluster', 'runtimeclasses RuntimeClass'],
  ['flowcontrol.apiserver.k8s.io', 'cluster', 'flowschemas FlowSchema'],
  ['flowcontrol.apiserver.k8s.io', 'cluster', 'prioritylevelconfigurations PriorityLevelConfiguration'],
  ['resource.k8s.io', 'cluster', 'resourceclaims ResourceClaim, resourceclaimtemplates ResourceClaimTemplate'],
  ['resource.k8s.io', 'cluster', 'deviceclasses DeviceClass, resourceslices ResourceSlice'],
  ['', 'bookkeeping', 'events Event'],
  ['events.k8s.io', 'bookkeeping', 'events Event'],
  ['coordination.k8s.io', 'bookkeeping', 'leases Lease, leasecandidates LeaseCandidate'],
]

const KNOWN: ReadonlyMap<string, KnownResource> = new Map(
  ROWS.flatMap(([group, of, resources]) =>
    resources.split(', ').map((row) => {
      const [resource = '', kind = ''] = row.split(' ')
      return [`${resource}.${group}`, { kind, class: of }] as const
    }),
  ),
)

/** Of resources that Kubernetes itself brings. */
export const KNOWN_KINDS: readonly string[] = [...new Set([...KNOWN.values()].map(({ kind }) => kind))]

/** Asked by POST and answered, nothing kept: reviews of access and identity. */
const REVIEWS: ReadonlySet<string> = new Set([
  'selfsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectrulesreviews.authorization.k8s.io',
  'subjectaccessreviews.authorization.k8s.io',
  'localsubjectaccessreviews.authorization.k8s.io',
  'tokenreviews.authentication.k8s.io',
  'selfsubjectreviews.authentication.k8s.io',
])

type ResourceName = Pick<ResourcePath, 'group' | 'resource'>

/** The kind by the path alone; null for custom resources, whose kind the cluster's discovery knows. */
export function knownKind(path: ResourceName): string | null {
  return KNOWN.get(`${path.resource}.${path.group}`)?.kind ?? null
}

export function isReview({ group, resource }: ResourceName): boolean {
  return REVIEWS.has(`${resource}.${group}`)
}

/** Names of resources that `*` does not include. */
export const NAMES_OUTSIDE_ALL: ReadonlySet<string> = new Set([
  'bookkeeping',
  ...[...KNOWN].flatMap(([name, known]) => (known.class === 'bookkeeping' ? [name, known.kind] : [])),
])

/** @param names classes, kinds, `resource.group`, or `*` for every class but bookkeeping */
export function isNamedResource(names: readonly string[], { group, resource }: ResourceName): boolean {
  const known = KNOWN.get(`${resource}.${group}`)
  const own = known?.class ?? 'custom'
  return names.some(
    (name) =>
      name === own ||
      name === known?.kind ||
      name === `${resource}.${group}` ||
      (name === '*' && own !== 'bookkeeping'),
  )
}

/** False for what names nothing: neither a class nor a kind of Kubernetes, nor of the form RESOURCE.GROUP. */
export function isResourceName(name: string): boolean {
  return (
    name === '*' ||
    RESOURCE_CLASSES.some((known) => known === name) ||
    KNOWN_KINDS.includes(name) ||
    /^[a-z0-9-]+\.[a-z0-9.-]+$/.test(name)
  )
}
