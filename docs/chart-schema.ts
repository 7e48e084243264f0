/**
 * Generates values.schema.json of the chart: the chart's own values, and the gateway's configuration schema under `config`.
 * So a mistake in `config` fails at `helm install`, not when the pod starts.
 */
import { configInputSchema } from '../gateway/config/input-schema.ts'
import { isJsonObject } from '../gateway/json/strict-json.ts'
import type { GeneratedFile } from './validators.ts'

/** A JSON Schema as plain JSON. */
type Schema = { readonly [keyword: string]: unknown }

/** The chart sets these (volume, ports). */
const OWNED_BY_THE_CHART: ReadonlySet<string> = new Set(['data_dir', 'listen'])

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const open = { type: 'object' } as const
const openList = { type: 'array', items: { type: 'object' } } as const
const port = { type: 'integer', minimum: 1, maximum: 65_535 } as const
/** 0: the listener is off. */
const optionalPort = { type: 'integer', minimum: 0, maximum: 65_535 } as const
const oneOf = (...values: readonly string[]) => ({ type: 'string', enum: values })
const texts = { type: 'array', items: text } as const
const textMap = { type: 'object', additionalProperties: { type: 'string' } } as const

function strict(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', additionalProperties: false, properties }
}

/** A section of values.yaml: each member has a default there, so one is missing only if somebody emptied it. */
function section(properties: Readonly<Record<string, Schema>>): Schema {
  return { ...strict(properties), required: Object.keys(properties) }
}

/** Labels that the chart sets by itself: a second one would part a pod from its selector. */
const labels = {
  ...textMap,
  propertyNames: { not: { pattern: '^(app\\.kubernetes\\.io/|helm\\.sh/chart$)' } },
} as const
/** The start of names of objects. Services take the fewest characters. */
const objectName = { type: 'string', pattern: '^([a-z]([-a-z0-9]*[a-z0-9])?)?$' } as const

const quantity = { type: ['string', 'number'], pattern: '^[0-9]+(\\.[0-9]+)?(m|[kMGTPE]i?)?$' } as const
const quantities = {
  type: 'object',
  additionalProperties: quantity,
  propertyNames: { pattern: '^[a-z0-9./-]+$' },
} as const
/** What a pod of Kubernetes has there: a misspelt member would be dropped silently. */
const resources = strict({ requests: quantities, limits: quantities, claims: openList })
const nullableId = { type: ['integer', 'null'], minimum: 0 } as const
const seccomp = strict({ type: oneOf('RuntimeDefault', 'Localhost', 'Unconfined'), localhostProfile: text })
const podSecurity = strict({
  runAsNonRoot: flag,
  runAsUser: nullableId,
  runAsGroup: nullableId,
  fsGroup: nullableId,
  fsGroupChangePolicy: oneOf('OnRootMismatch', 'Always'),
  supplementalGroups: { type: 'array', items: { type: 'integer' } },
  seccompProfile: seccomp,
  seLinuxOptions: textMap,
  sysctls: openList,
  appArmorProfile: open,
})
const containerSecurity = strict({
  allowPrivilegeEscalation: flag,
  readOnlyRootFilesystem: flag,
  privileged: flag,
  runAsNonRoot: flag,
  runAsUser: nullableId,
  runAsGroup: nullableId,
  capabilities: strict({ drop: texts, add: texts }),
  seccompProfile: seccomp,
  seLinuxOptions: textMap,
  appArmorProfile: open,
})
const count = (minimum: number) => ({ type: 'integer', minimum }) as const
const probe = strict({
  httpGet: strict({ path: text, port: { type: ['integer', 'string'] }, scheme: oneOf('HTTP', 'HTTPS') }),
  initialDelaySeconds: count(0),
  periodSeconds: count(1),
  timeoutSeconds: count(1),
  failureThreshold: count(1),
  successThreshold: count(1),
})

const hookAction = strict({
  exec: strict({ command: texts }),
  httpGet: strict({
    path: text,
    port: { type: ['integer', 'string'] },
    scheme: oneOf('HTTP', 'HTTPS'),
    host: text,
    httpHeaders: openList,
  }),
  sleep: strict({ seconds: count(1) }),
})

/** The chart states the image of the sidecar. */
function injectorSettings(): Schema {
  const { properties = {}, required: _, ...rest } = configInputSchema.properties?.['injector'] ?? {}
  return { ...rest, properties: Object.fromEntries(Object.entries(properties).filter(([name]) => name !== 'image')) }
}

