/** The mutating webhook for pods: adds the sidecar as a JSON patch, or refuses a pod in which it could not do its work. */
import { canonicalJson } from '../../engine/base.ts'
import { isJsonObject } from '../json/strict-json.ts'
import { recordIn } from '../json/unchecked-json.ts'
import type { KubernetesObject } from '../protocols/kubernetes/change.ts'
import { injectedPod, OWN_CONTAINERS, type InjectedPod } from './injected-pod.ts'
import { readInjection } from './injection.ts'
import type { ReviewRequest, ReviewResponse } from './review.ts'
import type { InjectorSettings, TrafficMode } from './settings.ts'

/** Kubernetes' own: without them nothing starts, the gateway neither. */
const CLUSTER_NAMESPACES: ReadonlySet<string> = new Set(['kube-system', 'kube-public', 'kube-node-lease'])

export function injectionResponse(request: ReviewRequest, settings: InjectorSettings): ReviewResponse {
  const { uid, path, operation, object } = request
  const passed: ReviewResponse = { uid, allowed: true }
  const namespace = path.namespace ?? ''
  const isIgnored = CLUSTER_NAMESPACES.has(namespace) || settings.ignored_namespaces.includes(namespace)
  const isPod = path.group === '' && path.resource === 'pods' && path.subresource === null
  if (!isPod || operation !== 'CREATE' || isIgnored || object === null) return passed
  const asked = readInjection(object, settings)
  if (asked.kind === 'leave') return passed
  if (asked.kind === 'refuse') return refusedInjection(uid, asked.problems)
  const { injection } = asked
  const problems = podProblems(object, injection.mode, settings)
  if (problems.length > 0) return refusedInjection(uid, problems)
  const wanted = injectedPod(object, injection, settings)
  const patch = patchOf(object, wanted)
  const warnings = [...wanted.warnings, ...podWarnings(object)]
  return {
    ...passed,
    ...(patch.length > 0 && {
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
    }),
    ...(warnings.length > 0 && { warnings: warnings.slice(0, MOST_WARNINGS) }),
    auditAnnotations: { mode: injection.mode },
  }
}

const MOST_WARNINGS = 5

function refusedInjection(uid: string, problems: readonly string[]): ReviewResponse {
  const message = `Preflight cannot inject its gateway into this pod: ${problems.join('; ')}.`
  return { uid, allowed: false, status: { code: 403, reason: 'Forbidden', message } }
}

/** What would keep the sidecar from its work, or give another container its exemption. */
function podProblems(pod: KubernetesObject, mode: TrafficMode, { run_as: user }: InjectorSettings): readonly string[] {
  const spec = specOf(pod)
  const problems: string[] = []
  if (spec['hostNetwork'] === true) problems.push('it has the network of its node (hostNetwork)')
  const os = isJsonObject(spec['os']) ? spec['os']['name'] : undefined
  if (os !== undefined && os !== 'linux') problems.push(`it runs on ${JSON.stringify(os)}`)
  if (mode === 'transparent' && user !== 'namespace')
    for (const [name, userOfContainer] of usersIn(spec))
      if (userOfContainer === user)
        problems.push(`${name} has the user ${user}, whose connections are not redirected (injector.run_as)`)
  return problems
}

/** Capabilities that change the rules, or send packets that no rule sees. */
const BYPASSING: ReadonlySet<unknown> = new Set(['NET_ADMIN', 'NET_RAW', 'ALL'])

/** Code in the pod that could go around the sidecar: the tier does not protect against it, so the author is warned. */
function podWarnings(pod: KubernetesObject): readonly string[] {
  return containersIn(specOf(pod)).flatMap((container) => {
    const context = recordIn(container['securityContext'])
    const capabilities = recordIn(context['capabilities'])
    const added: readonly unknown[] = Array.isArray(capabilities['add']) ? capabilities['add'] : []
    const mayBypass = context['privileged'] === true || added.some((one) => BYPASSING.has(one))
    return mayBypass
      ? [
          `preflight: container ${String(container['name'])} may change the network of the pod or send raw packets, and so bypass the gateway`,
        ]
      : []
  })
}

function usersIn(spec: Readonly<Record<string, unknown>>): readonly (readonly [name: string, user: unknown])[] {
  const pod = isJsonObject(spec['securityContext']) ? spec['securityContext']['runAsUser'] : undefined
  const own = containersIn(spec).map((container) => {
    const context = recordIn(container['securityContext'])
    return [`container ${String(container['name'])}`, context['runAsUser']] as const
  })
  return [['the pod', pod], ...own]
}

function containersIn(spec: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] {
  return ['initContainers', 'containers'].flatMap((list) => {
    const found = spec[list]
    // Our own are made anew.
    return Array.isArray(found) ? found.filter(isJsonObject).filter(({ name }) => !OWN_CONTAINERS.has(name)) : []
  })
}

function specOf(pod: KubernetesObject): Readonly<Record<string, unknown>> {
  return recordIn(pod['spec'])
}

interface PatchOperation {
  readonly op: 'add'
  readonly path: string
  readonly value: unknown
}

/** RFC 6902: `add` replaces a member that is there. Empty when the pod is as it should be. */
function patchOf(
  pod: KubernetesObject,
  { annotations, initContainers, containers, volumes }: InjectedPod,
): readonly PatchOperation[] {
  const spec = specOf(pod)
  const metadata = recordIn(pod['metadata'])
  const members: readonly (readonly [path: string, before: unknown, after: unknown])[] = [
    ['/metadata/annotations', metadata['annotations'], annotations],
    ['/spec/initContainers', spec['initContainers'], initContainers],
    ['/spec/containers', spec['containers'], containers],
    ['/spec/volumes', spec['volumes'], volumes],
  ]
  return members.flatMap(([path, before, after]) =>
    before !== undefined && canonicalJson(before) === canonicalJson(after) ? [] : [{ op: 'add', path, value: after }],
  )
}
