/**
 * A pod with the gateway as its sidecar. Whatever has our names is made anew, so injecting twice, or after another webhook
 * changed the pod, gives the same pod.
 */
import { isJsonObject, type JsonObject } from '../json/strict-json.ts'
import { objectsIn, recordIn } from '../json/unchecked-json.ts'
import type { KubernetesObject } from '../protocols/kubernetes/change.ts'
import { annotationsOf, STATUS_ANNOTATION, type Injection } from './injection.ts'
import type { InjectorSettings } from './settings.ts'

export interface InjectedPod {
  readonly annotations: JsonObject
  readonly initContainers: readonly unknown[]
  readonly containers: readonly unknown[]
  readonly volumes: readonly unknown[]
  /** For the author of the pod. */
  readonly warnings: readonly string[]
}

const SIDECAR = 'preflight-gateway'
const REDIRECT = 'preflight-redirect'
const CHECK = 'preflight-redirect-check'
export const OWN_CONTAINERS: ReadonlySet<unknown> = new Set([SIDECAR, REDIRECT, CHECK])
const VOLUMES = {
  config: 'preflight-config',
  data: 'preflight-data',
  ca: 'preflight-ca',
  tmp: 'preflight-tmp',
  hub: 'preflight-hub-token',
} as const
const OWN_VOLUMES: ReadonlySet<unknown> = new Set(Object.values(VOLUMES))
const PORTS = { proxy: 15_080, api: 15_081, transparent: 15_001, admin: 15_090 } as const
const CONFIG_FOLDER = '/etc/preflight/config'
const HUB_FOLDER = '/var/run/secrets/preflight'
/** The kubelet renews the token after 80 % of it. */
const TOKEN_SECONDS = 600
const CA_FOLDER = '/etc/preflight/ca'
const BUNDLE = `${CA_FOLDER}/bundle.pem`
/** Each client reads its own variable (docs/tls-interception.md). */
const CA_VARIABLES = [
  'SSL_CERT_FILE',
  'NODE_EXTRA_CA_CERTS',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'AWS_CA_BUNDLE',
  'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH',
] as const
const HARDENED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
}
const NOBODY = 65_534
const SMALL = { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } }

export function injectedPod(pod: KubernetesObject, injection: Injection, settings: InjectorSettings): InjectedPod {
  const spec = recordIn(pod['spec'])
  const warnings: string[] = []
  const own = [
    sidecar(injection, settings),
    ...(injection.mode === 'transparent' ? redirection(injection, settings) : []),
  ]
  const reached = (list: unknown): readonly unknown[] =>
    objectsIn(list)
      .filter(({ name }) => !OWN_CONTAINERS.has(name))
      .map(withoutHubToken)
      .map((container) =>
        injection.includes(String(container['name'])) ? withTrust(container, injection, warnings) : container,
      )
  return {
    annotations: { ...Object.fromEntries(annotationsOf(pod)), [STATUS_ANNOTATION]: injectionStatus(injection) },
    initContainers: [...own, ...reached(spec['initContainers'])],
    containers: reached(spec['containers']),
    volumes: [
      ...objectsIn(spec['volumes']).filter(({ name }) => !OWN_VOLUMES.has(name)),
      ...volumesFor(injection, settings),
    ],
    warnings,
  }
}

/** States what is in force, for people and for policies. */
function injectionStatus({ mode, configMap }: Injection): string {
  return JSON.stringify({ mode, tier: 'sidecar', config: configMap, sidecar: SIDECAR })
}

/** A native sidecar: Kubernetes starts the next container after the startup probe has passed, and Jobs complete. */
function sidecar({ mode, resources }: Injection, settings: InjectorSettings): JsonObject {
  const transparent = settings.ipv6 === 'redirect' ? `[::]:${PORTS.transparent}` : `127.0.0.1:${PORTS.transparent}`
  return {
    name: SIDECAR,
    image: settings.image,
    imagePullPolicy: settings.image_pull_policy,
    restartPolicy: 'Always',
    args: ['serve'],
    env: variables({
      PREFLIGHT_CONFIG: `${CONFIG_FOLDER}/preflight.yaml`,
      PREFLIGHT_TIER: 'sidecar',
      PREFLIGHT_PROXY_LISTEN: `127.0.0.1:${PORTS.proxy}`,
      PREFLIGHT_API_LISTEN: `127.0.0.1:${PORTS.api}`,
      // The kubelet probes the address of the pod.
      PREFLIGHT_ADMIN_LISTEN: `0.0.0.0:${PORTS.admin}`,
      ...(mode === 'transparent' && { PREFLIGHT_LISTEN_TRANSPARENT: transparent }),
      PREFLIGHT_TLS_BUNDLE_FILE: BUNDLE,
      ...(settings.hub !== undefined && {
        PREFLIGHT_STORE_URL: settings.hub.url,
        PREFLIGHT_STORE_HUB_TOKEN_FILE: `${HUB_FOLDER}/token`,
      }),
    }),
    ports: [{ name: 'preflight-admin', containerPort: PORTS.admin, protocol: 'TCP' }],
    startupProbe: { ...httpProbe('/readyz'), periodSeconds: 1, failureThreshold: 60 },
    readinessProbe: { ...httpProbe('/readyz'), periodSeconds: 5 },
    livenessProbe: { ...httpProbe('/livez'), periodSeconds: 10 },
    resources: {
      requests: { cpu: resources.cpu, memory: resources.memory },
      limits: { memory: resources.memoryLimit },
    },
    securityContext: { ...HARDENED, ...userOf(settings) },
    volumeMounts: [
      { name: VOLUMES.config, mountPath: CONFIG_FOLDER, readOnly: true },
      { name: VOLUMES.data, mountPath: '/var/lib/preflight' },
      { name: VOLUMES.ca, mountPath: CA_FOLDER },
      { name: VOLUMES.tmp, mountPath: '/tmp' },
      // Whoever has the token can act as the sidecar: no other container gets it.
      ...(settings.hub === undefined ? [] : [{ name: VOLUMES.hub, mountPath: HUB_FOLDER, readOnly: true }]),
    ],
  }
}