const CHART_VALUES: Readonly<Record<string, Schema>> = {
  global: open,
  modes: section({ gateway: flag, injector: flag, admission: flag, hub: flag }),
  hub: section({ port, audience: { ...text, minLength: 1 }, issuer: { ...text, minLength: 1 }, from: openList }),
  nameOverride: { ...objectName, maxLength: 40 },
  fullnameOverride: { ...objectName, maxLength: 63 },
  commonLabels: labels,
  replicas: count(1),
  store: section({ existingSecret: text, secretKey: { type: 'string', pattern: '^[-._a-zA-Z0-9]+$' } }),
  autoscaling: section({
    enabled: flag,
    minReplicas: count(1),
    maxReplicas: count(1),
    cpu: { type: 'integer', minimum: 1, maximum: 100 },
    callsInFlight: count(0),
  }),
  probes: section({ startup: probe, liveness: probe, readiness: probe }),
  lifecycle: strict({ preStop: hookAction, postStart: hookAction }),
  preStopSeconds: { type: 'integer', minimum: 0, maximum: 300 },
  webhooks: section({
    port,
    timeoutSeconds: { type: 'integer', minimum: 1, maximum: 30 },
    certificate: section({
      source: oneOf('job', 'certManager', 'secret'),
      days: { type: 'integer', minimum: 1, maximum: 3650 },
      schedule: { type: 'string', minLength: 9 },
      issuerRef: strict({ name: text, kind: text, group: text }),
      existingSecret: text,
      caBundle: text,
    }),
  }),
  injector: section({
    settings: injectorSettings(),
    namespaceLabels: { ...textMap, minProperties: 1 },
    policy: flag,
    replicas: count(1),
    resources,
  }),
  admission: section({
    route: { type: 'string', pattern: '^[a-z0-9][a-z0-9-]{0,62}$' },
    namespaceLabels: { ...textMap, minProperties: 1 },
    rules: { ...openList, minItems: 1 },
    definitions: flag,
    matchConditions: { type: 'array', items: strict({ name: text, expression: text }) },
  }),
  ingress: section({ enabled: flag, className: text, annotations: textMap, host: text, tlsSecret: text }),
  httpRoute: section({ enabled: flag, parentRefs: openList, hostnames: texts }),
  configCheck: section({ enabled: flag }),
  image: section({
    repository: { type: 'string', minLength: 1 },
    tag: text,
    digest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
    pullPolicy: oneOf('Always', 'IfNotPresent', 'Never'),
  }),
  imagePullSecrets: openList,
  files: { type: 'object', propertyNames: { pattern: '^[-._a-zA-Z0-9]+$' }, additionalProperties: { type: 'string' } },
  bootstrapKey: section({
    existingSecret: text,
    secretKey: { type: 'string', pattern: '^[-._a-zA-Z0-9]+$' },
    value: { anyOf: [{ const: '' }, { type: 'string', minLength: 24 }] },
  }),
  env: openList,
  extraVolumes: openList,
  extraVolumeMounts: openList,
  extraContainers: openList,
  listenAddress: { type: 'string', minLength: 1 },
  ports: section({ proxy: port, api: port, admin: port, extAuthz: optionalPort, transparent: optionalPort }),
  interceptionAuthority: section({ existingSecret: text }),
  service: section({ type: oneOf('ClusterIP', 'NodePort', 'LoadBalancer'), annotations: textMap }),
  persistence: section({
    enabled: flag,
    existingClaim: text,
    storageClass: text,
    accessModes: texts,
    size: { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?([kMGTPE]i?)?$' },
  }),
  serviceAccount: section({ create: flag, name: text, annotations: textMap }),
  resources,
  podSecurityContext: podSecurity,
  securityContext: containerSecurity,
  podDisruptionBudget: section({ enabled: flag, maxUnavailable: { type: ['integer', 'string'] } }),
  podAnnotations: textMap,
  podLabels: labels,
  nodeSelector: textMap,
  tolerations: openList,
  affinity: open,
  topologySpreadConstraints: openList,
  priorityClassName: text,
  networkPolicy: section({
    enabled: flag,
    from: openList,
    metricsFrom: openList,
    egress: openList,
    dns: { ...openList, minItems: 1 },
    lockAgents: textMap,
  }),
  monitoring: section({
    podMonitor: flag,
    serviceMonitor: flag,
    alerts: flag,
    runbookUrl: { type: 'string', pattern: '^(https?://[^#]+)?$' },
    dashboard: flag,
    dashboardLabels: textMap,
    interval: { type: 'string', pattern: '^[0-9]+(ms|s|m|h)$' },
    labels: textMap,
    tlsConfig: open,
  }),
}

function configValues(): Schema {
  const { $schema: _, $id: __, properties = {}, ...rest } = configInputSchema
  const members = Object.entries(properties).filter(([name]) => !OWNED_BY_THE_CHART.has(name))
  return { ...rest, properties: Object.fromEntries(members) }
}

/** A choice of texts as one keyword: helm reports each alternative of `anyOf` on a line of its own. */
function withEnum(value: unknown): unknown {
  if (!isJsonObject(value) || !Array.isArray(value['anyOf'])) return value
  const { anyOf: _, ...rest } = value
  const texts = value['anyOf'].map((choice: unknown) => {
    if (!isJsonObject(choice) || typeof choice['const'] !== 'string') return null
    return Object.keys(choice).every((name) => name === 'const' || name === 'type') ? choice['const'] : null
  })
  return texts.includes(null) ? value : { ...rest, type: 'string', enum: texts }
}

export function chartSchema(): GeneratedFile {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $comment: 'Generated by docs/chart-schema.ts (npm run generate); never edited.',
    title: 'Values of the preflight-gateway chart',
    ...strict({ ...CHART_VALUES, config: configValues() }),
    required: [...Object.keys(CHART_VALUES).filter((name) => name !== 'global'), 'config'],
  }
  return {
    path: 'charts/preflight-gateway/values.schema.json',
    content: `${JSON.stringify(schema, (_, value: unknown) => withEnum(value), 2)}\n`,
  }
}
