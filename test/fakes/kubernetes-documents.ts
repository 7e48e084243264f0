/** What a Kubernetes API server says of itself: discovery in both forms, and OpenAPI as far as kubectl asks for it. */

export interface FakeResource {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly kind: string
  readonly namespaced: boolean
  /** Subresource → its kind. */
  readonly subresources: Readonly<
    Record<string, { readonly group: string; readonly version: string; readonly kind: string }>
  >
}

const SCALE = { group: 'autoscaling', version: 'v1', kind: 'Scale' }
const EVICTION = { group: 'policy', version: 'v1', kind: 'Eviction' }
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

export const FAKE_RESOURCES: readonly FakeResource[] = [
  row('', 'v1', 'pods', 'Pod', { eviction: EVICTION, exec: { group: '', version: 'v1', kind: 'PodExecOptions' } }),
  row('', 'v1', 'configmaps', 'ConfigMap'),
  row('', 'v1', 'secrets', 'Secret'),
  row('', 'v1', 'services', 'Service'),
  row('', 'v1', 'serviceaccounts', 'ServiceAccount', {
    token: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
  }),
  row('', 'v1', 'events', 'Event'),
  { ...row('', 'v1', 'namespaces', 'Namespace'), namespaced: false },
  { ...row('', 'v1', 'nodes', 'Node'), namespaced: false },
  row('apps', 'v1', 'deployments', 'Deployment', { scale: SCALE }),
  row('apps', 'v1', 'daemonsets', 'DaemonSet'),
  row('batch', 'v1', 'cronjobs', 'CronJob'),
  row('batch', 'v1', 'jobs', 'Job'),
  { ...row('apiextensions.k8s.io', 'v1', 'customresourcedefinitions', 'CustomResourceDefinition'), namespaced: false },
  row('example.com', 'v1', 'widgets', 'Widget'),
  ...(['Mutating', 'Validating'] as const).map((type) => ({
    ...row(
      'admissionregistration.k8s.io',
      'v1',
      `${type.toLowerCase()}webhookconfigurations`,
      `${type}WebhookConfiguration`,
    ),
    namespaced: false,
  })),
  { ...row('authorization.k8s.io', 'v1', 'selfsubjectaccessreviews', 'SelfSubjectAccessReview'), namespaced: false },
]

function row(
  group: string,
  version: string,
  resource: string,
  kind: string,
  subresources: FakeResource['subresources'] = {},
): FakeResource {
  return { group, version, resource, kind, namespaced: true, subresources }
}

/** The document at a path; null when there is none. */
export function kubernetesDocument(path: string, accept: string): unknown {
  if (path === '/version') return { major: '1', minor: '36', gitVersion: 'v1.36.0', platform: 'linux/amd64' }
  const isAggregated = accept.includes('as=APIGroupDiscoveryList')
  if (path === '/api')
    return isAggregated ? aggregated(['']) : { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] }
  if (path === '/apis')
    return isAggregated
      ? aggregated(groups())
      : { kind: 'APIGroupList', apiVersion: 'v1', groups: groups().map(groupOf) }
  if (path === '/openapi/v3')
    return {
      paths: Object.fromEntries(roots().map((root) => [root, { serverRelativeURL: `/openapi/v3/${root}?hash=1` }])),
    }
  const schema = /^\/openapi\/v3\/(.+)$/.exec(path)?.[1]
  if (schema !== undefined && roots().includes(schema)) return openApi(schema)
  const listed = FAKE_RESOURCES.filter((resource) => `/${rootOf(resource)}` === path)
  if (listed.length === 0) return null
  const groupVersion = path.replace(/^\/apis?\//, '')
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: listed.flatMap(legacyRows) }
}

function groups(): readonly string[] {
  return [...new Set(FAKE_RESOURCES.map(({ group }) => group))].filter((group) => group !== '')
}

function rootOf({ group, version }: FakeResource): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`
}

function roots(): readonly string[] {
  return [...new Set(FAKE_RESOURCES.map(rootOf))]
}

function groupOf(name: string): unknown {
  const version = { groupVersion: `${name}/v1`, version: 'v1' }
  return { name, versions: [version], preferredVersion: version }
}

function legacyRows({ resource, kind, namespaced, subresources }: FakeResource): readonly unknown[] {
  const own = { name: resource, singularName: kind.toLowerCase(), namespaced, kind, verbs: VERBS }
  const below = Object.entries(subresources).map(([name, of]) => ({
    name: `${resource}/${name}`,
    singularName: '',
    namespaced,
    ...of,
    verbs: ['create', 'get', 'patch', 'update'],
  }))
  return [own, ...below]
}

/** apidiscovery.k8s.io/v2. */
function aggregated(names: readonly string[]): unknown {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: names.map((name) => ({
      metadata: { name },
      versions: [
        {
          version: 'v1',
          freshness: 'Current',
          resources: FAKE_RESOURCES.filter(({ group }) => group === name).map(aggregatedRow),
        },
      ],
    })),
  }
}

function aggregatedRow({ group, version, resource, kind, namespaced, subresources }: FakeResource): unknown {
  return {
    resource,
    responseKind: { group, version, kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.toLowerCase(),
    verbs: VERBS,
    subresources: Object.entries(subresources).map(([subresource, of]) => ({
      subresource,
      responseKind: of,
      verbs: ['create', 'get', 'patch', 'update'],
    })),
  }
}

/** That a patch takes `fieldValidation` and `dryRun` is what kubectl looks up before it leaves validation to the server. */
function openApi(root: string): unknown {
  const resources = FAKE_RESOURCES.filter((resource) => rootOf(resource) === root)
  const parameters = ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => ({
    name,
    in: 'query',
    schema: { type: 'string' },
  }))
  const paths = resources.map(({ group, version, kind, resource, namespaced }) => {
    const path = `/${root}/${namespaced ? 'namespaces/{namespace}/' : ''}${resource}/{name}`
    const gvk = { group, version, kind }
    return [
      path,
      { patch: { 'x-kubernetes-action': 'patch', 'x-kubernetes-group-version-kind': gvk, parameters, responses: {} } },
    ]
  })
  const schemas = resources.map(({ group, version, kind }) => [
    `io.fake.${kind}`,
    { type: 'object', 'x-kubernetes-group-version-kind': [{ group, version, kind }] },
  ])
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.36.0' },
    paths: Object.fromEntries(paths),
    components: { schemas: Object.fromEntries(schemas) },
  }
}
