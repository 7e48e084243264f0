/**
 * Whether the server of an API keeps dry runs. The API server does, for what Kubernetes brings and for custom resources. A
 * server behind an aggregated API may ignore the parameter, so that the dry run is the write itself.
 */
import type { Call } from '../../calls/call.ts'
import { isJsonObject } from '../../json/strict-json.ts'
import { recordIn } from '../../json/unchecked-json.ts'
import type { Cluster } from './cluster.ts'
import { knownKind } from './kinds.ts'
import type { ResourcePath } from './path.ts'

/**
 * Looked up where kubectl looks it up before `--dry-run=server`, in the description of the API that its server publishes. kubectl
 * asks whether a patch states it. Here the operation of this very call has to.
 * Synchronous for what Kubernetes itself brings. Never rejects: what is not stated is not so.
 * @param base path of the route's upstream, which the API stands under
 */
export function keepsDryRuns(
  call: Call,
  path: ResourcePath,
  base: string,
  cluster: Pick<Cluster, 'read'>,
): true | Promise<boolean> {
  return knownKind(path) !== null || statesDryRun(call, path, base, cluster)
}

async function statesDryRun(
  call: Call,
  path: ResourcePath,
  base: string,
  cluster: Pick<Cluster, 'read'>,
): Promise<boolean> {
  const root = base.endsWith('/') ? base.slice(0, -1) : base
  const api = path.group === '' ? `api/${path.version}` : `apis/${path.group}/${path.version}`
  try {
    const { status, value } = await cluster.read(call, `${root}/openapi/v3/${api}`)
    const paths = recordIn(status === 200 ? value?.['paths'] : null)
    const operation = recordIn(recordIn(paths[`/${api}/${templateOf(path)}`])[call.method.toLowerCase()])
    const { parameters } = operation
    return Array.isArray(parameters) && parameters.some(isDryRun)
  } catch {
    return false
  }
}

/** As API servers write their paths: `namespaces/{namespace}/widgets/{name}/status`. */
function templateOf({ namespace, resource, name, subresource }: ResourcePath): string {
  return [
    ...(namespace === null ? [] : ['namespaces/{namespace}']),
    resource,
    ...(name === null ? [] : ['{name}']),
    ...(subresource === null ? [] : [subresource]),
  ].join('/')
}

function isDryRun(parameter: unknown): boolean {
  return isJsonObject(parameter) && parameter['name'] === 'dryRun' && parameter['in'] === 'query'
}
