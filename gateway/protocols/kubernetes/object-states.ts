/**
 * The object before a write and after it, as the cluster reports both: by a read, and by the same write as a dry run.
 */
import { GatewayError } from '../../errors/errors.ts'
import { UpstreamRefusal, type PresentedReceipt } from '../common/action.ts'
import type { Answer } from '../../calls/answer.ts'
import type { Call } from '../../calls/call.ts'
import { isJsonObject } from '../../json/strict-json.ts'
import { resourceVersionOf, type KubernetesObject } from './change.ts'
import type { Cluster, ClusterAnswer } from './cluster.ts'
import { keepsDryRuns } from './dry-run.ts'
import { objectPath, resourceText, type ResourcePath } from './path.ts'
import { receiptsIn } from './receipt-annotations.ts'
import { isRehearsed, type Write } from './write.ts'
import { pathOf } from '../common/request-line.ts'

interface States {
  /** Null: there is none. */
  readonly before: KubernetesObject | null
  readonly after: KubernetesObject | null
}

/**
 * The API server's refusal of this caller, passed on unchanged: a write that may not be rehearsed may not be written
 * either.
 */
export class ClusterRefusal extends UpstreamRefusal {
  readonly answer: Answer

  constructor({ status, headers, body }: ClusterAnswer) {
    const relayed = Object.fromEntries(
      ['content-type', 'www-authenticate', 'retry-after'].flatMap((name) =>
        headers[name] === undefined ? [] : [[name, String(headers[name])]],
      ),
    )
    super(status, relayed)
    this.name = 'ClusterRefusal'
    this.answer = { status, headers: relayed, body }
  }
}

/** Each time somebody else changed the object between the two requests. */
const MAX_TRIES = 3

/**
 * Rejects with a ClusterRefusal when the API server refuses this caller the read or the write. Rejects with
 * PREFLIGHT_UNDECIDED when the effect of the write is not known.
 */
export async function statesOf(call: Call, write: Write, base: string, cluster: Cluster): Promise<States> {
  const path = pathOf(call)
  if (write.verb === 'delete') return { before: objectIn(await cluster.read(call, path)), after: null }
  const { path: resource } = write
  if (resource.name === null) return { before: null, after: await rehearsed(call, resource, base, cluster) }
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const after = await rehearsed(call, resource, base, cluster)
    const read = await cluster.read(call, path)
    const before = read.status === 404 ? null : objectIn(read)
    // A dry run answers with the version of the object that it started from.
    const isOnTop =
      before === null || resourceVersionOf(before) === (resourceVersionOf(after) ?? resourceVersionOf(before))
    if (isOnTop) return { before, after }
  }
  throw new GatewayError(
    'PREFLIGHT_UNDECIDED',
    `${write.path.resource} ${write.name} changes faster than it can be judged: it was another one at each of ${MAX_TRIES} looks.`,
  )
}

/**
 * What a receipt for the content of a write names: the object that is removed, or as the write leaves it. Where only
 * the request says what happens, its body. Rejects like `statesOf`.
 */
export async function writtenContent(
  call: Call,
  write: Write,
  base: string,
  cluster: Cluster,
): Promise<KubernetesObject> {
  const { path, verb, content } = write
  const standing = objectPath(path, base)
  if ((verb === 'delete' || path.subresource === 'eviction') && standing !== null)
    return objectIn(await cluster.read(call, standing))
  // A rehearsal that takes effect would be the write itself, before its verdict.
  if (path.subresource === null || (verb !== 'create' && isRehearsed(path))) return rehearsed(call, path, base, cluster)
  if (content !== null) return content
  throw new GatewayError(
    'PREFLIGHT_UNDECIDED',
    `Only the request says what ${resourceText(path)} does, and no receipt can be bound to this one (kubernetes.receipt_binds). Send a POST or PUT of JSON, without a query.`,
  )
}

/** A rehearsal that takes effect would be the write itself, before its verdict. */
async function rehearsed(call: Call, path: ResourcePath, base: string, cluster: Cluster): Promise<KubernetesObject> {
  if (await keepsDryRuns(call, path, base, cluster)) return objectIn(await cluster.rehearse(call))
  throw new GatewayError(
    'PREFLIGHT_UNDECIDED',
    `The server of ${resourceText(path)} does not state in /openapi/v3 that it keeps dry runs, so what this write does is not known before it is done.`,
  )
}

function objectIn(answer: ClusterAnswer): KubernetesObject {
  if (answer.status >= 400 && answer.status < 500) throw new ClusterRefusal(answer)
  const isObject =
    answer.status >= 200 && answer.status < 300 && answer.value !== null && isJsonObject(answer.value['metadata'])
  if (isObject && answer.value !== null) return answer.value
  throw new GatewayError(
    'PREFLIGHT_UNDECIDED',
    `The API server answered ${answer.status} and no object, so the effect of this write is not known.`,
  )
}

/**
 * The receipts in the annotations of the stored object: for requests that do not contain it completely, and whose
 * client cannot send a header. None when the caller may not read it, or it does not exist.
 */
export async function standingReceipts(
  call: Call,
  path: string,
  cluster: Cluster,
): Promise<readonly PresentedReceipt[]> {
  const { status, value } = await cluster.read(call, path)
  const metadata = status === 200 ? value?.['metadata'] : null
  return isJsonObject(metadata) ? receiptsIn(metadata) : []
}

/** The kind of a custom resource, from the discovery document of its group and version. Rejects like `statesOf`. */
export async function discoveredKind(call: Call, path: ResourcePath, base: string, cluster: Cluster): Promise<string> {
  const root = base.endsWith('/') ? base.slice(0, -1) : base
  const versions = path.group === '' ? `/api/${path.version}` : `/apis/${path.group}/${path.version}`
  const answer = await cluster.read(call, `${root}${versions}`)
  if (answer.status >= 400 && answer.status < 500) throw new ClusterRefusal(answer)
  const resources: readonly unknown[] = Array.isArray(answer.value?.['resources']) ? answer.value['resources'] : []
  const named = resources.filter(isJsonObject)
  const found =
    named.find(({ name }) => name === path.resource) ??
    // Some aggregated APIs have only what stands below an object: virtualmachineinstances/console.
    named.find(({ name }) => typeof name === 'string' && name.startsWith(`${path.resource}/`))
  if (typeof found?.['kind'] === 'string' && found['kind'] !== '') return found['kind']
  throw new GatewayError(
    'PREFLIGHT_UNDECIDED',
    `The API server does not say of which kind ${path.resource} (${path.group}/${path.version}) are.`,
  )
}