/** A pod cannot mount what the injector adds for the sidecar alone. */
function withoutHubToken(container: JsonObject): JsonObject {
  const mounts = container['volumeMounts']
  if (!Array.isArray(mounts)) return container
  return { ...container, volumeMounts: mounts.filter((mount) => !isJsonObject(mount) || mount['name'] !== VOLUMES.hub) }
}

function userOf({ run_as: user }: InjectorSettings): JsonObject {
  return user === 'namespace' ? {} : { runAsUser: user, runAsGroup: user }
}

/** An option with a list, as `preflight redirect` reads it. */
function optionOf(option: string, values: readonly string[]): readonly string[] {
  return values.length === 0 ? [] : [option, values.map((value) => value.replace(/^(\d+):(\d+)$/, '$1-$2')).join(',')]
}

/** Sets the rules, then proves them; the agent starts only after both. */
function redirection(
  { ports, excludePorts, includeCidrs, excludeCidrs }: Injection,
  { image, image_pull_policy: imagePullPolicy, run_as: user, ipv6 }: InjectorSettings,
): readonly JsonObject[] {
  const rules = [
    '--user',
    String(user),
    '--port',
    String(PORTS.transparent),
    '--ipv6',
    ipv6,
    ...optionOf('--ports', ports),
    ...optionOf('--exclude-ports', excludePorts),
    ...optionOf('--include-cidrs', includeCidrs),
    ...optionOf('--exclude-cidrs', excludeCidrs),
  ]
  const shared = { image, imagePullPolicy, resources: SMALL }
  return [
    {
      name: REDIRECT,
      ...shared,
      args: ['redirect', 'apply', ...rules],
      securityContext: {
        ...HARDENED,
        runAsUser: 0,
        runAsGroup: 0,
        runAsNonRoot: false,
        capabilities: { drop: ['ALL'], add: ['NET_ADMIN', 'NET_RAW'] },
      },
    },
    {
      name: CHECK,
      ...shared,
      args: ['redirect', 'check', '--ipv6', ipv6],
      securityContext: { ...HARDENED, runAsUser: NOBODY, runAsGroup: NOBODY },
    },
  ]
}

/** The variables and certificates with which a container reaches the gateway. What its author set stays. */
function withTrust(container: JsonObject, { mode, baseUrls, noProxy }: Injection, warnings: string[]): JsonObject {
  const proxy = `http://127.0.0.1:${PORTS.proxy}`
  const direct = ['localhost', '127.0.0.1', '::1', ...noProxy].join(',')
  const wanted: Readonly<Record<string, string>> = {
    ...Object.fromEntries(CA_VARIABLES.map((name) => [name, BUNDLE])),
    ...(mode === 'explicit' && {
      HTTP_PROXY: proxy,
      HTTPS_PROXY: proxy,
      NO_PROXY: direct,
      http_proxy: proxy,
      https_proxy: proxy,
      no_proxy: direct,
      NODE_USE_ENV_PROXY: '1',
    }),
    ...Object.fromEntries([...baseUrls].map(([name, path]) => [name, `${proxy}${path}`])),
  }
  const env = objectsIn(container['env'])
  const stated = new Map(env.map(({ name, value }) => [String(name), value]))
  const missing = Object.entries(wanted).filter(([name]) => !stated.has(name))
  for (const [name, value] of Object.entries(wanted))
    if (stated.has(name) && stated.get(name) !== value)
      warnings.push(`preflight: container ${String(container['name'])} sets ${name} itself; it is left as it is`)
  const mounts = objectsIn(container['volumeMounts']).filter(({ name }) => name !== VOLUMES.ca)
  return {
    ...container,
    env: [...env, ...variables(Object.fromEntries(missing))],
    volumeMounts: [...mounts, { name: VOLUMES.ca, mountPath: CA_FOLDER, readOnly: true }],
  }
}

function volumesFor({ configMap }: Injection, { hub }: InjectorSettings): readonly JsonObject[] {
  const token = { path: 'token', audience: hub?.audience, expirationSeconds: TOKEN_SECONDS }
  return [
    { name: VOLUMES.config, configMap: { name: configMap } },
    { name: VOLUMES.data, emptyDir: {} },
    { name: VOLUMES.ca, emptyDir: { medium: 'Memory', sizeLimit: '4Mi' } },
    { name: VOLUMES.tmp, emptyDir: { sizeLimit: '64Mi' } },
    ...(hub === undefined ? [] : [{ name: VOLUMES.hub, projected: { sources: [{ serviceAccountToken: token }] } }]),
  ]
}

function variables(values: Readonly<Record<string, string>>): readonly JsonObject[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }))
}

function httpProbe(path: string): JsonObject {
  return { httpGet: { path, port: 'preflight-admin', scheme: 'HTTP' } }
}
